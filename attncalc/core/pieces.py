"""A problem cut into pieces that know nothing of each other: one for each batch and key/value head."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attncalc.core.rules import Rules
from attncalc.core.shapes import Array, Sizes
from attncalc.core.steps import INPUT_STEPS, RIGHT, Inputs, Stages, start, walk


@dataclass(frozen=True, eq=False)
class Piece:
    """One key/value head of one batch, and the query heads that share it.

    Attributes:
        b: which batch.
        heads: which query heads.
        query: (H/G, T, d), in any floating type; ``key`` and ``value`` likewise.
        key: (S, d).
        value: (S, d_v), finite: what is not is blocked, and stands as 0.
        mean: the mean of all values, (d_v,), for queries without any key; None where it is not needed.
        rules: those of this batch and these heads.
        sizes: B = G = 1, and H/G heads.
    """

    b: int
    heads: slice
    query: Array
    key: Array
    value: Array
    mean: Array | None
    rules: Rules
    sizes: Sizes


def enter(inputs: Inputs, rules: Rules) -> Stages:
    """Return the stages where Q, K and V enter the product, in the types in which they came or are handed out.

    Nothing is copied unless it is projected, rotated, or put behind a cache.
    """
    stages = start(inputs, rules)
    if inputs.projection is None and rules.rope is None and inputs.past_key is None:
        for step in (RIGHT.project, RIGHT.split):
            stages = replace(stages, **step(stages, RIGHT))  # type: ignore[arg-type]  # fields that hold arrays
        return stages
    stages, store = walk(RIGHT, INPUT_STEPS, stages), rules.arithmetic.store
    return replace(stages, query=store(stages.query), key=store(stages.key), value=store(stages.value))


def may_overflow(stages: Stages) -> bool:
    """Say whether a score could become too large for the type, or a sum for the one in which it is computed.

    In doubt it could.  Decided from the largest numbers.  NaN and infinity do not count: as inputs they are blocked.
    Outputs are means of values, and so no larger than those.
    """
    rules, sizes = stages.rules, stages.inputs.sizes
    score = sizes.d * peak(stages.query) * peak(stages.key) * max(1, abs(rules.scale))
    if rules.bias is not None:
        score += peak(rules.bias)
    if rules.alibi_slopes is not None:
        score += peak(rules.alibi_slopes) * (sizes.S + sizes.T)
    mixed = sizes.S * peak(stages.value)
    largest = float(np.finfo(rules.arithmetic.native).max)
    unsafe = not (score < rules.arithmetic.largest / 4 and mixed < largest / 4)
    return unsafe or not projected_finite(stages)


def projected_finite(stages: Stages) -> bool:
    """Say whether Q, K and V are finite where projection or rotation made them; inputs have been checked."""
    inputs = stages.inputs
    if inputs.projection is None and stages.rules.rope is None:
        return True
    for name in ("query", "key", "value"):
        finite, before = np.isfinite(getattr(stages, name)), getattr(inputs, name)
        if finite.all():
            continue
        if inputs.projection is not None or before.shape != finite.shape:
            return False
        rows = np.isfinite(before).all(axis=-1)  # the others are blocked
        if not finite[rows].all():
            return False
    return True


def peak(array: Array) -> float:
    """Return the largest finite magnitude, as float64."""
    high, low = float(array.max()), float(array.min())
    if not np.isfinite(high - low):
        finite = np.isfinite(array)
        high = float(array.max(where=finite, initial=0))
        low = float(array.min(where=finite, initial=0))
    return max(high, -low)


def pieces(stages: Stages) -> Iterator[Piece]:
    """Cut Q, K and V, and the rules that belong to them, into pieces; nothing is copied that is finite."""
    sizes, rules = stages.inputs.sizes, stages.rules
    share = sizes.H // sizes.G
    for b in range(sizes.B):
        for g in range(sizes.G):
            heads, value = slice(g * share, (g + 1) * share), stages.value[b, g]
            uniform = rules.empty_rows == "uniform" and rules.sink is None
            mean = value.mean(axis=0, dtype=np.float64) if uniform else None
            usable = np.isfinite(value)
            if not usable.all():
                value = np.where(usable, value, value.dtype.type(0))
            yield Piece(
                b,
                heads,
                stages.query[b, heads],
                stages.key[b, g],
                value,
                mean,
                rules_of(rules, b, heads),
                replace(sizes, B=1, H=share, G=1),
            )


def rules_of(rules: Rules, b: int, heads: slice) -> Rules:
    """Return the rules of one batch and of some heads, with the axes of size 1 that are left."""

    def batch(array: Array | None) -> Array | None:
        return array if array is None or len(array) == 1 else array[b : b + 1]

    def head(array: Array | None) -> Array | None:
        array = batch(array)
        return array if array is None or array.shape[1] == 1 else array[:, heads]

    return replace(
        rules,
        mask=head(rules.mask),
        bias=head(rules.bias),
        padding=batch(rules.padding),
        padding_tokens=batch(rules.padding_tokens),
        lengths=batch(rules.lengths),
        alibi_slopes=None if rules.alibi_slopes is None else rules.alibi_slopes[heads],
        sink=None if rules.sink is None else rules.sink[heads],
    )
