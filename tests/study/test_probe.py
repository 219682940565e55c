"""Probes: which outputs move, bit for bit, and what a permutation does."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import assert_close, attend

from attncalc.core.prepare import prepare
from attncalc.core.steps import RIGHT
from attncalc.errors import OptionError
from attncalc.study.examples import TEXTBOOK
from attncalc.study.probe import changed_arrays, changes, probe
from attncalc.study.shuffle import shuffle

Q = K = np.array(TEXTBOOK.query, dtype=float)
V = np.array(TEXTBOOK.value, dtype=float)


def textbook(**options):
    return prepare(query=Q, key=K, value=V, **options)


def expected_change(q, k, v, names=("key", "value"), **options):
    """The same experiment with the oracle: the largest change of each output row for each position."""
    before = np.array(attend(q, k, v, **options)["output"])
    columns = []
    for j in range(len(k)):
        other_k, other_v = np.array(k, dtype=float), np.array(v, dtype=float)
        if "key" in names:
            other_k[j] += 100
        if "value" in names:
            other_v[j] -= 100
        columns.append(np.abs(np.array(attend(q, other_k, other_v, **options)["output"]) - before).max(axis=1))
    return np.array(columns).T


def test_a_causal_mask_keeps_the_first_two_outputs_when_position_2_changes():
    found = probe(textbook(causal=True))
    assert found.influence.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert found.change[0, 2] == 0
    assert found.change[1, 2] == 0
    assert found.leaks.tolist() == []


def test_without_a_mask_everything_moves():
    found = probe(textbook())
    assert found.influence.all()
    assert found.leaks.tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(("what", "names"), [("all", ("key", "value")), ("keys", ("key",)), ("values", ("value",))])
def test_sizes_of_the_changes_are_the_oracles(what, names):
    assert_close(probe(textbook(causal=True), what).change, expected_change(Q, K, V, names, causal=True), rtol=1e-9)


def test_changing_a_value_moves_its_weight_times_100():
    weights = attend(Q, K, V)["weights"]
    assert_close(probe(textbook(), "values").change, [[100 * w for w in row] for row in weights], rtol=1e-9)


def test_a_query_moves_its_own_output_only():
    found = probe(textbook(), "queries")
    assert found.influence.tolist() == np.eye(3, dtype=bool).tolist()
    assert found.change.shape == (3, 3)
    assert len(found.leaks) == 0


def test_a_window_to_the_right_leaks():
    found = probe(textbook(window_left=0, window_right=1))
    assert found.leaks.tolist() == [[0, 1], [1, 2]]


def test_a_padded_key_moves_nothing():
    found = probe(textbook(padding=[1, 0, 1]))
    assert not found.influence[:, 1].any()
    assert found.influence[:, [0, 2]].all()


def test_nan_in_a_blocked_key_is_no_change():
    k = np.array([[1.0, 0], [0, 1], [math.nan, 1]])
    found = probe(prepare(query=Q, key=k, value=V, padding=[1, 1, 0]))
    assert found.influence.tolist() == [[True, True, False]] * 3


def test_past_keys_are_positions_too():
    problem = textbook(past_key=[[1, 1]], past_value=[[5, 5]], causal=True)
    found = probe(problem)
    assert found.influence.tolist() == [[j <= i + 1 for j in range(4)] for i in range(3)]
    assert found.leaks.tolist() == []


def test_lower_right_counts_later_from_the_last_key():
    problem = prepare(query=Q[:2], key=K, value=V, causal=True, causal_align="lower-right")
    found = probe(problem)
    assert found.influence.tolist() == [[True, True, False], [True, True, True]]
    assert found.leaks.tolist() == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 5), st.sampled_from([None, "half"]))
def test_causal_never_leaks(seed, T, d, rope):
    rng = np.random.default_rng(seed)
    H, G = 2, 1
    q, k, v = rng.normal(size=(H, T, 2 * d)), rng.normal(size=(G, T, 2 * d)), rng.normal(size=(G, T, 3))
    problem = prepare(query=q, key=k, value=v, causal=True, rope=rope, alibi=bool(seed % 2))
    found = probe(problem)
    assert len(found.leaks) == 0
    assert not np.triu(found.influence, 1).any()


def test_heads_batches_and_projections_are_probed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 6))
    weights = {name: rng.normal(size=(6, 6)) for name in ("wq", "wk", "wv", "wo")}
    problem = prepare(x=x, weights=weights, heads=3, causal=True, lengths=[4, 2])
    found = probe(problem)
    assert found.influence.tolist() == np.tril(np.ones((4, 4), dtype=bool)).tolist()


def test_another_implementation_is_probed():
    def leaky(problem, steps):
        arrays = changed_arrays(problem, steps)
        return arrays["value"].sum(axis=0, keepdims=True).repeat(3, axis=0)[np.newaxis, np.newaxis]

    found = probe(textbook(causal=True), "values", leaky)
    assert found.change.tolist() == [[100.0] * 3] * 3
    assert found.leaks.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_arrays_for_another_implementation_come_in_the_users_axes():
    rng = np.random.default_rng(1)
    q, k, v = rng.normal(size=(5, 4, 2)), rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2, 7))
    problem = prepare(query=q, key=k, value=v, layout="thd")
    steps = dict(changes(problem, "all"))[2]
    arrays = changed_arrays(problem, steps)
    assert_close(arrays["query"], q)
    assert_close(arrays["key"], np.concatenate([k[:2], k[2:] + 100]))
    assert_close(arrays["value"], np.concatenate([v[:2], v[2:] - 100]))
    past = rng.normal(size=(1, 2, 2))
    problem = prepare(query=q, key=k, value=v, layout="thd", past_key=past, past_value=past[..., :1].repeat(7, -1))
    changed = changed_arrays(problem, dict(changes(problem, "keys"))[0])
    assert changed["past_key"].shape == past.shape
    assert_close(changed["past_key"], past + 100)
    assert_close(changed["key"], k)


def test_a_sequence_cannot_be_handed_to_a_function():
    problem = prepare(x=Q, weights={name: np.eye(2) for name in ("wq", "wk", "wv")})
    with pytest.raises(OptionError, match="cannot be probed on a sequence x"):
        changed_arrays(problem, RIGHT)


def test_an_unknown_change_is_refused():
    with pytest.raises(OptionError, match="change must be one of all, keys, values, queries, not rows"):
        probe(textbook(), "rows")


# ── shuffle ──────────────────────────────────────────────────────────────────────────────────────────────


def random_problem(T=5, S=5, d=4, **options):
    rng = np.random.default_rng(8)
    return prepare(query=rng.normal(size=(T, d)), key=rng.normal(size=(S, d)), value=rng.normal(size=(S, 3)), **options)


def test_plain_attention_follows_its_positions_and_the_rest_does_not():
    found = shuffle(random_problem(causal=True), seed=3)
    assert found.queries
    assert {row.rules: row.follows for row in found.rows} == {
        "plain": True,
        "causal": False,
        "rope": False,
        "alibi": False,
        "given": False,
    }
    assert sorted(found.permutation.tolist()) == list(range(5))


def test_the_difference_is_the_oracles():
    problem = random_problem(causal=True)
    found = shuffle(problem, seed=3)
    q, k, v = (array[0, 0] for array in (problem.inputs.query, problem.inputs.key, problem.inputs.value))
    order = found.permutation
    straight = np.array(attend(q, k, v, causal=True)["output"])[order]
    shuffled = np.array(attend(q[order], k[order], v[order], causal=True)["output"])
    row = next(row for row in found.rows if row.rules == "causal")
    assert_close(row.difference, np.abs(straight - shuffled).max())


def test_with_other_keys_than_queries_the_outputs_stay():
    found = shuffle(random_problem(T=3, S=7), seed=0)
    assert not found.queries
    assert [row.follows for row in found.rows if row.rules in ("plain", "given")] == [True, True]


def test_the_order_is_never_the_old_one():
    for seed in range(20):
        assert shuffle(random_problem(T=2, S=2), seed).permutation.tolist() == [1, 0]


def test_one_seed_gives_one_order():
    assert shuffle(random_problem(), 5).permutation.tolist() == shuffle(random_problem(), 5).permutation.tolist()
