"""The catalogue as data: complete, in order, and made of right steps."""

from dataclasses import fields

import numpy as np
import pytest

from attncalc.core.prepare import prepare
from attncalc.core.steps import RIGHT, Steps, run
from attncalc.errors import OptionError
from attncalc.mistakes import CATALOGUE, Words, combine, find
from attncalc.mistakes.wrong import ORDER, STEP_OF, compatible, outcomes
from attncalc.texts import LANGUAGES

STAGES = ["input", "raw", "scaled", "capped", "biased", "scores", "weights", "output"]
ENTRIES = pytest.mark.parametrize("mistake", CATALOGUE, ids=lambda mistake: mistake.id)


@ENTRIES
def test_an_entry_has_all_parts(mistake):
    for language in LANGUAGES:
        words = mistake.words(language)
        assert all(getattr(words, field.name) for field in fields(Words))
        assert not words.title.endswith((".", "。"))
        assert all(getattr(words, name).endswith((".", "。")) for name in ("what", "why", "shows"))
    assert mistake.instead.numpy
    assert mistake.instead.torch
    assert mistake.source
    assert mistake.forms


def test_the_chinese_words_are_chinese():
    text = "".join("".join(vars(mistake.words("zh")).values()) for mistake in CATALOGUE)
    for term in ("查询", "键", "值", "注意力权重", "缩放点积", "因果掩码", "填充掩码"):
        assert term in text
    for mistake in CATALOGUE:
        assert mistake.words("zh").title != mistake.title


def test_ids_are_unique_and_stages_in_order():
    assert len({mistake.id for mistake in CATALOGUE}) == len(CATALOGUE)
    places = [STAGES.index(mistake.stage) for mistake in CATALOGUE]
    assert places == sorted(places)


@ENTRIES
def test_every_change_replaces_a_step_of_the_right_computation(mistake):
    for form in mistake.forms:
        assert form.changes
        for name, step in form.changes.items():
            assert name in ORDER
            assert step is not getattr(RIGHT, name)
            assert callable(step)


@ENTRIES
def test_the_changes_belong_to_the_stage(mistake):
    """What the mistake is called after is written by a step that it replaces; the outputs by the last four."""
    steps = {
        "input": {"project", "split", "rotate", "gather", "project_out"},
        "output": {"mix", "merge", "project_out"},
    }
    own = steps.get(mistake.stage) or {STEP_OF[mistake.stage]}
    for form in mistake.forms:
        extra = {"allow"} if mistake.id in ("bias-ignored", "blocked-nan-leaks") else set()
        assert form.changes.keys() <= own | extra


def test_steps_are_known_by_their_order():
    assert [field.name for field in fields(Steps)] == list(ORDER)


def test_combining_nothing_is_right():
    assert combine() == RIGHT


def test_the_same_step_twice_is_no_pair():
    a, b = find("scale-missing").forms[0], find("scale-twice").forms[0]
    assert not compatible(a, b)
    with pytest.raises(ValueError, match="two mistakes replace the step scale"):
        combine(a, b)


def test_an_unknown_id_gets_a_suggestion():
    with pytest.raises(OptionError, match="did you mean scale-missing"):
        find("scale-mising")


def everything():
    """Inputs to which nearly every mistake applies."""
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(2, heads, 4, 4)) for heads in (4, 2, 2))
    return prepare(
        q, k, v, causal=True, causal_align="lower-right", window_left=2, window_right=1, softcap=4, scale=0.4,
        mask=np.tril(np.ones((4, 4))) + np.eye(4)[::-1] > 0, lengths=[4, 3], bias=rng.normal(size=(4, 4, 4)),
        alibi=True, rope="half", empty_rows="zero",
    )  # fmt: skip


def test_every_pair_of_different_steps_runs():
    problem = everything()
    forms = [mistake.open_forms(problem)[-1] for mistake in CATALOGUE if mistake.applies(problem)]
    assert len(forms) > 45
    right = run(RIGHT, problem.inputs, problem.rules)
    for number, a in enumerate(forms):
        for b in forms[number + 1 :]:
            if compatible(a, b):
                output = run(combine(a, b), problem.inputs, problem.rules).output
                assert output.shape in (right.output.shape, right.output.mean(axis=1).shape)


@ENTRIES
def test_inputs_are_never_written_to(mistake):
    problem = everything()
    copies = [array.copy() for array in (problem.inputs.query, problem.inputs.key, problem.inputs.value)]
    for form in mistake.open_forms(problem):
        list(outcomes(problem, form))
    for array, copy in zip((problem.inputs.query, problem.inputs.key, problem.inputs.value), copies, strict=True):
        assert np.array_equal(array, copy)


def applying(*arrays, **options):
    problem = prepare(*arrays, **options)
    return {mistake.id for mistake in CATALOGUE if mistake.applies(problem)}


def test_what_applies_follows_from_the_inputs():
    q = k = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    v = [[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]]
    plain = applying(q, k, v)
    assert "query-key-swapped" not in plain  # Q = K: the product is symmetric
    assert not {id for id in plain if id.startswith(("causal", "mask", "padding", "sink", "rope", "heads", "gqa"))}
    assert applying(q, k, v, causal=True) - plain == {
        "causal-ignored", "causal-strict", "causal-one-ahead", "causal-reversed",
        "mask-inverted", "mask-multiplied", "mask-finite-fill", "mask-after-softmax",
    }  # fmt: skip
    assert {"scale-missing", "scale-option-ignored"} & applying(q, k, v, scale=1.0) == {"scale-option-ignored"}
    assert "mask-transposed" not in applying(q, k, v, mask=np.ones((3, 3)))
    assert "mask-transposed" in applying(q, k, v, mask=np.tril(np.ones((3, 3))))
