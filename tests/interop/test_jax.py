"""jax.nn.dot_product_attention on a CPU."""

import numpy as np
import pytest
from interop.shared import answer, bthd

jax = pytest.importorskip("jax", reason="jax is in the extra interop")
CLOSE = {"rtol": 2e-5, "atol": 2e-6}  # the softmax is float32 whatever the inputs are


def run(q, k, v, **options):
    narrow = (bthd(array).astype(np.float32) for array in (q, k, v))
    return bthd(np.asarray(jax.nn.dot_product_attention(*narrow, **options)))


@pytest.mark.parametrize("mask", ["mask", "empty"])
def test_masks(inputs, mask):
    expected = run(inputs.q, inputs.k, inputs.v, mask=getattr(inputs, mask))
    np.testing.assert_allclose(expected, answer("jax", inputs, mask=getattr(inputs, mask)), **CLOSE)


def test_masks_must_be_boolean(inputs):
    with pytest.raises(ValueError, match="bool"):
        run(inputs.q, inputs.k, inputs.v, mask=inputs.zero_one)


def test_causal_starts_upper_left(inputs):
    expected = run(inputs.q, inputs.k, inputs.v, is_causal=True)
    np.testing.assert_allclose(expected, answer("jax", inputs, causal=True), **CLOSE)


@pytest.mark.parametrize("window", [(1, 0), (0, 0), (2, 1)])
def test_windows_do_not_count_the_query_s_own_key(inputs, window):
    expected = run(inputs.q, inputs.k, inputs.v, local_window_size=window)
    got = answer("jax", inputs, window_left=window[0], window_right=window[1])
    np.testing.assert_allclose(expected, got, **CLOSE)


def test_lengths(inputs):
    lengths = np.array([0, 3], dtype=np.int32)
    expected = run(inputs.q, inputs.k, inputs.v, key_value_seq_lengths=lengths)
    np.testing.assert_allclose(expected, answer("jax", inputs, lengths=lengths), **CLOSE)


def test_a_bias_of_minus_infinity_is_no_mask(inputs):
    bias = inputs.minus_infinity.astype(np.float32)
    expected = run(inputs.q, inputs.k, inputs.v, bias=bias)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(expected, answer("jax", inputs, bias=bias), **CLOSE)


def test_where_mask_and_bias_leave_nothing_the_masked_keys_win(inputs):
    bias = np.where(inputs.hides_it, 0, -np.inf).astype(np.float32)
    mask = ~inputs.hides_it
    expected = run(inputs.q, inputs.k, inputs.v, bias=bias, mask=mask)
    np.testing.assert_allclose(expected, answer("jax", inputs, bias=bias, mask=mask), **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_nan(inputs, which):
    given = {which: getattr(inputs, f"nan_{which}")}
    arrays = {"query": inputs.q, "key": inputs.k, "value": inputs.v} | given
    expected = run(*arrays.values(), mask=inputs.hides_it)
    assert np.isnan(expected).any() == (which == "value")
    np.testing.assert_allclose(expected, answer("jax", inputs, mask=inputs.hides_it, **given), **CLOSE)


def test_grouped_heads_and_scale(inputs):
    k, v = inputs.k[:, :1], inputs.v[:, :1]
    expected = run(inputs.q, k, v, scale=-0.3)
    np.testing.assert_allclose(expected, answer("jax", inputs, key=k, value=v, scale=-0.3), **CLOSE)
