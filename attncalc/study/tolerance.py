"""How far an answer may be off: by its type, by the digits that a text writes, or as the user says."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from attncalc.core.arrays import real_number
from attncalc.core.dtypes import ARITHMETIC, to_bfloat16
from attncalc.core.shapes import Array
from attncalc.errors import OptionError

BY_TYPE = {
    "float64": (1e-9, 1e-12),
    "float32": (1.3e-6, 1e-5),
    "float16": (1e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-3),
}
"""rtol and atol by the type of the answer: PyTorch's, but for float64, where numpy's own noise is smaller."""

FULL_DIGITS = 15
"""A text with so many significant digits is taken as float64."""

COARSEST = 0.01
"""A text that writes no decimals is still compared to this."""

FEW_BITS = 12
"""Numbers of so few bits, such as 0.5 or 3, are the same in every type and tell none."""


class Spelling(Protocol):
    """How a text wrote its numbers; ``attncalc.files`` has the record."""

    @property
    def significant(self) -> int:
        """The most significant digits of any number."""

    @property
    def decimals(self) -> int:
        """The most decimals of any number."""

    @property
    def integers(self) -> bool:
        """Every number is an integer."""

    @property
    def floating(self) -> bool:
        """Significant digits are alike, not decimals."""


@dataclass(frozen=True)
class Tolerance:
    """How far an answer may be off: |got − right| ≤ atol + rtol · |right|.

    Attributes:
        rtol: the relative part.
        atol: the absolute part.
        dtype: the type in whose units errors are counted.
        reason: where the tolerance comes from, in words.
        note: what users should know about that, or None.
    """

    rtol: float
    atol: float
    dtype: str = "float64"
    reason: str = "float64"
    note: str | None = None

    def near(self, got: Array, right: Array) -> Array:
        """Return where two arrays of one shape agree: NaN never does, an infinity with itself only."""
        with np.errstate(invalid="ignore", over="ignore"):
            close = np.abs(got - right) <= self.atol + self.rtol * np.abs(right)
        close &= np.isfinite(right)
        agreed: Array = close | (got == right)
        return agreed

    def reproduces(self, got: Array, wrong: Array) -> bool:
        """Say whether a mistake gives an answer: near everywhere, and NaN in the same cells."""
        if got.shape != wrong.shape:
            return False
        return bool((self.near(got, wrong) | (np.isnan(got) & np.isnan(wrong))).all())


def tolerance_for(
    got: Array,
    dtype: str,
    spelling: Spelling | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Tolerance:
    """Return the tolerance of an answer.

    Args:
        got: the answer, as float64.
        dtype: its type: float64 float32 float16 bfloat16, or another, which is taken as exact.
        spelling: how a text wrote its numbers; None for arrays and binary files.
        rtol: what the user says, or None; ``atol`` likewise.
    """
    for name, given in (("rtol", rtol), ("atol", atol)):
        if given is not None and not real_number(name, given) >= 0:
            raise OptionError(f"{name} must be 0 or greater, not {given:g}")
    usual = _by_digits(got, spelling) if spelling is not None else _by_type(got, dtype)
    if rtol is None and atol is None:
        return usual
    if usual.note is not None:  # the guess is switched off
        usual = Tolerance(*BY_TYPE["float64"])
    return Tolerance(
        usual.rtol if rtol is None else rtol,
        usual.atol if atol is None else atol,
        usual.dtype,
        "as asked for",
    )


def _by_type(got: Array, dtype: str) -> Tolerance:
    if dtype == "float64" and _is_float32(got):
        return Tolerance(*BY_TYPE["float32"], "float32", "float32", _taken_as_float32("every number is one of float32"))
    if dtype not in BY_TYPE:
        return Tolerance(*BY_TYPE["float64"], "float64", f"{dtype} is taken as exact")
    return Tolerance(*BY_TYPE[dtype], dtype, dtype)


def _by_digits(got: Array, spelling: Spelling) -> Tolerance:
    if spelling.integers:
        return Tolerance(*BY_TYPE["float64"], reason="integers are taken as exact")
    unit = min(10.0**-spelling.decimals, COARSEST)
    if spelling.significant >= FULL_DIGITS:  # of the largest number; small ones may have but a few decimals
        usual = _by_type(got, "float64")
        return usual if spelling.floating else replace(usual, atol=max(usual.atol, unit))
    if 7 < spelling.significant <= 9 and _is_float32_text(got):
        why = "its digits are those that float32 writes"
        rtol, atol = BY_TYPE["float32"]
        atol = atol if spelling.floating else max(atol, unit)
        return Tolerance(rtol, atol, "float32", "float32", _taken_as_float32(why))
    if not spelling.floating:
        return Tolerance(0.0, unit, reason=f"one unit of the last decimal written, {unit:g}")
    rtol, atol = BY_TYPE["float64"]
    half = min(0.5 * 10.0 ** (1 - spelling.significant), COARSEST)  # of a number that begins with 1, the coarsest
    return Tolerance(
        max(rtol, half), max(atol, unit), reason=f"rounding to the {spelling.significant} significant digits written"
    )


def _taken_as_float32(why: str) -> str:
    rtol, atol = BY_TYPE["float32"]
    return f"the answer is taken as float32 ({why}): rtol {rtol:g}, atol {atol:g}; --rtol and --atol say otherwise"


def _is_float32(got: Array) -> bool:
    """Say whether float32 holds every number, and one at least has so many bits that this is no accident."""
    finite = got[np.isfinite(got)]
    with np.errstate(over="ignore"):
        narrow = finite.astype(np.float32)
    if not np.array_equal(narrow, finite):
        return False
    mantissa, _ = np.frexp(finite)
    return bool((np.ldexp(mantissa, FEW_BITS) % 1 != 0).any())


def _is_float32_text(got: Array) -> bool:
    """Say whether every number is the text of a float32, its shortest or that of nine digits."""
    finite = got[np.isfinite(got)]
    with np.errstate(over="ignore"):
        narrow = finite.astype(np.float32)
    pairs = list(zip(narrow, finite.tolist(), strict=True))
    return all(float(str(x)) == wide for x, wide in pairs) or all(float(f"{x:.9g}") == wide for x, wide in pairs)


def round_to(dtype: str, array: Array) -> Array:
    """Round to a type; the result is float64."""
    if dtype == "bfloat16":
        return to_bfloat16(array).astype(np.float64)
    return ARITHMETIC[dtype].round(array).astype(np.float64)


def unit_of(dtype: str, array: Array) -> Array:
    """Return the distance between neighbouring numbers of a type, at each element."""
    smallest = {"float64": -1074, "float32": -149, "float16": -24, "bfloat16": -133}[dtype]
    _, exponent = np.frexp(np.where(np.isfinite(array), array, 1.0))
    unit: Array = np.ldexp(1.0, np.maximum(exponent - ARITHMETIC[dtype].bits, smallest))
    return unit
