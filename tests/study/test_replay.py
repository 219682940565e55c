"""Whole sequence against token by token: they agree wherever a query sees only what is in the cache."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import attend

from attncalc import AttnCalcError
from attncalc.core.prepare import prepare
from attncalc.study.replay import replay
from attncalc.study.tolerance import Tolerance


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


Q, K, V = normal(7, 4), normal(7, 4, seed=1), normal(7, 3, seed=2)
BATCH = normal(2, 4, 7, 6), normal(2, 2, 7, 6, seed=1), normal(2, 2, 7, 5, seed=2)
CAUSAL = {"causal": True}


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window_left": 2},
        {"window_left": 0},
        {"window_right": 0},
        {"alibi": True},
        {"rope": "half"},
        {"rope": "interleaved", "rope_offset": 5, "rope_dims": 2},
        {"sink": [0.5]},
        {"softcap": 0.7, "scale": 2.0},
        {"padding": [0, 1, 1, 0, 1, 1, 1], "empty_rows": "zero"},
        {"padding": [0, 1, 1, 0, 1, 1, 1], "empty_rows": "nan"},
        {"lengths": 5},
        {"bias": normal(7, 7, seed=4)},
        {"mask": np.tri(7, dtype=bool) & (np.arange(7) != 2), "dtype": "float32"},
        {"bias": normal(1, 7, seed=4)},
        {"mask": np.ones((7, 1), dtype=bool)},
        {"past_key": normal(3, 4, seed=5), "past_value": normal(3, 3, seed=6), "rope": "half", "alibi": True},
    ],
    ids=str,
)
def test_causal_rules_agree(options, chunk):
    result = replay(prepare(Q, K, V, **CAUSAL | options), chunk=chunk)
    assert result.agrees
    assert result.reasons == ()
    assert result.first_difference is None
    assert result.max_abs_error < 1e-6 if options.get("dtype") else result.max_abs_error < 1e-13


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sink": [0.1, 0.2, 0.3, 0.4], "alibi": True, "rope": "half", "window_left": 3},
        {"lengths": [4, 7], "empty_rows": "zero"},
        {"bias": normal(2, 1, 7, 7)},
        {"mask": normal(4, 7, 7) > -1, "empty_rows": "zero"},
        {"padding": np.array([[1] * 7, [1] * 3 + [0] * 4])},
    ],
    ids=str,
)
def test_heads_and_batches_agree(options):
    assert replay(prepare(*BATCH, **CAUSAL | options)).agrees


def test_packed_heads_projection_and_cache():
    x = normal(2, 5, 6)
    w = {"wq": normal(6, 8), "wk": normal(6, 4, seed=1), "wv": normal(6, 4, seed=2), "wo": normal(8, 3, seed=3)}
    past = {"past_key": normal(2, 2, 3, 2), "past_value": normal(2, 2, 3, 2, seed=1)}
    result = replay(prepare(x=x, weights=w, heads=4, kv_heads=2, causal=True, rope="half", **past), chunk=2)
    assert result.agrees
    assert result.whole.shape == (2, 5, 3)


@pytest.mark.parametrize("layout", ["thd", "btd"])
def test_other_orders_of_axes(layout):
    q, k, v = normal(3, 7, 2), normal(3, 7, 2, seed=1), normal(3, 7, 4, seed=2)
    if layout == "thd":
        q, k, v = (array.transpose(1, 0, 2) for array in (q, k, v))
    assert replay(prepare(q, k, v, causal=True, layout=layout)).agrees


def test_keys_before_the_first_query_are_its_prompt():
    problem = prepare(Q[:3], K, V, causal=True, causal_align="lower-right", alibi=True, window_left=4)
    assert replay(problem).agrees


def test_unequal_lengths_have_their_own_prompts():
    q = BATCH[0][:, :, :2]
    problem = prepare(q, *BATCH[1:], causal=True, causal_align="lower-right", lengths=[3, 6])
    assert replay(problem).agrees


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([None, 1, 3]), st.booleans(), st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_any_causal_problem_agrees(seed, tokens, window, alibi, past):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(2, tokens, width)) for width in (4, 4, 3))
    cache = {"past_key": rng.normal(size=(2, past, 4)), "past_value": rng.normal(size=(2, past, 3))} if past else {}
    problem = prepare(q, k, v, causal=True, window_left=window, alibi=alibi, rope="interleaved", **cache)
    assert replay(problem, chunk=int(rng.integers(1, 4))).agrees


def test_without_a_causal_mask_the_future_is_seen_and_the_reason_says_where():
    result = replay(prepare(Q, K, V))
    assert not result.agrees
    assert result.first_difference == 0
    assert "query 0 may attend to key 1" in result.reasons[0]
    assert "--causal" in result.reasons[0]
    expected = [attend(Q[: i + 1], K[: i + 1], V[: i + 1])["output"][i] for i in range(7)]
    np.testing.assert_allclose(result.pieces, expected, rtol=1e-12)


def test_a_chunk_sees_its_own_keys_and_none_after_them():
    result = replay(prepare(Q, K, V), chunk=3)
    assert "query 0 may attend to key 3" in result.reasons[0]
    expected = [attend(Q[:end], K[:end], V[:end])["output"][i] for i in range(7) for end in [min(i // 3 * 3 + 3, 7)]]
    np.testing.assert_allclose(result.pieces, expected, rtol=1e-12)


def test_one_chunk_is_the_whole_sequence():
    assert replay(prepare(Q, K, V), chunk=7).agrees


def test_the_mean_of_all_values_is_another_mean_while_they_come_in():
    result = replay(prepare(Q, K, V, causal=True, padding=[0, 1, 1, 1, 1, 1, 1], empty_rows="uniform"))
    assert result.first_difference == 0
    assert "only those so far" in result.reasons[0]
    np.testing.assert_allclose(result.pieces[0], V[0])


def test_rotation_by_the_row_is_not_rotation_by_the_place():
    result = replay(prepare(Q[:3], K, V, causal=True, causal_align="lower-right", rope="half"))
    assert not result.agrees
    assert "rotation" in result.reasons[0]


def test_queries_without_keys_of_their_own():
    with pytest.raises(AttnCalcError, match="every query has a key of its own"):
        replay(prepare(Q, K[:3], V[:3], causal=True))


def test_the_rows_of_a_decoder_are_compared_with_the_whole():
    got = np.array(attend(Q, K, V, causal=True)["output"])
    assert replay(prepare(Q, K, V, causal=True), got=got).agrees
    got[4, 1] += 1e-3
    result = replay(prepare(Q, K, V, causal=True), got=got)
    assert (result.agrees, result.first_difference) == (False, 4)
    assert result.max_abs_error == pytest.approx(1e-3)
    assert replay(prepare(Q, K, V, causal=True), got=got, tolerance=Tolerance(0, 0.01)).agrees


def test_nan_never_agrees():
    got = np.array(attend(Q, K, V, causal=True)["output"])
    got[2, 0] = np.nan
    result = replay(prepare(Q, K, V, causal=True), got=got)
    assert (result.agrees, result.first_difference, result.max_abs_error) == (False, 2, np.inf)


def test_rows_of_another_shape():
    with pytest.raises(AttnCalcError, match="shape of the output"):
        replay(prepare(Q, K, V), got=V[:3])


@pytest.mark.parametrize("chunk", [0, -1, 1.5])
def test_chunks_have_a_token_at_least(chunk):
    with pytest.raises(AttnCalcError, match="chunk"):
        replay(prepare(Q, K, V), chunk=chunk)


def test_numbers_too_large_for_the_type():
    big = np.full((2, 1), 1e200)
    with pytest.raises(AttnCalcError, match="too large for float64"):
        replay(prepare(big, big, big, causal=True))
    result = replay(prepare(big / 1e198, big / 1e197, big / 1e200, causal=True, dtype="float16"))
    assert any("too large for float16" in note for note in result.notes)
