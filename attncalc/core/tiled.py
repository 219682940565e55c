"""Attention block by block: output and lse without any T × S stage, fast.

    for each block of queries:
        m, l, O = −∞, 0, 0
        for each block of keys:
            S  = Q Kᵀ, then cap, bias and mask        (R, d) @ (d, C) -> (R, C)
            m′ = max(m, S along the keys)             the largest score so far
            P  = exp(S − m′)
            l  = exp(m − m′) · l + Σ P                the sum so far, relative to m′
            O  = exp(m − m′) · O + P V                (R, C) @ (C, d_v) -> (R, d_v)
            m  = m′
        lse, output = m + log l, O / l

This is the online softmax (arXiv:1805.02867) as FlashAttention uses it (arXiv:2205.14135, algorithm 1, whose letters
these are).  As in "Self-attention Does Not Need O(n²) Memory" (arXiv:2112.05682) the keys are cut into stretches whose
partial results are merged, so that stretches can be computed at the same time, by threads or by other machines.

``steps.RIGHT`` is the definition; this is its fast twin, and tests hold both to the same answer.  Where no stage is
built none can be rounded: float32 problems are computed in float32 throughout, float16 and bfloat16 in float32, and
only inputs and results are rounded to the type.  The blocks do not depend on how many run at the same time, and so
neither does any bit of the answer.  Of large problems ``update``, the lines about m, P and l, is compiled.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from attncalc.core import compiled, masks, positions, scores, threads
from attncalc.core.pieces import Piece, enter, may_overflow, pieces
from attncalc.core.rules import Rules
from attncalc.core.shapes import INPUT_STAGES, Array, Sizes
from attncalc.core.steps import OUTPUT_STEPS, RIGHT, Inputs, Stages, walk

ROWS = 512
"""Queries of a block; those of all heads that share their keys count."""

BLOCK_BYTES = 2**20
"""How large a block of scores is at the most: small enough for the caches of a processor."""

STRETCH = 2**14
"""Keys of a stretch: what one thread, or one machine, computes at a time."""

COMPILED_BYTES = 2**27
"""How large all scores together are at the least where ``update`` is compiled, which takes a tenth of a second."""


@dataclass(frozen=True, eq=False)
class Partial:
    """What is known about some queries when only some keys have been seen.

    Attributes:
        m: the largest score, (H/G, R, 1); −∞ where all keys are blocked.
        l: Σ exp(score − m), (H/G, R, 1).
        O: Σ exp(score − m) · value, (H/G, R, d_v).
    """

    m: Array
    l: Array
    O: Array


@dataclass(frozen=True, eq=False)
class Task:
    """Queries of one piece, and the stretches of keys that they may attend to.

    Attributes:
        cells: how many scores there are that positions do not block.
        fast: whether ``update`` is compiled.
    """

    piece: Piece
    rows: range
    stretches: tuple[range, ...]
    cells: int
    fast: bool = False

    def part(self, keys: range) -> Partial:
        """Look at one stretch of keys."""
        piece = self.piece
        query = piece.query[:, self.rows.start : self.rows.stop]
        key, value = (array[keys.start : keys.stop] for array in (piece.key, piece.value))
        return look(query, key, value, self.rows, keys, piece.rules, piece.sizes, self.fast)


@dataclass(frozen=True)
class Spread:
    """Where tasks are computed.

    Attributes:
        run: computes tasks; it yields the result of each, in their order.
        blocks: blocks of queries in a task.
    """

    run: Callable[[Sequence[Task]], Generator[Partial, None, None]]
    blocks: int = 1


def run_in_tiles(
    inputs: Inputs,
    rules: Rules,
    wanted: Collection[str],
    spread: Spread | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Array] | None:
    """Compute what ``rows.run_in_rows`` does for RIGHT, for stages that are not T × S.

    Args:
        inputs: what to compute from.
        rules: the rules in force.
        wanted: names of STAGES and INPUT_STAGES.
        spread: where it is computed; on the cores of this machine unless given.
        progress: is told now and then which share of the work is done.

    Returns:
        The wanted stages, in our order of axes and in the type of results; or None where numbers could become too
        large for the type, so that the plain walk has to find the stage and the cell.
    """
    spread = spread or Spread(on_threads)
    ready = enter(inputs, rules)
    if may_overflow(ready):
        return None
    sizes, arithmetic = inputs.sizes, rules.arithmetic
    heads = np.empty((sizes.B, sizes.H, sizes.T, sizes.d_v), arithmetic.stored)
    lse = np.empty((sizes.B, sizes.H, sizes.T), arithmetic.stored)
    tasks = sorted(cut(ready, spread.blocks), key=lambda task: -task.cells)  # so that all threads end together
    total, done = sum(task.cells for task in tasks), 0
    if total * np.dtype(arithmetic.native).itemsize >= COMPILED_BYTES:
        tasks = [replace(task, fast=True) for task in tasks]
    with closing(spread.run(tasks)) as found:
        for task, seen in zip(tasks, found, strict=True):
            place = (task.piece.b, task.piece.heads, slice(task.rows.start, task.rows.stop))
            for into, result in zip((lse, heads), finish(seen, task.piece), strict=True):
                into[place] = arithmetic.store(arithmetic.round(result))
            done += task.cells
            progress(done / max(total, 1))
    kept = {name: getattr(ready, name) for name in INPUT_STAGES} | {"lse": lse, "heads": heads}
    if "output" in wanted:
        kept["output"] = put_out(ready, heads)
    return {name: array for name, array in kept.items() if name in wanted}


def put_out(ready: Stages, heads: Array) -> Array:
    """Take the steps after the heads; without an output projection there is nothing to compute or to round."""
    ready = replace(ready, heads=heads)
    layer, arithmetic = ready.inputs.projection, ready.rules.arithmetic
    if layer is None or layer.wo is None:
        return RIGHT.merge(ready, RIGHT)["output"]
    ready = replace(ready, heads=heads.astype(arithmetic.working, copy=False))
    return arithmetic.store(walk(RIGHT, OUTPUT_STEPS, ready).output)


def cut(ready: Stages, blocks: int) -> list[Task]:
    """Cut a problem into tasks of so many blocks of queries; stretches of keys that are blocked are left out."""
    tasks = []
    for piece in pieces(ready):
        sizes = piece.sizes
        step = blocks * max(1, ROWS // sizes.H)
        for first in range(0, sizes.T, step):
            rows = range(first, min(first + step, sizes.T))
            first_key, last_key = masks.span(piece.rules, sizes, np.arange(rows.start, rows.stop))
            starts = range(int(first_key.min()) // STRETCH * STRETCH, int(last_key.max()), STRETCH)
            stretches = tuple(range(n, min(n + STRETCH, sizes.S)) for n in starts)
            tasks.append(Task(piece, rows, stretches, sizes.H * int((last_key - first_key).sum())))
    return tasks


def on_threads(tasks: Sequence[Task]) -> Generator[Partial, None, None]:
    """Compute tasks on the cores of this machine, one stretch of keys at a time."""
    calls = [partial(task.part, keys) for task in tasks for keys in task.stretches]
    with threads.one_thread_each() as workers, closing(threads.in_order(calls, min(workers, len(calls)))) as parts:
        for task in tasks:
            yield together(task.piece.sizes, len(task.rows), task.piece.rules, *(next(parts) for _ in task.stretches))


def together(sizes: Sizes, rows: int, rules: Rules, *parts: Partial) -> Partial:
    """Merge what is known of so many queries from one stretch of keys after the other."""
    return reduce(merge, parts) if parts else nothing(sizes, rows, rules)


def nothing(sizes: Sizes, rows: int, rules: Rules) -> Partial:
    """Return what is known before any key has been seen."""
    dtype = rules.arithmetic.native
    return Partial(
        m=np.full((sizes.H, rows, 1), -np.inf, dtype),
        l=np.zeros((sizes.H, rows, 1), dtype),
        O=np.zeros((sizes.H, rows, sizes.d_v), dtype),
    )


def merge(a: Partial, b: Partial) -> Partial:
    """Join what is known of the same queries from different keys: log-sum-exp, and the same for the values."""
    m = np.maximum(a.m, b.m)
    with np.errstate(invalid="ignore"):  # a sink may be infinite
        of_a, of_b = np.exp(a.m - level(m)), np.exp(b.m - level(m))
    return Partial(m, of_a * a.l + of_b * b.l, of_a * a.O + of_b * b.O)


def level(m: Array) -> Array:
    """Return what to subtract from scores before exp: m, or 0 where no key has been seen, for −∞ − (−∞) is NaN."""
    return np.where(np.isneginf(m), m.dtype.type(0), m)


def finish(seen: Partial, piece: Piece) -> tuple[Array, Array]:
    """Return lse, (H/G, R), and the output of each head, (H/G, R, d_v), once all keys have been seen."""
    rules = piece.rules
    if rules.sink is not None:  # a score without a key and without a value
        sink = rules.sink.astype(seen.m.dtype)[:, np.newaxis, np.newaxis]
        seen = merge(seen, Partial(sink, np.ones_like(sink), np.zeros_like(sink)))
    empty = seen.l == 0  # l ≥ 1 as soon as a key has been seen
    with np.errstate(divide="ignore"):
        lse = seen.m + np.log(seen.l)
    heads = np.divide(seen.O, seen.l, out=np.zeros_like(seen.O), where=~empty)
    if rules.empty_rows == "nan":
        heads = np.where(empty, heads.dtype.type(np.nan), heads)
    if piece.mean is not None:
        heads = np.where(empty, piece.mean.astype(heads.dtype), heads)
    return lse[..., 0], heads


def look(
    query: Array, key: Array, value: Array, i: range, j: range, rules: Rules, sizes: Sizes, fast: bool = False
) -> Partial:
    """Look at the keys j for the queries i, block by block of both.

    Args:
        query: their rows, (H/G, R, d).
        key: theirs, (C, d).
        value: theirs, (C, d_v).
        i: which queries of all.
        j: which keys of all.
        rules: of one piece.
        sizes: of the piece, all queries and keys.
        fast: compile ``update`` if it can be done here.
    """
    quick = compiled.update(np.dtype(rules.arithmetic.native)) if fast else None
    step = max(1, ROWS // sizes.H)
    blocks = [i[n : n + step] for n in range(0, len(i), step)]
    parts = [
        look_at_block(query[:, b.start - i.start :][:, : len(b)], key, value, b, j, rules, sizes, quick or update)
        for b in blocks
    ]
    if len(parts) == 1:
        return parts[0]
    return Partial(*(np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("m", "l", "O")))


def look_at_block(
    query: Array, key: Array, value: Array, i: range, j: range, rules: Rules, sizes: Sizes, update: compiled.Update
) -> Partial:
    """The inner loop of ``look``: one block of queries, which the heads of the piece stack on each other."""
    H, R, d = query.shape
    dtype = rules.arithmetic.native
    Q = (query.astype(dtype, copy=False) * dtype(rules.scale)).reshape(H * R, d)  # once, on one side: (H/G·R, d)
    start = nothing(sizes, R, rules)
    m, l, O = (array.reshape(H * R, -1) for array in (start.m, start.l, start.O))
    columns = max(1, BLOCK_BYTES // (np.dtype(dtype).itemsize * H * R))
    scores_memory, mixed = np.empty((H * R, min(columns, len(j))), dtype), np.empty_like(O)
    sight = Sight(rules, sizes, i)
    for first in range(0, len(j), columns):
        here = j[first : first + columns]
        allowed = sight.of(here)
        if allowed is False:
            continue
        K, V = (array[first : first + columns].astype(dtype, copy=False) for array in (key, value))
        with np.errstate(invalid="ignore"):  # NaN may stand in a blocked key
            S = np.matmul(Q, K.T, out=scores_memory[:, : len(here)])  # (R, d) @ (d, C) -> (R, C)
        S = adjust(S.reshape(H, R, -1), allowed, i, here, rules, sizes).reshape(H * R, -1)
        O *= update(S, m, l)
        O += np.matmul(S, V, out=mixed)  # (R, C) @ (C, d_v) -> (R, d_v); S is P by now
    return Partial(*(array.reshape(H, R, -1) for array in (m, l, O)))


def update(S: Array, m: Array, l: Array) -> Array:
    """Turn scores into exp(S − m′), and m and l into m′ and l′, all in place; return exp(m − m′).

    Args:
        S: (R, C).
        m: (R, 1), as l and the result.
        l: what is known of the keys before these.
    """
    before = m.copy()
    np.maximum(m, S.max(axis=1, keepdims=True), out=m)
    shrink: Array = np.exp(before - level(m))
    P = np.exp(np.subtract(S, level(m), out=S), out=S)
    l *= shrink
    l += P.sum(axis=1, keepdims=True)
    return shrink


def adjust(S: Array, allowed: Array | bool, i: range, j: range, rules: Rules, sizes: Sizes) -> Array:
    """Cap, bias and block the scores of the queries i and keys j, (H/G, R, C), as the steps of that name do.

    S is written to where there is nothing to cap or to add.
    """
    rows, columns = np.arange(i.start, i.stop), np.arange(j.start, j.stop)
    S = scores.cap(S, rules.softcap)
    if rules.bias is not None:
        S = scores.add(S, masks.pick(rules.bias, rows, columns)[0].astype(S.dtype))
    if rules.alibi_slopes is not None:
        p = masks.positions(rules, sizes, rows)
        S = scores.add(S, positions.alibi(rules.alibi_slopes, p, columns)[0].astype(S.dtype))
    if allowed is not True:
        np.copyto(S, S.dtype.type(-np.inf), where=np.logical_not(allowed))  # scores.block, in place
    return S


class Sight:
    """Which keys a block of queries sees: all of a block of keys, none of them, or some."""

    def __init__(self, rules: Rules, sizes: Sizes, i: range) -> None:
        self.rules, self.sizes, self.i = rules, sizes, np.arange(i.start, i.stop)
        first, last = masks.span(rules, sizes, self.i)
        self.some = range(int(first.min()), int(last.max()))  # outside, no query sees a key
        self.all = range(int(first.max()), int(last.min()))  # inside, positions block none
        others = (rules.mask, rules.bias, rules.padding, rules.padding_tokens)
        self.by_position = all(other is None for other in others)

    def of(self, j: range) -> Array | bool:
        """Return what they may attend to among the keys j: True, False, or (1 or H/G, 1 or R, 1 or C)."""
        if j.stop <= self.some.start or j.start >= self.some.stop:
            return False
        if self.by_position and self.all.start <= j.start and j.stop <= self.all.stop:
            return True
        allowed = masks.together(self.rules, self.sizes, self.i, np.arange(j.start, j.stop))[0]
        if allowed.all():
            return True
        return allowed if allowed.any() else False
