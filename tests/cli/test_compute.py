"""``attncalc compute``: stages, formats, and what a shell script relies on."""

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

QKV = ("q.json", "k.json", "v.json")

SAMPLES = Path(__file__).parents[2] / "samples"

CAUSAL_WEIGHTS = [[1, 0, 0], [0.3302384506733431, 0.6697615493266569, 0], [0.24825508, 0.24825508, 0.50348984]]
"""By hand: exp(0.7071) = 2.0281, and 1 / (1 + 2.0281) = 0.3302; exp(1.4142) = 4.1133, 2.0281 / 8.1695 = 0.2483."""


def test_the_three_default_stages_and_the_rules(attncalc):
    record = attncalc("compute", *QKV, "--causal", "--format", "json").json
    assert list(record) == ["schema", "shapes", "options", "notes", "scores", "weights", "output"]
    assert record["schema"] == "attncalc.compute/1"
    assert record["shapes"] == {"query": [3, 2], "key": [3, 2], "value": [3, 2], "output": [3, 2]}
    assert record["options"]["causal"] == "upper-left"
    assert record["options"]["scale"] == 1 / math.sqrt(2)
    assert record["scores"][0] == [1 / math.sqrt(2), None, None]
    np.testing.assert_allclose(record["weights"], CAUSAL_WEIGHTS, rtol=1e-7)
    np.testing.assert_allclose(record["output"][1], [3.302384506733431, 6.697615493266569], rtol=1e-12)


def test_options_of_the_json_repeat_the_run(attncalc):
    from attncalc import attention

    attncalc.write(bias=[[0, 1, -2]] * 3, mask=[[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    done = attncalc("compute", *QKV, "--causal", "--bias", "bias.json", "--mask", "mask.json", "--softcap", "2",
                    "--tokens", "a,b,c", "--pad-token", "a", "--empty-rows", "zero", "--sink", "0.5",
                    "--format", "json")  # fmt: skip
    record = done.json
    arrays = (json.loads((attncalc.folder / name).read_text()) for name in QKV)
    again = attention(*arrays, **record["options"])
    np.testing.assert_array_equal(again.output, record["output"])


def test_minus_infinity_in_a_bias_survives_the_json(attncalc):
    from attncalc import attention

    (attncalc.folder / "bias.json").write_text("[[0, -Infinity, 0]]")
    record = attncalc("compute", *QKV, "--bias", "bias.json", "--format", "json").json
    arrays = (json.loads((attncalc.folder / name).read_text()) for name in QKV)
    np.testing.assert_array_equal(attention(*arrays, **record["options"]).weights, record["weights"])


def test_an_empty_query_is_an_error_that_names_it(attncalc):
    attncalc.write(mask=[[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    message = attncalc.fails("compute", *QKV, "--mask", "mask.json", "--tokens", "the,cat,sat")
    assert message == (
        "attncalc: error: query 1 (cat) may attend to no key\n"
        "  hint: say what such a query gets: --empty-rows zero, nan or uniform\n"
    )


def test_a_mask_that_looks_inverted_is_hinted_at(attncalc):
    attncalc.write(mask=[[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert "--mask-true blocked" in attncalc.fails("compute", *QKV, "--mask", "mask.json")
    done = attncalc("compute", *QKV, "--mask", "mask.json", "--mask-true", "blocked", "--format", "json")
    np.testing.assert_allclose(done.json["weights"], CAUSAL_WEIGHTS, rtol=1e-7)


def test_errors_name_files_and_places(attncalc):
    attncalc.write(k=[[1, 0, 5], [0, 1, 5]])
    assert attncalc.fails("compute", *QKV) == (
        "attncalc: error: K and Q must have the same width\n  Q  q.json  3 × 2\n  K  k.json  2 × 3\n"
        "  hint: K looks transposed: it needs one row for each key\n"
    )
    (attncalc.folder / "v.csv").write_text("1,2\n3,nan\n5,6\n")
    message = attncalc.fails("compute", "q.json", "q.json", "v.csv")
    assert "V holds NaN" in message
    assert "v.csv  line 2, column 2" in message


def test_one_query_in_a_file_is_named_by_its_own_index(attncalc):
    (attncalc.folder / "one.json").write_text("[1, NaN]")
    assert "one.json  [1]" in attncalc.fails("compute", "one.json", "k.json", "v.json")


def test_a_bundle_and_its_extras(attncalc):
    bundle = {
        "Q": [[1, 0]],
        "K": [[1, 0], [0, 1]],
        "V": [[1], [2]],
        "mask": [[1, 0]],
        "tokens": ["x", "y"],
        "note": "?",
    }
    (attncalc.folder / "all.json").write_text(json.dumps(bundle))
    record = attncalc("compute", "all.json", "--format", "json").json
    assert record["weights"] == [[1.0, 0.0]]
    assert record["key_tokens"] == ["x", "y"]


def test_a_bundle_without_the_names_lists_those_it_has(attncalc):
    np.savez(attncalc.folder / "pos.npz", np.eye(2), np.eye(2))
    message = attncalc.fails("compute", "pos.npz")
    assert "arr_0" in message
    assert "arr_1" in message


@pytest.mark.parametrize("name", ["lengths", "padding", "mask", "bias", "sink", "past_key", "tokens", "Mask"])
@pytest.mark.parametrize(("value", "kind"), [("1", "a text"), ({}, "an object")])
def test_what_is_no_array_is_not_passed_over_where_it_means_one(attncalc, name, value, kind):
    arrays = {letter: np.eye(2).tolist() for letter in "qkv"}
    Path("all.json").write_text(json.dumps(arrays | {"made by": "me", name: value}))
    assert attncalc.fails("compute", "all.json") == f"attncalc: error: all.json:{name} is {kind}, not an array\n"
    Path("all.json").write_text(json.dumps(arrays | {"made by": "me", name: None}))
    assert attncalc("compute", "all.json").code == 0


def test_a_list_of_names_is_no_longer_than_a_message(attncalc):
    Path("many.json").write_text(json.dumps({f"a{n}": [1] for n in range(5000)}))
    message = attncalc.fails("compute", "many.json")
    assert "a19, and 4980 more" in message
    assert len(message) < 500


def test_a_name_beside_all_is_checked_too(attncalc):
    assert "there is no stage foo" in attncalc.fails("compute", *QKV, "--show", "all,foo")


@pytest.mark.parametrize(
    "options",
    [
        ("--alibi-slopes", "1e308"),
        ("--dtype", "float16", "--alibi-slopes", "1e36"),
        ("--dtype", "bfloat16", "--sink", "1e300"),
        ("--dtype", "float16", "--softcap", "1e-300"),
        ("--scale", "1e300"),
    ],
)
@pytest.mark.parametrize(
    "command", [("compute",), ("gradient",), ("precision",), ("check", "--got", "v.json"), ("audit",)]
)
def test_extreme_rules_are_computed_or_refused_without_a_warning(attncalc, command, options):
    done = attncalc(*command, *QKV, *options)
    assert done.code in (0, 1, 2)


def test_options_beat_a_bundle_and_files(attncalc):
    bundle = {"q": [[1, 0]], "k": [[1, 0], [0, 1]], "v": [[1], [2]], "mask": [[1, 0]], "tokens": ["x", "y"]}
    (attncalc.folder / "all.json").write_text(json.dumps(bundle))
    attncalc.write(mask=[[0, 1]])
    record = attncalc("compute", "all.json", "--mask", "mask.json", "--tokens", "a,b", "--format", "json").json
    assert record["weights"] == [[0.0, 1.0]]
    assert record["key_tokens"] == ["a", "b"]


def test_labels_of_files_become_tokens(attncalc):
    (attncalc.folder / "k.csv").write_text("the,1,0\ncat,0,1\nsat,1,1\n")
    (attncalc.folder / "v.csv").write_text("one,10,0\ntwo,0,10\nthree,10,10\n")
    record = attncalc("compute", "q.json", "k.csv", "v.csv", "--format", "json").json
    assert record["key_tokens"] == ["the", "cat", "sat"]
    record = attncalc("compute", "q.json", "k.json", "v.csv", "--format", "json").json
    assert record["key_tokens"] == ["one", "two", "three"]


def test_what_was_recognised_in_a_file_is_one_note_a_file(attncalc):
    samples = [str(SAMPLES / f"words_{letter}.csv") for letter in "qkv"]
    done = attncalc("compute", *samples, "--show", "weights")
    assert done.err.splitlines() == [
        f"attncalc: note: {name}: the first line is read as a header and the first column as labels" for name in samples
    ]
    attncalc("compute", "--example", "causal-words", "--show", "value", "-o", "v.csv")
    assert attncalc("compute", "v.csv", "v.csv", "v.csv").err == ""


@pytest.mark.parametrize(
    ("data", "labels"),
    [
        ('["a", "b", "c"]', ["a", "b", "c"]),
        ("[1, 2, 3]", ["1", "2", "3"]),
        ("a\nb\nc\n", ["a", "b", "c"]),
        ("a, b,c\n", ["a", "b", "c"]),
        ("[a]\n[b]\n[c]", ["[a]", "[b]", "[c]"]),
    ],
)
def test_labels_from_a_file(attncalc, data, labels):
    (attncalc.folder / "t.txt").write_text(data)
    done = attncalc("compute", *QKV, "--tokens", "t.txt", "--format", "json")
    assert done.json["key_tokens"] == labels
    commas = "attncalc: note: t.txt: its one line is read as 3 labels, separated by commas\n"
    assert done.err == (commas if data.startswith("a,") else "")


def test_labels_from_a_result(attncalc):
    attncalc("compute", *QKV, "--tokens", "a,b,c", "-o", "own.json")
    done = attncalc("compute", *QKV, "--tokens", "own.json:query_tokens", "--format", "json")
    assert done.json["key_tokens"] == ["a", "b", "c"]
    assert "own.json: is a JSON object, not a list of texts\n  hint: own.json:query_tokens" in attncalc.fails(
        "compute", *QKV, "--tokens", "own.json"
    )


@pytest.mark.parametrize("text", ["nosuch.txt", "nosuch.json", "nosuch.json.gz", "folder/tokens", "nosuch.npz:tokens"])
def test_labels_that_can_only_be_a_file_are_no_label(attncalc, text):
    path = text.partition(":")[0]
    assert f"attncalc: error: {path}: no such file" in attncalc.fails("compute", *QKV, "--tokens", text)


@pytest.mark.parametrize("text", ["</s>", "a.b", "x"])
def test_one_label_is_a_label(attncalc, text):
    attncalc.write(q=[[1, 0]])
    assert attncalc("compute", *QKV, "--query-tokens", text, "--format", "json").json["query_tokens"] == [text]


def test_too_few_labels_name_their_file(attncalc):
    (attncalc.folder / "t.txt").write_text("a\nb\n")
    message = attncalc.fails("compute", *QKV, "--tokens", "t.txt")
    assert message == ("attncalc: error: tokens has 2 labels, for 3 queries and 3 keys\n  --tokens  t.txt\n")


@pytest.mark.parametrize("source", ["two.npz:a", "two.npz:"])
def test_one_array_is_no_bundle(attncalc, source):
    np.savez(attncalc.folder / "two.npz", a=np.eye(2), b=np.eye(2))
    message = attncalc.fails("compute", source)
    assert message == (
        f"attncalc: error: {source} names one array, and several are needed\n  hint: two.npz holds all of them\n"
    )
    assert "two.npz:a names one array" in attncalc.fails("compute", "--x", "q.json", "--weights", "two.npz:a")


def test_standard_input_is_read_once_and_only_when_asked(attncalc):
    data = (attncalc.folder / "q.json").read_bytes()
    done = attncalc("compute", "-", "k.json", "v.json", "--show", "raw", "--format", "json", stdin=data)
    assert done.json["raw"] == [[1, 0, 1], [0, 1, 1], [1, 1, 2]]
    assert "only once" in attncalc.fails("compute", "-", "-", "v.json", stdin=data)
    assert "only once" in attncalc.fails("compute", "-", "k.json", "v.json", "--mask", "-", stdin=data)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_other_numbers_of_files_are_refused(attncalc, count):
    assert "--example textbook" in attncalc.fails("compute", *["q.json"] * count)


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("comptue",), ["comptue", "did you mean compute?"]),
        (("compute", *QKV, "--casual"), ["--casual", "did you mean --causal"]),
        (("compute", *QKV, "--show", "weigths"), ["weigths", "did you mean weights?"]),
        (("compute", *QKV, "--format", "jsn"), ["jsn", "did you mean json?"]),
        (("compute", *QKV, "--scale", "1_0"), ["--scale", "1_0 is not a plain decimal number"]),
        (("compute", *QKV, "--scale", "nan"), ["--scale", "nan is not a plain decimal number"]),
        (("compute", *QKV, "--lengths", "4"), ["lengths", "number of keys, 3"]),
        (("compute", *QKV, "--lengths", "1,2"), ["2 sequences"]),
        (("compute", *QKV, "--padding", "1,1"), ["--padding", "3 keys"]),
        (("compute", *QKV, "--padding", "nowhere"), ["neither a file nor a list"]),
        (("compute", *QKV, "--empty-rows", "zeros"), ["error, zero, nan, uniform"]),
        (("compute", *QKV, "--dtype", "float8"), ["float64, float32, float16, bfloat16"]),
        (("compute", *QKV, "--head", "0"), ["no head axis"]),
        (("compute", *QKV, "--kv-heads", "2"), ["--heads N"]),
        (("compute", *QKV, "--softcap", "0"), ["greater than 0"]),
        (("compute", *QKV, "--rope-base", "10"), ["--rope half"]),
        (("compute", *QKV, "-o", "out.xyz"), [".xyz", ".json"]),
        (("compute", *QKV, "-o", "out"), ["without suffix"]),
        (("compute", *QKV, "--format", "csv", "--show", "all"), ["one matrix"]),
        (("compute", *QKV, "--past-key", "k.json"), ["past_key and past_value go together"]),
        (("compute", *QKV, "--max-memory", "lots"), ["lots is not a size"]),
        (("compute", *QKV, "--max-memory", "10"), ["--show output", "scores, weights would take 153 bytes"]),
        (("compute", "--example", "text"), ["no example text"]),
        (("compute", "missing[/b].json", "k.json", "v.json"), ["missing[/b].json"]),
        (("compute", *QKV, "--digits", "99"), ["from 0 to 17"]),
        (("compute", *QKV, "--color", "blue"), ["auto, always or never"]),
        (("compute", *QKV, "--tokens", "a,b"), ["2 labels"]),
    ],
)
def test_misuse_is_one_clear_error(attncalc, arguments, fragments):
    message = attncalc.fails(*arguments)
    for fragment in fragments:
        assert fragment in message


def test_notes_are_written_silenced_or_errors(attncalc):
    attncalc.write(q=[[1, 0], [0, 1]])
    arguments = ("compute", *QKV, "--causal", "--format", "json")
    assert "attncalc: note: causal with 2 queries and 3 keys is read as upper-left" in attncalc(*arguments).err
    assert attncalc(*arguments).json["notes"]
    assert attncalc(*arguments, "-q").err == ""
    assert "upper-left" in attncalc.fails(*arguments, "--strict")
    assert attncalc(*arguments, "--causal-align", "upper-left").err == ""


@pytest.mark.parametrize("format", ["csv", "tsv", "npy"])
@pytest.mark.parametrize("stage", ["weights", "output", "scores", "lse", "allowed", "value"])
@pytest.mark.parametrize("example", ["textbook", "causal-words", "two-heads"])
def test_formats_of_one_matrix_are_read_back(attncalc, format, stage, example):
    from attncalc.files import read_entry

    source = ("compute", "--example", example, "--causal", "--show", stage)
    assert attncalc(*source, "-o", f"out.{format}").code == 0
    want = attncalc(*source, "--format", "json").json[stage]
    want = np.array(want, dtype=float if stage != "allowed" else bool)
    got = read_entry(f"out.{format}").values
    if stage in ("scores", "lse"):
        want[np.isnan(want)] = -np.inf
    np.testing.assert_array_equal(got.reshape(want.shape), want)
    assert got.size == want.size


def test_npz_holds_the_stages_by_name(attncalc):
    attncalc("compute", *QKV, "-o", "out.npz")
    with np.load(attncalc.folder / "out.npz") as arrays:
        assert sorted(arrays) == ["output", "scores", "weights"]


def test_a_file_is_replaced_whole_or_not_at_all(attncalc):
    target = attncalc.folder / "keep.json"
    target.write_text("old")
    attncalc.write(bad=[[1, 2, 3]])
    attncalc.fails("compute", "q.json", "bad.json", "v.json", "-o", "keep.json")
    assert target.read_text() == "old"
    assert attncalc("compute", *QKV, "-o", "keep.json").out == ""
    assert json.loads(target.read_text())["schema"] == "attncalc.compute/1"
    assert sorted(path.name for path in attncalc.folder.iterdir()) == [
        "bad.json",
        "k.json",
        "keep.json",
        "q.json",
        "v.json",
    ]


def test_a_missing_folder_is_misuse(attncalc):
    assert "missing-folder" in attncalc.fails("compute", *QKV, "-o", "missing-folder/out.json")


def test_batch_and_head_choose_one(attncalc):
    rng = np.random.default_rng(1)
    attncalc.write(q=rng.normal(size=(2, 4, 3, 5)), k=rng.normal(size=(2, 2, 7, 5)), v=rng.normal(size=(2, 2, 7, 11)))
    whole = attncalc("compute", *QKV, "--show", "all", "--format", "json").json
    part = attncalc("compute", *QKV, "--show", "all", "--batch", "1", "--head", "3", "--format", "json").json
    for stage in ("raw", "weights", "output", "lse", "heads"):
        assert part[stage] == whole[stage][1][3]
    assert "counted from 0" in attncalc.fails("compute", *QKV, "--head", "4")


def test_a_head_of_packed_outputs_is_its_columns(attncalc):
    whole = attncalc("compute", "--example", "two-heads", "--show", "output", "--format", "json").json["output"]
    head = attncalc("compute", "--example", "two-heads", "--show", "output", "--head", "1", "--format", "json").json
    assert head["output"] == [row[2:] for row in whole]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_narrow_types_show_the_ieee_result_with_a_note(attncalc, dtype):
    attncalc.write(q=[[1e30, 1e30]], k=[[1e30, 1e30], [1, 1]], v=[[1], [2]])
    done = attncalc("compute", *QKV, "--dtype", dtype, "--format", "json")
    assert done.code == 0
    assert f"too large for {dtype}" in done.err


def test_overflow_in_float64_is_an_error_that_names_stage_and_cell(attncalc):
    attncalc.write(q=[[1, 1], [1e200, 1e200]], k=[[1, 1], [1e200, 1]], v=[[1], [2]])
    assert "raw is infinite at query 1, key 1" in attncalc.fails("compute", *QKV)


def test_colour_is_decided_by_option_then_variables_then_the_terminal(attncalc):
    def coloured(*arguments: str, **more: object) -> bool:
        return b"\x1b[" in attncalc("compute", *QKV, *arguments, **more).data

    assert not coloured()
    assert coloured(width=80)
    assert not coloured(width=80, TERM="dumb")
    assert coloured(FORCE_COLOR="1")
    assert not coloured(FORCE_COLOR="0")
    assert not coloured(FORCE_COLOR="")
    assert not coloured(width=80, NO_COLOR="1")
    assert not coloured(width=80, NO_COLOR="1", FORCE_COLOR="1")
    assert coloured("--color", "always", NO_COLOR="1")
    assert not coloured("--color", "never", width=80, FORCE_COLOR="1")
    for format in ("json", "csv", "plain", "markdown"):
        shown = ("--show", "weights", "--format", format)
        assert not coloured(*shown, FORCE_COLOR="1", width=80)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex", "json"])
def test_every_encoding_is_served(attncalc, encoding, format):
    arguments = ("compute", *QKV, "--causal", "--tokens", "你,é,\x1b[31m", "--format", format, "--show", "weights")
    done = attncalc(*arguments, encoding=encoding)
    assert done.code == 0
    done.data.decode(encoding)
    assert b"\x1b" not in done.data
    assert b"0.3302" in done.data


def test_binary_is_not_written_to_a_terminal(attncalc):
    assert "-o FILE" in attncalc.fails("compute", *QKV, "--format", "npy", width=80)
    data = attncalc("compute", *QKV, "--format", "npy").data
    assert np.load(io.BytesIO(data)).shape == (3, 2)


def test_large_tables_are_elided_on_a_terminal_only(attncalc):
    rng = np.random.default_rng(2)
    attncalc.write(q=rng.normal(size=(60, 2)), k=rng.normal(size=(60, 2)), v=rng.normal(size=(60, 2)))
    piped = attncalc("compute", *QKV, "--show", "weights").out
    assert "k30" in piped
    assert "…" not in piped
    shown = attncalc("compute", *QKV, "--show", "weights", width=100, NO_COLOR="1").out
    assert "k30" not in shown
    assert "k59" in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert "k30" in attncalc("compute", *QKV, "--show", "weights", "--max-rows", "0", "--max-cols", "0", width=100).out


def test_an_array_of_a_container(attncalc):
    np.savez(attncalc.folder / "three.npz", first=np.eye(2), second=np.eye(2), third=[[5.0], [7.0]])
    done = attncalc(
        "compute", "three.npz:first", "three.npz:second", "three.npz:third", "--show", "raw", "--format", "json"
    )
    assert done.json["raw"] == [[1, 0], [0, 1]]
    assert "did you mean three.npz:second?" in attncalc.fails("compute", "q.json", "three.npz:secnd", "v.json")


def test_attncalcs_own_json_is_read_back(attncalc):
    attncalc("compute", *QKV, "--causal", "--show", "scores,output", "-o", "run.json")
    done = attncalc("compute", *QKV, "--bias", "run.json:scores", "--format", "json", "--show", "allowed")
    assert done.json["allowed"] == [[True, False, False], [True, True, False], [True, True, True]]
