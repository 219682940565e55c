"""The page of ``attncalc explain``: a heading for every step, words, worked lines and numbers below it."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

import numpy as np

from attncalc.show.document import Block, Column, Document, Formula, Heading, Lines, Matrix, Role, Span, Table, Text
from attncalc.show.labels import cell_width, pad
from attncalc.study.explanation.parts import (
    GAP,
    Explanation,
    Grid,
    Numbers,
    Part,
    Prose,
    Step,
    Verdict,
    Worked,
    Working,
)

WIDTH = 80
INDENT = "  "


def pages(explanation: Explanation, width: int | None = None) -> list[Document]:
    """Make one document of the title, and one of each step.

    Args:
        explanation: what is told.
        width: columns of the terminal; worked lines are broken to it, and to 80.
    """
    room = min(width or WIDTH, WIDTH)
    title = Document((Heading(explanation.title), *(Text(text) for text in explanation.intro)))
    return [title, *(_step(n, step, room, explanation.blocked) for n, step in enumerate(explanation.steps, 1))]


def page(explanation: Explanation, width: int | None = None) -> Document:
    """Make one document of everything."""
    blocks = tuple(block for part in pages(explanation, width) for block in part.blocks)
    return Document(blocks, explanation.blocked)


def steps_record(explanation: Explanation) -> list[Mapping[str, Any]]:
    """Return the steps for JSON, with the keys of the contract."""
    return [
        {
            "id": step.id,
            "title": step.title,
            "formula": step.formula,
            "latex": step.latex,
            "values": dict(step.values),
            "text": step.text,
        }
        for step in explanation.steps
    ]


def _step(number: int, step: Step, room: int, blocked: str) -> Document:
    blocks: list[Block] = [Heading(f"{number}. {step.title}", level=2)]
    if step.formula:
        blocks.append(Formula(step.formula, step.latex))
    blocks += (_block(part, room) for part in step.parts)
    return Document(tuple(blocks), blocked)


def _block(part: Part, room: int) -> Block:
    match part:
        case Prose(text):
            return Text(text)
        case Working(lines):
            return Lines(tuple(_worked(lines, room)))
        case Grid():
            return _table(part)
        case Numbers():
            return _matrix(part)
        case Verdict(holds, text):
            sign = Span("✓ ", Role.RIGHT) if holds else Span("✗ ", Role.WRONG)
            return Text((sign, text))
        case _:
            assert_never(part)


def _table(grid: Grid) -> Table:
    columns = tuple(Column(title, "left" if n in grid.words else "right") for n, title in enumerate(grid.head))
    return Table(columns, grid.rows)


def _matrix(numbers: Numbers) -> Matrix:
    shares = np.clip(np.nan_to_num(numbers.values.astype(np.float64)), 0, 1) if numbers.shares else None
    return Matrix(
        title=numbers.title,
        values=numbers.values,
        rows=numbers.rows,
        columns=numbers.columns,
        blocked=numbers.blocked,
        strength=shares,
        fixed=numbers.fixed,
    )


def _worked(lines: tuple[Worked, ...], room: int) -> Iterator[str]:
    """Set lines of arithmetic below each other, their equal signs too, and break those that are too long."""
    left = max(cell_width(line.label) for line in lines)
    aligned = _in_columns(lines)
    for line in lines:
        if line.label == GAP:
            yield f"{INDENT}{GAP}"
            continue
        terms = list(line.terms)
        if aligned:
            terms = [pad(term, width) for term, width in zip(terms, aligned, strict=True)]
        head = f"{INDENT}{pad(line.label, left)} = "
        whole = f"{head}{f' {line.sign} '.join(terms)}{f' = {line.result}' if line.result else ''}".rstrip()
        if cell_width(whole) <= room:
            yield whole
        else:
            yield from _broken(head, line, room)


def _in_columns(lines: tuple[Worked, ...]) -> list[int]:
    """Return the width of each term when all lines have equally many, so that they can stand in columns."""
    told = [line for line in lines if line.label != GAP]
    counts = {len(line.terms) for line in told}
    if len(told) < 2 or len(counts) > 1:
        return []
    return [max(cell_width(term) for term in column) for column in zip(*(line.terms for line in told), strict=True)]


def _broken(head: str, line: Worked, room: int) -> Iterator[str]:
    """Break a line before a sign; what follows stands under the first term, the sign before it."""
    current, margin = head, " " * (cell_width(head) - 2)
    for n, term in enumerate(line.terms):
        joined = f" {line.sign} {term}" if n else term
        if n and cell_width(current + joined) > room:
            yield current
            current, joined = margin, f"{line.sign} {term}"
        current += joined
    if line.result:
        result = f" = {line.result}"
        if cell_width(current + result) > room:
            yield current
            current, result = margin, f"= {line.result}"
        current += result
    yield current
