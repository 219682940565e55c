"""Square root, exp, log, tanh, sine and cosine of fractions, by integers of BITS binary places."""

import math
from fractions import Fraction
from functools import cache

BITS = 240
ONE = 1 << BITS
HALVINGS = 12  # an argument is halved so often before its series is added up


def fixed(x: Fraction) -> int:
    return (x.numerator << BITS) // x.denominator


def _series(x: int, first: int, step: int, sign: int) -> int:
    """Add up x^first / first! ± x^(first + step) / (first + step)! ± …"""
    term = ONE if first == 0 else x
    total, n = 0, first
    while term:
        total += term
        for factor in range(n + 1, n + step + 1):
            term = (term * x >> BITS) // factor
        term *= sign
        n += step
        if abs(term) <= 1:  # shifting a negative number never gives 0
            break
    return total


@cache
def log2() -> int:
    """ln 2 = 1/1·2 + 1/2·4 + 1/3·8 + …"""
    return sum((ONE >> n) // n for n in range(1, BITS + 1))


@cache
def pi() -> int:
    """Machin: π/4 = 4 arctan 1/5 − arctan 1/239."""

    def arctan_of_one_over(n: int) -> int:
        return sum((-1) ** k * (ONE // n ** (2 * k + 1)) // (2 * k + 1) for k in range(BITS // 2))

    return 4 * (4 * arctan_of_one_over(5) - arctan_of_one_over(239))


def exp(x: Fraction) -> Fraction:
    doublings, rest = divmod(fixed(x), log2())
    value = _series(rest >> HALVINGS, 0, 1, 1)
    for _ in range(HALVINGS):
        value = value * value >> BITS
    return Fraction(value, ONE) * Fraction(2) ** doublings


def log(x: Fraction) -> Fraction:
    """Newton, from what double precision knows; each step gives three times as many digits."""
    doublings = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = x / Fraction(2) ** doublings
    y = Fraction(math.log(mantissa))
    for _ in range(3):
        near = exp(y)
        y = Fraction(fixed(y + 2 * (mantissa - near) / (mantissa + near)), ONE)
    return y + doublings * Fraction(log2(), ONE)


def sqrt(x: Fraction) -> Fraction:
    return Fraction(math.isqrt(fixed(x) << BITS), ONE)


def tanh(x: Fraction) -> Fraction:
    if abs(x) > 200:  # as good as 1 in 60 digits
        return Fraction(1 if x > 0 else -1)
    e = exp(2 * x)
    return (e - 1) / (e + 1)


def power(base: Fraction, exponent: Fraction) -> Fraction:
    return exp(exponent * log(base))


def cos_sin(x: Fraction) -> tuple[Fraction, Fraction]:
    angle = fixed(x) % (2 * pi())
    small = angle >> HALVINGS
    cosine, sine = _series(small, 0, 2, -1), _series(small, 1, 2, -1)
    for _ in range(HALVINGS):  # of double the angle
        cosine, sine = (cosine * cosine - sine * sine) >> BITS, 2 * sine * cosine >> BITS
    return Fraction(cosine, ONE), Fraction(sine, ONE)
