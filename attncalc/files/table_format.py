"""csv, tsv and text tables: a matrix of numbers, with a header, labels or index columns around it.

A table is read in one of two ways.  ``_fast`` lets NumPy's parser take what is plainly numbers; all else is
read by ``_exact`` cell by cell, with the same result, or with the line and column of what is wrong.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from attncalc.errors import Index
from attncalc.files.entry import Entry
from attncalc.files.formulas import restored
from attncalc.files.number_text import Number, is_generous, is_number, is_too_large, is_truth
from attncalc.files.table_cells import ERROR, SPACES, comment_rows, find_separator, first_records, split
from attncalc.files.table_index import index_names, to_grid
from attncalc.files.table_sheet import (
    CORNERS,
    Sheet,
    counts_columns,
    find_header,
    index_width,
    is_text,
    mostly_numbers,
    read_sheet,
    shortened,
)

COMMENT = re.compile(rf"^[ \t]*(?!{ERROR})#[^\r\n]*", re.MULTILINE)
BLOCK = 4096  # cells that are read together
ON_TOP = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*")


@dataclass(frozen=True)
class Table:
    """What a table says, before index columns become axes."""

    header: list[str] | None
    values: np.ndarray  # (rows, columns) of floats or booleans
    index: np.ndarray | None = None  # the columns batch, head, query
    labels: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def read_table(
    text: str, source: str, notes: tuple[str, ...] = (), prefer: str | None = None, path: str | None = None
) -> Entry:
    """Read a table.

    Args:
        text: all of it.
        source: what messages call it.
        notes: what is already worth a note.
        prefer: the separator that the file's name suggests.
        path: the regular file that holds the text.
    """
    head = first_records(text, source)
    separator = find_separator(text, head, prefer)

    @cache
    def sheet() -> Sheet:
        return read_sheet(text, source, separator)

    path = None if path is None else os.path.abspath(path)
    table = _fast(text, source, separator, head, path) or _exact(sheet(), text)
    values = table.values
    if table.header is not None and table.index is not None:
        values = to_grid(table.header, table.index, values, source)
    locate, spelled = _pointers(sheet, table.values.shape[1], values.shape)
    dtype = "bool" if values.dtype == bool else "float64"
    return Entry(values, source, dtype, table.labels, (*notes, *table.notes), locate, spelled)


def _pointers(
    sheet: Callable[[], Sheet], columns: int, shape: tuple[int, ...]
) -> tuple[Callable[[Index], str], Callable[[], Iterator[str]]]:
    """Return what finds an element in the file, and what lists the numbers as they are written."""

    def locate(index: Index) -> str:
        row, column = divmod(int(np.ravel_multi_index(index, shape)), columns)
        return f"line {sheet().lines[row]}, column {sheet().width - columns + column + 1}"

    def spelled() -> Iterator[str]:
        number, first = Number(sheet().decimal), sheet().width - columns
        return (number.text(cell) or "nan" for row in sheet().rows for cell in row[first:])

    return locate, spelled


def _fast(text: str, source: str, separator: str, head: list[tuple[int, str]], path: str | None = None) -> Table | None:
    """Read a table that is numbers throughout, apart from its header; None for anything unusual."""
    if '"' in text or text[:4].lower() == "sep=":
        return None
    header = find_header(head, source, separator)
    line, record = head[0]
    body = text[ON_TOP.match(text).end() :]  # type: ignore[union-attr]  # it matches always
    if not body.startswith(record) or (header is not None and (header[0] in CORNERS or counts_columns(header))):
        return None
    body = body if header is None else body[len(record) :]
    if "#" in body:
        body, path = COMMENT.sub("", body), None
    if is_generous(body) or not body or body.isspace():
        return None
    notes: tuple[str, ...] = ()
    if separator != "," and "," in body:
        if "." in body or re.search(r",(?![0-9])", body):
            return None
        body, path, notes = body.replace(",", "."), None, (_comma_note(source),)
    if not text.isascii() or (path is not None and not _holds(path, text)):
        path = None
    try:
        values = _loaded(body, separator, path, line - 1 if header is None else line)
    except ValueError:
        return None
    if np.isinf(values).any() or (header is not None and len(header) != values.shape[1]):
        return None
    names = index_names(header)
    if names == ("query",):
        return None  # it may hold labels, and 00 is a label where 0 counts the rows
    if names:
        return Table(header, values[:, len(names) :], values[:, : len(names)], notes=notes)
    if header is not None:
        notes = (*notes, f"{source}: {_line(line)} is read as a header")
    return Table(header, values, notes=notes)


def _loaded(body: str, separator: str, path: str | None, skip: int) -> np.ndarray:
    """Let NumPy parse numbers: from the file itself where it can, for it is slower line by line."""
    delimiter = None if separator == SPACES else separator
    if path is not None:
        return np.loadtxt(path, delimiter=delimiter, comments=None, ndmin=2, skiprows=skip, encoding="utf-8")
    lines = io.TextIOWrapper(io.BytesIO(body.encode()), encoding="utf-8")
    return np.loadtxt(lines, delimiter=delimiter, comments=None, ndmin=2)


def _holds(path: str, text: str) -> bool:
    """Whether a file holds just this text, in ASCII, and NumPy does not take its name for a compressed file."""
    packed = path.lower().endswith((".gz", ".bz2", ".xz", ".lzma"))
    return not packed and os.path.getsize(path) == len(text)


def _exact(sheet: Sheet, text: str) -> Table:
    """Read a table cell by cell."""
    source, header, first = sheet.source, sheet.header, sheet.column(0)
    notes = [_comma_note(source)] if sheet.decimal == "," else []
    names = index_names(header)
    start = len(names)
    index: np.ndarray | None = None
    labels: tuple[str, ...] | None = None
    if names and (names != ("query",) or _counting(first, 0)):
        index = _numbers(sheet, 0, start)
    elif names:
        labels = tuple(map(restored, first))
        if all(map(is_number, first)):
            notes.append(f"{source}: the column query does not count the rows; it is read as labels")
    elif start := index_width(sheet):
        columns = "the first column" if start == 1 else f"the first {start} columns"
        notes.append(f"{source}: {_line(sheet.top)} is read as a header and {columns} as an index, which is left out")
    elif sheet.width > 1 and any(map(is_text, first)):
        start, labels = 1, tuple(map(str, first))
        notes.append(_labels_note(sheet))
        notes.extend(_comment_notes(sheet, text))
    elif header:
        unnamed = ", without a name for column 1, which is read as numbers" if header[0] in CORNERS else ""
        notes.append(f"{source}: {_line(sheet.top)} is read as a header{unnamed}")
    return Table(header, _numbers(sheet, start, sheet.width), index, labels, tuple(notes))


def _numbers(sheet: Sheet, start: int, stop: int) -> np.ndarray:
    """Return some columns as numbers; the first cell that is none is an error."""
    cells = [cell for row in sheet.rows for cell in row[start:stop]]
    shape = (len(sheet.rows), stop - start)
    if all(map(is_truth, cells)):
        return np.array([cell.lower() == "true" for cell in cells]).reshape(shape)
    usual = sheet.decimal == "." and not is_generous("".join(cells))
    values = np.empty(len(cells))
    for first in range(0, len(cells), BLOCK):
        block = cells[first : first + BLOCK]
        quick = _floats(block) if usual else None
        numbers = _numbers_one_by_one(sheet, block, first, start, stop) if quick is None else quick
        values[first : first + BLOCK] = numbers
    return values.reshape(shape)


def _floats(cells: list[str]) -> np.ndarray | None:
    """Let Python read plain numbers; None where one is none, or infinite."""
    try:
        values = np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return None
    return None if np.isinf(values).any() else values


def _numbers_one_by_one(sheet: Sheet, cells: list[str], first: int, start: int, stop: int) -> list[float]:
    """Return cells of some columns, from number ``first`` on, as numbers; the first that is none is an error."""
    number, values = Number(sheet.decimal), []
    for position, cell in enumerate(cells, first):
        value = number.value(cell)
        if value is None or is_too_large(cell, value):
            row, column = divmod(position, stop - start)
            raise sheet.fault(row, start + column, infinite=value is not None)
        values.append(value)
    return values


def _counting(cells: list[str], start: int) -> bool:
    return cells == [str(start + i) for i in range(len(cells))]


def _labels_note(sheet: Sheet) -> str:
    """Say that column 1 holds labels; and why, where some of its cells or the numbers beside them make one doubt."""
    source, first = sheet.source, sheet.column(0)
    if sheet.header:
        said = f"{source}: {_line(sheet.top)} is read as a header and the first column as labels"
    else:
        said = f"{source}: the first column is read as labels"
    if mostly_numbers(first):
        row = next(i for i, cell in enumerate(first) if is_text(cell))
        said += f", for “{shortened(first[row])}” in line {sheet.lines[row]} is no number"
    elif not sheet.header and sheet.width > 2 and counts_columns(sheet.rows[0]):
        said += f", and {_line(sheet.top)}, which counts 0, 1 …, as numbers"
    return said


def _line(number: int) -> str:
    return "the first line" if number == 1 else f"line {number}"


def _comma_note(source: str) -> str:
    return f"{source}: read with decimal commas"


def _comment_notes(sheet: Sheet, text: str) -> Iterator[str]:
    """Lines that are comments and could be rows: tokens such as ``##ing`` begin so."""
    for line, record in comment_rows(text, sheet.source) if "#" in text else ():
        cells = split(record, sheet.separator)
        if len(cells) == sheet.width and " " not in cells[0] and all(map(is_number, cells[1:])):
            yield f"{sheet.source}: line {line} is skipped as a comment; quote “{cells[0]}” if it is a label"
