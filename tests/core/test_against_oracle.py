"""Random combinations of every option, every stage compared with the oracle."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from oracle import EmptyRowError, assert_close, attend
from oracle.problems import problems

from attncalc import AttnCalcError, attention

STAGES = ("raw", "scaled", "capped", "biased", "allowed", "scores", "lse", "weights", "heads", "output")


@settings(derandomize=True, max_examples=120, deadline=None)
@given(problems())
def test_every_stage_is_the_oracles(problem):
    arrays, options = problem
    try:
        expected = attend(*arrays, **options)
    except EmptyRowError:
        with pytest.raises(AttnCalcError, match=r"quer(y|ies) \d+") as caught:
            attention(*arrays, **options, stages=STAGES)
        named = int(re.search(r"quer(?:y|ies) (\d+)", str(caught.value)).group(1))
        allowed = np.array(attend(*arrays, **options | {"empty_rows": "zero"})["allowed"])
        assert (~allowed.any(-1)).reshape(-1, allowed.shape[-2])[:, named].any()
        return
    result = attention(*arrays, **options, stages=STAGES)
    for stage in STAGES:
        assert_close(getattr(result, stage), expected[stage], rtol=1e-11, atol=1e-12, what=stage)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(problems())
def test_the_options_of_a_result_repeat_it(problem):
    arrays, options = problem
    options["empty_rows"] = "zero"
    first = attention(*arrays, **options, stages=STAGES)
    again = attention(*arrays, **first.options | {"stages": STAGES})
    for stage in STAGES:
        assert np.array_equal(getattr(first, stage), getattr(again, stage), equal_nan=True), stage


@settings(derandomize=True, max_examples=50, deadline=None)
@given(problems())
def test_output_and_lse_alone_are_those_of_the_full_run(problem):
    arrays, options = problem
    options["empty_rows"] = "uniform"
    expected = attend(*arrays, **options)
    result = attention(*arrays, **options, stages=("output", "lse"))
    assert_close(result.output, expected["output"], rtol=1e-11, what="output")
    assert_close(result.lse, expected["lse"], rtol=1e-11, what="lse")
