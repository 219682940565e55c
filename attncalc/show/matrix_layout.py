"""A matrix as lines: labels, a light frame, numbers with their points under each other."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attncalc.show.digits import Signs
from attncalc.show.document import Matrix, Role, Span, as_columns
from attncalc.show.elision import GAP, that_fit
from attncalc.show.grid import Grid, grid_of
from attncalc.show.labels import cell_width, pad, shorten
from attncalc.show.settings import Settings
from attncalc.show.wrapping import Line, Segment, Style, wrap

LABEL = 20  # columns that a label may take on a terminal, and not more than a quarter of it
LABEL_LEAST = 7


def matrix_lines(matrix: Matrix, settings: Settings, signs: Signs, say: Callable[[str], str]) -> list[Line]:
    """Lay a matrix out; on a terminal, leave columns out where they do not fit, and say so."""
    label = say
    if settings.width is not None:
        longest = max(LABEL_LEAST, min(LABEL, settings.width // 4))
        label = partial(_short, say, longest, signs.more)
    grid = grid_of(matrix, settings, signs, label)
    left = max(map(cell_width, [grid.corner, *grid.rows]), default=0)
    widths = _widths(grid)
    total = 0 if grid.total is None else max(map(cell_width, [grid.total[0], *grid.total[1]])) + 3
    if settings.width is not None and settings.max_cols != 0:
        room = settings.width - (left + 2) - total + 1  # the space behind the last column may fall off
        fitting = that_fit(grid.column_indexes, [width + 2 for width in widths], room, len(signs.more) + 2)
        grid = grid.take(fitting, signs.more)
        widths = _widths(grid)
    lines: list[Line] = [[(say(matrix.title), Role.HEADING)]] if matrix.title else []
    framed = _framed(grid, left, widths, total, _styles(matrix, grid, settings), say)
    lines += [_clipped(line, settings.width) for line in framed]
    if grid.left_out:
        lines += wrap([Span(say(grid.left_out), Role.FAINT)], settings.width or 10**9)
    return lines


def _clipped(line: Line, width: int | None) -> Line:
    """Let the space, or the piece of the rule, behind the last column fall off where the terminal ends."""
    if width is None or sum(cell_width(text) for text, _ in line) != width + 1:
        return line
    text, style = line[-1]
    return [*line[:-1], (text[:-1], style)]


def _short(say: Callable[[str], str], longest: int, more: str, text: str) -> str:
    return shorten(say(text), longest, more)


def _widths(grid: Grid) -> list[int]:
    """The room that each column needs: its label and the widest of its numbers."""
    numbers = [max(map(len, column)) for column in zip(*grid.cells, strict=True)] or [0] * len(grid.columns)
    return [max(cell_width(label), width) for label, width in zip(grid.columns, numbers, strict=True)]


def _framed(
    grid: Grid, left: int, widths: list[int], total: int, styles: list[list[Style]] | None, say: Callable[[str], str]
) -> list[Line]:
    """Draw the frame: a line under the column labels and one behind the row labels."""
    bar: Segment = (say("│"), Role.FAINT)
    rule, cross = say("─"), say("┼")
    lines: list[Line] = []
    label, numbers = grid.total or ("", [""] * len(grid.rows))
    if any(grid.columns):
        head = [
            (f" {pad(text, width, 'right')} ", Role.LABEL) for text, width in zip(grid.columns, widths, strict=True)
        ]
        line: Line = [(f"{pad(grid.corner, left)} ", Role.LABEL), bar, *head]
        ruled = rule * (left + 1) + cross + rule * sum(width + 2 for width in widths)
        if total:
            line += [bar, (f" {pad(label, total - 3, 'right')} ", Role.LABEL)]
            ruled += cross + rule * (total - 1)
        lines += [line, [(ruled, Role.FAINT)]]
    for i, (name, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        texts = [f" {text.rjust(width)} " for text, width in zip(cells, widths, strict=True)]
        line = [(f"{pad(name, left)} ", Role.LABEL), bar]
        line += zip(texts, styles[i], strict=True) if styles else [("".join(texts), Role.NORMAL)]
        if total:
            line += [bar, (f" {numbers[i].rjust(total - 3)} ", Role.NORMAL)]
        lines.append(line)
    return lines


def _styles(matrix: Matrix, grid: Grid, settings: Settings) -> list[list[Style]] | None:
    """What each cell is; not needed without colours."""
    if not settings.color:
        return None
    values = matrix.grid
    blocked = ~values.astype(bool) if values.dtype.kind == "b" else np.zeros(values.shape, bool)
    if matrix.blocked is not None:
        blocked = as_columns(matrix.blocked).astype(bool)
    strength = None if matrix.strength is None else as_columns(matrix.strength)

    def style(i: int, j: int) -> Style:
        if GAP in (i, j):
            return Role.FAINT
        if (i, j) in matrix.marks:
            return matrix.marks[i, j]
        if blocked[i, j]:
            return Role.BLOCKED
        return Role.NORMAL if strength is None else float(strength[i, j])

    return [[style(i, j) for j in grid.column_indexes] for i in grid.row_indexes]
