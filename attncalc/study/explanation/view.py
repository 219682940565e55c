"""What an explanation looks at: one head of one sequence, some queries in full, the others in short."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from attncalc.core.shapes import INPUT_STAGES, Array, Sizes
from attncalc.core.steps import Stages
from attncalc.study.explanation.parts import GAP, MORE, Numbers, Worked, Working
from attncalc.texts import Voice

LEFT_OUT = -1
"""Stands among indexes where some are left out."""

KEYS = 12
"""So many keys are listed one by one; of more, both ends and the heaviest."""

TERMS = 8
"""So many terms of a sum are written; of more, both ends."""

LISTED = 6
"""So many numbers of a row in brackets are written; of more, both ends."""


@dataclass(frozen=True, eq=False)
class View:
    """One head of one sequence of a run.

    Attributes:
        stages: the run; it may hold only some of the queries.
        trail: the stages after each of the input steps, by the step's name.
        say: the language, and how numbers look.
        batch: which sequence; ``head`` which query head.
        queries: the queries to work out in full.
        query_tokens: labels of all queries, or None.
        key_tokens: labels of the keys, or None.
        right: the trail of the right computation, where this run is that of a mistake.
    """

    stages: Stages
    trail: Mapping[str, Stages]
    say: Voice
    batch: int
    head: int
    queries: tuple[int, ...]
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    right: Mapping[str, Stages] | None = None

    @property
    def sizes(self) -> Sizes:
        """How many there are of each letter."""
        return self.stages.inputs.sizes

    @property
    def group(self) -> int:
        """The key/value head that the query head uses."""
        return self.head // (self.sizes.H // self.sizes.G)

    @property
    def at_hand(self) -> list[int]:
        """The queries that the stages hold."""
        return [int(i) for i in self.stages.i]

    def row(self, i: int) -> int:
        """Return where query i stands in the stages."""
        return self.at_hand.index(i)

    def stage(self, name: str) -> Array:
        """Return a stage of this head, (rows, S) or (rows,); rows are the queries at hand."""
        whole: Array = getattr(self.stages, name)
        array: Array = whole[self.batch, self.head]
        return array

    def part_ways(self, name: str) -> bool:
        """Whether Q, K or V of this run first differ from the right ones after an input step."""
        names = list(self.trail)
        before = names[: names.index(name)]
        return not self._right_after(name) and all(self._right_after(each) for each in before)

    def _right_after(self, name: str) -> bool:
        if self.right is None:
            return True
        ours, right = self.trail[name], self.right[name]
        pairs = [(getattr(ours, each), getattr(right, each)) for each in INPUT_STAGES]
        return all(a.shape == b.shape and np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    @property
    def query(self) -> Array:
        """Q of this head as it enters the product, (rows, d)."""
        return self.of_head("query", self.stages)

    @property
    def key(self) -> Array:
        """K that this head uses, (S, d)."""
        return self.of_head("key", self.stages)

    @property
    def value(self) -> Array:
        """V that this head uses, (S, d_v)."""
        return self.of_head("value", self.stages)

    def of_head(self, name: str, stages: Stages) -> Array:
        """Return query, key or value of this head from any point of the walk after the split."""
        whole: Array = getattr(stages, name)
        array: Array = whole[self.batch, self.head if name == "query" else self.group]
        return array

    def query_label(self, i: int) -> str:
        """Name a query where there is little room: ``q1``, ``q1 cat``."""
        return _label("q", i, self.query_tokens)

    def key_label(self, j: int) -> str:
        """Name a key where there is little room: ``k0``, ``k0 the``."""
        return GAP if j == LEFT_OUT else _label("k", j, self.key_tokens)

    def query_words(self, i: int) -> str:
        """Name a query in a sentence."""
        if self.query_tokens is None:
            return self.say("query", i=i)
        return self.say("query.token", i=i, token=self.query_tokens[i])

    def keys_words(self, keys: Iterable[int]) -> str:
        """Name keys in a sentence: ``k0, k1 and k2``, ``k0 to k9``."""
        runs: list[list[int]] = []
        for j in keys:
            if runs and j == runs[-1][-1] + 1:
                runs[-1].append(j)
            else:
                runs.append([j])
        items: list[str] = []
        for run in runs:
            if len(run) > 3:
                items.append(self.say("range", first=f"k{run[0]}", last=f"k{run[-1]}"))
            else:
                items += [f"k{j}" for j in run]
        if len(items) > KEYS:
            items = [*items[: KEYS // 2], MORE, *items[-KEYS // 2 :]]
        return self.say.listed(items)

    def keys_shown(self, i: int) -> list[int]:
        """Choose the keys to list for query i; LEFT_OUT stands where some are missing."""
        if self.sizes.S <= KEYS:
            return list(range(self.sizes.S))
        weights = np.nan_to_num(self.stage("weights")[self.row(i)])
        heaviest = np.argsort(-weights, kind="stable")[: KEYS // 3]
        return with_gaps({*ends(self.sizes.S, 2 * KEYS // 3), *(int(j) for j in heaviest)})

    def numbers(self, name: str, blocked: bool = False, shares: bool = False, fixed: bool = True) -> Numbers:
        """Return a stage for all the queries at hand, as a part of a step."""
        values = self.stage(name)
        return Numbers(
            title=name,
            values=values,
            rows=self.query_rows,
            columns=self.key_rows if values.ndim == 2 else (name,),
            blocked=~self.stage("allowed") if blocked else None,
            shares=shares,
            fixed=fixed,
        )

    def matrix(self, title: str, values: Array, rows: tuple[str, ...]) -> Numbers:
        """Return rows of Q, K, V or an output, whose columns are d0, d1, …, as a part of a step."""
        return Numbers(title, values, rows, tuple(f"d{n}" for n in range(values.shape[1])), fixed=False)

    @property
    def query_rows(self) -> tuple[str, ...]:
        """Labels of the queries at hand."""
        return tuple(self.query_label(i) for i in self.at_hand)

    @property
    def key_rows(self) -> tuple[str, ...]:
        """Labels of all keys."""
        return tuple(self.key_label(j) for j in range(self.sizes.S))

    @property
    def several(self) -> bool:
        """Whether there are other queries to show in short."""
        return len(self.at_hand) > 1


def _label(letter: str, index: int, tokens: tuple[str, ...] | None) -> str:
    return f"{letter}{index}" if tokens is None else f"{letter}{index} {tokens[index]}"


def ends(count: int, most: int) -> list[int]:
    """Return the indexes from 0 to count, or ``most`` of them from both ends."""
    if count <= most:
        return list(range(count))
    return [*range(most - most // 2), *range(count - most // 2, count)]


def with_gaps(indexes: Iterable[int]) -> list[int]:
    """Sort indexes, and put LEFT_OUT where they jump."""
    shown: list[int] = []
    for j in sorted(indexes):
        if shown and j > shown[-1] + 1:
            shown.append(LEFT_OUT)
        shown.append(j)
    return shown


def product(left: str, right: str) -> str:
    """Write a product of two written numbers; negative ones in parentheses."""
    return f"{in_product(left)}×{in_product(right)}"


def in_product(number: str) -> str:
    """Put a negative number in parentheses."""
    return f"({number})" if number.startswith(("-", "−")) else number


def vector(written: list[str], most: int = LISTED) -> str:
    """Write a row of numbers in brackets: all of a short one, both ends of a long one."""
    shown = (MORE if n == LEFT_OUT else written[n] for n in with_gaps(ends(len(written), most)))
    return f"[{', '.join(shown)}]"


def dot(say: Voice, label: str, left: Array, right: Array, result: float, fixed: bool = False) -> Worked:
    """Write out a dot product of two rows, (n,) and (n,): all terms of a short one, both ends of a long one."""
    lefts, rights = say.row(left), say.row(right)
    return Worked(label, products(lefts, rights), say.number(result, fixed))


def products(lefts: list[str], rights: list[str], most: int = TERMS) -> tuple[str, ...]:
    """Write the products of two rows of written numbers, with MORE where some are left out."""
    shown = with_gaps(ends(len(lefts), most))
    return tuple(MORE if n == LEFT_OUT else product(lefts[n], rights[n]) for n in shown)


def lines_per_key(rows: Iterable[tuple[int, Worked]]) -> Working:
    """Set lines for keys below each other, with a sign where some are left out."""
    return Working(tuple(Worked(GAP) if j == LEFT_OUT else line for j, line in rows))
