"""Exact rounding of numbers to the narrower floating-point formats: to nearest, ties to even."""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: significant bits (the leading one counts) and exponents of the ends."""

    bits: int
    lowest: int  # 2**lowest is the smallest normal number
    highest: int  # 2**highest is the largest power of two

    @property
    def largest(self) -> Fraction:
        return (2 - Fraction(2) ** (1 - self.bits)) * Fraction(2) ** self.highest

    def spacing(self, x: float | Fraction) -> Fraction:
        """Give the distance between neighbours near x: the unit in the last place."""
        exact = abs(Fraction(x))
        exponent = self.lowest
        if exact:
            exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
            if Fraction(2) ** exponent > exact:
                exponent -= 1
        return Fraction(2) ** (max(exponent, self.lowest) - (self.bits - 1))


FORMATS = {
    "float64": Format(53, -1022, 1023),
    "float32": Format(24, -126, 127),
    "float16": Format(11, -14, 15),
    "bfloat16": Format(8, -126, 127),
}


def round_to(name: str, x: float | Fraction) -> float:
    """Round x to the format of that name; beyond its largest number, to infinity, as IEEE 754 says."""
    if isinstance(x, float) and not math.isfinite(x):
        return x
    form = FORMATS[name]
    spacing = form.spacing(x)
    rounded = round(Fraction(x) / spacing) * spacing  # Python rounds fractions half to even
    if abs(rounded) > form.largest:
        return math.copysign(math.inf, rounded)
    return math.copysign(float(rounded), x)
