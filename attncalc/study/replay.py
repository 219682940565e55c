"""The same sequence twice: at once, and token by token through a cache, as a decoder takes it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays, finite, masks
from attncalc.core.memory import check_memory
from attncalc.core.prepare import Problem
from attncalc.core.rows import run_in_rows
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import INPUT_STEPS, OUTPUT_STEPS, RIGHT, ROW_STEPS, Inputs, Stages, start, walk
from attncalc.errors import OptionError, ShapeError
from attncalc.study.tolerance import BY_TYPE, Tolerance


@dataclass(frozen=True, eq=False)
class Replay:
    """Whether two ways to the same rows agree.

    Attributes:
        problem: inputs and rules.
        whole: the output of the whole sequence at once, in the user's order of axes, read-only.
        pieces: the output of the replay, or the rows that were given, likewise.
        agrees: every number is the same within tolerance; NaN never agrees, but for queries that are to get NaN.
        max_abs_error: the largest absolute difference; infinite where one side is NaN.
        first_difference: index of the first query whose row differs, or None.
        tolerance: how far two numbers may lie apart.
        chunk: how many tokens were taken at a time.
        reasons: why the two cannot agree under these rules, in sentences; empty where they must.
        notes: stages whose numbers are too large for the type.
    """

    problem: Problem
    whole: Array
    pieces: Array
    agrees: bool
    max_abs_error: float
    first_difference: int | None
    tolerance: Tolerance
    chunk: int
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def replay(
    problem: Problem,
    *,
    chunk: int = 1,
    got: ArrayLike | None = None,
    tolerance: Tolerance | None = None,
    max_memory: int | None = None,
) -> Replay:
    """Compare the whole sequence with the same tokens through a cache, or with the rows of a user's decoder.

    Args:
        problem: inputs and rules; each query must have its own key among the new ones or the earlier ones.
        chunk: how many tokens are taken at a time; the keys of a chunk enter the cache together.
        got: rows that a decoder has made, in the shape of the output; they then take the place of the replay.
        tolerance: how far two numbers may lie apart; by the type of the arithmetic unless given.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.

    Raises:
        OptionError: there are queries without a key of their own.
        ShapeError: got is not shaped as the output.
    """
    chunk = arrays.whole_number("chunk", chunk, 1)
    check_memory(problem, ("output",), max_memory)
    dtype = problem.rules.arithmetic.name
    tolerance = tolerance or Tolerance(*BY_TYPE[dtype], dtype)
    notes: dict[str, None] = {}

    def inspect(stages: Stages) -> None:
        if text := finite.overflow(stages, problem.layout):
            notes[text] = None

    whole = _shown(problem, run_in_rows(RIGHT, problem.inputs, problem.rules, ("output",), inspect)["output"])
    if got is None:
        pieces = _shown(problem, in_pieces(problem, chunk))
    else:
        pieces = arrays.numbers("got", got)
        if pieces.shape != whole.shape:
            raise ShapeError(
                "got must have the shape of the output", arrays=[("got", pieces.shape), ("output", whole.shape)]
            )
    error, apart = _difference(problem, whole, pieces, tolerance)
    first = int(np.flatnonzero(apart)[0]) if apart.any() else None
    reasons = () if got is not None else why_not(problem, chunk)
    return Replay(problem, whole, pieces, first is None, error, first, tolerance, chunk, reasons, tuple(notes))


def in_pieces(problem: Problem, chunk: int) -> Array:
    """Return the output that a decoder makes, chunk by chunk, in our order of axes.

    Keys that stand before the first query are its prompt and are in the cache from the start.
    """
    outputs = [_decode(problem, b, chunk) for b in range(problem.sizes.B)]
    return np.concatenate(outputs)


def _decode(problem: Problem, b: int, chunk: int) -> Array:
    """Decode one sequence of the batch: each has its own cache."""
    inputs, rules = _sequence(problem.inputs, b), _rules_of(problem.rules, b)
    sizes = inputs.sizes
    offset = int(masks.offset(rules, sizes)[0])
    if offset < sizes.P or offset + sizes.T > sizes.S:
        raise OptionError(
            f"in a replay every query has a key of its own; here the queries stand at {offset} to "
            f"{offset + sizes.T - 1} and the keys at 0 to {sizes.S - 1}",
            facts=[("sequence", str(b))] if problem.sizes.B > 1 else [],
        )
    cache = _prompt(inputs, rules, offset)
    before = offset - sizes.P  # new keys in front of the first query
    outputs = []
    for first in range(0, sizes.T, chunk):
        last = min(first + chunk, sizes.T)
        stages = _step(inputs, rules, cache, slice(first, last), slice(before + first, before + last))
        cache = stages.key, stages.value
        outputs.append(stages.output)
    return np.concatenate(outputs, axis=1 if inputs.packed else 2)


Cache = tuple[Array, Array] | tuple[None, None]
"""Keys, already turned, and values: (1, G, rows, d) and (1, G, rows, d_v)."""


def _prompt(inputs: Inputs, rules: Rules, offset: int) -> Cache:
    """Return the cache before the first token: past keys, then the new ones in front of the first query."""
    past = _past(inputs)
    if offset == inputs.sizes.P:
        return past
    part = _part(inputs, past, slice(0, 1), slice(0, offset - inputs.sizes.P))
    stages = walk(RIGHT, INPUT_STEPS, start(part, rules))
    return stages.key, stages.value


def _past(inputs: Inputs) -> Cache:
    if inputs.past_key is None or inputs.past_value is None:
        return None, None
    return inputs.past_key, inputs.past_value


def _step(inputs: Inputs, rules: Rules, cache: Cache, rows: slice, keys: slice) -> Stages:
    """Take one chunk: its queries against the cache and its own keys."""
    part = _part(inputs, cache, rows, keys)
    count = part.sizes.S
    i, j = np.arange(rows.start, rows.stop), np.arange(count)
    own = replace(
        rules,
        align="past",  # a query's position is the number of keys before it
        mask=None if rules.mask is None else masks.pick(rules.mask, i, j),
        bias=None if rules.bias is None else masks.pick(rules.bias, i, j),
        padding=None if rules.padding is None else rules.padding[:, :count],
        padding_tokens=None if rules.padding_tokens is None else rules.padding_tokens[:, :count],
        rope=None if rules.rope is None else replace(rules.rope, start=rules.rope.start + keys.start),
    )
    return walk(RIGHT, INPUT_STEPS + ROW_STEPS + OUTPUT_STEPS, start(part, own))


def _part(inputs: Inputs, cache: Cache, rows: slice, keys: slice) -> Inputs:
    """Return some queries and some new keys behind a cache."""
    axis = 1 if inputs.packed else 2

    def cut(array: Array, part: slice) -> Array:
        taken: Array = array[(slice(None),) * axis + (part,)]
        return taken

    past = 0 if cache[0] is None else cache[0].shape[2]
    return replace(
        inputs,
        query=cut(inputs.query, rows),
        key=cut(inputs.key, keys),
        value=cut(inputs.value, keys),
        past_key=cache[0],
        past_value=cache[1],
        sizes=replace(inputs.sizes, T=rows.stop - rows.start, S=past + keys.stop - keys.start, P=past),
    )


def _sequence(inputs: Inputs, b: int) -> Inputs:
    """Return one sequence of the batch."""

    def one(array: Array | None) -> Array | None:
        return None if array is None else array[b : b + 1]

    return replace(
        inputs,
        query=inputs.query[b : b + 1],
        key=inputs.key[b : b + 1],
        value=inputs.value[b : b + 1],
        past_key=one(inputs.past_key),
        past_value=one(inputs.past_value),
        sizes=replace(inputs.sizes, B=1),
    )


def _rules_of(rules: Rules, b: int) -> Rules:
    """Return the rules for one sequence of the batch."""

    def one(array: Array | None) -> Array | None:
        return array if array is None or len(array) == 1 else array[b : b + 1]

    return replace(
        rules,
        mask=one(rules.mask),
        bias=one(rules.bias),
        padding=one(rules.padding),
        padding_tokens=one(rules.padding_tokens),
        lengths=one(rules.lengths),
    )


def why_not(problem: Problem, chunk: int) -> tuple[str, ...]:
    """Say why the whole sequence and the pieces cannot agree under these rules; empty where they must."""
    rules, sizes = problem.rules, problem.sizes
    i, j = np.arange(sizes.T), np.arange(sizes.S)
    offset = masks.offset(rules, sizes)
    first = offset[:, np.newaxis]  # (1 or B, 1)
    ends = np.minimum((i // chunk + 1) * chunk, sizes.T) + first  # (1 or B, T): keys there are when the chunk is taken
    reasons = []
    for block in range(0, sizes.T, ROWS):
        part = i[block : block + ROWS]
        later = j >= ends[:, np.newaxis, block : block + ROWS, np.newaxis]
        early = np.argwhere(masks.together(rules, sizes, part, j) & later)
        if len(early):
            _, _, row, key = (int(n) for n in early[0])
            query = int(part[row])
            reasons.append(
                f"query {query} may attend to key {key}, which is not in the cache yet when the query is taken: the "
                "whole sequence sees the future, a decoder cannot" + ("" if rules.causal else " (--causal)")
            )
            break
    if rules.empty_rows == "uniform" and problem.empty.any():
        reasons.append("a query without any key gets the mean of all values, and a decoder has only those so far")
    if rules.rope is not None and (offset != sizes.P).any():
        reasons.append(
            "the rotation counts queries from the first query and keys from the first new key, and the first query "
            "stands further on; a decoder turns both by the place in the sequence"
        )
    return tuple(reasons)


ROWS = 1024
"""How many queries ``why_not`` looks at together."""


def _difference(problem: Problem, whole: Array, pieces: Array, tolerance: Tolerance) -> tuple[float, Array]:
    """Return the largest absolute difference, and which queries differ, (T,)."""
    a, b = whole.astype(np.float64), pieces.astype(np.float64)
    wrong = np.logical_not(tolerance.near(b, a))
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.where(a == b, 0.0, np.abs(a - b))
    distance = np.where(np.isnan(distance), np.inf, distance)
    if problem.rules.empty_rows == "nan":
        both = np.isnan(a) & np.isnan(b)
        wrong, distance = wrong & ~both, np.where(both, 0.0, distance)
    queries = problem.layout.axes.index("t")
    others = tuple(n for n in range(a.ndim) if n != queries)
    return float(distance.max(initial=0.0)), np.asarray(wrong.any(axis=others))


def _shown(problem: Problem, output: Array) -> Array:
    shown = problem.rules.arithmetic.store(problem.layout.original(output)).view()
    shown.flags.writeable = False
    return shown
