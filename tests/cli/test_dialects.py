"""``attncalc dialects`` and ``--like``: the list, the comparison, the header."""

import numpy as np

QKV = ("q.json", "k.json", "v.json")
NAMES = [
    "torch-sdpa", "torch-mha", "onnx-23", "onnx-24", "onnx-25", "jax", "keras-mha", "keras-attention",
    "flash-attention-2", "hf-eager", "mlx",
]  # fmt: skip


def write_mask(attncalc, rows):
    (attncalc.folder / "m.json").write_text(str(rows).replace("True", "true").replace("False", "false"))


def test_the_list(attncalc):
    done = attncalc("dialects")
    assert done.code == 0
    for name in NAMES:
        assert name in done.out
    assert "measured on torch 2.13.0" in done.out.replace("\n", " ")
    record = attncalc("dialects", "--format", "json").json
    assert [row["dialect"] for row in record["rows"]] == NAMES
    assert all(row["known"] in ("measured on", "read in the source of") for row in record["rows"])


def test_the_list_takes_no_rules(attncalc):
    assert "--causal needs Q, K and V" in attncalc.fails("dialects", "--causal")


def test_where_they_part(attncalc):
    write_mask(attncalc, [[True, True, True], [False, False, False], [True, True, True]])
    done = attncalc("dialects", *QKV, "--mask", "m.json", "--format", "json")
    rows = {row["dialect"]: row for row in done.json["rows"]}
    assert list(rows) == NAMES
    assert rows["torch-sdpa"]["output"][1] == [0, 0]
    assert rows["torch-sdpa"]["differs"] == [1]
    np.testing.assert_allclose(rows["jax"]["output"][1], [20 / 3, 20 / 3])  # the mean of all values
    assert rows["torch-mha"]["output"][0] == [None, None]  # true is blocked there: queries 0 and 2 see nothing
    assert rows["flash-attention-2"]["output"] is None
    assert rows["flash-attention-2"]["reason"] == "has no mask"
    assert "an error under the rules in force" in done.err
    page = attncalc("dialects", *QKV, "--mask", "m.json").out
    assert "output of query 1" in page
    assert "has no mask" in page


def test_numbers_in_a_mask_are_told(attncalc):
    attncalc.write(m=[[1, 0, 1]] * 3)
    done = attncalc("compute", *QKV, "--mask", "m.json", "--like", "torch-sdpa", "--format", "json")
    assert "adds them to the scores" in done.err
    assert done.json["options"]["mask"] is None
    assert done.json["options"]["bias"] == [[1, 0, 1]] * 3
    plain = attncalc("compute", *QKV, "--mask", "m.json", "--like", "torch-sdpa", "--mask-true", "allowed", "--format",
                     "json")  # fmt: skip
    assert plain.json["weights"][0][1] == 0


def test_true_and_false_are_a_mask(attncalc):
    write_mask(attncalc, [[True, False, True]] * 3)
    sdpa = attncalc("compute", *QKV, "--mask", "m.json", "--like", "torch-sdpa", "--format", "json").json
    mha = attncalc("compute", *QKV, "--mask", "m.json", "--like", "torch-mha", "--format", "json").json
    assert [row[1] for row in sdpa["weights"]] == [0, 0, 0]
    assert mha["weights"] == [[0, 1, 0]] * 3
    assert mha["options"]["mask_true"] == "blocked"


def test_the_header_says_what_the_dialect_changed_and_how_that_is_known(attncalc):
    out = attncalc("compute", *QKV, "--causal", "--like", "flash-attention-2", "--empty-rows", "nan").out
    line = next(line for line in out.splitlines() if line.startswith("like"))
    assert "flash-attention-2, read in the source of flash-attention 2" in line
    assert "causal-align lower-right" in line
    assert "empty-rows" not in line  # that one was asked for


def test_the_json_of_compute_says_it_too(attncalc):
    record = attncalc("compute", *QKV, "--like", "keras-attention", "--format", "json").json
    assert record["options"]["scale"] == 1
    assert record["like"]["version"] == "keras 3.15.1"
    assert record["like"]["changed"]["scale"] == "1"


def test_an_unknown_dialect(attncalc):
    message = attncalc.fails("compute", *QKV, "--like", "torch-sdap")
    assert "there is no dialect torch-sdap" in message
    assert "torch-sdpa" in message
