"""The two kinds of number the oracle computes with."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath

mpmath.mp.dps = 50


@dataclass(frozen=True)
class Numbers:
    """One kind of number and the functions that are needed of it."""

    make: Callable[[Any], Any]
    total: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]


DOUBLE = Numbers(float, math.fsum, math.exp, math.log, math.tanh, math.sqrt, math.sin, math.cos)
FIFTY_DIGITS = Numbers(
    mpmath.mpf,
    lambda terms: mpmath.fsum(list(terms)),
    mpmath.exp,
    mpmath.log,
    mpmath.tanh,
    mpmath.sqrt,
    mpmath.sin,
    mpmath.cos,
)


def numbers_of(number: type) -> Numbers:
    return {float: DOUBLE, mpmath.mpf: FIFTY_DIGITS}[number]
