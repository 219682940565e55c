"""What libraries would answer to one input, and where they part from the rules in force."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncalc.core import finite
from attncalc.core.dialects import DIALECTS, Dialect
from attncalc.core.foreign import from_the_corner
from attncalc.core.memory import check_memory
from attncalc.core.notes import queries_text
from attncalc.core.prepare import Problem, prepare
from attncalc.core.rows import run_in_rows
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, Stages, Step, Steps
from attncalc.errors import AttnCalcError, EmptyRowError

UNITS = 64
"""How many units in the last place of the largest output two answers may lie apart and still be the same."""

RULED = ("empty_rows", "scale", "mask_true", "causal_align", "window_left", "window_right")
"""The options that a library's rules may set without a text of their own."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What one library answers.

    Attributes:
        dialect: the library.
        output: in the user's order of axes, read-only; None where it has no answer.
        differs: the output rows (indexes of queries) that part from the rules in force, in any batch or head.
        changed: the options that its rules set otherwise than the rules in force, and what became of them.
        reason: why there is no answer, or "".
    """

    dialect: Dialect
    output: Array | None
    differs: tuple[int, ...]
    changed: Mapping[str, str]
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Every library's answer beside that of the rules in force.

    Attributes:
        problem: inputs and rules in force.
        output: their output; NaN for a query that they make an error.
        undefined: the queries that they make an error.
        answers: one for each dialect, in the order of DIALECTS.
        notes: what one should know about the comparison.
    """

    problem: Problem
    output: Array
    undefined: tuple[int, ...]
    answers: tuple[Answer, ...]
    notes: tuple[str, ...]


def compare(*, max_memory: int | None = None, **given: Any) -> Comparison:
    """Ask every dialect about the same input.

    Options that users gave hold for every library, as they do with ``like``; the rest is as each of them has it.
    A query that may attend to no key is no error here, since that is where libraries part most.

    Args:
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.
        given: the arguments of ``attncalc.core.prepare.prepare``.
    """
    undefined: Array = np.zeros(0, dtype=int)
    try:
        problem = prepare(**given)
        notes = problem.notes
    except EmptyRowError:
        if given.get("empty_rows") is not None:
            raise
        problem = prepare(**{**given, "empty_rows": "nan"})
        undefined = np.flatnonzero(problem.empty.any(axis=(0, 1)))
        queries = queries_text(problem.empty, None)
        own = [note for note in problem.notes if not note.startswith(queries)]
        notes = (*own, f"{queries} may attend to no key, an error under the rules in force; every answer differs there")
    check_memory(problem, ("output",), max_memory)
    too_large: dict[str, None] = {}

    def inspect(stages: Stages) -> None:
        if text := finite.overflow(stages, problem.layout):
            too_large[text] = None

    output = _output(problem, RIGHT, inspect)
    answers = tuple(_ask(dialect, given, problem, output, undefined) for dialect in DIALECTS)
    return Comparison(problem, output, tuple(undefined.tolist()), answers, (*notes, *too_large))


def _ask(dialect: Dialect, given: Mapping[str, Any], problem: Problem, right: Array, undefined: Array) -> Answer:
    try:
        theirs = prepare(**{**given, "like": dialect.name})
    except AttnCalcError as error:
        return Answer(dialect, None, (), {}, error.message)
    adopted = theirs.adopted
    assert adopted is not None
    changed = _changed(theirs, problem, {"empty_rows": "error"} if len(undefined) else {})
    if adopted.lacks:
        return Answer(dialect, None, (), changed, f"has no {' and no '.join(adopted.lacks)}")
    output = _output(theirs, steps_of(dialect, theirs, explicit=given.get("empty_rows") is not None))
    apart = _apart(output, right, problem)
    apart[undefined] = True
    return Answer(dialect, output, tuple(int(i) for i in np.flatnonzero(apart)), changed)


def _changed(theirs: Problem, problem: Problem, really: Mapping[str, Any]) -> dict[str, str]:
    """Return the options in which a library's rules part from those in force, and what became of them.

    Args:
        theirs: inputs, and the library's rules.
        problem: inputs, and the rules in force; ``really`` are those that stand in for others.
        really: see problem.
    """
    assert theirs.adopted is not None
    told = theirs.adopted.changed
    in_force = {**problem.options, **really}

    def same(name: str) -> bool:
        names = ("mask", "bias") if name == "mask" else (name,)
        return all(np.array_equal(in_force[each], theirs.options[each]) for each in names)

    names = [*told, *(name for name in RULED if name not in told)]
    return {name: told.get(name) or _text(theirs.options[name]) for name in names if not same(name)}


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def steps_of(dialect: Dialect, problem: Problem, *, explicit: bool) -> Steps:
    """Return the walk as this library takes it.

    Args:
        dialect: the library.
        problem: inputs, and the library's rules.
        explicit: users said themselves what a query without any key gets; the library's own way is then out.
    """
    changed: dict[str, Step] = dict(dialect.steps)
    if explicit:
        for name in ("allow", "softmax"):
            changed.pop(name, None)
    if problem.sizes.P and problem.rules.causal and not dialect.cache:
        changed["allow"] = from_the_corner(changed.get("allow", RIGHT.allow))
    return replace(RIGHT, **changed)


def _output(problem: Problem, steps: Steps, inspect: Callable[[Stages], None] = lambda stages: None) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        output = run_in_rows(steps, problem.inputs, problem.rules, ("output",), inspect)["output"]
    shown = problem.rules.arithmetic.store(problem.layout.original(output)).view()
    shown.flags.writeable = False
    return shown


def _apart(got: Array, right: Array, problem: Problem) -> Array:
    """Return for which queries two outputs differ by more than rounding, (T,); NaN in both is no difference."""
    size = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    allowance = UNITS * problem.rules.arithmetic.epsilon * size
    with np.errstate(invalid="ignore"):
        same = (np.abs(got - right) <= allowance) | (got == right) | (np.isnan(got) & np.isnan(right))
    queries = problem.layout.axes.index("t")
    apart: Array = np.logical_not(same).any(axis=tuple(n for n in range(same.ndim) if n != queries))
    return apart
