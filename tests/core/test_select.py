"""What stands in a blocked key or value changes nothing; NaN anywhere else is an error naming its place."""

import math
import re

import numpy as np
import pytest
from oracle import assert_same_bits

from attncalc import AttnCalcError, attention

BAD = [math.nan, math.inf, -math.inf]
ANSWER = ("scores", "lse", "weights", "heads", "output")


def arrays(*outer, T=3, S=5, d=2, d_v=3):
    rng = np.random.default_rng(7)
    return tuple(rng.normal(size=(*outer, rows, width)) for rows, width in ((T, d), (S, d), (S, d_v)))


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", ["key", "value", "both"])
@pytest.mark.parametrize(
    "options",
    [
        {"causal": True},  # three queries: keys 3 and 4 are in the future of all
        {"lengths": 3},
        {"padding": [1, 1, 1, 0, 0]},
        {"mask": [[1, 1, 1, 0, 0]]},
        {"mask": [[0, 0, 0, 1, 1]], "mask_true": "blocked"},
        {"window_right": 0},
        {"bias": [[0.0, 0.5, 0.0, -math.inf, -math.inf]]},
        {"pad_token": "_", "key_tokens": ["a", "b", "c", "_", "_"]},
        {"lengths": 3, "softcap": 2.0, "alibi": True, "sink": [0.5], "rope": "half"},
    ],
    ids=lambda options: "+".join(options),
)
def test_blocked_keys_and_values_change_nothing(options, place, bad):
    q, k, v = arrays()
    clean = attention(q, k, v, **options)
    lean = attention(q, k, v, **options, stages=("output", "lse"))
    if place != "value":
        k[3:] = bad
    if place != "key":
        v[3:] = bad
    dirty = attention(q, k, v, **options)
    for stage in ANSWER:
        assert_same_bits(getattr(dirty, stage), getattr(clean, stage), stage)
    dirty_lean = attention(q, k, v, **options, stages=("output", "lse"))
    assert_same_bits(dirty_lean.output, lean.output, "output")
    assert_same_bits(dirty_lean.lse, lean.lse, "lse")


def test_one_bad_cell_of_a_blocked_key_is_enough_to_see():
    q, k, v = arrays()
    clean = attention(q, k, v, lengths=4)
    k[4, 1], v[4, 0] = math.nan, math.inf
    assert_same_bits(attention(q, k, v, lengths=4).output, clean.output)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_blocked_means_blocked_in_every_type(dtype):
    q, k, v = arrays()
    clean = attention(q, k, v, lengths=3, dtype=dtype)
    k[3:], v[3:] = math.nan, math.inf
    dirty = attention(q, k, v, lengths=3, dtype=dtype)
    assert_same_bits(dirty.output, clean.output)


@pytest.mark.parametrize("policy", ["zero", "nan"])
def test_a_query_without_keys_does_not_touch_bad_values(policy):
    q, k, v = arrays()
    clean = attention(q, k, v, lengths=0, empty_rows=policy)
    k[:], v[:] = math.nan, math.nan
    assert_same_bits(attention(q, k, v, lengths=0, empty_rows=policy).output, clean.output)


def test_blocked_in_one_sequence_only():
    q, k, v = arrays(2, 3)
    lengths = [5, 3]
    clean = attention(q, k, v, lengths=lengths)
    k[1, :, 3:], v[1, :, 3:] = math.nan, math.nan
    assert_same_bits(attention(q, k, v, lengths=lengths).output, clean.output)
    k[0, 2, 4, 1] = math.nan
    with pytest.raises(AttnCalcError, match=r"(?i)nan") as caught:
        attention(q, k, v, lengths=lengths)
    assert caught.value.cell == ("key", (0, 2, 4, 1))


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(("name", "cell"), [("query", (2, 1)), ("key", (1, 0)), ("value", (2, 2))])
def test_nan_or_infinity_in_use_names_array_and_cell(name, cell, bad):
    q, k, v = arrays()
    {"query": q, "key": k, "value": v}[name][cell] = bad
    with pytest.raises(AttnCalcError, match=r"(?i)nan|infinit") as caught:
        attention(q, k, v)
    assert caught.value.cell == (name, cell)
    assert {"query": "Q", "key": "K", "value": "V"}[name] in str(caught.value) or name in str(caught.value)


@pytest.mark.parametrize("name", ["key", "value"])
def test_a_key_that_one_query_alone_may_attend_to_is_in_use(name):
    q, k, v = arrays(T=5)
    {"key": k, "value": v}[name][4, 1] = math.nan
    with pytest.raises(AttnCalcError) as caught:
        attention(q, k, v, causal=True)  # only query 4 sees key 4
    assert caught.value.cell == (name, (4, 1))


@pytest.mark.parametrize("name", ["past_key", "past_value"])
def test_a_bad_past_key_or_value_is_named(name):
    q, k, v = arrays()
    past = {"past_key": np.ones((2, 2)), "past_value": np.ones((2, 3))}
    past[name][1, 0] = math.nan
    with pytest.raises(AttnCalcError) as caught:
        attention(q, k, v, **past)
    assert caught.value.cell == (name, (1, 0))
    clean = attention(q, k, v, past_key=np.ones((2, 2)), past_value=np.ones((2, 3)), padding=[1, 0] + [1] * 5)
    assert_same_bits(attention(q, k, v, **past, padding=[1, 0] + [1] * 5).output, clean.output)


def test_cells_are_named_in_the_users_axes():
    q, k, v = arrays(2, 3)  # bhtd
    q, k, v = (array.transpose(0, 2, 1, 3).copy() for array in (q, k, v))
    k[1, 4, 2, 0] = math.nan
    with pytest.raises(AttnCalcError) as caught:
        attention(q, k, v, layout="bthd")
    assert caught.value.cell == ("key", (1, 4, 2, 0))
    packed = k.reshape(2, 5, 6)
    with pytest.raises(AttnCalcError) as caught:
        attention(q.reshape(2, 3, 6), packed, v.reshape(2, 5, 9), heads=3)
    assert caught.value.cell == ("key", (1, 4, 4))


def test_a_key_shared_by_a_group_is_blocked_when_every_head_of_it_blocks():
    q, k, v = arrays(4)[0], *arrays(2)[1:]
    mask = np.ones((4, 1, 5), bool)
    mask[2:, :, 0] = False  # heads 2 and 3 share key/value head 1
    clean = attention(q, k, v, mask=mask)
    k[1, 0], v[1, 0] = math.nan, math.nan
    assert_same_bits(attention(q, k, v, mask=mask).output, clean.output)
    mask[3, 0, 0] = True
    with pytest.raises(AttnCalcError) as caught:
        attention(q, k, v, mask=mask)
    assert caught.value.cell is not None
    assert caught.value.cell[0] in ("key", "value")
    assert caught.value.cell[1][:2] == (1, 0)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("empty_rows", ["zero", "nan"])
def test_nan_in_a_query_is_an_error_even_without_keys(bad, empty_rows):
    q, k, v = arrays()
    q[1, 1] = bad
    with pytest.raises(AttnCalcError) as caught:
        attention(q, k, v, mask=[[1], [0], [1]], empty_rows=empty_rows)
    assert caught.value.cell == ("query", (1, 1))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_bias_may_be_minus_infinity_but_not_nan_or_plus_infinity(bad):
    q, k, v = arrays()
    bias = np.zeros((3, 5))
    bias[1, 2] = bad
    with pytest.raises(AttnCalcError, match="bias"):
        attention(q, k, v, bias=bias)


@pytest.mark.parametrize(
    ("stage", "options"),
    [
        ("raw", {}),
        ("scaled", {"scale": 1e10}),
        ("biased", {"bias": [[0, 0, 0], [0, 0, 1.7e308]], "scale": 1e8}),
    ],
)
def test_finite_inputs_that_overflow_name_stage_and_cell(stage, options):
    size = 1e200 if stage == "raw" else 1e150
    with pytest.raises(AttnCalcError, match=rf"\b{stage}\b") as caught:
        attention([[1.0], [size]], [[1.0], [2.0], [size]], [[1.0], [2.0], [3.0]], **options)
    assert "[1][2]" in str(caught.value) or re.search(r"query 1\b.*key 2\b", str(caught.value))


def test_the_mean_of_huge_values_does_not_overflow():
    huge = [[1.7e308], [1.7e308]]
    assert attention([[0.0]], [[0.0], [0.0]], huge).output.tolist() == [[1.7e308]]
    assert attention([[0.0]], [[0.0], [0.0]], huge, lengths=0, empty_rows="uniform").output[0, 0] == 1.7e308


def test_an_overflow_where_blocked_changes_nothing():
    result = attention([[1e200]], [[1e-200], [1e200]], [[1.0], [2.0]], lengths=1)
    assert result.weights.tolist() == [[1, 0]]
    assert result.output.tolist() == [[1]]
