"""Every node test of the ONNX ``Attention`` operator that the onnx package generates.

Inputs and expected values are onnx's own, worked out by its reference implementation in the type of the case; here the
arithmetic is float64, under ``like`` of the case's opset.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from attncalc import attention

onnx = pytest.importorskip("onnx", reason="onnx is in the extra test")

NOT_COVERED: dict[str, str] = {}
"""Cases for which attncalc has no counterpart, and why; every other case is run."""

AT_LEAST = 93
"""So many cases onnx 1.23.2 generates, opsets 23 to 25."""

MODES = ("scaled", "capped", "scores", "weights")
"""Stages by qk_matmul_output_mode, in the numbering of onnx 1.23."""

TOLERANCES = {"float32": (1e-5, 1e-6), "float16": (2e-3, 2e-3), "bfloat16": (2e-2, 2e-2)}

OPTIONS = {
    "q_num_heads": "heads",
    "kv_num_heads": "kv_heads",
    "scale": "scale",
    "softcap": "softcap",
    "is_causal": "causal",
    "left_window_size": "window_left",
    "right_window_size": "window_right",
}
"""Attributes and the options that they are; softmax_precision and the output mode are neither."""

INPUTS = {
    "Q": "query",
    "K": "key",
    "V": "value",
    "attn_mask": "mask",
    "past_key": "past_key",
    "past_value": "past_value",
    "nonpad_kv_seqlen": "lengths",
}


@dataclass(frozen=True)
class Case:
    """One node test."""

    name: str
    opset: int
    attributes: dict[str, Any]
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]


def collect() -> list[Case]:
    """Generate the cases as onnx does, without building models of them."""
    from onnx.backend.test.case.node import attention as cases

    found: list[Case] = []

    def keep(node: Any, inputs: Any, outputs: Any, name: str, opset_imports: Any = (), **_: Any) -> None:
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        given = dict(zip([n for n in node.input if n], inputs, strict=True))
        expected = dict(zip([n for n in node.output if n], outputs, strict=True))
        found.append(Case(name, opset_imports[0].version, attributes, given, expected))

    state = np.random.get_state()
    np.random.seed(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "expect", keep)
        for name in sorted(vars(cases.Attention)):
            if name.startswith("export"):
                getattr(cases.Attention, name)()
    np.random.set_state(state)
    return found


CASES = collect()


def test_every_case_is_run_or_has_a_reason():
    assert len(CASES) >= AT_LEAST
    assert len({case.name for case in CASES}) == len(CASES)
    assert set(NOT_COVERED) <= {case.name for case in CASES}
    known = {*OPTIONS, "qk_matmul_output_mode", "softmax_precision"}
    for case in CASES:
        assert set(case.attributes) <= known, case.name
        assert set(case.inputs) <= set(INPUTS), case.name


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in NOT_COVERED], ids=lambda case: case.name)
def test_node(case):
    dtype = str(case.inputs["Q"].dtype)
    rtol, atol = TOLERANCES[dtype]
    options = {OPTIONS[name]: value for name, value in case.attributes.items() if name in OPTIONS}
    options |= {name: None for name in ("window_left", "window_right") if options.get(name) == -1}
    options["causal"] = bool(options.get("causal"))
    arrays = {INPUTS[name]: widened(array) for name, array in case.inputs.items()}
    result = attention(**arrays, **options, like=f"onnx-{case.opset}", stages=("key", "value", "output", *MODES))
    stages = {
        "Y": result.output,
        "present_key": result.key,
        "present_value": result.value,
        "qk_matmul_output": result.stages[MODES[case.attributes.get("qk_matmul_output_mode", 0)]],
    }
    for name, expected in case.outputs.items():
        np.testing.assert_allclose(stages[name], widened(expected), rtol=rtol, atol=atol, err_msg=name)


def widened(array: np.ndarray) -> np.ndarray:
    """Give float64 for every floating-point type; masks of booleans and lengths stay what they are."""
    return array if array.dtype.kind in "bi" else array.astype(np.float64)
