"""How far double precision strays from fifty digits, in units in the last place of the largest value."""

import mpmath
import numpy as np
import pytest
from oracle import attend, units_off

from attncalc import attention

SEEDS = range(6)


def problem(seed, size, T=5, S=7, d=11, d_v=3):
    """Give arrays whose scores have the largest absolute value ``size``."""
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(T, d)), rng.normal(size=(S, d)), rng.normal(size=(S, d_v))
    largest = np.abs(q @ k.T).max() / np.sqrt(d)
    return q * (size / largest), k, v


def softmax_of(scores):
    """Give the softmax and the lse of the rows of scores, in fifty digits."""
    rows = [[mpmath.mpf(x) for x in row] for row in scores.tolist()]
    totals = [mpmath.fsum([mpmath.exp(x) for x in row]) for row in rows]
    weights = [[mpmath.exp(x) / total for x in row] for row, total in zip(rows, totals, strict=True)]
    return weights, [mpmath.log(total) for total in totals]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0])
def test_scores_up_to_ten_cost_four_units(seed, size):
    arrays = problem(seed, size)
    result = attention(*arrays)
    exact = attend(*arrays, number=mpmath.mpf)
    assert units_off(result.weights, exact["weights"]) <= 4
    assert units_off(result.output, exact["output"]) <= 4


@pytest.mark.parametrize("seed", SEEDS)
def test_wide_heads_cost_no_more(seed):
    arrays = problem(seed, 10.0, d=64)
    result = attention(*arrays)
    assert units_off(result.weights, attend(*arrays, number=mpmath.mpf)["weights"]) <= 4


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [30.0, 700.0, 5000.0])
def test_larger_scores_cost_two_units_more_for_each_of_their_size(seed, size):
    arrays = problem(seed, size)
    result = attention(*arrays)
    exact = attend(*arrays, number=mpmath.mpf)
    assert units_off(result.weights, exact["weights"]) <= 4 + 2 * size
    assert units_off(result.output, exact["output"]) <= 4 + 2 * size


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1.0, 10.0, 700.0])
def test_the_softmax_of_the_scores_costs_four_units(seed, size):
    result = attention(*problem(seed, size))
    weights, lse = softmax_of(result.scores)
    assert units_off(result.weights, weights) <= 4
    assert units_off(result.lse, lse) <= 4


@pytest.mark.parametrize("shift", [-700.0, -1e5, 700.0, 1e5])
def test_the_softmax_is_as_good_far_from_zero(shift):
    q, k, v = problem(1, 3.0)
    result = attention(q, k, v, bias=np.full((5, 7), shift))
    weights, lse = softmax_of(result.scores)
    assert units_off(result.weights, weights) <= 4
    assert units_off(result.lse, lse) <= 4


def test_scores_of_700_of_both_signs():
    q, k, v = [[1.0], [-1.0]], [[700.0], [699.5], [-700.0]], [[1.0], [2.0], [3.0]]
    result = attention(q, k, v)
    exact = attend(q, k, v, number=mpmath.mpf)  # the scores themselves are exact here
    assert units_off(result.weights, exact["weights"]) <= 4
    assert units_off(result.output, exact["output"]) <= 4


def test_small_weights_keep_their_relative_accuracy():
    result = attention([[1.0]], [[0.0], [-700.0]], [[0.0], [1.0]])
    exact = attend([[1.0]], [[0.0], [-700.0]], [[0.0], [1.0]], number=mpmath.mpf)
    assert result.weights[0, 1] == pytest.approx(float(exact["weights"][0][1]), rel=1e-15)
    assert result.output[0, 0] > 0


def test_a_long_row_loses_nothing():
    """A hundred thousand equal keys: their weights add up to 1, and the mean of equal values is the value.

    The products are summed one after another in 64 bits, 11 more than float64 has: an error of S / 2^11 units.
    """
    S = 100_000
    result = attention(np.zeros((1, 1)), np.zeros((S, 1)), np.full((S, 1), 0.1))
    assert units_off(result.weights, [[1 / S] * S]) <= 4
    assert units_off(result.output, [[0.1]]) <= 4 + S / 2**11


def test_every_option_at_once_stays_close():
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(6, 5, 4)), rng.normal(size=(3, 7, 4)), rng.normal(size=(3, 7, 11))
    options = {
        "causal": "lower-right",
        "window_left": 3,
        "softcap": 5.0,
        "bias": rng.normal(size=(6, 5, 7)),
        "alibi": True,
        "sink": rng.normal(size=6).tolist(),
        "rope": "interleaved",
        "rope_offset": 3,
    }
    result = attention(q, k, v, **options)
    exact = attend(q, k, v, **options, number=mpmath.mpf)
    assert units_off(result.weights, exact["weights"]) <= 4
    assert units_off(result.output, exact["output"]) <= 4
