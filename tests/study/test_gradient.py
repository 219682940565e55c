"""dQ, dK and dV against differences of the oracle's outputs in fifty digits, under every mask and option."""

import mpmath
import numpy as np
import pytest
from oracle import attend

from attncalc import AttnCalcError
from attncalc.core.prepare import prepare
from attncalc.study.gradient import differentiate

STEP = mpmath.mpf(10) ** -20
"""With central differences the error is the third derivative times 1e-40."""


def normal(*shape, seed=0, size=1.0):
    return np.random.default_rng([seed, *shape]).normal(0, size, shape)


def flat(nested):
    """Give every number of nested lists in order."""
    return [x for each in nested for x in flat(each)] if isinstance(nested, list) else [nested]


def loss(arrays, grad, options):
    out = flat(attend(*arrays, number=mpmath.mpf, **options)["output"])
    return mpmath.fsum(g * o for g, o in zip(flat(grad), out, strict=True))


def to_exact(array):
    return [to_exact(each) for each in array] if array.ndim else mpmath.mpf(float(array))


def nudged(nested, index, step):
    if not index:
        return nested + step
    return [nudged(each, index[1:], step) if n == index[0] else each for n, each in enumerate(nested)]


def differences(arrays, grad, options):
    """Give dQ, dK and dV by central differences of the oracle."""
    exact = [to_exact(array) for array in arrays]
    weights = grad.tolist()
    found = []
    for which, array in enumerate(arrays):
        slope = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for step in (STEP, -STEP):
                moved = list(exact)
                moved[which] = nudged(exact[which], index, step)
                ends.append(loss(moved, weights, options))
            slope[index] = float((ends[0] - ends[1]) / (2 * STEP))
        found.append(slope)
    return found


def check(q, k, v, **options):
    """Compare with differences; the bound is absolute, in units of the largest gradient."""
    problem = prepare(q, k, v, **options)
    shape = np.array(attend(q.tolist(), k.tolist(), v.tolist(), **options)["output"]).shape
    grad = normal(*shape, seed=9)
    result = differentiate(problem, grad)
    for got, expected in zip(result.arrays.values(), differences((q, k, v), grad, options), strict=True):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)
    return result


Q, K, V = normal(3, 2), normal(4, 2, seed=1), normal(4, 3, seed=2)
MASK = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)
EMPTY = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]], dtype=bool)
BIAS = normal(3, 4, seed=3)
NEGATIVE = np.where(MASK, BIAS, -np.inf)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": -1.7},
        {"softcap": 0.8},
        {"causal": True},
        {"causal": True, "causal_align": "lower-right"},
        {"mask": MASK},
        {"mask": MASK, "mask_true": "blocked"},
        {"padding": [1, 0, 1, 1]},
        {"lengths": 2},
        {"window_left": 1, "window_right": 0},
        {"bias": BIAS},
        {"bias": NEGATIVE},
        {"alibi": True},
        {"alibi_slopes": [0.3]},
        {"sink": [0.7]},
        {"sink": [-0.2], "mask": EMPTY},
        {"rope": "half"},
        {"rope": "interleaved", "rope_base": 3.0, "rope_offset": 2},
        {"mask": EMPTY, "empty_rows": "zero"},
        {"mask": EMPTY, "empty_rows": "uniform"},
        {"softcap": 1.1, "causal": True, "alibi": True, "sink": [0.1], "rope": "half", "bias": BIAS, "scale": 2.0},
    ],
    ids=str,
)
def test_one_head(options):
    check(Q, K, V, **options)


def test_a_part_of_the_width_is_turned():
    check(normal(2, 6), normal(3, 6, seed=1), normal(3, 1, seed=2), rope="interleaved", rope_dims=4)


def test_grouped_heads_add_up():
    check(normal(1, 4, 2, 3), normal(1, 2, 3, 3, seed=1), normal(1, 2, 3, 1, seed=2), sink=[0.1, 0.2, 0.3, 0.4])


def test_packed_heads_come_back_packed():
    q, k, v = normal(2, 8), normal(3, 4, seed=1), normal(3, 6, seed=2)
    result = check(q, k, v, heads=4, kv_heads=2, alibi=True, causal=True)
    assert (result.dq.shape, result.dk.shape, result.dv.shape) == ((2, 8), (3, 4), (3, 6))


def test_another_order_of_axes():
    check(normal(2, 3, 2), normal(3, 1, 2, seed=1), normal(3, 1, 2, seed=2), layout="thd")


def test_a_cache_is_a_constant_and_a_note_says_so():
    past = {"past_key": normal(2, 2, seed=7), "past_value": normal(2, 3, seed=8)}
    result = check(Q[:2], K[:2], V[:2], causal=True, rope="half", **past)
    assert any("new keys and values" in note for note in result.notes)


def test_ones_unless_given():
    problem = prepare(Q, K, V)
    ones = differentiate(problem, np.ones((3, 3)))
    for name, array in differentiate(problem).arrays.items():
        np.testing.assert_array_equal(array, ones.arrays[name])


def test_by_hand():
    """Two equal keys weigh ½ each: dV is ½; raising score 0 by ε moves the output by ε/4 · (v0 − v1)."""
    result = differentiate(prepare([[1.0]], [[0.0], [0.0]], [[6.0], [2.0]], scale=3.0))
    np.testing.assert_allclose(result.dv, [[0.5], [0.5]])
    np.testing.assert_allclose(result.dk, [[3.0], [-3.0]])  # scale · q · ¼ · (6 − 2)
    np.testing.assert_allclose(result.dq, [[0.0]])  # both keys are 0


def test_the_output_projection_is_on_the_way():
    x, width = normal(2, 3), 4
    w = {"wq": normal(3, width), "wk": normal(3, width, seed=1), "wv": normal(3, width, seed=2)}
    wo, grad = normal(width, 5, seed=3), normal(2, 5, seed=4)
    result = differentiate(prepare(x=x, weights=w | {"wo": wo, "bo": normal(5)}, heads=2), grad)
    projected = [x @ w[name] for name in ("wq", "wk", "wv")]
    expected = differences(projected, grad @ wo.T, {"heads": 2})
    for got, slope in zip(result.arrays.values(), expected, strict=True):
        np.testing.assert_allclose(got, slope, rtol=1e-12, atol=1e-13)
    assert any("projected" in note for note in result.notes)


@pytest.mark.parametrize("policy", ["zero", "uniform"])
def test_what_stands_in_a_blocked_row_changes_nothing(policy):
    mask = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]], dtype=bool)
    k, v = K.copy(), V.copy()
    clean = differentiate(prepare(Q, k, v, mask=mask, empty_rows="zero", softcap=2.0))
    k[1], k[3], v[1], v[3] = np.nan, np.inf, np.nan, -np.inf
    dirty = differentiate(prepare(Q, k, v, mask=mask, empty_rows=policy, softcap=2.0))
    np.testing.assert_array_equal(dirty.dq, clean.dq)
    np.testing.assert_array_equal(dirty.dk, clean.dk)
    if policy == "zero":
        np.testing.assert_array_equal(dirty.dv, clean.dv)
        assert not dirty.dk[[1, 3]].any()
        assert not dirty.dv[[1, 3]].any()


def test_a_query_that_gets_nan_passes_it_on():
    result = differentiate(prepare(Q, K, V, mask=EMPTY, empty_rows="nan"))
    assert np.isnan(result.dq[1]).all()
    assert np.isfinite(result.dq[[0, 2]]).all()
    assert np.isnan(result.dv).all()
    assert any("passes it on" in note for note in result.notes)


@pytest.mark.parametrize(("dtype", "epsilon"), [("float32", 2**-23), ("float16", 2**-10), ("bfloat16", 2**-7)])
def test_narrower_types_stay_close(dtype, epsilon):
    wide = differentiate(prepare(Q, K, V, causal=True))
    narrow = differentiate(prepare(Q, K, V, causal=True, dtype=dtype))
    for name, array in narrow.arrays.items():
        largest = np.abs(wide.arrays[name]).max()
        assert np.abs(array.astype(float) - wide.arrays[name]).max() <= 12 * epsilon * largest


def test_results_are_read_only_and_inputs_untouched():
    q, k, v, grad = Q.copy(), K.copy(), V.copy(), np.ones((3, 3))
    for array in (q, k, v, grad):
        array.flags.writeable = False
    result = differentiate(prepare(q, k, v), grad)
    for array in result.arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_grad_of_another_shape():
    with pytest.raises(AttnCalcError, match="shape of the output") as caught:
        differentiate(prepare(Q, K, V), np.ones((3, 4)))
    assert caught.value.arrays == (("grad", (3, 4)), ("output", (3, 3)))


def test_grad_with_nan_names_its_cell():
    grad = np.ones((3, 3))
    grad[1, 2] = np.nan
    with pytest.raises(AttnCalcError, match="NaN") as caught:
        differentiate(prepare(Q, K, V), grad)
    assert caught.value.cell == ("grad", (1, 2))


def test_numbers_too_large():
    with pytest.raises(AttnCalcError, match="too large for float64"):
        differentiate(prepare(Q, K, V), np.full((3, 3), 1e308))
    assert any("float16" in note for note in differentiate(prepare(Q * 1e3, K * 1e3, V, dtype="float16")).notes)
