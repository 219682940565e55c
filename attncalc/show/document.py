"""What a page says, without how it looks: blocks of text and numbers, and the role of each piece.

    Document
    ├── Heading  Text  Note  Lines      words
    ├── Facts  Formula                  names with values; one formula
    └── Matrix  Table                   numbers with labels; columns of words and numbers

Every text may hold what a user typed: renderers clean and escape all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


class Role(StrEnum):
    """What a piece of text is; each renderer decides how that looks."""

    NORMAL = "normal"
    HEADING = "heading"
    LABEL = "label"  # names a row, a column or a value
    TERM = "term"  # a word that is being explained
    BLOCKED = "blocked"
    STRONGEST = "strongest"
    WRONG = "wrong"
    RIGHT = "right"
    FAINT = "faint"  # lines of a table, remarks


@dataclass(frozen=True)
class Span:
    """A piece of text with a role."""

    text: str
    role: Role = Role.NORMAL


Words = str | tuple[str | Span, ...]


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the page's own."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Text:
    """A paragraph in words, wrapped to a readable width and never cut."""

    text: Words


@dataclass(frozen=True)
class Note:
    """A remark on the result."""

    text: Words


@dataclass(frozen=True)
class Lines:
    """Lines whose spacing means something, such as worked arithmetic; never wrapped."""

    lines: tuple[Words, ...]


@dataclass(frozen=True)
class Facts:
    """Names and values, aligned, such as the rules in force."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Formula:
    """One formula, for text (√ ᵀ − ∞ ·) and for LaTeX (without the dollar signs)."""

    plain: str
    latex: str


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers or truth values in rows and columns; a vector is one column."""

    title: str
    values: Array  # (rows, columns) or (rows,)
    rows: tuple[str, ...] | None = None  # labels; None: row_prefix and the index
    columns: tuple[str, ...] | None = None
    row_prefix: str = "q"
    column_prefix: str = "k"
    corner: str = ""
    blocked: Array | None = None  # booleans, shaped as values
    strength: Array | None = None  # 0 to 1, shaped as values: how strong a cell is to look
    marks: Mapping[tuple[int, int], Role] = field(default_factory=dict)  # cells that stand out
    total: tuple[str, Array] | None = None  # a last column: its label and its (rows,) numbers
    fixed: bool = False  # keep the decimals when every number is whole; always so with strength
    tiny: bool = False  # write 1.1e-14 where a number that is not 0 would look like it

    def __post_init__(self) -> None:
        shape = self.values.shape
        if self.values.ndim not in (1, 2):
            raise ValueError(f"a matrix has one or two axes, not {self.values.ndim}")
        for name, array in (("blocked", self.blocked), ("strength", self.strength)):
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} is {array.shape}, values are {shape}")
        height, width = self.grid.shape
        if self.rows is not None and len(self.rows) != height:
            raise ValueError(f"{len(self.rows)} row labels for {height} rows")
        if self.columns is not None and len(self.columns) != width:
            raise ValueError(f"{len(self.columns)} column labels for {width} columns")

    @property
    def grid(self) -> Array:
        """The values in rows and columns, also those of a vector."""
        return as_columns(self.values)

    @property
    def row_labels(self) -> list[str]:
        """A label for each row."""
        count = len(self.values)
        return list(self.rows) if self.rows is not None else [f"{self.row_prefix}{i}" for i in range(count)]

    @property
    def column_labels(self) -> list[str]:
        """A label for each column; empty for a vector without one."""
        if self.columns is not None:
            return list(self.columns)
        return [f"{self.column_prefix}{j}" for j in range(self.values.shape[1])] if self.values.ndim == 2 else [""]


@dataclass(frozen=True)
class Column:
    """The head of a table's column; right-aligned ones hold numbers and are never wrapped."""

    title: str
    align: Literal["left", "right"] = "left"


@dataclass(frozen=True)
class Table:
    """Columns of words and numbers that are already text."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Span, ...], ...]
    title: str = ""


Block = Heading | Text | Note | Lines | Facts | Formula | Matrix | Table


@dataclass(frozen=True)
class Document:
    """A page, from top to bottom."""

    blocks: tuple[Block, ...]
    blocked: str = "blocked"  # what the sign of a blocked cell means, in the language of the page


def spans(words: Words) -> list[Span]:
    """Give every piece of a text its role."""
    pieces = (words,) if isinstance(words, str) else words
    return [piece if isinstance(piece, Span) else Span(piece) for piece in pieces]


def plain(words: Words | Span) -> str:
    """Take the roles away."""
    return words.text if isinstance(words, Span) else "".join(span.text for span in spans(words))


def as_columns(values: Array) -> Array:
    """Stand a vector up as one column."""
    return values if values.ndim == 2 else values[:, None]
