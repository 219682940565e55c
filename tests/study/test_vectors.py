"""Vectors expose every known mistake; verify and audit use them."""

from itertools import combinations

import numpy as np
import pytest

from attncalc import AttnCalcError, attention
from attncalc.core.prepare import prepare
from attncalc.mistakes import CATALOGUE, find
from attncalc.mistakes.wrong import outcomes
from attncalc.study.audit import audit
from attncalc.study.bench import shown
from attncalc.study.mistakes import effects
from attncalc.study.vectors import VECTORS, exposed, exposing
from attncalc.study.verify import chosen, judge, lacking

TWINS = {("scale-twice", "scale-d-not-sqrt"), ("sink-ignored", "sink-renormalised")}
"""The same numbers on every vector; the first pair only without --scale, but there the vector is too plain."""


def test_every_mistake_is_exposed():
    assert all(exposing().values())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_a_vector_holds_the_right_answer(vector):
    assert np.array_equal(attention(**vector.keywords).output, vector.output, equal_nan=True)
    assert np.isfinite(vector.output).all()
    assert judge(vector, vector.output).result == "passed"


def answers(mistake, vector):
    problem = vector.problem
    return [shown(problem, "output", s) for form in mistake.open_forms(problem) for s in outcomes(problem, form)]


def alike(one, other):
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_mistakes_differ_from_each_other_or_are_twins():
    """For every two mistakes there is a vector on which both apply and differ, or only one of them shows."""
    told_apart = set()
    for vector in VECTORS:
        there = exposed(vector)
        for a, b in combinations([m.id for m in CATALOGUE], 2):
            if (a in there) != (b in there):
                told_apart.add((a, b))
    for a, b in combinations([m.id for m in CATALOGUE], 2):
        if (a, b) not in told_apart and (a, b) not in TWINS:
            both = [v for v in VECTORS if a in exposed(v) and b in exposed(v)]
            assert any(not any(alike(x, y) for x in answers(find(a), v) for y in answers(find(b), v)) for v in both), (
                a,
                b,
            )


def test_sizes_are_different_primes_unless_a_mistake_needs_more():
    plain = VECTORS[0].arrays
    sizes = {*plain["q"].shape, *plain["k"].shape, plain["v"].shape[-1]}
    assert sizes == {2, 3, 5, 7}


def test_features_choose_vectors():
    assert {v.name for v in chosen("causal", None)} >= {"plain", "causal"}
    assert not any("rope" in v.features for v in chosen(None, "rope,cache"))
    with pytest.raises(AttnCalcError, match="did you mean padding"):
        chosen("paddin", None)


def test_a_lacking_keyword_is_told():
    vector = next(v for v in VECTORS if v.name == "scale")
    assert lacking(vector, ["q", "k", "v"]) == "the function has no scale"
    assert lacking(vector, ["q", "k", "v", "scale"]) is None
    assert lacking(vector, None) is None


def test_a_wrong_implementation_is_named():
    vector = next(v for v in VECTORS if v.name == "causal")
    outcome = judge(vector, attention(**vector.keywords | {"causal": None}).output)
    assert (outcome.result, outcome.mistakes) == ("failed", ("causal-ignored",))


# --- audit


def test_an_audit_says_what_a_test_lets_through():
    q = k = [[1, 0], [0, 1], [1, 1]]
    v = [[10, 0], [0, 10], [10, 10]]
    found = audit(prepare(q, k, v, causal=True))
    assert {"causal-ignored", "scale-missing"} <= found.caught.keys()
    assert "softmax-unstable" in found.missed
    assert "gqa-tiled" in found.not_applicable
    assert len(found.caught) + len(found.missed) + len(found.not_applicable) == len(CATALOGUE)
    loose = audit(prepare(q, k, v, causal=True), 0, 20)
    assert not loose.caught
    closed = {id for closing in found.closing for id in closing.closes}
    assert closed == {*found.missed, *found.not_applicable}


# --- what mistakes do


def test_multiplying_the_future_by_zero_leaves_weight_on_it():
    q = k = [[1, 0], [0, 1], [1, 1]]
    v = [[10, 0], [0, 10], [10, 10]]
    found = effects(prepare(q, k, v, causal=True), [find("mask-multiplied")]).effects[0]
    assert found.applies
    assert found.weights[0, 1:].sum() == pytest.approx(0.4965, abs=5e-5)
