"""What an explanation is made of: steps, and in each of them words, worked lines and numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from attncalc.core.shapes import Array

GAP = "⋮"
MORE = "…"


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Worked:
    """One line of arithmetic: ``label = term + term = result``.

    ``result`` may be empty; a label of GAP alone stands for lines that are left out.
    """

    label: str
    terms: tuple[str, ...] = ()
    result: str = ""
    sign: str = "+"

    @property
    def text(self) -> str:
        """The line as it would stand on a sheet of paper."""
        sides = [self.label, f" {self.sign} ".join(self.terms), self.result]
        return " = ".join(side for side in sides if side)


@dataclass(frozen=True)
class Working:
    """Lines of arithmetic below each other."""

    lines: tuple[Worked, ...]


@dataclass(frozen=True)
class Grid:
    """A small table of words and numbers; the columns in ``words`` are aligned to the left."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset({0})


@dataclass(frozen=True, eq=False)
class Numbers:
    """A stage for all queries at hand, or an input.

    Attributes:
        title: what it is, such as ``scaled``.
        values: (rows, columns), or (rows,) for one number a query.
        rows: labels of the rows; ``columns`` those of the columns.
        blocked: cells that take no part, shaped as values.
        shares: the numbers are weights from 0 to 1.
        fixed: keep the decimals when all numbers are whole.
    """

    title: str
    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    blocked: Array | None = None
    shares: bool = False
    fixed: bool = True


@dataclass(frozen=True)
class Verdict:
    """Something that must hold, and whether it does."""

    holds: bool
    text: str


Part = Prose | Working | Grid | Numbers | Verdict


@dataclass(frozen=True, eq=False)
class Step:
    """One step of an explanation.

    Attributes:
        id: its name in the contract: shapes project split rope raw scale cap bias mask softmax output merge check.
        title: what it does, in words.
        formula: plain text, or empty; ``latex`` is the same formula for LaTeX.
        values: the numbers that it is about, by name; rows belong to the queries at hand.
        parts: what is said, in order.
    """

    id: str
    title: str
    formula: str
    latex: str
    parts: tuple[Part, ...]
    values: Mapping[str, Array] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Everything that is said, without the tables of numbers, which are in ``values``."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, Prose | Verdict):
                lines.append(part.text)
            elif isinstance(part, Working):
                lines.extend(line.text for line in part.lines)
        return "\n".join(lines)


@dataclass(frozen=True)
class Explanation:
    """A walk through a run.

    Attributes:
        title: of the whole.
        intro: what is shown in full and what in short.
        steps: in the order of the computation.
        batch: which sequence is shown; ``head`` which head.
        queries: the queries that are worked out in full.
        at_hand: the queries whose numbers stand in ``values``.
        notes: what users should know about the numbers.
        blocked: what the sign of a blocked cell means, in the language of the rest.
    """

    title: str
    intro: tuple[str, ...]
    steps: tuple[Step, ...]
    batch: int
    head: int
    queries: tuple[int, ...]
    at_hand: tuple[int, ...]
    notes: tuple[str, ...] = ()
    blocked: str = "blocked"

    @property
    def holds(self) -> bool:
        """Whether everything that must hold does."""
        verdicts = [part for step in self.steps for part in step.parts if isinstance(part, Verdict)]
        return all(verdict.holds for verdict in verdicts)
