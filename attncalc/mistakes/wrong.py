"""Running mistakes: the record of steps that one or two of them make, and every way in which it can come out.

A wrong mask may leave a query without any key, and programs differ in what they give it then.  So a form has
several outcomes, one for each way of filling such rows; what happens in all other rows is settled by the formula.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attncalc.core import softmax
from attncalc.core.dtypes import ARITHMETIC
from attncalc.core.heads import Projection
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.softmax import EmptyRows
from attncalc.core.steps import INPUT_STEPS, OUTPUT_STEPS, RIGHT, ROW_STEPS, Stages, Step, Steps, Written, run
from attncalc.mistakes.record import Form

ORDER = INPUT_STEPS + ROW_STEPS + OUTPUT_STEPS
"""The names of all steps, in their order."""

STEP_OF = {
    "raw": "raw",
    "scaled": "scale",
    "capped": "cap",
    "biased": "bias",
    "allowed": "allow",
    "scores": "allow",
    "lse": "softmax",
    "weights": "softmax",
    "heads": "mix",
    "output": "project_out",
}
"""Which step writes a stage last."""


@dataclass(frozen=True)
class Filling:
    """What becomes of queries without any key.

    Attributes:
        fill: of those that only the mistake empties: zero, nan or uniform.
        attend: those that the right masks empty attend to the keys that the mistake gives them, if any;
            otherwise they keep what ``policy`` says.
        policy: what ``--empty-rows`` says, or "nan" to mark such rows.
    """

    fill: EmptyRows
    attend: bool
    policy: EmptyRows


MARKED = Filling("nan", attend=False, policy="nan")
"""Marks every row that fillings would settle with NaN."""


def fillings(problem: Problem) -> Iterator[Filling]:
    """Yield every filling, the plainest first."""
    fills: tuple[EmptyRows, ...] = ("zero", "nan", "uniform")
    for fill in fills:
        yield Filling(fill, attend=True, policy=problem.rules.empty_rows)
        if problem.empty.any():
            yield Filling(fill, attend=False, policy=problem.rules.empty_rows)


def combine(*forms: Form) -> Steps:
    """Return the right computation with the changes of all the forms, which replace different steps.

    >>> combine() == RIGHT
    True
    """
    changes: dict[str, Step] = {}
    for form in forms:
        for name, step in form.changes.items():
            if name in changes:
                raise ValueError(f"two mistakes replace the step {name}")
            changes[name] = step
    return replace(RIGHT, **changes)


def compatible(a: Form, b: Form) -> bool:
    """Say whether two forms replace different steps."""
    return a.changes.keys().isdisjoint(b.changes)


def steps_for(forms: tuple[Form, ...], empty: Array, filling: Filling) -> Steps:
    """Return the steps of some forms, with queries that have no key filled in one way.

    Args:
        forms: one mistake, or more at once.
        empty: queries that the right masks empty, (B or 1, H or 1, T).
        filling: how to fill.
    """
    steps = combine(*forms)
    if any(form.own_rows for form in forms):
        return replace(steps, softmax=_filling_other_rows(steps.softmax, filling))
    keeps = all(form.keeps_rows for form in forms if "softmax" in form.changes)
    if not empty.any() or (filling.attend and not keeps):
        steps = replace(steps, softmax=_filling_other_rows(steps.softmax, filling))
    else:
        steps = replace(steps, softmax=_keeping_rows(steps.softmax, empty, filling))
    if filling.attend or not empty.any():
        return steps
    return replace(steps, allow=_closing_rows(steps.allow, empty))


def _filling_other_rows(step: Step, filling: Filling) -> Step:
    """Let a softmax fill rows as wanted."""

    def soften(s: Stages, steps: Steps) -> Written:
        return step(replace(s, rules=replace(s.rules, empty_rows=filling.fill)), steps)

    return soften


def _keeping_rows(step: Step, empty: Array, filling: Filling) -> Step:
    """Let a softmax fill rows as wanted, but those that the right masks empty as the policy says."""
    inner = _filling_other_rows(step, filling)

    def soften(s: Stages, steps: Steps) -> Written:
        written = inner(s, steps)
        kept = empty[..., s.i]
        if filling.attend:  # as the softmax itself leaves them: rounded where it rounds
            kept = kept & np.isneginf(s.scores).all(axis=-1)
            as_said = _filling_other_rows(step, replace(filling, fill=filling.policy))(s, steps)["weights"]
            return {**written, "weights": np.where(kept[..., np.newaxis], as_said, written["weights"])}
        weights = np.where(kept[..., np.newaxis], 0, written["weights"])
        return {**written, "weights": softmax.fill_empty_rows(weights, kept, filling.policy)}

    return soften


def _closing_rows(step: Step, empty: Array) -> Step:
    """Leave rows that the right masks empty without any key."""

    def allow(s: Stages, steps: Steps) -> Written:
        written = step(s, steps)
        closed = empty[..., s.i, np.newaxis]
        scores = np.where(closed, -np.inf, written["scores"])
        return {**written, "allowed": written["allowed"] & ~closed, "scores": scores}

    return allow


def in_float64(problem: Problem) -> Problem:
    """Return the same problem with float64 arithmetic, in which mistakes are computed; numbers stay as rounded."""
    if problem.rules.arithmetic.name == "float64":
        return problem

    def wide(array: Array | None) -> Array | None:
        return None if array is None else array.astype(np.float64)

    inputs, rules = problem.inputs, problem.rules
    layer = inputs.projection
    if layer is not None:
        layer = Projection(**{name: wide(array) for name, array in vars(layer).items()})  # type: ignore[arg-type]
    inputs = replace(
        inputs,
        query=inputs.query.astype(np.float64),
        key=inputs.key.astype(np.float64),
        value=inputs.value.astype(np.float64),
        past_key=wide(inputs.past_key),
        past_value=wide(inputs.past_value),
        projection=layer,
    )
    rules = replace(
        rules,
        bias=wide(rules.bias),
        alibi_slopes=wide(rules.alibi_slopes),
        sink=wide(rules.sink),
        arithmetic=ARITHMETIC["float64"],
    )
    return replace(problem, inputs=inputs, rules=rules)


def outcomes(problem: Problem, *forms: Form) -> Iterator[Stages]:
    """Yield every outcome of one mistake, or more at once; the plainest first.

    Where no row is left to be filled, they are all the same and only the first is yielded.
    """
    problem = in_float64(problem)
    steps = steps_for(forms, problem.empty, MARKED)
    settled = not np.isnan(run(steps, problem.inputs, problem.rules).weights).any()
    for filling in fillings(problem):
        yield run(steps_for(forms, problem.empty, filling), problem.inputs, problem.rules)
        if settled:
            return
