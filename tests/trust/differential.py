"""Random options through attncalc and two other implementations, which have to agree on every stage.

By hand, ten thousand cases: ``PYTHONPATH=tests python tests/trust/differential.py --count 10000``.
"""

import argparse
import time
from collections import Counter

import exact
import numpy as np
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from oracle.problems import problems

from attncalc import AttnCalcError, attention

STAGES = ("raw", "allowed", "scores", "lse", "weights", "output")
RTOL, ATOL = 1e-11, 1e-12


def compare(arrays, options) -> str:
    """Compute three times; say how it ended."""
    try:
        expected = exact.attend(*arrays, **options)
    except ValueError:
        for other in (oracle.attend, attention):
            with pytest.raises((oracle.EmptyRowError, AttnCalcError), match="may attend to no key"):
                other(*arrays, **options)
        return "refused"
    got = attention(*arrays, **options, stages=STAGES)
    loops = oracle.attend(*arrays, **options)
    for stage in STAGES:
        for other in (getattr(got, stage), np.array(loops[stage], dtype=expected[stage].dtype)):
            np.testing.assert_allclose(other, expected[stage], rtol=RTOL, atol=ATOL, err_msg=f"{stage} with {options}")
            assert other.shape == expected[stage].shape, stage
    return "agree"


def run(count: int, seconds: float = float("inf")) -> Counter:
    """Compare ``count`` random cases."""
    outcomes: Counter = Counter()
    until = time.monotonic() + seconds

    @settings(
        max_examples=count, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(problems())
    def test(problem):
        if time.monotonic() < until:
            outcomes[compare(*problem)] += 1

    test()
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given_options = parser.parse_args()
    start = time.monotonic()
    print(dict(run(given_options.count, given_options.seconds)), f"in {time.monotonic() - start:.0f} s")
