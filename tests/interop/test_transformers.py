"""The eager attention of transformers: Gemma 2 for the soft cap, gpt-oss for the sink."""

import warnings

import numpy as np
import pytest
from interop.shared import answer, bthd

torch = pytest.importorskip("torch", reason="torch is in the extra interop")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    gemma2 = pytest.importorskip(
        "transformers.models.gemma2.modeling_gemma2", reason="transformers is in the extra interop"
    )
    gpt_oss = pytest.importorskip("transformers.models.gpt_oss.modeling_gpt_oss")

CLOSE = {"rtol": 2e-5, "atol": 2e-6}
SCALE = 0.4


class Layer(torch.nn.Module):
    """What the functions ask of a layer."""

    def __init__(self, groups=1, sinks=None):
        super().__init__()
        self.num_key_value_groups = groups
        self.sinks = sinks
        self.eval()


def run(q, k, v, mask=None, dtype=torch.float32, sinks=None, **options):
    """Call the eager function with a mask as masking_utils make it: 0 where allowed, the lowest number elsewhere."""
    q, k, v = (torch.from_numpy(np.ascontiguousarray(each)).to(dtype) for each in (q, k, v))
    added = None
    if mask is not None:
        added = torch.zeros(mask.shape, dtype=dtype).masked_fill(~torch.from_numpy(mask), torch.finfo(dtype).min)
    layer = Layer(q.shape[1] // k.shape[1], sinks)
    function = (gpt_oss if sinks is not None else gemma2).eager_attention_forward
    return bthd(function(layer, q, k, v, added, scaling=SCALE, **options)[0].numpy())


@pytest.mark.parametrize("mask", ["mask", "empty"])
def test_masks(inputs, mask):
    given = getattr(inputs, mask)
    expected = run(inputs.q, inputs.k, inputs.v, given)
    np.testing.assert_allclose(expected, answer("hf-eager", inputs, mask=given, scale=SCALE), **CLOSE)


def test_softcap_comes_before_the_mask(inputs):
    expected = run(inputs.q, inputs.k, inputs.v, inputs.mask, softcap=0.5)
    np.testing.assert_allclose(
        expected, answer("hf-eager", inputs, mask=inputs.mask, scale=SCALE, softcap=0.5), **CLOSE
    )


def test_sinks(inputs):
    sinks = torch.tensor([0.1, -1.0, 2.0])
    expected = run(inputs.q, inputs.k, inputs.v, inputs.empty, sinks=sinks)
    got = answer("hf-eager", inputs, mask=inputs.empty, scale=SCALE, sink=sinks.numpy())
    np.testing.assert_allclose(expected, got, **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_nan_gets_through(inputs, which):
    given = {which: getattr(inputs, f"nan_{which}")}
    arrays = {"query": inputs.q, "key": inputs.k, "value": inputs.v} | given
    expected = run(*arrays.values(), inputs.hides_it)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(
        expected, answer("hf-eager", inputs, mask=inputs.hides_it, scale=SCALE, **given), **CLOSE
    )


def test_float16_scores_survive_the_mask():
    q, k, v = np.array([[[[1.0]]]]), np.array([[[[0.0], [50.0], [0.0]]]]), np.array([[[[1.0], [3.0], [8.0]]]])
    mask = np.zeros((1, 1, 1, 3), dtype=bool)
    expected = run(q, k, v, mask, dtype=torch.float16)
    assert expected.ravel() == [3.0]
    arrays = {"query": q, "key": k, "value": v}
    np.testing.assert_array_equal(answer("hf-eager", None, mask=mask, scale=SCALE, dtype="float16", **arrays), expected)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_windows_count_the_query_s_own_key(inputs, window):
    from transformers.masking_utils import sliding_window_causal_mask_function

    rule = sliding_window_causal_mask_function(window)
    offset = inputs.k.shape[2] - inputs.q.shape[2]
    tokens = torch.arange(inputs.k.shape[2])
    mask = rule(0, 0, tokens[offset:, None], tokens[None, :]).numpy()[np.newaxis, np.newaxis]
    expected = run(inputs.q, inputs.k, inputs.v, mask)
    got = answer("hf-eager", inputs, causal=True, window_left=window, scale=SCALE)
    np.testing.assert_allclose(expected, got, **CLOSE)
