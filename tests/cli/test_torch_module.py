"""A real torch.nn.MultiheadAttention, recorded: its state dict gives its outputs and weights to twelve digits."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from attncalc import attention

RECORD = Path(__file__).parent.parent / "data" / "torch_mha.safetensors"
ARRAYS = load_file(RECORD)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}

RUNS = {
    "joined": {},
    "masked": {"mask": ARRAYS["record.blocked"], "padding": ARRAYS["record.padding"], "like": "torch-mha"},
    "apart": {"context": ARRAYS["record.context"]},
}


@pytest.mark.parametrize("name", RUNS)
def test_the_module_s_own_numbers(name):
    prefix = "joined" if name == "masked" else name
    result = attention(x=ARRAYS["record.x"], weights=ARRAYS, weights_prefix=prefix, heads=3, **RUNS[name])
    np.testing.assert_allclose(result.weights, ARRAYS[f"record.{name}.weights"], **CLOSE)
    np.testing.assert_allclose(result.output, ARRAYS[f"record.{name}.output"], **CLOSE)


def test_the_record_tests_something():
    assert np.ptp(ARRAYS["joined.in_proj_bias"]) > 1
    assert (ARRAYS["record.masked.weights"] == 0).any()
    assert "apart.q_proj_weight" in ARRAYS
    assert "joined.in_proj_weight" in ARRAYS


def test_from_the_command_line(attncalc):
    done = attncalc("compute", "--x", f"{RECORD}:record.x", "--weights", str(RECORD), "--weights-prefix", "joined",
                    "--heads", "3", "--format", "npz", "--show", "weights,output", "-o", "out.npz")  # fmt: skip
    assert done.code == 0, done.err
    with np.load(attncalc.folder / "out.npz") as got:
        np.testing.assert_allclose(got["output"], ARRAYS["record.joined.output"], **CLOSE)
        np.testing.assert_allclose(got["weights"], ARRAYS["record.joined.weights"], **CLOSE)


def test_without_a_prefix_the_layers_are_named(attncalc):
    message = attncalc.fails("compute", "--x", f"{RECORD}:record.x", "--weights", str(RECORD), "--heads", "3")
    assert "weights holds a whole model, and one layer is needed" in message
    assert "hint: --weights-prefix apart" in message
