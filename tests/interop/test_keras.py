"""keras.layers.MultiHeadAttention and keras.layers.Attention, on whichever back-end keras is set to."""

import os

import numpy as np
import pytest
from interop.shared import answer

os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras", reason="keras is in the extra interop")
if keras.backend.backend() == "torch":
    pytest.importorskip("torch", reason="keras uses torch, which is in the extra interop")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # keras and numpy 2, not ours

CLOSE = {"rtol": 2e-5, "atol": 2e-6}


def array(result):
    return keras.ops.convert_to_numpy(result)


def one_head(inputs, **arrays):
    """Give Q, K and V of the first head, float32."""
    given = {"query": inputs.q, "key": inputs.k, "value": inputs.v} | arrays
    return [given[name][:, 0].astype(np.float32) for name in ("query", "key", "value")]


def mha(q, k, v, scores=True, window=None, **options):
    """Call a layer of one head whose matrices are identities."""
    width = q.shape[-1]
    layer = keras.layers.MultiHeadAttention(1, width, use_bias=False, sliding_window=window)
    layer.build(q.shape, v.shape, k.shape)
    identity = np.eye(width, dtype=np.float32)
    layer.set_weights([identity[:, np.newaxis]] * 3 + [identity[np.newaxis]])
    result = layer(q, v, k, return_attention_scores=scores, **options)
    return array(result[0] if scores else result)


def ours(dialect, q, k, v, inputs, **options):
    return answer(dialect, inputs, query=q, key=k, value=v, layout="btd", **options)


@pytest.mark.parametrize("mask", ["mask", "empty", "zero_one"])
def test_mha_masks(inputs, mask):
    q, k, v = one_head(inputs)
    given = getattr(inputs, mask)[:, 0]
    np.testing.assert_allclose(
        mha(q, k, v, attention_mask=given), ours("keras-mha", q, k, v, inputs, mask=given), **CLOSE
    )


def test_mha_without_scores_gives_the_mean(inputs):
    q, k, v = one_head(inputs)
    expected = mha(q, k, v, scores=False, attention_mask=inputs.empty[:, 0])
    got = ours("keras-mha", q, k, v, inputs, mask=inputs.empty[:, 0], empty_rows="uniform")
    np.testing.assert_allclose(expected, got, **CLOSE)


def test_mha_causal_starts_upper_left(inputs):
    q, k, v = one_head(inputs)
    expected = mha(q, k, v, use_causal_mask=True)
    np.testing.assert_allclose(expected, ours("keras-mha", q, k, v, inputs, causal=True), **CLOSE)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_mha_windows_count_the_query_s_own_key_and_hold_on_both_sides(inputs, window):
    _, k, v = one_head(inputs)
    expected = mha(k, k, v, window=window)
    np.testing.assert_allclose(expected, ours("keras-mha", k, k, v, inputs, window_left=window), **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_mha_nan(inputs, which):
    q, k, v = one_head(inputs, **{which: getattr(inputs, f"nan_{which}")})
    mask = inputs.hides_it[:, 0]
    expected = mha(q, k, v, attention_mask=mask)
    assert np.isnan(expected).any() == (which == "value")
    np.testing.assert_allclose(expected, ours("keras-mha", q, k, v, inputs, mask=mask), **CLOSE)


def attention(q, k, v, **options):
    return array(keras.layers.Attention()([q, v, k], **options))


def test_attention_does_not_scale(inputs):
    q, k, v = one_head(inputs)
    np.testing.assert_allclose(attention(q, k, v), ours("keras-attention", q, k, v, inputs), **CLOSE)


def test_attention_causal_starts_upper_left(inputs):
    q, k, v = one_head(inputs)
    expected = attention(q, k, v, use_causal_mask=True)
    np.testing.assert_allclose(expected, ours("keras-attention", q, k, v, inputs, causal=True), **CLOSE)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_attention_without_any_key(inputs, size):
    """Small scores are lost in a billion, which leaves the mean of V; large ones are not."""
    q, k, v = one_head(inputs)
    q = (q * size).astype(np.float32)
    padding = np.array([[True] * 3 + [False] * 2, [False] * 5])
    expected = attention(q, k, v, mask=[None, padding])
    got = ours("keras-attention", q, k, v, inputs, padding=padding, dtype="float32")
    np.testing.assert_allclose(expected, got, rtol=1e-4, atol=1e-5)
    mean = v[1].mean(axis=0)[np.newaxis].repeat(len(q[1]), 0)
    assert np.allclose(expected[1], mean, rtol=1e-4, atol=1e-5) == (size == 1)


@pytest.mark.parametrize("which", ["value", "key"])
def test_attention_nan(inputs, which):
    q, k, v = one_head(inputs, **{which: getattr(inputs, f"nan_{which}")})
    padding = np.array([[True] * 5, [True, True, True, False, True]])
    expected = attention(q, k, v, mask=[None, padding])
    assert np.isnan(expected).any()
    np.testing.assert_allclose(expected, ours("keras-attention", q, k, v, inputs, padding=padding), **CLOSE)
