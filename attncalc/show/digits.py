"""The one place for rounding: how numbers look, alone and in a matrix."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from attncalc.show.charset import encodable, for_encoding
from attncalc.show.document import Array

LARGE = 1e7  # from here on, and when everything is below SMALL, a matrix is written as 1.0000e+07
SMALL = 1e-3
WHOLE = 1e15  # whole numbers below this are written without decimals: they are exact

Notation = Literal["whole", "decimals", "powers"]


@dataclass(frozen=True)
class Signs:
    """What stands for a value that is not a finite number."""

    minus_infinity: str = "−∞"
    infinity: str = "∞"
    nan: str = "NaN"
    yes: str = "✓"
    no: str = "×"
    blocked: str = "×"  # in place of the zero of a cell that takes no part
    more: str = "…"  # columns that are left out
    more_rows: str = "⋮"


ASCII = Signs("-inf", "inf", "nan", "1", "0", "x", "...", ":")


def signs_for(encoding: str) -> Signs:
    """Choose signs that the encoding has; ✓ and × only together."""
    signs = Signs(*(for_encoding(getattr(Signs, field.name), encoding) for field in fields(Signs)))
    both = encodable(Signs.yes + Signs.no, encoding)
    return signs if both else replace(signs, yes=ASCII.yes, no=ASCII.no)


def texts(
    values: Array, whole: Array, digits: int = 4, *, full: bool = False, fixed: bool = False, signs: Signs = ASCII
) -> list[list[str]]:
    """Write rows of numbers with the same decimals in every cell.

    Args:
        values: the rows and columns that are shown.
        whole: the numbers that choose the notation: all of the matrix, also what is not shown.
        digits: decimals.
        full: the shortest text that reads back to the same number, instead.
        fixed: keep the decimals when every number is whole.
        signs: what stands for infinities, NaN and truth values.
    """
    if values.dtype.kind == "b":
        return [[signs.yes if value else signs.no for value in row] for row in values.tolist()]
    if values.dtype.kind in "iu":
        rows = [list(map(str, row)) for row in values.tolist()]
        return rows if full or not fixed else texts(values.astype(float), whole, digits, fixed=True)
    numbers = values.astype(np.float64)
    write = repr if full else _writer(whole, digits, fixed)
    rows = [list(map(write, row)) for row in numbers.tolist()]
    for i, j in np.argwhere(~np.isfinite(numbers)).tolist():
        rows[i][j] = _beyond(float(numbers[i, j]), signs)
    return rows


def number(value: float, digits: int = 4, *, full: bool = False, fixed: bool = True, signs: Signs = ASCII) -> str:
    """Write one number, as for a sentence or a cell of its own."""
    one = np.array([[value]])
    return texts(one, one, digits, full=full, fixed=fixed, signs=signs)[0][0]


def _beyond(value: float, signs: Signs) -> str:
    if math.isnan(value):
        return signs.nan
    return signs.infinity if value > 0 else signs.minus_infinity


def notation(whole: Array, digits: int, fixed: bool) -> Notation:
    """Choose the notation for a whole matrix: no decimals, fixed decimals or powers of ten."""
    sizes = np.abs(whole[np.isfinite(whole)].astype(np.float64))
    largest = float(sizes.max(initial=0.0))
    if not fixed and largest < WHOLE and bool(np.all(sizes == np.floor(sizes))):
        return "whole"
    tiny = 0 < largest < min(SMALL, 10.0 ** (1 - digits))
    return "powers" if largest >= LARGE or tiny else "decimals"


def _writer(whole: Array, digits: int, fixed: bool) -> Callable[[float], str]:
    formats = {"whole": "{:.0f}", "decimals": f"{{:.{digits}f}}", "powers": f"{{:.{digits}e}}"}
    return _without_minus_zero(formats[notation(whole, digits, fixed)].format)


def _without_minus_zero(write: Callable[[float], str]) -> Callable[[float], str]:
    """Drop the sign of a number that is shown as zero."""
    minus_zero, zero = write(-0.0), write(0.0)

    def written(value: float) -> str:
        text = write(value)
        return zero if text == minus_zero else text

    return written
