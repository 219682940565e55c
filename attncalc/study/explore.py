"""Every stage of a run, and of the same run with other rules, to be looked at cell by cell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attncalc.core import finite, masks
from attncalc.core.prepare import Problem
from attncalc.core.rows import BLOCK_NUMBERS, take_rows
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import INPUT_STEPS, OUTPUT_STEPS, RIGHT, ROW_STEPS, alibi_bias, file_bias, start, walk
from attncalc.errors import AttnCalcError, NumberError, OptionError
from attncalc.study.explain import interesting
from attncalc.study.explanation.softening import between
from attncalc.study.explanation.view import View
from attncalc.study.fitting import NUMBERS, Kept, Stages, fitting
from attncalc.texts import Voice


@dataclass(frozen=True, eq=False)
class Part:
    """One head of one sequence of a run.

    Attributes:
        stages: by name, (rows, columns) or (rows,), only what is kept: query key value, the stages of the contract,
            and what stands between scores and weights: maximum exponentials sum.
        blocked_by: names of the masks that block each cell, (rows, keys) of text, or None where there is no mask.
        sink: the sink's logit and exp(sink − maximum), (rows,), or None.
    """

    stages: Mapping[str, Array]
    blocked_by: Mapping[str, Array]
    sink: tuple[float, Array] | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """The computation under one choice of rules.

    Attributes:
        problem: inputs and rules.
        parts: by (batch, head); empty where it cannot be computed.
        layers: the output of the whole layer by batch, (rows, columns), where heads are merged and projected.
        fault: why it cannot be computed, or nothing.
    """

    problem: Problem
    parts: Mapping[tuple[int, int], Part]
    layers: Mapping[int, Array]
    fault: str = ""

    @property
    def rules(self) -> Rules:
        """The rules of this run."""
        return self.problem.rules


@dataclass(frozen=True, eq=False)
class Exploration:
    """Runs that differ in causal mask and scale; the first is the one that was asked for.

    Attributes:
        runs: what was computed.
        kept: what of it is kept.
        query: the query to look at first.
    """

    runs: tuple[Run, ...]
    kept: Kept
    query: int

    @property
    def problem(self) -> Problem:
        """The problem that was asked for."""
        return self.runs[0].problem


def explore(
    problem: Problem,
    say: Voice,
    *,
    batch: int | None = None,
    head: int | None = None,
    query: int | None = None,
    most: int = NUMBERS,
) -> Exploration:
    """Compute everything that a page shows.

    Args:
        problem: checked inputs and rules.
        say: a voice, for the steps of an explanation.
        batch: only this sequence.
        head: only this query head.
        query: the query to look at first; an interesting one unless given.
        most: so many numbers are kept.

    Raises:
        NumberError: float64 numbers of the run that was asked for became infinite or NaN.
    """
    kept = fitting(problem.sizes, Stages.of(problem.rules), batch, head, most)
    runs = [_run(problem, say, kept)]
    if kept.variants:
        runs += [_attempt(other, say, kept) for other in variants(problem)]
    if query is None:
        query = interesting(problem, kept.batches[0], kept.heads[0])
    return Exploration(tuple(runs), kept, query if query in kept.queries else kept.queries[0])


def variants(problem: Problem) -> Iterator[Problem]:
    """Yield the same problem with and without the causal mask, with 1/√d, without a scale, and with the one given."""
    own = problem.rules
    for causal in (own.causal, not own.causal):
        for scale in dict.fromkeys((own.scale, 1 / math.sqrt(problem.sizes.d), 1.0)):
            if (causal, scale) != (own.causal, own.scale):
                rules = replace(own, causal=causal, scale=scale)
                yield replace(problem, rules=rules, empty=_empty(rules, problem))


def _empty(rules: Rules, problem: Problem) -> Array:
    if rules.sink is not None:
        return np.zeros((1, 1, problem.sizes.T), dtype=bool)
    return finite.empty_queries(rules, problem.sizes)


def _attempt(problem: Problem, say: Voice, kept: Kept) -> Run:
    """Compute a run that nobody asked for; what would be an error makes it unavailable."""
    try:
        if problem.rules.empty_rows == "error" and problem.empty.any():
            query = int(np.argwhere(problem.empty)[0][-1])
            raise OptionError(f"query {query} may attend to no key")
        return _run(problem, say, kept)
    except AttnCalcError as error:
        return Run(problem, {}, {}, error.message)


def _run(problem: Problem, say: Voice, kept: Kept) -> Run:
    ready = walk(RIGHT, INPUT_STEPS, start(problem.inputs, problem.rules))
    places = [(b, h) for b in kept.batches for h in kept.heads]
    cut: dict[tuple[int, int], list[Part]] = {place: [] for place in places}
    layer, rows_of_layer = problem.inputs.projection, []
    for block in _blocks(kept.queries, max(1, BLOCK_NUMBERS // (problem.sizes.B * problem.sizes.H * problem.sizes.S))):
        piece = walk(RIGHT, ROW_STEPS + OUTPUT_STEPS, take_rows(ready, block))
        found = finite.check_stages(piece, problem.layout)
        if found and problem.rules.arithmetic.name == "float64":
            raise NumberError(f"{found[0]} is {found[1]}: the numbers are too large for float64")
        for b, h in places:
            cut[b, h].append(_part(View(piece, {}, say, b, h, ()), kept))
        if layer is not None and layer.wo is not None:
            rows_of_layer.append(piece.output)
    layers = {b: np.concatenate([rows[b] for rows in rows_of_layer]) for b in kept.batches if rows_of_layer}
    return Run(problem, {place: _joined(parts) for place, parts in cut.items()}, layers)


def _blocks(indexes: Sequence[int], most: int) -> Iterator[slice]:
    """Yield neighbours among the indexes together, but not more than ``most``."""
    first = 0
    for n in range(1, len(indexes) + 1):
        if n == len(indexes) or indexes[n] != indexes[n - 1] + 1 or n - first == most:
            yield slice(indexes[first], indexes[n - 1] + 1)
            first = n


def _part(view: View, kept: Kept) -> Part:
    """Cut the rows at hand of one head of one sequence out."""
    soft, s = between(view), view.stages
    between_them = {"maximum": soft.maximum, "exponentials": soft.exponentials, "sum": soft.total}
    stages = {name: _cut(name, array, kept) for name, array in (_stages(view) | between_them).items()}
    stages["key"] = view.key[np.ix_(kept.keys, kept.columns)]
    stages["value"] = view.value[np.ix_(kept.keys, kept.value_columns)]
    blocked = {}
    for name, allowed in masks.in_force(s.rules, view.sizes, s.i, s.j).items():
        ours = np.broadcast_to(allowed, s.scores.shape)[view.batch, view.head]
        blocked[name] = np.logical_not(ours[:, kept.keys])
    sink = s.rules.sink
    return Part(stages, blocked, None if sink is None else (float(sink[view.head]), soft.sink))


def _joined(parts: Sequence[Part]) -> Part:
    """Put rows that were computed apart below each other."""
    first = parts[0]
    if len(parts) == 1:
        return first

    def rows(name: str) -> Array:
        if name in ("key", "value"):
            return first.stages[name]
        return np.concatenate([part.stages[name] for part in parts])

    return Part(
        stages={name: rows(name) for name in first.stages},
        blocked_by={name: np.concatenate([part.blocked_by[name] for part in parts]) for name in first.blocked_by},
        sink=first.sink and (first.sink[0], np.concatenate([part.sink[1] for part in parts if part.sink])),
    )


def _stages(view: View) -> dict[str, Array]:
    """Return the stages of a head whose rows are queries; those that no rule changes are left out."""
    rules = view.stages.rules
    names = ["raw", "scaled", "allowed", "scores", "lse", "weights"]
    if rules.softcap is not None:
        names.append("capped")
    found = {"query": view.query} | {name: view.stage(name) for name in names}
    added = [array for array in (file_bias(view.stages), alibi_bias(view.stages)) if array is not None]
    if added:
        shape = view.stages.scores.shape
        found["bias"] = sum(np.broadcast_to(array, shape)[view.batch, view.head] for array in added)
        found["biased"] = view.stage("biased")
    return found | {"output": view.stage("heads")}


def _cut(name: str, array: Array, kept: Kept) -> Array:
    if name == "query":
        return array[:, kept.columns]
    if name == "output":
        return array[:, kept.value_columns]
    return array[:, kept.keys] if array.ndim == 2 else array
