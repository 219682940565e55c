"""A matrix as text, for every renderer: labels and cells, the middle left out where a limit says so."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from attncalc.show.digits import Signs, texts
from attncalc.show.document import Array, Matrix, Role, as_columns
from attncalc.show.elision import GAP, at_most, left_out
from attncalc.show.settings import Settings

MARKS = {Role.WRONG: "!", Role.STRONGEST: "*"}  # in front of the number: colour alone says nothing


@dataclass(frozen=True)
class Grid:
    """Rows and columns of text; GAP in ``row_indexes`` or ``column_indexes`` is a row or column of dots."""

    shape: tuple[int, ...]
    corner: str
    row_indexes: list[int]
    column_indexes: list[int]
    rows: list[str]
    columns: list[str]
    cells: list[list[str]]
    total: tuple[str, list[str]] | None

    def take(self, column_indexes: list[int], more: str) -> "Grid":
        """Keep some of the columns."""
        place = {index: i for i, index in enumerate(self.column_indexes)}

        def pick(cells: list[str]) -> list[str]:
            return [more if index == GAP else cells[place[index]] for index in column_indexes]

        return replace(
            self,
            column_indexes=column_indexes,
            columns=pick(self.columns),
            cells=[pick(row) for row in self.cells],
        )

    @property
    def left_out(self) -> str:
        """Say what is not shown, if anything."""
        return left_out(self.shape, self.row_indexes, self.column_indexes)

    @property
    def with_total(self) -> tuple[list[str], list[list[str]]]:
        """The columns and the cells, the total as the last column."""
        if self.total is None:
            return self.columns, self.cells
        label, numbers = self.total
        return [*self.columns, label], [[*row, last] for row, last in zip(self.cells, numbers, strict=True)]


def grid_of(matrix: Matrix, settings: Settings, signs: Signs, say: Callable[[str], str]) -> Grid:
    """Lay a matrix out; ``say`` makes a user's label fit for the target.

    Signs without one for blocked cells are for programs: all numbers stay numbers.
    """
    values = matrix.grid
    rows = at_most(values.shape[0], settings.max_rows)
    columns = at_most(values.shape[1], settings.max_cols)
    fixed = matrix.fixed or matrix.strength is not None
    shown = _pick(values, rows, columns)
    cells = texts(shown, values, settings.digits, full=settings.full, fixed=fixed, signs=signs)
    if matrix.tiny and not settings.full:
        for i, j in np.argwhere(shown != 0).tolist():
            if not set(cells[i][j]) - set("-0."):
                cells[i][j] = f"{shown[i, j]:.1e}"
    if matrix.blocked is not None and signs.blocked and values.dtype.kind != "b":
        blocked = _pick(as_columns(matrix.blocked), rows, columns)
        for i, j in np.argwhere(blocked & (shown == 0)).tolist():
            cells[i][j] = signs.blocked
    for (i, j), role in matrix.marks.items():
        if signs.blocked and i in rows and j in columns:
            cells[rows.index(i)][columns.index(j)] = MARKS.get(role, "") + cells[rows.index(i)][columns.index(j)]
    for j in (place for place, index in enumerate(columns) if index == GAP):
        for row in cells:
            row[j] = signs.more
    for i in (place for place, index in enumerate(rows) if index == GAP):
        cells[i] = [signs.more_rows] * len(columns)
    return Grid(
        shape=matrix.values.shape,
        corner=say(matrix.corner),
        row_indexes=rows,
        column_indexes=columns,
        rows=_labels(matrix.row_labels, rows, signs.more_rows, say),
        columns=_labels(matrix.column_labels, columns, signs.more, say),
        cells=cells,
        total=_total(matrix, rows, settings, signs, say),
    )


def _pick(values: Array, rows: list[int], columns: list[int]) -> Array:
    """Take the cells that are shown; what stands in a gap does not matter."""
    complete = len(rows) == values.shape[0] and len(columns) == values.shape[1]
    return values if complete else values[np.ix_(np.maximum(rows, 0), np.maximum(columns, 0))]


def _labels(labels: list[str], indexes: list[int], gap: str, say: Callable[[str], str]) -> list[str]:
    return [gap if index == GAP else say(labels[index]) for index in indexes]


def _total(
    matrix: Matrix, rows: list[int], settings: Settings, signs: Signs, say: Callable[[str], str]
) -> tuple[str, list[str]] | None:
    if matrix.total is None:
        return None
    label, vector = matrix.total
    column = _pick(as_columns(vector), rows, [0])
    fixed = matrix.fixed or matrix.strength is not None
    written = texts(column, vector, settings.digits, full=settings.full, fixed=fixed, signs=signs)
    numbers = [signs.more_rows if index == GAP else row[0] for index, row in zip(rows, written, strict=True)]
    return say(label), numbers
