"""Arithmetic in float64, float32, float16, and bfloat16, which numpy does not have.

A stage is computed in a wider working type and rounded to the type asked for, once.  float16 and bfloat16 work in
float32, as hardware does, so that their products accumulate in float32; float32 works in float64.
"""

from dataclasses import dataclass

import numpy as np

from attncalc.core.shapes import Array

SMALL = 2**20
"""Multiply-adds up to which a product costs nothing that anybody would notice."""


@dataclass(frozen=True)
class Arithmetic:
    """How numbers of one type are computed with.

    Attributes:
        name: the type, as users write it.
        working: the numpy type in which stages are computed.
        stored: the numpy type in which results are handed out (bfloat16 values travel as float32).
        bits: binary digits of the significand, the hidden one included.
    """

    name: str
    working: type[np.floating]
    stored: type[np.floating]
    bits: int

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger number of the type."""
        return 2.0 ** (1 - self.bits)

    @property
    def largest(self) -> float:
        """The largest finite number of the type."""
        exponent = 16 if self.name == "float16" else 1024 if self.name == "float64" else 128
        return (2 - self.epsilon) * 2.0 ** (exponent - 1)

    @property
    def native(self) -> type[np.floating]:
        """The numpy type that computes fast and holds the numbers of the type: where no stage is built or rounded."""
        return np.float64 if self.name == "float64" else np.float32

    def accumulator(self, multiply_adds: int) -> type[np.floating]:
        """Return the type in which products are summed.

        In float64 the sums of small problems are kept in the machine's longest type (80 bits on x86), so that every
        score is the dot product rounded once; on machines without one they are sums of float64.

        Args:
            multiply_adds: how large the product is; the longest type is some fifty times slower.
        """
        return np.longdouble if self.name == "float64" and multiply_adds <= SMALL else self.working

    def round(self, array: Array) -> Array:
        """Round to the nearest number of the type, ties to even; the result has the working type."""
        if self.name == "bfloat16":
            return to_bfloat16(array)
        with np.errstate(over="ignore"):  # too large for the type is infinite: the IEEE result
            return array.astype(self.stored, copy=False).astype(self.working, copy=False)

    def store(self, array: Array) -> Array:
        """Hand out an array that ``round`` has made, in the type of results."""
        return array.astype(self.stored, copy=False)

    def keep(self, array: Array) -> Array:
        """Round to the type, in the type of results or a narrower one; numbers that are of the type are not copied."""
        fits = self.name != "bfloat16" and array.dtype.itemsize <= np.dtype(self.stored).itemsize
        return array if fits else self.store(self.round(array))


ARITHMETIC = {
    "float64": Arithmetic("float64", np.float64, np.float64, 53),
    "float32": Arithmetic("float32", np.float64, np.float32, 24),
    "float16": Arithmetic("float16", np.float32, np.float16, 11),
    "bfloat16": Arithmetic("bfloat16", np.float32, np.float32, 8),
}
"""The types that users may ask for, the widest first."""


PART = 2**18
"""How many numbers are rounded at a time, so that what is between needs little memory."""


def to_bfloat16(array: Array) -> Array:
    """Round to bfloat16 (8 significant bits, exponents of float32), ties to even, held as float32.

    It starts from float64 so that a number is rounded once: float64 to float32 to bfloat16 rounds twice, and
    goes the wrong way where the first rounding lands on a tie.
    """
    if array.size > PART:
        rows = array.reshape(-1)
        rounded = np.empty(rows.shape, np.float32)
        for first in range(0, rows.size, PART):
            rounded[first : first + PART] = to_bfloat16(rows[first : first + PART])
        return rounded.reshape(array.shape)
    wide = np.asarray(array, dtype=np.float64)
    dropped = np.uint64(52 - 7)  # of the 52 fraction bits of float64, bfloat16 keeps 7
    one = np.uint64(1)
    bits = wide.view(np.uint64)
    half = (one << (dropped - one)) - one + ((bits >> dropped) & one)
    normal = (((bits + half) >> dropped) << dropped).view(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        tiny = np.rint(np.ldexp(wide, 133)) if wide.size else wide  # below 2^-126 steps are 2^-133 wide
        rounded = np.where(np.abs(wide) < 2.0**-126, np.ldexp(tiny, -133), normal)
        return np.where(np.isfinite(wide), rounded, wide).astype(np.float32)
