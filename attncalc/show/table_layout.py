"""A table of words and numbers as lines; where it is too wide for a terminal, row by row."""

from collections.abc import Callable

from attncalc.show.document import Column, Role, Span, Table
from attncalc.show.labels import cell_width, pad
from attncalc.show.settings import Settings
from attncalc.show.wrapping import Line, wrap

GUTTER = "  "
NARROWEST = 12  # columns of words are wrapped to this before the table is written row by row

Row = list[Span]


def table_lines(table: Table, settings: Settings, say: Callable[[str], str]) -> list[Line]:
    """Lay a table out; words are wrapped where the terminal asks for it, numbers never."""
    titles = [say(column.title) for column in table.columns]
    rows = [[_said(cell, say) for cell in row] for row in table.rows]
    lines: list[Line] = [[(say(table.title), Role.HEADING)]] if table.title else []
    widths = [max([cell_width(title), *(cell_width(row[j].text) for row in rows)]) for j, title in enumerate(titles)]
    if settings.width is not None and not _shrink(widths, table.columns, titles, settings.width):
        return lines + _row_by_row(titles, rows, settings.width)
    lines.append(_line([Span(title, Role.LABEL) for title in titles], widths, table.columns))
    lines.append([(GUTTER.join(say("─") * width for width in widths), Role.FAINT)])
    for row in rows:
        lines += _wrapped(row, widths, table.columns)
    return lines


def _said(cell: str | Span, say: Callable[[str], str]) -> Span:
    return Span(say(cell.text), cell.role) if isinstance(cell, Span) else Span(say(cell))


def _shrink(widths: list[int], columns: tuple[Column, ...], titles: list[str], width: int) -> bool:
    """Make the widest columns of words narrower until the table fits; say whether it does."""
    least = [
        own if column.align == "right" else min(own, max(NARROWEST, cell_width(title)))
        for own, column, title in zip(widths, columns, titles, strict=True)
    ]
    excess = sum(widths) + len(GUTTER) * (len(widths) - 1) - width
    while excess > 0:
        widest = max(range(len(widths)), key=lambda j: (widths[j] > least[j], widths[j]))
        if widths[widest] <= least[widest]:
            return False
        widths[widest] -= 1
        excess -= 1
    return True


def _line(cells: list[Span], widths: list[int], columns: tuple[Column, ...]) -> Line:
    line: Line = []
    for cell, width, column in zip(cells, widths, columns, strict=True):
        line += [(GUTTER, Role.NORMAL)] if line else []
        line.append((pad(cell.text, width, column.align), cell.role))
    return line


def _wrapped(row: Row, widths: list[int], columns: tuple[Column, ...]) -> list[Line]:
    """Write one row in as many lines as its longest cell needs."""
    if all(cell_width(cell.text) <= width for cell, width in zip(row, widths, strict=True)):
        return [_line(row, widths, columns)]
    parts = [
        ["".join(text for text, _ in line) for line in wrap([cell], width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    return [
        _line(
            [Span(part[i] if i < len(part) else "", cell.role) for part, cell in zip(parts, row, strict=True)],
            widths,
            columns,
        )
        for i in range(max(map(len, parts)))
    ]


def _row_by_row(titles: list[str], rows: list[Row], width: int) -> list[Line]:
    """Write every row as names and values below each other, an empty line between rows."""
    left = max(map(cell_width, titles))
    lines: list[Line] = []
    for row in rows:
        lines += [[]] if lines else []
        for title, cell in zip(titles, row, strict=True):
            for i, part in enumerate(wrap([cell], max(width - left - len(GUTTER), NARROWEST))):
                lines.append([(pad("" if i else title, left), Role.LABEL), (GUTTER, Role.NORMAL), *part])
    return lines
