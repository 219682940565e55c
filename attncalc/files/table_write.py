"""Arrays → csv and tsv, in the form that ``table_format`` reads back to the same array."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from attncalc.errors import FileError, shape_text
from attncalc.files.formulas import defused
from attncalc.files.table_index import INDEX_NAMES, SINGLE

TRUTH = {True: "true", False: "false"}


def csv_text(
    array: np.ndarray,
    *,
    separator: str = ",",
    index_names: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    row_labels: Sequence[str] | None = None,
) -> Iterator[str]:
    """Yield the lines of a table, each with its line end.

    Args:
        array: numbers or booleans of rank 1 or 2; of any rank when index columns name the leading axes.
        separator: a comma, a tab or a semicolon.
        index_names: those of ``batch``, ``head``, ``query`` that the leading axes are; either all axes
            (then the one column of numbers is headed ``lse``) or all but the last.
        columns: names of the last axis; ``d0``, ``d1`` … where a header is needed and none are given.
        row_labels: a first column for a matrix without index columns.
    """
    if array.size == 0:
        raise FileError(f"a table cannot hold an array without elements ({shape_text(array.shape)})")
    leading = len(index_names) or max(array.ndim - 1, 1)
    if array.ndim - leading not in (0, 1) or (not index_names and array.ndim > 2):
        raise ValueError(f"{len(index_names)} index columns for an array of rank {array.ndim}")
    if not index_names and (columns is not None or row_labels is not None):
        index_names = ("query",)
    rows = array.reshape(int(np.prod(array.shape[:leading])), -1)
    if not index_names:
        yield from (separator.join(_numbers(row)) + "\n" for row in rows)
        return
    width = rows.shape[1]
    if columns is None or array.ndim == leading:
        columns = [SINGLE] if array.ndim == leading else [f"d{i}" for i in range(width)]
    yield separator.join([*index_names, *map(_quoted, columns)]) + "\n"
    starts: Iterator[list[str]]
    if row_labels is not None and len(index_names) == 1:
        starts = ([_quoted(label)] for label in row_labels)
    else:
        starts = (list(map(str, index)) for index in product(*map(range, array.shape[:leading])))
    for start, row in zip(starts, rows, strict=True):
        yield separator.join([*start, *_numbers(row)]) + "\n"


def _numbers(row: np.ndarray) -> list[str]:
    """Write numbers so that they read back to the same float64: nan, inf and -inf are among them."""
    if row.dtype == bool:
        return [TRUTH[value] for value in row.tolist()]
    return list(map(repr, row.tolist()))


def _quoted(label: str) -> str:
    """Quote a label that another reader, or ours, could take apart, skip or trim; no spreadsheet computes with it."""
    label = defused(label)
    plain = label and label == label.strip() and not label.startswith("#") and label not in INDEX_NAMES
    if plain and not any(mark in label for mark in ',;\t" \r\n'):
        return label
    return '"' + label.replace('"', '""') + '"'
