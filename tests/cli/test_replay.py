"""``attncalc replay``: verdict, reasons, chunks and a decoder's own rows."""

import numpy as np

QKV = ("q.json", "k.json", "v.json")


def test_causal_attention_agrees(attncalc):
    record = attncalc("replay", *QKV, "--causal", "--alibi", "--format", "json").json
    assert record["schema"] == "attncalc.replay/1"
    assert record["agrees"] is True
    assert record["first_difference"] is None
    assert record["max_abs_error"] < 1e-12
    assert "✓ Both agree" in attncalc("replay", *QKV, "--causal").out


def test_the_future_cannot_be_replayed(attncalc):
    """Alone with its own key query 0 gives v0 = [10, 0]; with all three keys it does not: the exit code is still 0."""
    done = attncalc("replay", *QKV, "--format", "json")
    assert done.code == 0
    assert (done.json["agrees"], done.json["first_difference"]) == (False, 0)
    assert "which is not in the cache yet" in done.json["notes"][0]
    out = attncalc("replay", *QKV).out
    assert "✗ They part first at query 0" in out
    assert "output of query 0" in out


def test_chunks(attncalc):
    assert attncalc("replay", *QKV, "--chunk", "3", "--format", "json").json["agrees"]
    assert not attncalc("replay", *QKV, "--chunk", "2", "--format", "json").json["agrees"]
    assert "chunk" in attncalc.fails("replay", *QKV, "--chunk", "0")


def test_the_rows_of_a_decoder(attncalc):
    attncalc("compute", *QKV, "--causal", "--format", "json", "-o", "whole.json")
    assert attncalc("replay", *QKV, "--causal", "--got", "whole.json", "--format", "json").json["agrees"]
    attncalc.write(rows=[[10, 0], [0, 10], [10, 10]])
    record = attncalc("replay", *QKV, "--causal", "--got", "rows.json", "--format", "json").json
    assert (record["agrees"], record["first_difference"]) == (False, 1)
    np.testing.assert_allclose(
        record["max_abs_error"], 3.302384506733431
    )  # the causal weight of k0 in query 1, times 10
    assert "rows.json" in attncalc("replay", *QKV, "--causal", "--got", "rows.json").out
    assert attncalc("replay", *QKV, "--causal", "--got", "rows.json", "--atol", "5", "--format", "json").json["agrees"]


def test_rows_of_another_shape(attncalc):
    attncalc.write(rows=[[1, 2]])
    message = attncalc.fails("replay", *QKV, "--got", "rows.json")
    assert "--got   rows.json  1 × 2" in message


def test_standard_input_holds_the_rows(attncalc):
    done = attncalc("replay", *QKV, "--causal", "--got", "-", "--format", "json", stdin=b"[[10,0],[0,0],[0,0]]")
    assert done.json["first_difference"] == 1
