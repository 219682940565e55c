"""Nested lists → an array, or the place of the first entry that does not fit."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.errors import FileError, Index, index_text

DEEPEST = 32  # axes; NumPy before version 2 has no more


@dataclass(frozen=True)
class _Place:
    """Where an array stands: its file, and its name in it."""

    source: str
    label: str

    def of(self, index: Index) -> str:
        """Name an entry, such as ``q[1][2]``."""
        return self.label + index_text(index)

    def fault(self, index: Index, what: str, hint: str | None = None) -> FileError:
        """Return the error about an entry."""
        return FileError(f"{self.source}: {self.of(index)} {what}".replace(":  ", ": ", 1), hint=hint)


class Spelled(float):
    """A number that knows how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> "Spelled":
        """Read a number."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    @classmethod
    def integer(cls, text: str) -> "Spelled":
        """Read an integer, which has no negative zero."""
        return cls("0" if text == "-0" else text)


def quick_array(value: Any) -> np.ndarray | None:
    """Let NumPy make the array; None for all that is not plainly booleans or finite numbers."""
    try:
        array = np.array(value)
    except (ValueError, OverflowError):
        return None
    if array.dtype.kind not in "biuf" or array.size == 0 or array.ndim > DEEPEST:
        return None
    if array.dtype.kind == "b":
        return array
    array = array.astype(np.float64, copy=False)
    return array if np.isfinite(array).all() else None


def walked_array(value: Any, source: str, label: str = "", null: float | None = None) -> np.ndarray:
    """Make the array entry by entry.

    Args:
        value: nested lists whose numbers are ``Spelled``, so that one that overflowed is known.
        source: the file, for messages.
        label: the name of the array in the file, if it has one.
        null: the number that null stands for; None where null is a fault.
    """
    place = _Place(source, label)
    shape = _first_shape(value, place)
    found: list[Any] = []
    _collect(value, (), shape, place, null, found)
    if all(isinstance(leaf, bool) for leaf in found):
        return np.array(found).reshape(shape)
    return np.array(found, dtype=np.float64).reshape(shape)


def leaves(value: Any) -> Iterator[str]:
    """Yield the entries of nested lists as texts; null, true, NaN … are words."""
    stack = [value]
    while stack:
        entry = stack.pop()
        if isinstance(entry, list):
            stack.extend(reversed(entry))
        else:
            yield str(entry)


def is_texts(value: Any) -> bool:
    """Whether a value is a list of texts, such as tokens."""
    return isinstance(value, list) and bool(value) and all(isinstance(entry, str) for entry in value)


def text_list(value: Any, source: str, label: str = "") -> list[str]:
    """Return a list of texts; numbers in it are texts as they are written, anything else is a fault."""
    place = _Place(source, label)
    if not isinstance(value, list) or not value:
        raise place.fault((), "is no list of texts" if value else "is an empty list")
    for i, entry in enumerate(value):
        if not isinstance(entry, str):
            raise place.fault((i,), f"is {kind_of(entry)}, not a text")
    return value


def means_texts(value: Any) -> bool:
    """Whether a list was meant as texts: more of its entries are texts than not, and some no numbers in quotes."""
    if not isinstance(value, list):
        return False
    texts = [entry for entry in value if isinstance(entry, str)]
    others = [entry for entry in value if entry is not None and not isinstance(entry, str)]
    return len(texts) > len(others) and not all(map(_unquote, texts))


def _first_shape(value: Any, place: _Place) -> tuple[int, ...]:
    """Return the lengths along the first entries, which all others have to match."""
    shape: list[int] = []
    while isinstance(value, list):
        if not value:
            raise place.fault((0,) * len(shape), "is an empty list")
        if len(shape) == DEEPEST:
            raise place.fault((), f"has lists nested more than {DEEPEST} deep")
        shape.append(len(value))
        value = value[0]
    return tuple(shape)


def _collect(
    value: Any, index: Index, shape: tuple[int, ...], place: _Place, null: float | None, found: list[Any]
) -> None:
    level = len(index)
    if level == len(shape):
        found.append(_leaf(value, index, place, null))
    elif not isinstance(value, list):
        if not _is_number(value):
            _leaf(value, index, place, None)
        raise place.fault(index, f"is a number, {place.of((0,) * level)} is a list of {shape[level]}")
    elif len(value) != shape[level]:
        raise place.fault(index, f"has {_entries(len(value))}, {place.of((0,) * level)} has {shape[level]}")
    else:
        last = level + 1 == len(shape)
        for i, entry in enumerate(value):
            if last and type(entry) is Spelled and math.isfinite(entry):
                found.append(entry)
            else:
                _collect(entry, (*index, i), shape, place, null, found)


def _leaf(value: Any, index: Index, place: _Place, null: float | None) -> Any:
    """Return a number, or raise what it is instead."""
    if isinstance(value, Spelled) and math.isinf(value):
        text = value.text if len(value.text) <= 40 else value.text[:39] + "…"
        raise place.fault(index, f"is {text}, too large for a 64-bit float")
    if _is_number(value):
        return value
    if value is None:
        if null is None:
            raise place.fault(index, "is null, not a number")
        return null
    if isinstance(value, str):
        text = value if len(value) <= 40 else value[:39] + "…"
        raise place.fault(index, f"is the text “{text}”, not a number", _unquote(value))
    if isinstance(value, dict):
        raise place.fault(index, "is an object, not a number")
    raise place.fault(index, f"is a list, {place.of((0,) * len(index))} is a number")


def _unquote(text: str) -> str | None:
    try:
        float(text)
    except ValueError:
        return None
    return "write numbers without quotes"


def kind_of(value: Any) -> str:
    """Name what JSON has at a place."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if _is_number(value):
        return f"the number {value}"
    return "an object" if isinstance(value, dict) else "a text" if isinstance(value, str) else "a list"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _entries(count: int) -> str:
    return {0: "no entries", 1: "1 entry"}.get(count, f"{count} entries")
