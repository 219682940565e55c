"""``attncalc precision``: rows, types and the page."""

QKV = ("q.json", "k.json", "v.json")


def test_rows(attncalc):
    record = attncalc("precision", *QKV, "--format", "json").json
    assert record["schema"] == "attncalc.precision/1"
    assert set(record["rows"][0]) == {"dtype", "stage", "max_abs_error", "max_rel_error", "max_ulp_error"}
    assert [row["dtype"] for row in record["rows"]] == ["float32"] * 9 + ["float16"] * 9 + ["bfloat16"] * 9
    raw = [row for row in record["rows"] if row["stage"] == "raw"]
    assert all(row["max_abs_error"] == 0 for row in raw)  # 0, 1 and 2 are exact in every type
    assert record["options"]["dtype"] == "float64"


def test_one_type(attncalc):
    record = attncalc("precision", *QKV, "--dtype", "float16", "--format", "json").json
    assert {row["dtype"] for row in record["rows"]} == {"float16"}
    assert set(record["worst"]) == {"float16"}
    assert "float32, float16, bfloat16" in attncalc.fails("precision", *QKV, "--dtype", "float64")


def test_the_page(attncalc):
    out = attncalc("precision", *QKV).out
    assert "Most is lost in" in out
    assert out.count("largest absolute error") == 3


def test_a_type_that_is_too_narrow(attncalc):
    attncalc.write(q=[[1000.0]], k=[[1000.0]], v=[[1.0]])
    done = attncalc("precision", *QKV, "--dtype", "float16")
    assert "raw is not finite in float16" in done.err
    assert "∞" in done.out
