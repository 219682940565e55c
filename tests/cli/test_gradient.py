"""``attncalc gradient``: the numbers, the formulas on the page, and --grad."""

import json

import numpy as np
from oracle import attend

QKV = ("q.json", "k.json", "v.json")


def test_ones_unless_given(attncalc):
    """Each value gets the sum of its weights; rows of weights sum to 1, so that all of them get 3."""
    record = attncalc("gradient", *QKV, "--causal", "--format", "json").json
    assert record["schema"] == "attncalc.gradient/1"
    assert record["options"]["causal"] == "upper-left"
    weights = np.array(attend(*(json.loads((attncalc.folder / n).read_text()) for n in QKV), causal=True)["weights"])
    np.testing.assert_allclose(record["dv"], weights.sum(axis=0)[:, np.newaxis] * np.ones((3, 2)), rtol=1e-12)
    assert np.array(record["dq"]).shape == np.array(record["dk"]).shape == (3, 2)


def test_the_gradient_of_a_loss(attncalc):
    attncalc.write(g=[[1, 0], [0, 0], [0, 0]])
    record = attncalc("gradient", *QKV, "--grad", "g.json", "--format", "json").json
    assert record["dq"][1] == [0, 0]
    assert not np.any(np.array(record["dv"])[:, 1])


def test_grad_from_a_container(attncalc):
    np.savez(attncalc.folder / "g.npz", grad=np.zeros((3, 2)), other=np.ones(3))
    record = attncalc("gradient", *QKV, "--grad", "g.npz", "--format", "json").json
    assert not np.any(record["dq"])
    message = attncalc.fails("gradient", *QKV, "--grad", "g.npz:other")
    assert message.splitlines()[:2] == [
        "attncalc: error: grad must have the shape of the output",
        "  --grad  g.npz:other  3",
    ]


def test_the_page_tells_the_formulas_in_force(attncalc):
    out = attncalc("gradient", *QKV, "--softcap", "2", "--rope", "half", "--tokens", "the,cat,sat").out
    assert "dS = W ∘ (dW − rowsum(W ∘ dW))" in out
    assert "(capped / 2)²" in out
    assert "turned back" in out
    assert "the │" in out
    assert "capped" not in attncalc("gradient", *QKV).out


def test_a_page_has_a_matrix_for_each_batch_and_head(attncalc):
    attncalc.write(x=np.ones((2, 3, 2, 4)))
    out = attncalc("gradient", "x.json", "x.json", "x.json").out
    assert "dq · batch 1 · head 2" in out


def test_notes_go_to_standard_error(attncalc):
    attncalc.write(p=[[1, 0]])
    done = attncalc("gradient", *QKV, "--past-key", "p.json", "--past-value", "p.json", "--causal")
    assert "new keys and values" in done.err
    assert attncalc("gradient", *QKV, "--past-key", "p.json", "--past-value", "p.json", "-q").err == ""


def test_without_input_it_says_how(attncalc):
    assert "--example" in attncalc.fails("gradient")


def test_three_arrays_in_one_file(attncalc):
    assert attncalc("gradient", *QKV, "-o", "g.npz").code == 0
    with np.load(attncalc.folder / "g.npz") as found:
        assert sorted(found) == ["dk", "dq", "dv"]
    assert "upset the terminal" in attncalc.fails("gradient", *QKV, "--format", "npz", width=80)
