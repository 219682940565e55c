"""The shape trail, against shapes that were written down by hand and those that a run really has."""

import numpy as np
import pytest

from attncalc import attention
from attncalc.core.prepare import prepare
from attncalc.core.trail import trail


def ones(*shape):
    return np.ones(shape)


def stops(*arrays, **options):
    return [(mark.name, mark.text) for mark in trail(prepare(*arrays, **options))]


def test_a_sequence_with_two_heads():
    weights = {name: ones(8, 8) for name in ("wq", "wk", "wv", "wo")}
    assert stops(x=ones(2, 3, 8), weights=weights, heads=2) == [
        ("x", "2 × 3 × 8"),
        ("Q, K, V projected", "2 × 3 × 8 each"),
        ("Q, K, V split into heads", "2 × 2 × 3 × 4 each"),
        ("scores, weights", "2 × 2 × 3 × 3 each"),
        ("heads", "2 × 2 × 3 × 4"),
        ("merged", "2 × 3 × 8"),
        ("output", "2 × 3 × 8"),
    ]


def test_a_context_grouped_heads_and_other_widths():
    weights = {"wq": ones(7, 12), "wk": ones(5, 6), "wv": ones(5, 4), "wo": ones(8, 11)}
    assert stops(x=ones(3, 7), context=ones(2, 5), weights=weights, heads=4, kv_heads=2) == [
        ("x", "3 × 7"),
        ("context", "2 × 5"),
        ("Q projected", "3 × 12"),
        ("K projected", "2 × 6"),
        ("V projected", "2 × 4"),
        ("Q split into heads", "4 × 3 × 3"),
        ("K split into heads", "2 × 2 × 3"),
        ("V split into heads", "2 × 2 × 2"),
        ("scores, weights", "4 × 3 × 2 each"),
        ("heads", "4 × 3 × 2"),
        ("merged", "3 × 8"),
        ("output", "3 × 11"),
    ]


def test_matrices_have_a_short_trail():
    assert stops(ones(3, 2), ones(5, 2), ones(5, 7)) == [
        ("Q", "3 × 2"),
        ("K", "5 × 2"),
        ("V", "5 × 7"),
        ("scores, weights", "3 × 5 each"),
        ("output", "3 × 7"),
    ]


def test_a_cache_makes_more_keys():
    past = {"past_key": ones(1, 4, 2), "past_value": ones(1, 4, 3)}
    assert stops(ones(2, 3, 2), ones(1, 3, 2), ones(1, 3, 3), **past)[3:] == [
        ("K behind the past", "1 × 7 × 2"),
        ("V behind the past", "1 × 7 × 3"),
        ("scores, weights", "2 × 3 × 7 each"),
        ("heads", "2 × 3 × 3"),
        ("output", "2 × 3 × 3"),
    ]


@pytest.mark.parametrize(
    ("shape", "options"),
    [((3, 4), {}), ((3, 4), {"heads": 2}), ((2, 3, 4), {}), ((2, 3, 4), {"layout": "thd"}), ((2, 3, 4), {"heads": 2})],
)
def test_the_trail_has_the_shapes_of_the_run(shape, options):
    array = np.ones(shape)
    result = attention(array, array, array, **options)
    marks = {mark.name: mark.shape for mark in trail(result.problem)}
    assert marks["scores, weights"] == result.weights.shape
    assert marks.get("heads", result.heads.shape) == result.heads.shape
    assert marks["output"] == result.output.shape
