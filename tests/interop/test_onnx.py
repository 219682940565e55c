"""ONNX Attention: the reference implementation of the onnx package, and onnxruntime on a CPU."""

import numpy as np
import pytest
from interop.shared import answer

onnx = pytest.importorskip("onnx", reason="onnx is in the extra interop")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is in the extra interop")

CLOSE = {"rtol": 2e-5, "atol": 2e-6}  # both compute in float32 here


def model(opset, arrays, **attributes):
    """Make a model of one Attention node."""
    helper = onnx.helper
    names = ["Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"]
    last = max(names.index(name) for name in arrays)
    wired = [name if name in arrays else "" for name in names[: last + 1]]
    outputs = ["Y", "present_key", "present_value"] if "past_key" in arrays else ["Y"]  # onnxruntime wants them
    node = helper.make_node("Attention", wired, outputs, **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in arrays.items()
    ]
    results = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "attention", inputs, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def reference(opset, arrays, **attributes):
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model(opset, arrays, **attributes)).run(None, arrays)[0]


def runtime(opset, arrays, **attributes):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model(opset, arrays, **attributes).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, arrays)[0]


def arrays_of(inputs, **more):
    given = {"Q": inputs.q, "K": inputs.k, "V": inputs.v} | more
    return {name: array.astype(np.float32) if array.dtype == float else array for name, array in given.items()}


BOTH = pytest.mark.parametrize("run", [reference, runtime])
OPSETS = pytest.mark.parametrize("opset", [23, 24])  # onnxruntime 1.32 has no 25 yet; the node tests cover it


@BOTH
@OPSETS
@pytest.mark.parametrize("mask", ["mask", "empty", "zero_one", "minus_infinity"])
def test_masks(inputs, run, opset, mask):
    expected = run(opset, arrays_of(inputs, attn_mask=getattr(inputs, mask)))
    np.testing.assert_allclose(expected, answer(f"onnx-{opset}", inputs, mask=getattr(inputs, mask)), **CLOSE)


@BOTH
def test_integers_in_a_mask_are_added(inputs, run):
    mask = inputs.mask.astype(np.int64)
    expected = run(24, arrays_of(inputs, attn_mask=mask))
    np.testing.assert_allclose(expected, answer("onnx-24", inputs, mask=mask), **CLOSE)


@BOTH
@OPSETS
def test_causal(inputs, run, opset):
    expected = run(opset, arrays_of(inputs), is_causal=1)
    np.testing.assert_allclose(expected, answer(f"onnx-{opset}", inputs, causal=True), **CLOSE)


@BOTH
def test_causal_after_a_cache(inputs, run):
    past = {"past_key": inputs.k[:, :, :2], "past_value": inputs.v[:, :, :2]}
    new = {"K": inputs.k[:, :, 2:], "V": inputs.v[:, :, 2:]}
    expected = run(24, arrays_of(inputs, **new, **past), is_causal=1)
    got = answer("onnx-24", inputs, key=new["K"], value=new["V"], causal=True, **past)
    np.testing.assert_allclose(expected, got, **CLOSE)


@BOTH
def test_causal_with_lengths(inputs, run):
    lengths = np.array([4, 5])
    expected = run(24, arrays_of(inputs, nonpad_kv_seqlen=lengths), is_causal=1)
    np.testing.assert_allclose(expected, answer("onnx-24", inputs, lengths=lengths, causal=True), **CLOSE)


@BOTH
def test_softcap_and_scale(inputs, run):
    expected = run(24, arrays_of(inputs, attn_mask=inputs.empty), softcap=0.5, scale=0.7)
    np.testing.assert_allclose(expected, answer("onnx-24", inputs, mask=inputs.empty, softcap=0.5, scale=0.7), **CLOSE)


@BOTH
@pytest.mark.parametrize("which", ["value", "key"])
def test_nan_gets_through(inputs, run, which):
    given = {which: getattr(inputs, f"nan_{which}")}
    expected = run(24, arrays_of(inputs, attn_mask=inputs.hides_it, **{which[0].upper(): given[which]}))
    assert np.isnan(expected).any()
    np.testing.assert_allclose(expected, answer("onnx-24", inputs, mask=inputs.hides_it, **given), **CLOSE)


@OPSETS
def test_the_reference_fills_up_short_masks(inputs, opset):
    mask = inputs.mask[..., :3]
    expected = reference(opset, arrays_of(inputs, attn_mask=mask))
    np.testing.assert_allclose(expected, answer(f"onnx-{opset}", inputs, mask=mask), **CLOSE)


def test_the_reference_has_no_answer_to_a_negative_scale(inputs):
    assert np.isnan(reference(24, arrays_of(inputs), scale=-1.0)).all()
    assert np.isnan(answer("onnx-24", inputs, scale=-1.0)).all()
