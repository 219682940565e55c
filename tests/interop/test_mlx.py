"""mlx.core.fast.scaled_dot_product_attention on a CPU."""

import numpy as np
import pytest
from interop.shared import answer

mx = pytest.importorskip("mlx.core", reason="mlx is in the extra interop")
CLOSE = {"rtol": 2e-5, "atol": 2e-6}
SCALE = 0.4


def run(q, k, v, **options):
    arrays = [mx.array(each.astype(np.float32)) for each in (q, k, v)]
    options = {n: mx.array(each) if isinstance(each, np.ndarray) else each for n, each in options.items()}
    return np.array(mx.fast.scaled_dot_product_attention(*arrays, scale=SCALE, stream=mx.cpu, **options))


@pytest.mark.parametrize("mask", ["mask", "empty", "zero_one", "minus_infinity"])
def test_masks(inputs, mask):
    given = getattr(inputs, mask)
    given = given.astype(np.float32) if given.dtype == float else given
    expected = run(inputs.q, inputs.k, inputs.v, mask=given)
    np.testing.assert_allclose(expected, answer("mlx", inputs, mask=given, scale=SCALE), **CLOSE)


def test_causal_starts_lower_right(inputs):
    expected = run(inputs.q, inputs.k, inputs.v, mask="causal")
    np.testing.assert_allclose(expected, answer("mlx", inputs, causal=True, scale=SCALE), **CLOSE)


def test_sinks(inputs):
    sinks = np.array([0.1, -1.0, 2.0], dtype=np.float32)
    expected = run(inputs.q, inputs.k, inputs.v, mask=inputs.empty, sinks=sinks)
    np.testing.assert_allclose(expected, answer("mlx", inputs, mask=inputs.empty, sink=sinks, scale=SCALE), **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_nan(inputs, which):
    given = {which: getattr(inputs, f"nan_{which}")}
    arrays = {"query": inputs.q, "key": inputs.k, "value": inputs.v} | given
    expected = run(*arrays.values(), mask=inputs.hides_it)
    assert np.isnan(expected).any() == (which == "value")
    np.testing.assert_allclose(expected, answer("mlx", inputs, mask=inputs.hides_it, scale=SCALE, **given), **CLOSE)


def test_grouped_heads(inputs):
    k, v = inputs.k[:, :1], inputs.v[:, :1]
    np.testing.assert_allclose(run(inputs.q, k, v), answer("mlx", inputs, key=k, value=v, scale=SCALE), **CLOSE)


def test_the_scale_is_required(inputs):
    q = mx.array(inputs.q.astype(np.float32))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        mx.fast.scaled_dot_product_attention(q, q, q)
