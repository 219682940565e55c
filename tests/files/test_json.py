"""JSON: arrays, bundles, attncalc's own documents, and the places of faults."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncalc.errors import FileError
from attncalc.files import json_format
from attncalc.files.json_array import Spelled, quick_array, walked_array
from attncalc.files.json_format import parse, read_json


@pytest.fixture(scope="module", autouse=True, params=["json", "orjson"])
def parser(request):
    """Small texts are read as small ones are, and as large ones."""
    if request.param == "orjson":
        pytest.importorskip("orjson")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_format, "LARGE", 2**62 if request.param == "json" else 0)
        yield


def read(text):
    return read_json(text, "q.json").entries[""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2.5]", [1, 2.5]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        (" \n[[[1], [2]]]", [[[1], [2]]]),
        ("[[1, true], [false, 4]]", [[1, 1], [0, 4]]),
        ("[9007199254740993, 36893488147419103232]", [2.0**53, 2.0**65]),
        ("[-0.0, 1e-400]", [0, 0]),
        ("[[1, -Infinity], [Infinity, 2]]", [[1, -math.inf], [math.inf, 2]]),
        ('{"data": [1, 2, 3, 4, 5, 6], "shape": [3, 2], "dtype": "float32"}', [[1, 2], [3, 4], [5, 6]]),
        ('{"shape": [1, 2], "data": [[1, 2]]}', [[1, 2]]),
        ('{"data": [], "shape": [0]}', []),
    ],
)
def test_arrays(text, expected):
    entry = read(text)
    assert entry.values.tolist() == expected
    assert entry.dtype == "float64"
    assert entry.values.dtype == np.float64


def test_booleans_alone_are_booleans():
    entry = read("[[true, false]]")
    assert entry.dtype == "bool"
    assert entry.values.tolist() == [[True, False]]


def test_nan_is_kept():
    assert np.array_equal(read("[1, NaN]").values, [1, np.nan], equal_nan=True)


def test_an_integer_of_many_digits():
    assert read("[0.5, " + "0.1" + "1" * 5000 + "]").values[1] == pytest.approx(0.11111111)
    with pytest.raises(FileError, match=r"q.json: \[1\] is 1{39}…, too large for a 64-bit float"):
        read("[0.5, " + "1" * 5000 + "]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1, 2], [3], [4, 5]]", r"q.json: \[1\] has 1 entry, \[0\] has 2$"),
        ("[[[1, 2]], [[3]]]", r"q.json: \[1\]\[0\] has 1 entry, \[0\]\[0\] has 2$"),
        ("[[1, 2], []]", r"q.json: \[1\] has no entries, \[0\] has 2$"),
        ("[[1, 2], 3]", r"q.json: \[1\] is a number, \[0\] is a list of 2$"),
        ("[1, [2]]", r"q.json: \[1\] is a list, \[0\] is a number$"),
        ("[[1, null]]", r"q.json: \[0\]\[1\] is null, not a number"),
        ("[[1, 2], null]", r"q.json: \[1\] is null, not a number"),
        ('[[1, "2"]]', r"\[0\]\[1\] is the text “2”, not a number\n  hint: write numbers without quotes"),
        ('[[1, "a"]]', r"\[0\]\[1\] is the text “a”, not a number$"),
        ('["1", "2"]', r"\[0\] is the text “1”"),
        ('[[1, {"a": 1}]]', r"q.json: \[0\]\[1\] is an object, not a number"),
        ("[[1, 1e400]]", r"q.json: \[0\]\[1\] is 1e400, too large for a 64-bit float"),
        ("[[Infinity, -1e400]]", r"q.json: \[0\]\[1\] is -1e400, too large"),
        ("[]", r"q.json: is an empty list"),
        ("[[], []]", r"q.json: \[0\] is an empty list"),
        ("[" * 40 + "1" + "]" * 40, "q.json: has lists nested more than 32 deep"),
        ("[" * 100_000, "q.json: has lists or objects nested too deeply"),
        ('{"data": [1, 2, 3, 4], "shape": [3, 2]}', "q.json: data has 4 numbers, its shape 3 × 2 needs 6"),
        ('{"data": [[1, 2, 3]], "shape": [3, 1]}', "q.json: data is 1 × 3, its shape says 3 × 1"),
        ('{"data": [1], "shape": [1.0]}', "q.json: shape is not a list of whole numbers"),
        ('{"data": [1], "shape": [-1]}', "q.json: shape is not a list of whole numbers"),
        ('{"data": [1, null], "shape": [2]}', r"q.json: data\[1\] is null, not a number"),
        ('{"q": [[1]], "q": [[2]]}', "q.json: the name “q” stands twice in one object"),
        ('{"comment": "text", "mask": null}', "q.json: is a JSON object without arrays"),
    ],
)
def test_faults_name_the_place(text, message):
    with pytest.raises(FileError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('["a", "b", 3]', "n[2] is the number 3, not a text"),
        ('["a", null]', "n[1] is null, not a text"),
        ('["a", "b", ["c"]]', "n[2] is a list, not a text"),
        ('["a", "b", true]', "n[2] is true, not a text"),
        ('[1, 2, "a"]', "n[2] is the text “a”, not a number"),
        ('["1", "2", 3]', "n[0] is the text “1”, not a number\n  hint: write numbers without quotes"),
    ],
)
def test_a_list_that_is_mostly_texts_names_what_is_none(value, message):
    with pytest.raises(FileError) as caught:
        _ = read_json(f'{{"n": {value}}}', "q.json").entries["n"]
    assert str(caught.value) == f"q.json: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1, 2],\n [3, 4],]", "line 2, column 8: a comma too many"),
        ("[1, 2, ]", "line 1, column 6: a comma too many"),
        ('{"q": [1],}', "line 1, column 10: a comma too many"),
        ("[1,, 2]", "line 1, column 4: a value is missing"),
        ('{"q": }', "line 1, column 7: a value is missing"),
        ("[1, 2}", "line 1, column 6: “}” closes what another bracket opened"),
        ("[[1, 2],\n [3, 4\n", "line 2, column 7: the JSON ends too early"),
        ("[[1, 2], [3, 4", "the JSON ends too early; a bracket is not closed"),
        ('{"q": [1], "k', "line 1, column 12: the text that begins here does not end"),
        ("[1]\n[2]", "line 2, column 1: something follows the end of the JSON"),
        ("[1] x", "line 1, column 5: something follows the end"),
        ("[1, // a\n 2]", "line 1, column 5: a comment"),
        ("[1, # a\n 2]", "line 1, column 5: a comment"),
        ("{'q': [1]}", "line 1, column 2: a single quote\n  hint: JSON has double quotes"),
        ("[1, None]", "line 1, column 5: “None” is not JSON$"),
        ("[1, nan]", "“nan” is not JSON\n  hint: write NaN"),
        ("[-inf]", "“-inf” is not JSON\n  hint: write -Infinity"),
        ("[1, .5]", "line 1, column 5: “.5” is not JSON"),
        ("[1, +5]", "line 1, column 5: “\\+5” is not JSON"),
        ("[1, 01]", "line 1, column 6: "),
        ("{q: [1]}", "line 1, column 2: “q” is a name without double quotes"),
        ('{"q" [1]}', "line 1, column 6: a colon is missing"),
        ('{"a": 1 "b": 2}', "line 1, column 9: a comma is missing"),
        ('["a\nb"]', "a line break or control character inside a text"),
        ('["\\x"]', "a backslash that JSON does not know"),
        ("[1 2; 3 4]", "begins with a bracket and is not JSON\n  hint: write JSON"),
        ("[1 - 2; 3 4]", "begins with a bracket and is not JSON"),
        ("[[1. 2.]\n [3. 4.]]", "begins with a bracket and is not JSON"),
    ],
)
def test_syntax_faults_name_line_and_column(text, message):
    with pytest.raises(FileError, match="q.json: " + message if message.startswith("line") else message):
        read(text)


BUNDLE = """{"q": [[1, 2]], "k": {"data": [3, 4], "shape": [1, 2]}, "bad": [[1], [2, null]], "tokens": ["a", "b"],
 "lengths": 3, "causal": true, "comment": "text", "mask": null, "nested": {"a": [1]}, "odd": [1, "x"]}"""


def test_a_bundle_holds_its_arrays_by_name():
    file = read_json(BUNDLE, "all.json")
    assert file.bundle
    assert file.format == "json"
    assert list(file.entries) == ["q", "k", "bad", "tokens", "lengths", "causal", "odd"]
    assert len(file.entries) == 7
    assert "comment" not in file.entries
    assert file.entries["q"].values.tolist() == [[1, 2]]
    assert file.entries["q"].source == "all.json:q"
    assert file.entries["k"].values.tolist() == [[3, 4]]
    assert file.entries["k"].source == "all.json:k"
    assert file.entries["tokens"].values.tolist() == ["a", "b"]
    assert file.entries["tokens"].dtype == "text"
    assert file.entries["lengths"].values.shape == ()
    assert file.entries["causal"].dtype == "bool"
    assert file.entries["q"] is file.entries["q"]


def test_a_fault_in_a_bundle_is_told_when_it_is_used():
    file = read_json(BUNDLE, "all.json")
    with pytest.raises(FileError, match=r"all.json: bad\[1\] has 2 entries, bad\[0\] has 1$"):
        file.entries["bad"]
    with pytest.raises(FileError, match=r"all.json: odd\[1\] is the text “x”"):
        file.entries["odd"]


OWN = """{"schema": "attncalc.compute/1", "shapes": {"query": [1, 2]}, "options": {"scale": 1}, "notes": [],
 "key_tokens": ["a", "b"], "scores": [[1.5, null]], "lse": [null], "weights": [[1.0, 0.0]], "output": [[null]],
 "allowed": [[true, false]], "steps": [{"id": "raw"}], "agrees": true}"""


def test_own_documents_are_read_back():
    file = read_json(OWN, "r.json")
    assert list(file.entries) == ["key_tokens", "scores", "lse", "weights", "output", "allowed"]
    assert file.entries["scores"].values.tolist() == [[1.5, -math.inf]]
    assert file.entries["lse"].values.tolist() == [-math.inf]
    assert np.isnan(file.entries["output"].values).all()
    assert file.entries["allowed"].dtype == "bool"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1.50, 2]", (3, 2, False)),
        ("[1, 20]", (2, 0, True)),
        ("[1.5e-3, 100]", (3, 4, False)),
        ("[1.5e3]", (2, 0, False)),
        ("[0.05, NaN]", (1, 2, False)),
        ('{"data": [0.25, 1], "shape": [2]}', (2, 2, False)),
    ],
)
def test_written(text, expected):
    written = read(text).written()
    assert (written.significant, written.decimals, written.integers) == expected


def test_written_of_one_array_of_a_bundle():
    file = read_json('{"q": [0.125], "k": {"data": [1.5], "shape": [1]}}', "all.json")
    assert file.entries["q"].written().decimals == 3
    assert file.entries["k"].written().decimals == 1


def test_place_is_an_index():
    assert read("[[1, 2]]").place((0, 1)) == "[0][1]"


NUMBERS = st.one_of(st.floats(allow_nan=False), st.integers(-(10**25), 10**25), st.booleans())
LISTS = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3), max_leaves=12)


@settings(max_examples=150, deadline=None)
@given(st.lists(LISTS, min_size=1, max_size=3))
def test_the_quick_way_and_the_walk_agree(value):
    text = json.dumps(value)
    quick = quick_array(parse(text, "q.json"))
    if quick is not None:
        walked = walked_array(parse(text, "q.json", Spelled, Spelled.integer), "q.json")
        assert walked.dtype == quick.dtype
        assert walked.shape == quick.shape
        assert walked.tobytes() == quick.tobytes()


@pytest.mark.parametrize("quotes", ["", '"x", ', '"\\"", '])
def test_a_name_that_stands_twice_is_found_whatever_stands_beside_it(quotes):
    text = f'{{"q": [1], "k": {{"tokens": [{quotes}"a"], "data": [1], "data": [2], "shape": [1]}}}}'
    with pytest.raises(FileError, match=r"the name “data” stands twice in one object"):
        read_json(text, "q.json")


def test_objects_in_objects_without_end_are_a_fault():
    for depth in (900, 1020, 100_000):
        text = '{"a": ' * depth + "1" + "}" * depth
        with pytest.raises(FileError, match=r"nested too deeply|without arrays"):
            read_json(text, "q.json")


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(st.floats(), min_size=n, max_size=n), min_size=1)))
def test_every_float_reads_back(rows):
    assert np.array_equal(read(json.dumps(rows)).values, np.array(rows), equal_nan=True)
