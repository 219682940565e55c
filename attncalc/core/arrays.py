"""What users hand over becomes an array of numbers or booleans, or an error that says what it is instead."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core.shapes import Array
from attncalc.errors import LETTERS, AttnCalcError, NumberError, OptionError, ShapeError, index_text


def letter(name: str) -> str:
    """Return how a message calls an input: Q, K, V, or its keyword."""
    return LETTERS.get(name, name)


def numbers(name: str, given: ArrayLike) -> Array:
    """Return floating-point numbers, of float64 unless they came in a narrower type; never a copy without need."""
    array = _array(name, given)
    if array.dtype == object:
        array = _from_objects(name, array)
    if array.dtype.kind in "bui":
        return array.astype(np.float64)
    if array.dtype.kind == "f":
        return array if array.dtype.itemsize <= 8 else array.astype(np.float64)
    raise AttnCalcError(f"{letter(name)} holds {_kind(array)}, not numbers", arrays=[(name, array.shape)])


def booleans(name: str, given: ArrayLike) -> Array:
    """Return booleans from booleans or from the numbers 0 and 1."""
    array = numbers(name, given)
    wrong = ~((array == 0) | (array == 1))
    if wrong.any():
        place = tuple(int(n) for n in np.argwhere(wrong)[0])
        raise NumberError(
            f"{letter(name)} holds {array[place]:g}, but a mask is made of true and false, or 1 and 0",
            cell=(name, place),
            hint="numbers to be added to the scores are a bias: --bias",
        )
    return array.astype(bool)


def bias_numbers(given: ArrayLike, name: str = "bias") -> Array:
    """Return the numbers of a bias; null means −∞ there, as in attncalc's own JSON."""
    array = _array(name, given)
    if array.dtype == object:
        array = np.where(array == None, -np.inf, array)  # noqa: E711  # elementwise
    array = numbers(name, array)
    wrong = np.isnan(array) | np.isposinf(array)
    if wrong.any():
        place = tuple(int(n) for n in np.argwhere(wrong)[0])
        raise NumberError(
            f"{name} is {array[place]:g} at {index_text(place)}; it holds finite numbers, and -Infinity which blocks",
            cell=(name, place),
        )
    return array


def whole_numbers(name: str, given: int | Iterable[int]) -> Array:
    """Return a list of whole numbers, (n,), from one number or several."""
    array = np.atleast_1d(_array(name, given))  # type: ignore[arg-type]
    if (
        array.dtype.kind not in "iuf"
        or array.ndim != 1
        or (array != np.floor(array)).any()
        or not np.isfinite(array).all()
    ):
        raise OptionError(f"{name} takes whole numbers")
    if (np.abs(array.astype(np.float64)) > 2.0**53).any():
        raise OptionError(f"{name} takes whole numbers of at most {2**53}")
    return array.astype(np.int64)


def whole_number(name: str, given: Any, smallest: int) -> int:
    """Return one whole number that is not below ``smallest``."""
    if not _is_number(given) or not np.isfinite(given) or int(given) != given or given < smallest:
        raise OptionError(f"{name} must be a whole number, {smallest} or more, not {given}")
    return int(given)


def real_number(name: str, given: Any) -> float:
    """Return one finite number."""
    if not _is_number(given) or not np.isfinite(given):
        raise OptionError(f"{name} must be a finite number, not {given}")
    return float(given)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)


def choice(name: str, given: Any, among: Iterable[str]) -> str:
    """Return the word, which must be one of those that the option knows."""
    if given not in (words := tuple(among)):
        raise OptionError(f"{name} must be one of {', '.join(words)}, not {given}")
    return str(given)


def _array(name: str, given: ArrayLike) -> Array:
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise ShapeError(f"{letter(name)} is not an array: its rows have different lengths") from error


def _from_objects(name: str, array: Array) -> Array:
    for place in np.ndindex(array.shape):
        if isinstance(array[place], str | bytes):
            raise NumberError(f"{letter(name)} holds text, not numbers", cell=(name, place))
    try:
        return array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise AttnCalcError(f"{letter(name)} holds something that is not a number: {error}") from error


def _kind(array: Array) -> str:
    kinds = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations", "V": "records"}
    return kinds.get(array.dtype.kind, str(array.dtype))
