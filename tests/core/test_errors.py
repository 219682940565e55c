"""What a user is told who asks for something that cannot be."""

import math

import numpy as np
import pytest

import attncalc
from attncalc import AttnCalcError, attention

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def refused(match, *arrays, **options):
    with pytest.raises(AttnCalcError, match=match) as caught:
        attention(*(arrays or (X, X, X)), **options)
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    first = text.splitlines()[0]
    assert not first.endswith("."), "the first line is a headline"
    assert caught.value.hint is None or caught.value.hint in text
    return caught.value


@pytest.mark.parametrize("name", ["causal_align", "mask_true", "empty_rows", "rope", "dtype", "layout"])
def test_an_unknown_word_names_the_option_or_its_words(name):
    needed = {"causal_align": {"causal": True}, "mask_true": {"mask": [[1, 1, 1]]}}.get(name, {})
    error = refused(name.replace("_", "[_-]"), **{name: "sideways"}, **needed)
    words = {
        "causal_align": ["upper-left", "lower-right"],
        "mask_true": ["allowed", "blocked"],
        "empty_rows": ["error", "zero", "nan", "uniform"],
        "rope": ["half", "interleaved"],
        "dtype": ["float64", "float32", "float16", "bfloat16"],
        "layout": ["bhtd"],
    }[name]
    assert all(word in str(error) for word in words)


def test_an_unknown_word_for_causal():
    error = refused("causal", causal="lower_right")
    assert "lower-right" in str(error)


@pytest.mark.parametrize("name", ["caussal", "is_causal", "window"])
def test_an_unknown_keyword(name):
    with pytest.raises((TypeError, AttnCalcError), match=name):
        attention(X, X, X, **{name: 1})


def test_an_unknown_stage():
    error = refused("stage", stages=("output", "wieghts"))
    assert "weights" in str(error)


@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
def test_a_cache_decides_the_offset(align):
    past = {"past_key": X, "past_value": X}
    refused("causal.align", **past, causal=True, causal_align=align)
    refused("causal", **past, causal=align)


def test_causal_past_needs_a_cache():
    refused("past", causal="past")


@pytest.mark.parametrize("name", ["window_left", "window_right"])
@pytest.mark.parametrize("value", [-1, 1.5, math.nan])
def test_windows_are_counts(name, value):
    refused(name.replace("_", "[_-]"), **{name: value})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_the_scale_is_finite(value):
    refused("scale", scale=value)


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
def test_the_softcap_is_positive_and_finite(value):
    refused("softcap", softcap=value)


@pytest.mark.parametrize("value", [-1, 4, [4], [1.5], [2, 2]])
def test_lengths_lie_between_none_and_all(value):
    refused("lengths", lengths=value)


@pytest.mark.parametrize("value", [[1, 1], [1, 1, 1, 1], [1, 2, 1], [0.5, 1, 1], [math.nan, 1, 1]])
def test_padding_is_one_yes_or_no_for_each_key(value):
    refused("padding", padding=value)


def test_a_pad_token_needs_tokens():
    refused("key[_-]tokens", pad_token="_")
    refused("tokens", pad_token="_", key_tokens=["a", "b"])


@pytest.mark.parametrize("value", [[1.0, 2.0], [math.nan], [math.inf]])
def test_one_finite_sink_for_each_head(value):
    refused("sink", sink=value)


@pytest.mark.parametrize("value", [[1.0, 2.0], [math.nan], [math.inf]])
def test_one_finite_slope_for_each_head(value):
    refused("alibi[_-]slopes", alibi_slopes=value)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rope": "half", "rope_dims": 3}, "(?i)rope"),
        ({"rope": "half", "rope_dims": 4}, "(?i)rope"),
        ({"rope": "half", "rope_dims": 0}, "(?i)rope"),
        ({"rope": "half", "rope_base": 0}, "rope[_-]base"),
        ({"rope": "half", "rope_base": -2}, "rope[_-]base"),
        ({"rope": "half", "rope_base": math.nan}, "rope[_-]base"),
        ({"rope": "half", "rope_offset": 0.5}, "rope[_-]offset"),
    ],
)
def test_rope_that_cannot_be(options, match):
    refused(match, **options)


def test_rope_turns_pairs_of_columns():
    odd = np.ones((2, 3))
    refused("(?i)rope", odd, odd, odd, rope="half")


@pytest.mark.parametrize(("name", "value"), [("heads", 0), ("heads", -2), ("kv_heads", 0), ("heads", 1.5)])
def test_heads_are_counts(name, value):
    options = {name: value} if name == "heads" else {"heads": 2, name: value}
    refused("heads", **options)


def test_kv_heads_alone_are_no_packing():
    refused("heads", kv_heads=2)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("bad", [[["a", "b"]], [[1, 2], [3]], [[None, 1.0]], [[1 + 2j, 1]], 3.0])
def test_arrays_are_real_numbers(place, bad):
    arrays = [X, X, X]
    arrays[place] = bad
    refused("QKV"[place], *arrays)


def test_an_empty_row_says_which_sequence_head_and_query():
    x = np.ones((2, 3, 4, 2))
    mask = np.ones((2, 3, 4, 4), bool)
    mask[1, 2, 3] = False
    error = refused("query 3", x, x, x, mask=mask)
    assert "batch 1" in str(error) or "sequence 1" in str(error)
    assert "head 2" in str(error)
    assert error.hint is None or "empty" in error.hint


def test_the_first_empty_row_is_named():
    refused(r"quer(y|ies) 1\b", mask=[[1], [0], [0]])


def test_public_names():
    assert {"attention", "AttnCalcError"} <= set(attncalc.__all__)
    assert issubclass(AttnCalcError, ValueError)
