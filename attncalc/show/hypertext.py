"""Blocks → HTML: plain, semantic elements with classes; what they look like is said in web/page.css."""

from collections.abc import Iterable
from itertools import groupby
from typing import assert_never

import numpy as np

from attncalc.show.digits import Signs
from attncalc.show.document import (
    Block,
    Document,
    Facts,
    Formula,
    Heading,
    Lines,
    Matrix,
    Note,
    Role,
    Span,
    Table,
    Text,
    Words,
    as_columns,
    spans,
)
from attncalc.show.elision import GAP
from attncalc.show.grid import Grid, grid_of
from attncalc.show.labels import clean, escape_html
from attncalc.show.settings import Settings

SIGNS = Signs()
NUMBER = ' class="number"'


def blocks_html(document: Document, settings: Settings, level: int = 1) -> str:
    """Write all blocks of a document.

    Args:
        document: what is said.
        settings: digits, and how much of a matrix is shown.
        level: of the page's own heading: 1 for <h1>.
    """
    parts = []
    for are_matrices, blocks in groupby(document.blocks, key=lambda block: isinstance(block, Matrix)):
        text = "\n".join(_block(block, settings, level) for block in blocks)
        parts.append(f'<div class="beside">\n{text}\n</div>' if are_matrices else text)
    return "\n".join(parts)


def _block(block: Block, settings: Settings, level: int) -> str:
    match block:
        case Heading(text):
            tag = f"h{min(block.level + level - 1, 6)}"
            return f"<{tag}>{escape_html(text)}</{tag}>"
        case Text(words):
            return f"<p>{_words(words)}</p>"
        case Note(words):
            return f'<p class="note">{_words(words)}</p>'
        case Lines(lines):
            text = "\n".join(map(_words, lines))
            return f'<pre tabindex="0">{text}</pre>'
        case Facts(rows):
            pairs = (f"<div><dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd></div>" for name, value in rows)
            return f"<dl>{''.join(pairs)}</dl>"
        case Formula(plain):
            return f'<p class="formula">{escape_html(plain)}</p>'
        case Matrix():
            return _matrix(block, settings)
        case Table():
            return _table(block)
        case _:
            assert_never(block)


def _words(words: Words) -> str:
    return "".join(_span(span) for span in spans(words))


def _span(span: Span) -> str:
    text = escape_html(span.text)
    if span.role is Role.NORMAL:
        return text
    tag = {Role.TERM: "em", Role.WRONG: "strong", Role.STRONGEST: "strong"}.get(span.role, "span")
    return f'<{tag} class="{span.role.value}">{text}</{tag}>'


def _table(table: Table) -> str:
    numeric = [NUMBER if column.align == "right" else "" for column in table.columns]
    head = "".join(
        f'<th scope="col"{number}>{escape_html(column.title)}</th>'
        for column, number in zip(table.columns, numeric, strict=True)
    )
    rows = (
        "".join(
            f"<td{number}>{_span(cell) if isinstance(cell, Span) else escape_html(cell)}</td>"
            for cell, number in zip(row, numeric, strict=True)
        )
        for row in table.rows
    )
    return _framed(table.title, head, rows)


def _matrix(matrix: Matrix, settings: Settings) -> str:
    grid = grid_of(matrix, settings, SIGNS, clean)
    head = f'<td class="corner">{escape_html(grid.corner)}</td>' + "".join(
        f'<th scope="col"{NUMBER} dir="auto">{escape_html(label)}</th>' for label in grid.columns
    )
    if grid.total is not None:
        head += f'<th scope="col" class="number total">{escape_html(grid.total[0])}</th>'
    looks = _looks(matrix, grid)
    rows = []
    for n, (label, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        written = "".join(f"<td{look}>{escape_html(cell)}</td>" for look, cell in zip(looks[n], cells, strict=True))
        if grid.total is not None:
            written += f'<td class="number total">{escape_html(grid.total[1][n])}</td>'
        rows.append(f'<th scope="row" dir="auto">{escape_html(label)}</th>{written}')
    return _framed(matrix.title, head, rows, grid.left_out)


def _looks(matrix: Matrix, grid: Grid) -> list[list[str]]:
    """Return the attributes of every cell that is shown."""
    blocked = None if matrix.blocked is None else as_columns(matrix.blocked)
    strength = None if matrix.strength is None else as_columns(matrix.strength)

    def look(i: int, j: int) -> str:
        if GAP in (i, j):
            return ' class="number faint"'
        roles = ["number"]
        if blocked is not None and blocked[i, j]:
            roles.append(Role.BLOCKED.value)
        elif strength is not None and np.isfinite(strength[i, j]):
            sign = " negative" if matrix.grid[i, j] < 0 else ""
            return f' class="number{sign}" style="--heat:{float(strength[i, j]):.3g}"'
        if (i, j) in matrix.marks:
            roles.append(matrix.marks[i, j].value)
        return f' class="{" ".join(roles)}"'

    return [[look(i, j) for j in grid.column_indexes] for i in grid.row_indexes]


def _framed(title: str, head: str, rows: Iterable[str], remark: str = "") -> str:
    caption = f"<caption>{escape_html(title)}</caption>" if title else ""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = f'<p class="faint">{escape_html(remark)}</p>' if remark else ""
    return (
        f'<div class="scroll" tabindex="0"><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )
