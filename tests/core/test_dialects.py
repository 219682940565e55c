"""``like``: a library's rules, an explicit option that beats them, and what they change; values as measured."""

import numpy as np
import pytest
from oracle import assert_close, attend

from attncalc import AttnCalcError, attention
from attncalc.core.dialects import DIALECTS

NAMES = [dialect.name for dialect in DIALECTS]
RNG = np.random.default_rng(3)
Q, K, V = RNG.normal(size=(2, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3))
SQUARE = tuple(RNG.normal(size=(5, 3)) for _ in range(3))
EMPTY = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0]], dtype=bool)
ZERO = {"torch-sdpa", "onnx-23", "onnx-24", "onnx-25", "keras-mha", "flash-attention-2"}
MEAN = {"jax", "keras-attention", "hf-eager", "mlx"}
LOWER = {"flash-attention-2", "hf-eager", "mlx"}
ADDS = {"torch-sdpa", "torch-mha", "onnx-23", "onnx-24", "onnx-25", "hf-eager", "mlx"}


def test_every_name_is_known_about_here():
    assert set(NAMES) == ZERO | MEAN | {"torch-mha"}


@pytest.mark.parametrize("name", NAMES)
def test_a_query_without_any_key(name):
    mask = ~EMPTY if name == "torch-mha" else EMPTY
    row = attention(Q, K, V, mask=mask, like=name).output[1]
    if name in ZERO:
        np.testing.assert_array_equal(row, [0, 0, 0])
    elif name in MEAN:
        np.testing.assert_allclose(row, V.mean(axis=0))
    else:
        assert np.isnan(row).all()


@pytest.mark.parametrize("name", NAMES)
def test_causal_with_more_keys_than_queries(name):
    scale = 1.0 if name == "keras-attention" else None
    result = attention(Q, K, V, causal=True, like=name)
    corner = "lower-right" if name in LOWER else "upper-left"
    assert result.options["causal"] == corner
    assert_close(result.weights, attend(Q, K, V, causal=True, causal_align=corner, scale=scale)["weights"])
    assert not any("is read as" in note for note in result.notes)  # the library decides, so nothing is guessed


@pytest.mark.parametrize("name", NAMES)
def test_zeros_and_ones_in_a_mask(name):
    mask = np.array([[1, 0, 1, 1, 0], [1, 1, 1, 0, 0]])
    result = attention(Q, K, V, mask=mask, like=name)
    scale = 1.0 if name == "keras-attention" else None
    if name in ADDS:
        assert_close(result.weights, attend(Q, K, V, bias=mask)["weights"])
        assert any("adds them to the scores" in note for note in result.notes)
    else:
        assert_close(result.weights, attend(Q, K, V, mask=mask, scale=scale)["weights"])


def test_numbers_added_for_a_mask_join_a_bias():
    mask, bias = np.array([[1.0, 0, 1, 1, 0]]), RNG.normal(size=(2, 5))
    result = attention(Q, K, V, mask=mask, bias=bias, like="torch-sdpa")
    assert_close(result.weights, attend(Q, K, V, bias=mask + bias)["weights"])


def test_minus_infinity_in_a_mask_of_numbers_blocks():
    mask = np.where(EMPTY, 0.5, -np.inf)
    assert_close(
        attention(Q, K, V, mask=mask, like="onnx-24").weights,
        attend(Q, K, V, bias=mask, empty_rows="zero")["weights"],
    )


@pytest.mark.parametrize("mask", [EMPTY, EMPTY.astype(float)])
def test_an_explicit_polarity_makes_a_mask_of_numbers_too(mask):
    result = attention(Q, K, V, mask=mask, mask_true="allowed", empty_rows="zero", like="torch-mha")
    assert_close(result.weights, attend(Q, K, V, mask=EMPTY, empty_rows="zero")["weights"])
    assert result.problem.adopted.changed == {}


def test_an_explicit_option_beats_the_dialect():
    result = attention(Q, K, V, causal=True, causal_align="upper-left", scale=2.0, empty_rows="nan", like="mlx")
    assert_close(result.weights, attend(Q, K, V, causal=True, scale=2.0)["weights"])
    assert result.problem.adopted.changed == {}


@pytest.mark.parametrize(("name", "left", "right"), [("hf-eager", 1, None), ("keras-mha", 1, 1), ("jax", 2, None)])
def test_windows(name, left, right):
    result = attention(*SQUARE, window_left=2, like=name)
    assert_close(result.weights, attend(*SQUARE, window_left=left, window_right=right)["weights"])


def test_a_window_that_counts_itself_has_one_key_at_least():
    with pytest.raises(AttnCalcError, match=r"window_left of hf-eager.*1 or more"):
        attention(*SQUARE, window_left=0, like="hf-eager")


@pytest.mark.parametrize(("name", "corner"), [("onnx-23", "upper-left"), ("onnx-24", "lower-right")])
def test_lengths_place_the_causal_mask_from_opset_24(name, corner):
    q, k, v = (RNG.normal(size=(2, 1, n, 3)) for n in (2, 5, 5))
    result = attention(q, k, v, lengths=[3, 5], causal=True, like=name)
    assert_close(result.weights, attend(q, k, v, lengths=[3, 5], causal=True, causal_align=corner)["weights"])


def test_a_short_mask_is_filled_up_with_blocked():
    short = np.array([[True, False, True], [True, True, False]])
    full = np.pad(short, [(0, 0), (0, 2)])
    result = attention(Q, K, V, mask=short, like="onnx-24")
    assert_close(result.weights, attend(Q, K, V, mask=full)["weights"])
    assert_close(
        attention(Q, K, V, mask=short * 2.0, like="onnx-24").weights,
        attend(Q, K, V, bias=np.pad(short * 2.0, [(0, 0), (0, 2)], constant_values=-np.inf))["weights"],
    )
    with pytest.raises(AttnCalcError, match="mask does not fit the scores"):
        attention(Q, K, V, mask=short)


@pytest.mark.parametrize("name", NAMES)
def test_options_of_the_result_repeat_the_run_without_the_dialect(name):
    options = {"causal": True, "window_left": 2, "mask": np.array([[1, 1, 1, 0, 1]]), "alibi": True}
    result = attention(Q, K, V, like=name, **options)
    again = attention(Q, K, V, **result.options)
    np.testing.assert_array_equal(again.output, result.output)
    assert "like" not in result.options


def test_what_a_library_lacks_is_a_note():
    assert "jax has no softcap" in attention(Q, K, V, softcap=2.0, like="jax").notes
    assert "mlx has no softcap" in attention(Q, K, V, softcap=2.0, like="mlx").notes
    assert attention(Q, K, V, softcap=2.0, like="onnx-24").notes == ()


def test_nan_in_a_blocked_value_is_a_note_and_changes_nothing():
    value = V.copy()
    value[1] = np.nan
    result = attention(Q, K, value, mask=EMPTY, like="torch-sdpa", empty_rows="zero")
    assert np.isfinite(result.output).all()
    assert any("torch-sdpa lets NaN" in note for note in result.notes)


def test_a_cache_that_the_library_does_not_know_is_a_note():
    past = {"past_key": K[:2], "past_value": V[:2]}
    result = attention(Q, K, V, causal=True, like="torch-sdpa", **past)
    assert result.options["causal"] == "past"
    assert any("has no cache" in note for note in result.notes)
    assert attention(Q, K, V, causal=True, like="onnx-24", **past).notes == ()


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(AttnCalcError, match="no dialect torch_sdpa") as caught:
        attention(Q, K, V, like="torch_sdpa")
    assert "torch-sdpa" in caught.value.hint


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
def test_every_dialect_says_how_it_is_known(dialect):
    assert dialect.known in ("measured on", "read in the source of")
    assert any(character.isdigit() for character in dialect.version)
    assert dialect.call
