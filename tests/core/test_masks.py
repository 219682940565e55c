"""Which key a query may attend to: each rule alone, and all of them together."""

import math

import numpy as np
import pytest
from oracle import assert_close, attend

from attncalc import AttnCalcError, attention

INF = math.inf


def allowed(T, S, **options):
    """Give the allowed keys of T queries and S keys as rows of 1 and 0."""
    rng = np.random.default_rng(0)
    options = {"empty_rows": "zero"} | options
    result = attention(rng.normal(size=(T, 2)), rng.normal(size=(S, 2)), rng.normal(size=(S, 3)), **options)
    assert result.allowed.dtype == bool
    assert np.array_equal(result.allowed, np.isfinite(result.scores))
    assert np.array_equal(result.allowed, result.weights > 0)
    return ["".join("01"[cell] for cell in row) for row in result.allowed.astype(int)]


def past(P):
    return {"past_key": np.ones((P, 2)), "past_value": np.ones((P, 3))}


def test_without_a_mask_every_key_is_allowed():
    assert allowed(2, 3) == ["111", "111"]


@pytest.mark.parametrize(
    ("T", "S", "align", "rows"),
    [
        (3, 3, "upper-left", ["100", "110", "111"]),
        (3, 3, "lower-right", ["100", "110", "111"]),
        (2, 5, "upper-left", ["10000", "11000"]),
        (2, 5, "lower-right", ["11110", "11111"]),
        (5, 2, "upper-left", ["10", "11", "11", "11", "11"]),
        (5, 2, "lower-right", ["00", "00", "00", "10", "11"]),
    ],
)
def test_causal_in_both_corners(T, S, align, rows):
    assert allowed(T, S, causal=align) == rows
    assert allowed(T, S, causal=True, causal_align=align) == rows


def test_causal_alone_is_upper_left_and_a_note_says_so_when_it_matters():
    assert allowed(2, 3, causal=True) == ["100", "110"]

    def noted(T, S, **options):
        notes = attention(np.zeros((T, 1)), np.zeros((S, 1)), np.zeros((S, 1)), **options).notes
        return any("upper-left" in note for note in notes)

    assert noted(2, 3, causal=True)
    assert noted(3, 2, causal=True)
    assert not noted(3, 3, causal=True)
    assert not noted(2, 3, causal=True, causal_align="upper-left")
    assert not noted(2, 3)


@pytest.mark.parametrize("causal", [None, False])
def test_causal_can_be_switched_off(causal):
    assert allowed(2, 2, causal=causal) == ["11", "11"]


@pytest.mark.parametrize("causal", [True, "past"])
def test_causal_with_a_cache_counts_from_the_end_of_the_past(causal):
    assert allowed(2, 2, causal=causal, **past(3)) == ["11110", "11111"]
    assert allowed(1, 3, causal=causal, **past(2)) == ["11100"]


def test_lower_right_with_lengths_counts_from_the_last_real_key():
    assert allowed(2, 5, causal="lower-right", lengths=3) == ["11000", "11100"]
    assert allowed(2, 5, causal="lower-right", lengths=5) == ["11110", "11111"]
    assert allowed(2, 5, causal="upper-left", lengths=3) == ["10000", "11000"]
    assert allowed(3, 5, causal="lower-right", lengths=2) == ["00000", "10000", "11000"]


def test_lower_right_with_lengths_differs_between_sequences():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 1))
    result = attention(q, k, v, layout="btd", lengths=[5, 3], causal="lower-right")
    assert result.allowed.astype(int).tolist() == [
        [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]],
        [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]],
    ]


def test_padding_moves_nothing():
    assert allowed(2, 5, causal="lower-right", padding=[1, 1, 1, 0, 0]) == ["11100", "11100"]


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"window_left": 0}, ["1111", "0111", "0011", "0001"]),
        ({"window_left": 1}, ["1111", "1111", "0111", "0011"]),
        ({"window_right": 0}, ["1000", "1100", "1110", "1111"]),
        ({"window_right": 1}, ["1100", "1110", "1111", "1111"]),
        ({"window_left": 0, "window_right": 0}, ["1000", "0100", "0010", "0001"]),
        ({"window_left": 1, "window_right": 2}, ["1110", "1111", "0111", "0011"]),
        ({"window_left": 1, "causal": True}, ["1000", "1100", "0110", "0011"]),
        ({"window_left": 9, "window_right": 9}, ["1111", "1111", "1111", "1111"]),
    ],
)
def test_a_window_never_counts_the_position_itself(options, rows):
    assert allowed(4, 4, **options) == rows


def test_a_window_shares_the_offset_with_causal_or_without():
    band = ["00110", "00011"]
    assert allowed(2, 5, window_left=1, causal="lower-right") == band
    assert allowed(2, 5, window_left=1, window_right=0, causal_align="lower-right") == band
    assert allowed(2, 5, window_left=1, window_right=0) == ["10000", "11000"]
    assert allowed(2, 2, window_left=1, window_right=0, **past(3)) == band
    assert allowed(2, 6, window_left=1, window_right=1, causal_align="lower-right", lengths=4) == [
        "011100",
        "001100",
    ]


def test_lengths():
    assert allowed(2, 4, lengths=3) == ["1110", "1110"]
    assert allowed(2, 4, lengths=[3]) == ["1110", "1110"]
    assert allowed(2, 4, lengths=4) == ["1111", "1111"]
    assert allowed(2, 4, lengths=0) == ["0000", "0000"]


def test_lengths_count_past_keys_too():
    assert allowed(1, 2, lengths=4, **past(3)) == ["11110"]


def test_padding_for_all_and_for_each_sequence():
    assert allowed(2, 3, padding=[1, 0, 1]) == ["101", "101"]
    assert allowed(2, 3, padding=[True, False, True]) == ["101", "101"]
    assert allowed(2, 3, padding=np.array([0, 1, 1])) == ["011", "011"]
    assert allowed(1, 1, padding=[1, 0, 1], **past(2)) == ["101"]
    zeros = np.zeros((2, 3, 1))
    result = attention(zeros, zeros, zeros, layout="btd", padding=[[1, 1, 0], [0, 1, 1]])
    assert result.allowed[:, 0].astype(int).tolist() == [[1, 1, 0], [0, 1, 1]]


def test_padding_of_each_sequence_holds_for_all_of_its_heads():
    zeros = np.zeros((2, 3, 2, 1))
    result = attention(zeros, zeros, zeros, padding=[[1, 0], [0, 1]])
    assert result.allowed[0].all(axis=(0, 1)).tolist() == [True, False]
    assert result.allowed[1].all(axis=(0, 1)).tolist() == [False, True]


def test_pad_token():
    assert allowed(2, 3, pad_token="[PAD]", key_tokens=["[PAD]", "a", "[PAD]"]) == ["010", "010"]
    assert allowed(2, 3, pad_token="x", key_tokens=["a", "b", "c"]) == ["111", "111"]
    rows = allowed(2, 4, pad_token="_", key_tokens=["a", "b", "c", "_"], causal="lower-right")
    assert rows == ["1110", "1110"]


@pytest.mark.parametrize("kind", [list, np.array, lambda rows: np.array(rows, bool), lambda r: np.array(r, float)])
def test_a_mask_may_be_booleans_or_numbers(kind):
    assert allowed(2, 3, mask=kind([[1, 0, 1], [0, 1, 0]])) == ["101", "010"]


def test_polarity():
    rows = [[1, 0, 1], [0, 1, 0]]
    assert allowed(2, 3, mask=rows, mask_true="allowed") == ["101", "010"]
    assert allowed(2, 3, mask=rows, mask_true="blocked") == ["010", "101"]
    assert allowed(2, 3, padding=[1, 0, 1], mask_true="blocked") == ["010", "010"]
    assert allowed(2, 3, padding=[1, 0, 1], mask=rows, mask_true="blocked") == ["010", "000"]
    assert allowed(2, 3, lengths=2, mask=rows, mask_true="blocked") == ["010", "100"]


@pytest.mark.parametrize("value", [0.5, 2, -1, math.nan, -INF, -1e9])
def test_another_number_in_a_mask_is_a_bias(value):
    with pytest.raises(AttnCalcError, match="bias"):
        allowed(2, 2, mask=[[1, 1], [value, 1]])


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((7,), "s"),
        ((5, 7), "ts"),
        ((5, 1), "t"),
        ((3, 5, 7), "hts"),
        ((3, 1, 1), "h"),
        ((2, 1, 1, 7), "bs"),
        ((2, 3, 5, 7), "bhts"),
        ((1, 1, 1, 1), ""),
    ],
)
def test_masks_and_biases_broadcast_from_the_right(shape, axes):
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 7, 4)), rng.normal(size=(2, 3, 7, 1))
    mask = rng.random(shape) < 0.6
    result = attention(q, k, v, mask=mask, empty_rows="zero")
    for index in np.ndindex(2, 3, 5, 7):
        place = dict(zip("bhts", index, strict=True))
        at = tuple(place[axis] if axis in axes else 0 for axis in "bhts"[4 - len(shape) :])
        assert result.allowed[index] == mask[at]
    bias = rng.normal(size=shape)
    assert_close(
        attention(q, k, v, bias=bias).biased,
        attention(q, k, v).scaled + np.broadcast_to(bias, (2, 3, 5, 7)),
    )


def test_a_mask_over_past_keys_counts_them():
    assert allowed(1, 2, mask=[[1, 0, 0, 1]], **past(2)) == ["1001"]


@pytest.mark.parametrize("name", ["mask", "bias"])
@pytest.mark.parametrize("shape", [(2,), (3, 3), (2, 2, 3)])
def test_masks_and_biases_that_do_not_broadcast(name, shape):
    with pytest.raises(AttnCalcError, match=name):
        allowed(2, 3, **{name: np.ones(shape)})


def test_all_masks_must_agree():
    rng = np.random.default_rng(1)
    B, H, T, S = 2, 3, 5, 7
    q, k, v = rng.normal(size=(B, H, T, 4)), rng.normal(size=(B, H, S, 4)), rng.normal(size=(B, H, S, 2))
    mask, padding = rng.random((H, T, S)) < 0.8, rng.random((B, S)) < 0.8
    bias = np.where(rng.random((T, S)) < 0.1, -INF, 0.0)
    lengths = [6, 5]
    result = attention(
        q,
        k,
        v,
        causal=True,
        causal_align="lower-right",
        mask=mask,
        padding=padding,
        lengths=lengths,
        window_left=3,
        bias=bias,
        empty_rows="zero",
    )
    seen = np.zeros(6, int)
    for b, h, i, j in np.ndindex(B, H, T, S):
        position = i + lengths[b] - T
        rules = (
            j <= position,
            mask[h, i, j],
            padding[b, j],
            j < lengths[b],
            j >= position - 3,
            bias[i, j] == 0,
        )
        assert result.allowed[b, h, i, j] == all(rules)
        if sum(rules) == len(rules) - 1:
            seen[rules.index(False)] += 1
    # `lengths` is implied by lower-right causal; each of the others decides somewhere on its own
    assert all(seen[n] for n in (0, 1, 2, 4, 5))


# --- queries that may attend to no key ------------------------------------------------------------

EMPTY = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]


def empty_row(**options):
    rng = np.random.default_rng(2)
    q, k = rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    return attention(q, k, [[1.0, 3.0], [2.0, 6.0], [6.0, 12.0]], mask=EMPTY, **options)


def test_an_empty_row_is_an_error_that_names_it():
    with pytest.raises(AttnCalcError, match="query 1"):
        empty_row()
    with pytest.raises(AttnCalcError, match="query 1"):
        empty_row(empty_rows="error")


@pytest.mark.parametrize(
    ("policy", "weights", "output"),
    [
        ("zero", [0, 0, 0], [0, 0]),
        ("nan", [math.nan] * 3, [math.nan] * 2),
        ("uniform", [1 / 3] * 3, [3, 7]),
    ],
)
def test_policies_for_empty_rows(policy, weights, output):
    result = empty_row(empty_rows=policy)
    assert_close(result.weights[1], weights)
    assert_close(result.output[1], output)
    assert result.lse[1] == -INF
    assert result.scores[1].tolist() == [-INF] * 3
    assert np.isfinite(result.weights[[0, 2]]).all()
    assert np.isfinite(result.output[[0, 2]]).all()


@pytest.mark.parametrize("policy", ["zero", "nan", "uniform"])
def test_policies_without_any_stage_but_the_output(policy):
    expected = empty_row(empty_rows=policy)
    lean = empty_row(empty_rows=policy, stages=("output", "lse"))
    assert_close(lean.output, expected.output)
    assert_close(lean.lse, expected.lse)
    with pytest.raises(AttnCalcError, match="query 1"):
        empty_row(stages=("output",))


@pytest.mark.parametrize("policy", ["error", "zero", "nan", "uniform"])
def test_with_a_sink_no_query_is_empty(policy):
    result = empty_row(empty_rows=policy, sink=[0.25])
    assert result.weights[1].tolist() == [0, 0, 0]
    assert result.output[1].tolist() == [0, 0]
    assert result.lse[1] == 0.25


def test_minus_infinity_in_a_bias_blocks():
    result = attention([[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], bias=[[0, -INF], [-INF, 0]])
    assert result.allowed.tolist() == [[True, False], [False, True]]
    assert result.weights.tolist() == [[1, 0], [0, 1]]


def test_minus_infinity_in_a_bias_can_empty_a_row():
    bias = [[0.0, 0.0], [-INF, -INF]]
    with pytest.raises(AttnCalcError, match="query 1"):
        attention([[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], bias=bias)
    result = attention([[1.0], [2.0]], [[1.0], [2.0]], [[1.0], [2.0]], bias=bias, empty_rows="zero")
    assert result.output[1].tolist() == [0]


def test_minus_infinity_and_a_mask_empty_a_row_together():
    with pytest.raises(AttnCalcError, match="query 0"):
        attention([[1.0]], [[1.0], [2.0]], [[1.0], [2.0]], bias=[[0.0, -INF]], mask=[[0, 1]])


@pytest.mark.parametrize("fill", [-1e9, -1e30, -1.7e308])
def test_a_very_negative_bias_is_not_a_mask(fill):
    q, k, v = [[1.0]], [[0.5], [0.5]], [[1.0], [5.0]]
    result = attention(q, k, v, bias=[[fill, fill]])
    assert result.allowed.all()
    assert_close(result.weights, [[0.5, 0.5]])
    assert_close(result.output, [[3.0]])
    assert result.lse[0] == pytest.approx(fill)


def test_a_very_negative_bias_beside_an_ordinary_one():
    result = attention([[0.0]], [[0.0], [0.0]], [[1.0], [5.0]], bias=[[-1e9, 0.0]])
    assert result.weights.tolist() == [[0, 1]]
    assert result.allowed.all()


def test_masks_hold_in_every_head_of_a_group():
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(2, 6, 5, 4)), rng.normal(size=(2, 3, 7, 4)), rng.normal(size=(2, 3, 7, 2))
    mask = rng.random((6, 5, 7)) < 0.7
    result = attention(q, k, v, mask=mask, empty_rows="zero")
    expected = attend(q, k, v, mask=mask, empty_rows="zero")
    assert_close(result.weights, expected["weights"])
