"""Text → rows of cells: lines, comments, quotes, and which separator it is."""

import re
from collections.abc import Iterator
from itertools import islice

from attncalc.errors import FileError
from attncalc.files.number_text import has_thousands, is_number

SPACES = " "  # the separator when any run of spaces and tabs separates
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", SPACES: "spaces"}
LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
SEP_LINE = re.compile(r"\s*\"?sep=(.)\"?\s*", re.IGNORECASE)
QUOTED = re.compile(r' *"((?:[^"]|"")*)" *')
SPACED = re.compile(r'"((?:[^"]|"")*)"(?![^ \t])|([^ \t]+)')
RUN = re.compile(r"[ \t]+")
ERROR = r"#(?:N/A|DIV/0!|VALUE!|REF!|NUM!|NAME\?|NULL!)(?=[,;\t\r\n]|\Z)"  # a cell of a spreadsheet, and no comment
SHEET_ERROR = re.compile(ERROR)
LOOKED_AT = 64  # rows that decide the separator and the header,
ENOUGH = 20_000  # or fewer, when they have so many characters
LONGEST_CELL = 100_000  # characters of a cell that spans lines; more is a quote that was never meant to open


class Quoted(str):
    """A cell that stood in double quotes: its text is exact, spaces included."""


def records(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield the rows, each with the number of its first line; no blank lines and no comments."""
    return (found for found in _lines(text, source) if not _is_comment(found[1]))


def comment_rows(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield the comment lines, which begin with ``#``, each with its number."""
    return (found for found in _lines(text, source) if _is_comment(found[1]))


def _lines(text: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield lines; those that a double quote holds together are one."""
    opened, pending = 0, ""
    for number, match in enumerate(LINE.finditer(text), 1):
        line = match[1]
        if not pending:
            if not line or line.isspace() or (number == 1 and SEP_LINE.fullmatch(line)):
                continue
            if '"' not in line or line.count('"') % 2 == 0 or _is_comment(line):
                yield number, line
                continue
            opened = number
        pending += match[0]
        if line.count('"') % 2 and number != opened:
            yield opened, pending.rstrip("\r\n")
            pending = ""
        elif len(pending) > LONGEST_CELL:
            break
    if pending:
        raise FileError(f"{source}: line {opened} opens a double quote that is never closed")


def _is_comment(line: str) -> bool:
    return "#" in line and line.lstrip().startswith("#") and not SHEET_ERROR.match(line.lstrip())


def split(record: str, separator: str) -> list[str]:
    """Return the cells of a row."""
    if '"' not in record:
        if separator == SPACES:
            return RUN.split(record.strip(" \t"))
        cells = record.split(separator)
        if " " not in record and record.isascii() and record.isprintable():
            return cells
        return [cell.strip() for cell in cells]
    if separator == SPACES:
        return [m[2] if m[2] is not None else Quoted(m[1].replace('""', '"')) for m in SPACED.finditer(record)]
    cells = []
    at = 0
    while True:
        quoted = QUOTED.match(record, at)
        if quoted and (quoted.end() == len(record) or record.startswith(separator, quoted.end())):
            cells.append(Quoted(quoted[1].replace('""', '"')))
            at = quoted.end()
        else:
            end = record.find(separator, at)
            end = len(record) if end < 0 else end
            cells.append(record[at:end].strip())
            at = end
        if at >= len(record):
            return cells
        at += len(separator)


def first_records(text: str, source: str) -> list[tuple[int, str]]:
    """Return the first of the ``records``."""
    head: list[tuple[int, str]] = []
    for found in islice(records(text, source), LOOKED_AT):
        head.append(found)
        if len(head) > 2 and sum(len(record) for _, record in head) > ENOUGH:
            break
    return head


def find_separator(text: str, head: list[tuple[int, str]], prefer: str | None = None) -> str:
    """Choose the separator under which most rows are numbers; a tie goes to the earlier of SEPARATORS.

    Args:
        text: all of the table; its first line may say ``sep=;``.
        head: its ``first_records``.
        prefer: the separator that the file's name suggests.
    """
    first = LINE.match(text)
    said = SEP_LINE.fullmatch(first[1]) if first else None
    if said:
        return said[1]
    looked_at = [record for _, record in head]
    candidates = sorted(SEPARATORS, key=lambda separator: separator != prefer)

    def rating(separator: str) -> tuple[int, int]:
        rows = [split(record, separator) for record in looked_at]
        return sum(map(_fit, rows)), sum(len(row) > 1 for row in rows)

    best = max(candidates, key=rating)  # max keeps the first of equals
    return "\t" if best == SPACES and _tabs_fit(looked_at) else best


def _tabs_fit(looked_at: list[str]) -> bool:
    """Whether tabs make columns, and not indentation or one kind of space among others: as many cells in every row."""
    rows = [split(record, "\t") for record in looked_at]
    if not rows or len(rows[0]) == 1 or len(set(map(len, rows))) > 1 or all(row[0] == "" for row in rows):
        return False
    several = (cell for row in rows for cell in row if " " in cell and all(map(is_number, RUN.split(cell))))
    if all(map(has_thousands, several)):
        return True
    return len({len(split(record, SPACES)) for record in looked_at}) > 1


def _fit(cells: list[str]) -> int:
    """Rate a row: 3, all numbers; 2, numbers after a label; 1, where the label holds another separator."""
    label, *others = cells[:-1] if len(cells) > 2 and not cells[-1] else cells
    if not others or not all(map(is_number, others)):
        return 0
    if is_number(label):
        return 3
    return 2 if isinstance(label, Quoted) or not any(mark in label for mark in ",;\t") else 1
