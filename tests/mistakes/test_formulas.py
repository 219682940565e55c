"""Answers made by the catalogue's own formulas, programmed independently: the right id comes first, or tied first.

Each form is tried on the first inputs on which it shows; THOROUGH=1 tries all forms on all inputs.
"""

import os
from functools import cache

import numpy as np
import pytest

from attncalc import attention, check
from attncalc.mistakes import CATALOGUE

from .formulas import FORMULAS
from .plain import World, answer
from .worlds import HINTS, WORLDS

ENOUGH = 10**9 if os.environ.get("THOROUGH") else 1
"""On so many inputs each form is tried."""

PROJECTED = {"projection-transposed", "projection-bias-missing", "output-projection-missing"}
"""Entries that need a projection; test_projections.py has them."""


@cache
def world_of(name):
    arrays, options = WORLDS[name]
    return World(*arrays, **options | HINTS.get(name, {})), attention(*arrays, **options)


def same(a, b):
    """Whether two answers are the same numbers, NaN in the same places."""
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name", WORLDS)
def test_the_plain_formulas_without_a_mistake_are_right(name):
    world, right = world_of(name)
    assert same(answer(world).output, right.output)
    assert same(answer(world).shown_weights, right.weights)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: f"{formula.id} {formula.form}".strip())
def test_the_mistake_behind_an_answer_is_named_first(formula):
    shown = 0
    for name in WORLDS:
        world, right = world_of(name)
        if shown < ENOUGH and formula.when(world):
            shown += sum(is_named(formula, name, right, **way) for way in ways(formula, right)) > 0
    assert shown, "it shows on none of the inputs"


def ways(formula, right):
    """Every way of filling rows without a key."""
    own = formula.id in ("mask-finite-fill", "empty-row-nan")
    for fill in ("zero", "nan", "uniform"):
        yield {"fill": fill}
        if right.problem.empty.any() and not own:
            yield {"fill": fill, "attend": False}


def is_named(formula, name, right, **way):
    """Check that an answer is wrong and that its mistake is named; say whether it shows at all."""
    world, _ = world_of(name)
    stages = answer(world, **way, **formula.change(world))
    named_in(formula, np.array(stages.shown_weights), right, name, "weights")
    return named_in(formula, np.array(stages.output), right, name, "output")


def named_in(formula, got, right, name, stage):
    expected = getattr(right, stage)
    if same(got, expected) or (stage == "weights" and formula.id.startswith("heads-")):
        return False
    arrays, options = WORLDS[name]
    verdict = check(got, *arrays, stage=stage, **options)
    assert not verdict
    errors = {id: found.max_abs_error for found in verdict.mistakes for id in found.ids}
    assert formula.id in errors, (name, stage, verdict.ids)
    assert all(len(found.ids) == 1 for found in verdict.mistakes)
    assert errors[formula.id] <= verdict.mistakes[0].max_abs_error + 1e-12 * max(1, np.nanmax(np.abs(expected)))
    return True


def test_every_entry_has_a_formula():
    assert {formula.id for formula in FORMULAS} | PROJECTED == {mistake.id for mistake in CATALOGUE}


def test_every_form_has_a_formula():
    """As many formulas as forms; dropout has one for each rate, and heads-averaged a form that is two with wo."""
    for mistake in CATALOGUE:
        count = sum(formula.id == mistake.id for formula in FORMULAS)
        if mistake.id not in PROJECTED | {"dropout-left-on", "bias-ignored", "heads-averaged"}:
            assert count == len(mistake.forms), mistake.id
