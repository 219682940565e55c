"""What each known mistake does to these numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, run
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.wrong import in_float64, outcomes
from attncalc.study.bench import shown


@dataclass(frozen=True, eq=False)
class Effect:
    """What a mistake does.

    Attributes:
        mistake: the entry of the catalogue.
        applies: whether the inputs leave room for it.
        weights: the weights that it gives, in the user's axes; None where it does not apply.
        output: the output that it gives, perhaps of another shape; None where it does not apply.
        max_abs_error: the largest difference in the output; infinite where NaN or another shape comes out.
        leak: the largest total weight that a row has on keys which the right masks block; NaN where it is not known.
    """

    mistake: Mistake
    applies: bool
    weights: Array | None = None
    output: Array | None = None
    max_abs_error: float | None = None
    leak: float | None = None

    @property
    def shows(self) -> bool:
        """Whether it makes a difference on these numbers."""
        return bool(self.max_abs_error)


@dataclass(frozen=True, eq=False)
class Effects:
    """The right numbers, and what known mistakes make of them.

    Attributes:
        weights: the right weights, in the user's axes.
        output: the right output.
        effects: one for each mistake, in the order of the catalogue.
    """

    weights: Array
    output: Array
    effects: tuple[Effect, ...]


def effects(problem: Problem, mistakes: Iterable[Mistake] = CATALOGUE) -> Effects:
    """Work out what mistakes do to a problem.

    Of several ways to make a mistake, the one is taken that changes the output most while it stays finite.
    """
    problem = in_float64(problem)
    right = run(RIGHT, problem.inputs, problem.rules)
    output = _shown(problem, "output", right)
    blocked = np.logical_not(_shown(problem, "allowed", right))
    found = tuple(_effect(problem, mistake, output, blocked) for mistake in mistakes)
    return Effects(_shown(problem, "weights", right), output, found)


def _shown(problem: Problem, stage: str, stages: Any) -> Array:
    array = shown(problem, stage, stages)
    assert array is not None
    return array


def _effect(problem: Problem, mistake: Mistake, right: Array, blocked: Array) -> Effect:
    best: Effect | None = None
    for form in mistake.open_forms(problem):
        for stages in outcomes(problem, form):
            output = _shown(problem, "output", stages)
            weights = _shown(problem, "weights", stages)
            effect = Effect(mistake, True, weights, output, difference(output, right), _leak(weights, blocked))
            if best is None or _rank(effect) > _rank(best):
                best = effect
    return best or Effect(mistake, False)


def _leak(weights: Array, blocked: Array) -> float:
    if weights.shape != blocked.shape:
        return float("nan")
    return float(np.abs(np.where(blocked, weights, 0.0)).sum(axis=-1).max())


def _rank(effect: Effect) -> tuple[bool, float]:
    size = effect.max_abs_error or 0.0
    return bool(np.isfinite(size)), size


def difference(output: Array, right: Array) -> float:
    """Return the largest difference; infinite for another shape, and where NaN comes out of numbers."""
    if output.shape != right.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        error = np.where((output == right) | (np.isnan(output) & np.isnan(right)), 0.0, np.abs(output - right))
    return float(np.nan_to_num(error, nan=np.inf, posinf=np.inf).max())


def least_difference(problem: Problem, form: Form, right: Array) -> Array:
    """Return how far a form's output is from the right one at each element, at the least of its outcomes.

    Returns:
        |wrong − right| of the outcome that is nearest; infinite everywhere for another shape.
    """
    nearest: Array | None = None
    for stages in outcomes(problem, form):
        output = _shown(problem, "output", stages)
        if output.shape != right.shape:
            error = np.full(right.shape, np.inf)
        else:
            with np.errstate(invalid="ignore"):
                error = np.where((output == right) | (np.isnan(output) & np.isnan(right)), 0.0, np.abs(output - right))
            error = np.nan_to_num(error, nan=np.inf, posinf=np.inf)
        if nearest is None or error.max() < nearest.max():
            nearest = error
    assert nearest is not None
    return nearest


def as_json(effect: Effect, language: str = "en") -> dict[str, Any]:
    """Return an effect by the keys of ``attncalc.mistakes/1``."""
    mistake, words = effect.mistake, effect.mistake.words(language)
    return {
        "id": mistake.id,
        "stage": mistake.stage,
        "title": words.title,
        "what": words.what,
        "why": words.why,
        "shows": words.shows,
        "instead": str(mistake.instead),
        "source": list(mistake.source),
        "applies": effect.applies,
        "weights": effect.weights,
        "output": effect.output,
        "max_abs_error": effect.max_abs_error,
        "weight_on_blocked_keys": effect.leak,
    }
