"""The record of the rules in force that comes with every result."""

import math

import numpy as np
import pytest

from attncalc import attention

X = np.arange(12.0).reshape(4, 3)


def options(*arrays, **given):
    return attention(*(arrays or (X, X, X)), **given).options


def test_defaults():
    record = options()
    assert record["causal"] is None
    assert record["scale"] == pytest.approx(1 / math.sqrt(3), rel=1e-15)
    assert record["dtype"] == "float64"
    assert record["empty_rows"] == "error"


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"causal": True}, "upper-left"),
        ({"causal": False}, None),
        ({"causal": "upper-left"}, "upper-left"),
        ({"causal": "lower-right"}, "lower-right"),
        ({"causal": True, "causal_align": "lower-right"}, "lower-right"),
        ({"causal": True, "past_key": X, "past_value": X}, "past"),
        ({"causal": "past", "past_key": X, "past_value": X}, "past"),
        ({"past_key": X, "past_value": X}, None),
    ],
)
def test_causal_is_one_word(given, word):
    assert options(**given)["causal"] == word


def test_what_was_given_is_recorded():
    given = {"scale": 0.25, "softcap": 2.0, "window_left": 2, "empty_rows": "zero", "dtype": "float32"}
    record = options(**given)
    assert {name: record[name] for name in given} == given


def test_the_scale_follows_the_width_of_one_head():
    wide = np.ones((2, 12))
    assert options(wide, wide, wide, heads=3)["scale"] == 0.5


def test_an_alignment_without_causal_is_kept_for_the_window():
    record = options(X[:2], X, X, window_left=0, window_right=0, causal_align="lower-right")
    again = attention(X[:2], X, X, **record)
    assert again.allowed.astype(int).tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]
