"""``attncalc check`` as users run it."""

import io

import numpy as np
import pytest

from attncalc import attention

Q = K = [[1, 0], [0, 1], [1, 1]]
V = [[10, 0], [0, 10], [10, 10]]
FILES = ("q.json", "k.json", "v.json")
CAUSAL = attention(Q, K, V, causal=True)
OPEN = attention(Q, K, V)


def test_a_right_answer_exits_with_0(attncalc):
    attncalc.write(got=CAUSAL.output)
    done = attncalc("check", *FILES, "--causal", "--got", "got.json")
    assert done.code == 0
    assert "✓ The output is right." in done.out


def test_a_wrong_answer_exits_with_1_and_gets_its_name(attncalc):
    attncalc.write(got=OPEN.output)
    done = attncalc("check", *FILES, "--causal", "--got", "got.json")
    assert done.code == 1
    assert "✗ The output is wrong: 4 of 6 numbers are off." in done.out
    assert "causal-ignored: the causal mask is left out" in done.out
    assert "query 0, column 1: got 5.9888791, right is 0" in done.out


def test_quiet_prints_nothing(attncalc):
    attncalc.write(right=CAUSAL.output, wrong=OPEN.output)
    for name, code in (("right", 0), ("wrong", 1)):
        done = attncalc("check", *FILES, "--causal", "--got", f"{name}.json", "-q", "--format", "json")
        assert (done.code, done.data, done.err) == (code, b"", "")


def test_json_has_the_keys_of_the_contract(attncalc):
    attncalc.write(got=OPEN.output)
    record = attncalc("check", *FILES, "--causal", "--got", "got.json", "--format", "json").json
    assert record["schema"] == "attncalc.check/1"
    assert record["agrees"] is False
    assert record["options"]["causal"] == "upper-left"
    assert record["worst"] == {"index": [0, 1], "got": OPEN.output[0, 1], "expected": 0.0}
    assert record["mistakes"] == [
        {"id": "causal-ignored", "title": "the causal mask is left out", "max_abs_error": 0.0}
    ]
    assert (record["rtol"], record["atol"], record["stage"]) == (1e-9, 1e-12, "output")


def test_a_pair_has_ids(attncalc):
    rng = np.random.default_rng(2)
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    attncalc.write(q=q, k=k, v=v, got=attention(q, k, v, scale=1.0).output)
    record = attncalc("check", *FILES, "--causal", "--got", "got.json", "--format", "json").json
    assert record["mistakes"][0]["ids"] == ["scale-missing", "causal-ignored"]


def test_nan_is_null_in_json(attncalc):
    got = CAUSAL.output.copy()
    got[1, 0] = np.nan
    with io.BytesIO() as file:
        np.save(file, got)
        (attncalc.folder / "got.npy").write_bytes(file.getvalue())
    done = attncalc("check", *FILES, "--causal", "--got", "got.npy", "--format", "json")
    assert done.code == 1
    assert done.json["worst"] == {"index": [1, 0], "got": None, "expected": CAUSAL.output[1, 0]}


def test_attncalcs_own_json_is_an_answer(attncalc):
    (attncalc.folder / "mine.json").write_text(
        attncalc("compute", *FILES, "--causal", "--show", "scores,weights,output", "--format", "json").out
    )
    for stage in ("scores", "weights", "output"):
        assert attncalc("check", *FILES, "--causal", "--got", "mine.json", "--stage", stage).code == 0
    assert attncalc("check", *FILES, "--got", "mine.json").code == 1


def test_standard_input_is_an_answer(attncalc):
    text = "\n".join(",".join(map(str, row)) for row in CAUSAL.output.round(3)).encode()
    assert attncalc("check", *FILES, "--causal", "--got", "-", stdin=text).code == 0


def test_a_list_is_the_answer_of_one_query(attncalc):
    attncalc.write(q=[1, 0], got=attention([1, 0], K, V).output[0])
    assert attncalc("check", *FILES, "--got", "got.json").code == 0


@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex"])
def test_every_page_format_works(attncalc, format):
    attncalc.write(got=OPEN.output)
    done = attncalc("check", *FILES, "--causal", "--got", "got.json", "--format", format)
    assert done.code == 1
    assert "causal-ignored" in done.out


def test_misuse_exits_with_2(attncalc):
    assert "hint: --got FILE" in attncalc.fails("check", *FILES)
    assert "missing.json" in attncalc.fails("check", *FILES, "--got", "missing.json")
    assert "did you mean weights" in attncalc.fails("check", *FILES, "--got", "v.json", "--stage", "weigths")
    assert "--rtol" in attncalc.fails("check", *FILES, "--got", "v.json", "--rtol", "x")


def test_of_several_heads_the_one_that_is_off_most_is_shown(attncalc):
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 4, 5)), rng.normal(size=(2, 4, 3))
    got = attention(q, k, v).output.copy()
    got[1, 2, 0] += 1
    attncalc.write(q=q, k=k, v=v, got=got)
    out = attncalc("check", *FILES, "--got", "got.json").out
    assert "this answer · head 1" in out
    assert "head 1 of 2; query 2 of 3; column 0 of 3" in out


@pytest.mark.parametrize(
    ("name", "text", "shape"),
    [
        ("a.json", "[]", "0"),
        ("a.json", " [ ] ", "0"),
        ("a.json", "[[], []]", "2 × 0"),
        ("a.npy", None, "a single number"),
    ],
)
def test_an_answer_of_another_shape_is_wrong_whatever_the_shape(attncalc, name, text, shape):
    if text is None:
        np.save(attncalc.folder / name, np.float64(3))
    else:
        (attncalc.folder / name).write_text(text)
    done = attncalc("check", *FILES, "--got", name)
    assert done.code == 1
    assert f"its shape is {shape}, not 3 × 2" in done.out


def test_the_hint_names_no_other_command(attncalc):
    said = attncalc.fails("check", "--got", "q.json")
    assert "hint: q.json k.json v.json" in said
    assert "compute" not in said


def test_texts_as_an_answer_name_the_file(attncalc):
    np.save(attncalc.folder / "t.npy", np.array(["a", "b"]))
    assert "t.npy" in attncalc.fails("check", *FILES, "--got", "t.npy")


def test_scientific_text_of_a_right_answer_agrees(attncalc):
    for form in ("%.3e", "%.6e", "%.8e", "%.13e", "%.6g", "%.9g", "%.12g"):
        np.savetxt(attncalc.folder / "a.txt", CAUSAL.output, fmt=form)
        assert attncalc("check", *FILES, "--causal", "--got", "a.txt").code == 0, form
