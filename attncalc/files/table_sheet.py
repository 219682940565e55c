"""Cells → a sheet of equal rows below an optional header; faults of a table told with line and column."""

import re
from dataclasses import dataclass
from functools import cached_property

from attncalc.errors import FileError
from attncalc.files.number_text import COMMA, POINT, has_thousands, is_number, looks_like_number
from attncalc.files.table_cells import SEPARATORS, SHEET_ERROR, SPACES, Quoted, records, split
from attncalc.files.table_index import index_names

WHOLE = re.compile(r"[+\-]?[0-9]+(?:\.0*)?")
MISSING = ("na", "n/a", "null", "none")  # what programs write for a missing number
CORNERS = ("", "Unnamed: 0")  # what heads the index column of a data frame


@dataclass(frozen=True)
class Sheet:
    """The cells of a table, row by row, as texts."""

    source: str
    separator: str
    header: list[str] | None
    rows: list[list[str]]
    lines: list[int]  # the line of the file where each row begins
    top: int  # the line of the first row, the header's where there is one

    def column(self, number: int) -> list[str]:
        """Return one column of the rows below the header."""
        return [row[number] for row in self.rows]

    @property
    def width(self) -> int:
        """The number of cells in every row."""
        return len(self.rows[0])

    @cached_property
    def decimal(self) -> str:
        """Which of point and comma most numbers write; a comma is none where it separates."""
        if self.separator == ",":
            return "."
        commas = points = 0
        for row in self.rows:
            for cell in row:
                if "," in cell:
                    commas += bool(COMMA.fullmatch(cell))
                elif "." in cell:
                    points += bool(POINT.fullmatch(cell))
        return "," if commas and commas >= points else "."

    def fault(self, row: int, column: int, infinite: bool = False) -> FileError:
        """Return the error that says what is wrong with a cell."""
        cell = shortened(self.rows[row][column])
        place = f"{self.source}: line {self.lines[row]}, column {column + 1}"
        if infinite:
            return FileError(f"{place}: {cell} is too large for a 64-bit float")
        if not cell.strip():
            corner = (
                (row, column) == (0, 0) and not self.header and self.width > 1 and all(map(is_number, self.rows[0][1:]))
            )
            return FileError(f"{place} is empty", hint="if this line is a header, remove it" if corner else None)
        if "." in cell and POINT.fullmatch(cell):
            return FileError(f"{place}: “{cell}” has a decimal point, and other numbers have a decimal comma")
        if any(mark in cell for mark in "[]{}"):
            return FileError(
                f"{place}: “{cell}” is not a number",
                hint="remove the brackets, one row a line, or write JSON: [[1, 2], [3, 4]]",
            )
        return FileError(f"{place}: “{cell}” is not a number", hint=_remedy(cell, column))


def read_sheet(text: str, source: str, separator: str) -> Sheet:
    """Split a table into equal rows, without the separators that end every row."""
    numbered = [(line, split(record, separator)) for line, record in records(text, source)]
    lines = [line for line, _ in numbered]
    rows = [row for _, row in numbered]
    _check_rows(rows, source)
    below = 1 if has_header(rows[:3]) else 0
    if len(rows) == below:
        raise FileError(f"{source}: line {lines[0]} is text, and no line of numbers follows it")
    if separator != SPACES and all(len(row) > 1 and is_blank(row[-1]) for row in rows[below:]):
        width = len(rows[below])
        rows = [row[:-1] if len(row) == width and is_blank(row[-1]) else row for row in rows]
    if below and _has_row_names(rows):
        rows[0].insert(0, "")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]):
            raise FileError(
                f"{source}: line {line} has {_cells(row)}, line {lines[0]} has {len(rows[0])}",
                facts=[("separated by", SEPARATORS.get(separator, f"“{separator}”"))],
            )
    return Sheet(source, separator, rows[0] if below else None, rows[below:], lines[below:], lines[0])


def find_header(head: list[tuple[int, str]], source: str, separator: str) -> list[str] | None:
    """Return the cells of the first row when they name columns; ``head`` holds it and some below."""
    rows = [split(record, separator) for _, record in head[:3]]
    _check_rows(rows, source)
    return rows[0] if has_header(rows) else None


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first of some rows names columns: index columns, a pandas corner, or text alone."""
    first, *below = rows
    if index_names(first):
        return True
    if counts_columns(first[:-1] if is_blank(first[-1]) else first) and below and not looks_like_number(first[0]):
        starts = [row[0] for row in below]
        if starts == ["0", "1"][: len(starts)]:
            return True
        if first[0] in CORNERS:
            several = len(first) > 2 and all(map(is_whole, starts)) and len(set(starts)) == len(starts)
            return several or is_text(starts[0])
    return any(first) and not any(map(looks_like_number, first))


def counts_columns(header: list[str]) -> bool:
    """Whether a header is pandas' ``,0,1,2``: a corner, or the name of the index, and numbers for names."""
    return len(header) > 1 and header[1:] == [str(i) for i in range(len(header) - 1)]


def index_width(sheet: Sheet) -> int:
    """Return how many first columns are the index of a data frame: whole numbers that nothing names."""
    header, width = sheet.header or [], 0
    while width < sheet.width - 1 and header[width : width + 1] and header[width] in CORNERS:
        if not all(map(is_whole, sheet.column(width))):
            break
        width += 1
    if not width and counts_columns(header) and all(map(is_whole, sheet.column(0))):
        return 1  # its index has a name
    return width


def is_whole(cell: str) -> bool:
    """Whether a cell is a whole number, as the index of a data frame is: 0, 17, 2.0."""
    return bool(WHOLE.fullmatch(cell))


def is_blank(cell: str) -> bool:
    """Whether nothing stands between two separators; ``""`` in quotes is something."""
    return cell == "" and not isinstance(cell, Quoted)


def is_text(cell: str) -> bool:
    """Whether a cell cannot have been meant as a number, so that it is a label; NA in quotes is one."""
    missing = cell.lower() in MISSING or SHEET_ERROR.fullmatch(cell)
    return not (missing and not isinstance(cell, Quoted)) and not looks_like_number(cell) and not is_blank(cell)


def mostly_numbers(cells: list[str]) -> bool:
    """Whether half of the cells or more look like numbers; a thousand of them tell."""
    some = cells[:1000]
    return 2 * sum(map(looks_like_number, some)) >= len(some)


def shortened(cell: str, limit: int = 40) -> str:
    """Cut a long text for a message."""
    return cell if len(cell) <= limit else cell[: limit - 1] + "…"


def _check_rows(rows: list[list[str]], source: str) -> None:
    if not rows:
        raise FileError(f"{source}: holds no numbers, only blank lines and comments")


def _has_row_names(rows: list[list[str]]) -> bool:
    """Whether a table is R's: its header has no cell above the names, or numbers from 1, of the rows."""
    if len(rows[0]) + 1 != len(rows[1]) or index_names(rows[0]):
        return False
    first = [row[0] for row in rows[1:]]
    return any(map(is_text, first)) or (len(first) > 1 and first == [str(i + 1) for i in range(len(first))])


def _remedy(cell: str, column: int) -> str | None:
    """Say what to write instead of a cell that is no number, where that is likely."""
    if column == 0 and (cell.lower() in MISSING or SHEET_ERROR.fullmatch(cell)):
        return f'if column 1 holds labels, quote it: "{cell}"'
    if has_thousands(cell) or ("_" in cell and looks_like_number(cell)):
        return "write numbers without thousands separators"
    if COMMA.fullmatch(cell):
        return f"write a decimal point: {cell.replace(',', '.')}"
    return None


def _cells(row: list[str]) -> str:
    return "1 cell" if len(row) == 1 else f"{len(row)} cells"
