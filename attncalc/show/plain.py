"""Document → text for other programs: fields between spaces, full digits; what is not data starts with #.

A matrix is a line ``# title``, a line ``#`` with the column labels, and a line per row with its label first,
so that ``awk '!/^#/ {print $2}'`` takes a column.  A table has two spaces between columns, one in words.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest

from attncalc.show.charset import for_encoding
from attncalc.show.digits import ASCII
from attncalc.show.document import Block, Document, Facts, Formula, Heading, Lines, Matrix, Note, Table, Text, plain
from attncalc.show.grid import grid_of
from attncalc.show.labels import cell_width, clean, escape_field, pad
from attncalc.show.settings import Settings

SIGNS = replace(ASCII, blocked="")  # a blocked cell keeps its number: -inf, 0.0


def render(document: Document, settings: Settings) -> str:
    """Write a document as plain fields."""
    full = replace(settings, full=True)
    return "\n\n".join("\n".join(_lines(block, full)) for block in document.blocks) + "\n"


def _lines(block: Block, settings: Settings) -> list[str]:
    def remark(text: str) -> str:
        return f"# {for_encoding(clean(text), settings.encoding)}".rstrip()

    match block:
        case Heading(text):
            return [remark(text)]
        case Text(words) | Note(words):
            return [remark(plain(words))]
        case Lines(lines):
            return [remark(plain(words)) for words in lines]
        case Formula(formula):
            return [remark(formula)]
        case Facts(rows):
            left = max((cell_width(clean(name)) for name, _ in rows), default=0)
            return [remark(f"{pad(clean(name), left)}  {value}") for name, value in rows]
        case Matrix():
            return [remark(block.title), *_matrix(block, settings)]
        case Table():
            return [*([remark(block.title)] if block.title else []), *_table(block, settings)]


def _table(table: Table, settings: Settings) -> list[str]:
    """Write a table whose words keep their spaces: two or more stand between columns."""
    rows = [[column.title for column in table.columns], *([plain(cell) for cell in row] for row in table.rows)]
    said = [[for_encoding(clean(cell), settings.encoding) or "-" for cell in row] for row in rows]
    head, *body = _aligned(said, [column.align for column in table.columns], "  ")
    return [f"# {head}", *(f"  {line}" for line in body)]


def _matrix(matrix: Matrix, settings: Settings) -> list[str]:
    grid = grid_of(matrix, settings, SIGNS, partial(escape_field, encoding=settings.encoding))
    columns, cells = grid.with_total
    rows = [[label, *row] for label, row in zip(grid.rows, cells, strict=True)]
    head = [["#", *columns]] if matrix.columns is not None or matrix.values.ndim == 2 else []
    remark = [f"# {grid.left_out}"] if grid.left_out else []
    return _aligned([*head, *rows], ["left", *["right"] * len(columns)]) + remark


def _aligned(rows: Sequence[Sequence[str]], aligns: Sequence[str], between: str = " ") -> list[str]:
    widths = [max(map(cell_width, column)) for column in zip_longest(*rows, fillvalue="")]
    return [between.join(map(pad, row, widths, aligns)).rstrip() for row in rows]
