"""Index columns of a table: ``batch,head,query`` in front of the numbers, which become axes again."""

from collections.abc import Sequence

import numpy as np

from attncalc.errors import FileError
from attncalc.files.table_cells import Quoted

INDEX_NAMES = ("batch", "head", "query")
SINGLE = "lse"  # heads the only column of an array without a last axis


def index_names(header: Sequence[str] | None) -> tuple[str, ...]:
    """Return the index columns that a header begins with; another column must follow them.

    ``query,"head"`` is one index column and a label: only a header that is quoted throughout quotes them all.
    """
    found: list[str] = []
    left = list(INDEX_NAMES)
    for cell in header or ():
        if cell not in left or (isinstance(cell, Quoted) and not isinstance(found[0] if found else cell, Quoted)):
            return tuple(found)
        found.append(cell)
        left = left[left.index(cell) + 1 :]
    return ()


def grid_shape(index: np.ndarray) -> tuple[int, ...] | None:
    """Return the sizes of the axes that index columns run over; None when they are not whole and in order."""
    last = index[-1]
    if not np.isfinite(last).all() or (last < 0).any() or (last >= len(index)).any():
        return None
    shape = tuple(int(size) + 1 for size in last)
    size = int(np.prod(shape, dtype=float))
    if size != len(index):
        return None
    expected = np.indices(shape).reshape(len(shape), -1).T
    return shape if np.array_equal(index, expected) else None


def to_grid(header: Sequence[str], index: np.ndarray, values: np.ndarray, source: str) -> np.ndarray:
    """Give the rows the axes of the index columns; a column headed ``lse`` alone adds no axis of its own."""
    names = index_names(header)
    shape = grid_shape(index)
    if shape is None:
        raise FileError(
            f"{source}: the columns {', '.join(names)} do not count every row once and in order",
            hint="sort the rows, or remove these columns",
        )
    single = values.shape[1] == 1 and header[-1] == SINGLE
    return values.reshape(shape if single else (*shape, values.shape[1]))
