"""A workbench for wrong runs: the right stages are kept, and only a few rows are worked out anew.

Most mistakes leave queries apart, so that a few rows of their answer can be had for a small part of the work; and
what comes before the first wrong step is right and is computed once.
"""

from dataclasses import fields, replace

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array, Layout
from attncalc.core.steps import RIGHT, Stages, start, walk
from attncalc.mistakes.record import Form
from attncalc.mistakes.wrong import ORDER, STEP_OF, Filling, in_float64, steps_for

FIRST_ROW_STEP = ORDER.index("raw")
"""Before this step there are no rows of scores to choose from."""


class Bench:
    """Runs mistakes on a problem, as far as one stage and for chosen queries.

    Args:
        problem: the right problem.
        stage: the stage that is looked at.
    """

    def __init__(self, problem: Problem, stage: str) -> None:
        self.problem = in_float64(problem)
        self.stage = stage
        self.end = ORDER.index(STEP_OF[stage]) + 1
        self.full = {0: start(self.problem.inputs, self.problem.rules)}

    def right_before(self, number: int) -> Stages:
        """Return the right stages before the step of that number, with every row."""
        known = max(n for n in self.full if n <= number)
        if known < number:
            self.full[number] = walk(RIGHT, ORDER[known:number], self.full[known])
        return self.full[number]

    def chosen(self, rows: Array) -> "Rows":
        """Return the means to work out these rows."""
        return Rows(self, rows)


class Rows:
    """Some rows of a bench, whose right stages are kept as well.

    Args:
        bench: the bench.
        rows: which queries, as indexes.
    """

    def __init__(self, bench: Bench, rows: Array) -> None:
        self.bench = bench
        self.rows = rows
        self.known = {FIRST_ROW_STEP: cut(bench.right_before(FIRST_ROW_STEP), rows)}

    def right_before(self, number: int) -> Stages:
        """Return the right stages of these rows before a step that comes after the inputs."""
        known = max(n for n in self.known if n <= number)
        if known < number:
            self.known[number] = walk(RIGHT, ORDER[known:number], self.known[known])
        return self.known[number]

    def of(self, forms: tuple[Form, ...], filling: Filling) -> Array | None:
        """Return these rows of the stage, in the user's axes, as some forms make them; None where they have none."""
        bench = self.bench
        steps = steps_for(forms, bench.problem.empty, filling)
        first, last, whole = span(forms)
        begin = min(first, ORDER.index("allow")) if _touched_rows(bench.problem, filling) else first
        end = max(bench.end, last + 1)
        if whole is not None:
            stages = cut(walk(steps, ORDER[begin : whole + 1], bench.right_before(begin)), self.rows)
            stages = walk(steps, ORDER[whole + 1 : end], stages)
        elif begin < FIRST_ROW_STEP:
            stages = cut(walk(steps, ORDER[begin:FIRST_ROW_STEP], bench.right_before(begin)), self.rows)
            stages = walk(steps, ORDER[FIRST_ROW_STEP:end], stages)
        else:
            stages = walk(steps, ORDER[begin:end], self.right_before(begin))
        return shown(bench.problem, bench.stage, stages)


def _touched_rows(problem: Problem, filling: Filling) -> bool:
    """Say whether a filling closes rows that the right masks empty, so that the walk begins there at the latest."""
    return not filling.attend and bool(problem.empty.any())


def span(forms: tuple[Form, ...]) -> tuple[int, int, int | None]:
    """Return the numbers of the first and the last replaced step, and of the last one that needs all queries."""
    numbers = [ORDER.index(name) for form in forms for name in form.changes]
    whole = [ORDER.index(name) for form in forms if not form.rows_apart for name in form.changes]
    return min(numbers), max(numbers), max(whole, default=None)


def cut(stages: Stages, rows: Array) -> Stages:
    """Take some queries out of every stage that there is."""
    taken = {"i": stages.i[rows]}
    for field in fields(stages):
        array = getattr(stages, field.name)
        if array is None or field.name in ("inputs", "rules", "i", "key", "value"):
            continue
        if field.name == "query" and array.ndim != 4:
            continue  # still packed
        taken[field.name] = array[:, rows] if field.name == "output" and array.ndim == 3 else array[:, :, rows]
    return replace(stages, **taken)  # type: ignore[arg-type]  # the keys are fields that hold arrays


def shown(problem: Problem, stage: str, stages: Stages) -> Array | None:
    """Return a stage in the user's axes; the heads axis may have been lost to a mistake."""
    array: Array | None = getattr(stages, stage)
    if array is None:
        return None
    layout = problem.layout
    if stage == "output":
        if array.ndim == 3 and not problem.inputs.packed:
            return without_heads(layout).original(array[:, np.newaxis])
        return layout.original(array)
    if stage == "weights" and array.ndim == 3:
        return array if layout.has_batch else array[0]
    return layout.stage(array)


def without_heads(layout: Layout) -> Layout:
    """Return the order of axes without the heads."""
    return replace(layout, axes=layout.axes.replace("h", ""))


def query_axis(problem: Problem, stage: str, ndim: int) -> int:
    """Return which axis of a stage in the user's order holds the queries."""
    axes = problem.layout.axes
    if stage == "output":
        return (axes if ndim == len(axes) else axes.replace("h", "")).index("t")
    return ndim - 1 if stage == "lse" else ndim - 2


def rows_of(problem: Problem, stage: str, array: Array, rows: Array) -> Array:
    """Take some queries out of an array in the user's axes."""
    taken: Array = array.take(rows, axis=query_axis(problem, stage, array.ndim))
    return taken
