"""How much of a large problem is kept when it is to be explored on one page."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from attncalc.core.rules import Rules
from attncalc.core.shapes import Sizes
from attncalc.study.explanation.view import ends

NUMBERS = 260_000
"""So many numbers are kept, of all stages together: at most 5 MB of text with all their digits."""

SIDE = 512
"""So many rows and columns of a stage are kept at the most."""

WIDTH = 128
"""So many columns of Q, K, V and the output are kept at the most."""


@dataclass(frozen=True)
class Stages:
    """How many T × S stages there are, those that are equal counted once.

    Attributes:
        one: of the run in force.
        every: of all the runs together.
    """

    one: int
    every: int

    @classmethod
    def of(cls, rules: Rules) -> "Stages":
        """Count them: raw, scaled, exponentials and weights at least; four runs share the first of them."""
        masked = rules.causal or any(x is not None for x in (rules.mask, rules.padding, rules.lengths))
        capped, biased = rules.softcap is not None, rules.bias is not None or rules.alibi_slopes is not None
        return cls(one=4 + masked + capped + 2 * biased, every=15 + 2 * capped + 3 * biased)


@dataclass(frozen=True)
class Kept:
    """Indexes of what is kept.

    Attributes:
        batches: which sequences.
        heads: which query heads.
        queries: which rows of Q.
        keys: which rows of K and V.
        columns: which columns of Q and K.
        value_columns: which columns of V and the output.
        variants: whether runs with other rules are kept beside the run in force.
    """

    batches: tuple[int, ...]
    heads: tuple[int, ...]
    queries: tuple[int, ...]
    keys: tuple[int, ...]
    columns: tuple[int, ...]
    value_columns: tuple[int, ...]
    variants: bool = True

    def numbers(self, count: Stages) -> int:
        """Say how many numbers that is, about."""
        stages = count.every if self.variants else count.one
        rows, keys = len(self.queries), len(self.keys)
        inputs = (rows + keys) * len(self.columns) + (rows + keys) * len(self.value_columns)
        return len(self.batches) * len(self.heads) * (stages * rows * keys + inputs)


def fitting(
    sizes: Sizes, count: Stages, batch: int | None = None, head: int | None = None, most: int = NUMBERS
) -> Kept:
    """Choose what is kept: first the other runs go, then batches, then heads, then the middle of the sequence.

    Args:
        sizes: of the problem.
        count: how many stages there are.
        batch: keep only this sequence.
        head: keep only this query head.
        most: numbers that may be kept.
    """
    everything = Kept(
        batches=tuple(range(sizes.B)) if batch is None else (batch,),
        heads=tuple(range(sizes.H)) if head is None else (head,),
        queries=tuple(ends(sizes.T, SIDE)),
        keys=tuple(ends(sizes.S, SIDE)),
        columns=tuple(ends(sizes.d, WIDTH)),
        value_columns=tuple(ends(sizes.d_v, WIDTH)),
    )
    return next(kept for kept in _less_and_less(everything) if kept.numbers(count) <= most or _is_least(kept))


def _less_and_less(kept: Kept) -> Iterator[Kept]:
    yield kept
    kept = replace(kept, variants=False)
    yield kept
    while len(kept.batches) > 1:
        kept = replace(kept, batches=kept.batches[:-1])
        yield kept
    while len(kept.heads) > 1:
        kept = replace(kept, heads=kept.heads[:-1])
        yield kept
    while not _is_least(kept):
        queries, keys = (_both_ends(indexes, len(indexes) * 9 // 10) for indexes in (kept.queries, kept.keys))
        kept = replace(kept, queries=queries, keys=keys)
        yield kept


def _both_ends(indexes: tuple[int, ...], most: int) -> tuple[int, ...]:
    return tuple(indexes[n] for n in ends(len(indexes), max(most, 16)))


def _is_least(kept: Kept) -> bool:
    return len(kept.batches) == len(kept.heads) == 1 and len(kept.queries) <= 16 and len(kept.keys) <= 16
