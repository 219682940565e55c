"""Comparing what was computed with what the oracle says."""

import math
from typing import Any

import mpmath

from .nested import indexes, pick, plain, shape_of


def assert_close(got: Any, expected: Any, *, rtol: float = 1e-12, atol: float = 1e-12, what: str = "") -> None:
    """Insist on the same shape, NaN and infinities in the same cells, and close numbers everywhere else."""
    got, expected = plain(got), plain(expected)
    assert shape_of(got) == shape_of(expected), f"{what}: shape {shape_of(got)}, not {shape_of(expected)}"
    for index in indexes(shape_of(expected)):
        mine, right = pick(got, index), pick(expected, index)
        if isinstance(right, bool):
            same = mine is right
        elif not mpmath.isfinite(right):
            same = mine == right or (mpmath.isnan(right) and math.isnan(mine))
        else:
            same = abs(mine - right) <= atol + rtol * abs(right)
        assert same, f"{what}{list(index)} is {mine}, not {right}"


def assert_same_bits(got: Any, expected: Any, what: str = "") -> None:
    """Insist on identical numbers; NaN equals NaN, and 0 is not −0."""
    got, expected = plain(got), plain(expected)
    assert shape_of(got) == shape_of(expected)
    for index in indexes(shape_of(expected)):
        assert repr(pick(got, index)) == repr(pick(expected, index)), f"{what}{list(index)}"


def units_off(got: Any, expected: Any) -> float:
    """Give the largest error in units in the last place of the largest expected value."""
    got, expected = plain(got), plain(expected)
    assert shape_of(got) == shape_of(expected)
    cells = list(indexes(shape_of(expected)))
    unit = math.ulp(max(abs(float(pick(expected, index))) for index in cells))
    return float(max(abs(pick(got, index) - pick(expected, index)) for index in cells) / unit)
