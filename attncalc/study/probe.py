"""Which outputs move when one position changes?  The question that finds a leaking mask."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attncalc.core import masks
from attncalc.core.prepare import Problem
from attncalc.core.rows import run_in_rows
from attncalc.core.shapes import INPUT_STAGES, Array
from attncalc.core.steps import RIGHT, Stages, Steps, Written, start, walk
from attncalc.errors import OptionError

Change = Literal["all", "keys", "values", "queries"]
CHANGES: tuple[Change, ...] = ("all", "keys", "values", "queries")

ADDED = {"query": 100.0, "key": 100.0, "value": -100.0}
"""What is added to every number of the row that changes."""

Run = Callable[[Problem, Steps], Array]
"""Computes the output, (B, …, T, …) in our order of axes, of a problem by these steps."""


@dataclass(frozen=True, eq=False)
class Probed:
    """What moved.

    Attributes:
        what: which inputs were changed; all is keys and values.
        change: the largest absolute difference of output row i when position j changes, (T, S);
            for queries (T, T).
        influence: whether it moved at all, bit for bit.
        leaks: the [i, j] with an influence of a later position, (n, 2).
    """

    what: Change
    change: Array
    influence: Array
    leaks: Array


def probe(problem: Problem, what: Change = "all", run: Run | None = None) -> Probed:
    """Change one position after the other and compare all outputs with those before.

    Key j gets 100 added to each of its numbers, value j −100; in all batches and heads at once.  Nothing else
    changes, so that an output that is not attended to stays the same to the last bit.

    Args:
        problem: checked inputs and rules.
        what: ``keys``, ``values``, both (``all``) or ``queries``.
        run: another implementation than attncalc's own.
    """
    if what not in CHANGES:
        raise OptionError(f"change must be one of {', '.join(CHANGES)}, not {what}")
    run = run or own
    sizes = problem.sizes
    before = run(problem, RIGHT)
    count = sizes.T if what == "queries" else sizes.S
    change = np.zeros((sizes.T, count))
    moved = np.zeros((sizes.B, sizes.T, count), dtype=bool)
    for j, steps in changes(problem, what):
        after = run(problem, steps)
        size, different = _differences(before, after)
        change[:, j] = size.max(axis=0)
        moved[:, :, j] = different
    leaks = np.argwhere((moved & _later(problem, what)).any(axis=0))
    return Probed(what, change, np.asarray(moved.any(axis=0)), leaks)


def own(problem: Problem, steps: Steps) -> Array:
    """Compute the output with attncalc itself."""
    return run_in_rows(steps, problem.inputs, problem.rules, ("output",))["output"]


def changes(problem: Problem, what: Change) -> Iterator[tuple[int, Steps]]:
    """Yield every position with the steps that compute the output when it has changed."""
    past = problem.sizes.P
    if what == "queries":
        for i in range(problem.sizes.T):
            yield i, replace(RIGHT, project=_shifting("project", {"query"}, i))
        return
    names = {"keys": {"key"}, "values": {"value"}, "all": {"key", "value"}}[what]
    for j in range(problem.sizes.S):
        if j < past:
            yield j, replace(RIGHT, gather=_shifting("gather", names, j))
        else:
            yield j, replace(RIGHT, project=_shifting("project", names, j - past))


def changed_arrays(problem: Problem, steps: Steps) -> dict[str, Array]:
    """Return query, key, value and the past as these steps change them, in the user's order of axes.

    Raises:
        OptionError: the inputs are projected, so that there are no Q, K and V to hand over.
    """
    inputs, layout = problem.inputs, problem.layout
    if inputs.projection is not None:
        raise OptionError("a function of q, k and v cannot be probed on a sequence x")
    made = walk(steps, ("project",), start(inputs, problem.rules))
    arrays = {name: layout.original(getattr(made, name)) for name in INPUT_STAGES}
    if past := problem.sizes.P:
        gathered = walk(steps, ("split", "gather"), made)
        for name, array in (("past_key", gathered.key), ("past_value", gathered.value)):
            rows = array[:, :, :past]
            arrays[name] = rows if layout.packed else layout.original(rows)
    return {name: np.array(array) for name, array in arrays.items()}


def _shifting(name: str, arrays: set[str], row: int) -> Callable[[Stages, Steps], Written]:
    """Return a project or gather step that changes one row of what it makes."""
    right: Callable[[Stages, Steps], Written] = getattr(RIGHT, name)

    def step(s: Stages, steps: Steps) -> Written:
        written = right(s, steps)
        return {**written, **{array: shifted(written[array], row, ADDED[array]) for array in arrays}}

    return step


def shifted(array: Array, row: int, amount: float) -> Array:
    """Add a number to one row, (…, rows, columns)."""
    moved = array.copy()
    moved[..., row, :] += array.dtype.type(amount)
    return moved


def _differences(before: Array, after: Array) -> tuple[Array, Array]:
    """Return (largest absolute difference, whether anything differs) of each row: (B, T), (B, T)."""
    with np.errstate(invalid="ignore"):
        sizes = np.abs(after.astype(np.float64) - before)
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    sizes = np.where(same, 0, np.where(np.isnan(sizes), np.inf, sizes))
    inner = tuple(n for n in range(before.ndim) if n not in (0, before.ndim - 2))
    return sizes.max(axis=inner), np.asarray(~same.all(axis=inner))


def _later(problem: Problem, what: Change) -> Array:
    """Return where position j comes after query i: (B, T, S), or (B, T, T) for queries."""
    sizes = problem.sizes
    i = np.arange(sizes.T)
    if what == "queries":
        return np.broadcast_to(i > i[:, np.newaxis], (sizes.B, sizes.T, sizes.T))
    p = masks.positions(problem.rules, sizes, i)  # (1 or B, T)
    later = np.arange(sizes.S) > p[..., np.newaxis]
    return np.broadcast_to(later, (sizes.B, sizes.T, sizes.S))
