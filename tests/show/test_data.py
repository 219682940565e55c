import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attncalc.show.data import json_parts, json_text

HOSTILE = ["\x1b[2J", "\x9b", "\u202e", "\ud800", "你好", "[/INST]", '"\\', "\u2028"]


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    def unique(pairs):
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


def nulled(value):
    if isinstance(value, list):
        return [nulled(item) for item in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None


shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@given(hnp.arrays(np.float64, shapes))
def test_arrays_round_trip_with_null_for_what_is_not_finite(array):
    read = strict(json_text({"a": array}))["a"]
    assert read == nulled(array.tolist())
    assert repr(read) == repr(nulled(array.tolist()))  # minus zero too


@given(hnp.arrays(st.sampled_from([np.float32, np.float16, np.int64, np.uint8, np.bool_]), shapes))
def test_other_types_are_widened_exactly(array):
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array
    assert strict(json_text({"a": array}))["a"] == nulled(wide.tolist())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_records_round_trip(record):
    assert strict(json_text(record)) == record


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii", "cp437"])
def test_text_is_safe_on_a_terminal_and_fits_the_encoding(encoding):
    text = json_text({"labels": HOSTILE, "é": 1}, encoding)
    assert strict(text) == {"labels": HOSTILE, "é": 1}
    assert text.replace("\n", "").isprintable()
    assert strict(text.encode(encoding).decode("utf-8")) == {"labels": HOSTILE, "é": 1}


def test_layout_is_one_innermost_row_a_line():
    record = {
        "schema": "attncalc.compute/1",
        "shapes": {"query": (3, 2)},
        "scale": np.float64(0.5),
        "causal": None,
        "you": "你",
        "scores": np.array([[1.0, -np.inf], [np.nan, 0.25]]),
        "deep": np.zeros((2, 2, 1)),
        "steps": [{"id": "raw", "values": {"raw": np.array([[1.0]])}}],
        "empty": np.zeros((0, 2)),
    }
    assert (
        json_text(record)
        == """\
{"schema": "attncalc.compute/1",
 "shapes": {"query": [3, 2]},
 "scale": 0.5,
 "causal": null,
 "you": "你",
 "scores": [
  [1.0, null],
  [null, 0.25]
 ],
 "deep": [
  [[0.0],
   [0.0]],
  [[0.0],
   [0.0]]
 ],
 "steps": [
  {
   "id": "raw",
   "values": {
    "raw": [
     [1.0]
    ]
   }
  }
 ],
 "empty": []}
"""
    )


def test_scalars():
    record = {
        "a": np.float32(0.1),
        "b": np.True_,
        "c": np.int8(3),
        "d": math.inf,
        "e": np.array(2.5),
        "f": np.array(["x"]),
    }
    read = strict(json_text(record))
    assert read == {"a": float(np.float32(0.1)), "b": True, "c": 3, "d": None, "e": 2.5, "f": ["x"]}
    assert json_text({}) == "{}\n"


def test_parts_are_an_iterator_over_the_same_text():
    record = {"a": 1, "b": np.eye(2)}
    parts = json_parts(record)
    assert isinstance(parts, Iterator)
    assert "".join(parts) == json_text(record)


@pytest.mark.parametrize("value", [{1, 2}, object(), 1j, {1: 2}, np.array([1j])])
def test_what_json_has_no_word_for_is_refused(value):
    with pytest.raises(TypeError, match="JSON"):
        json_text({"a": value})
