"""A record as strict JSON: what a program reads back, number for number."""

import codecs
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from attncalc.show.charset import encodable
from attncalc.show.document import Array
from attncalc.show.labels import clean

SHORT = 100  # what holds lists or objects stays on one line when it is not longer


def json_text(record: Mapping[str, Any], encoding: str = "utf-8") -> str:
    """Write a record as JSON (RFC 8259) that ends with a newline; see ``json_parts``."""
    return "".join(json_parts(record, encoding))


def json_parts(record: Mapping[str, Any], encoding: str = "utf-8") -> Iterator[str]:
    """Write a record as JSON, a key at a time.

    Finite numbers read back to the same float64; −∞, ∞ and NaN become null.  Arrays have a line per innermost
    row.  JSON is UTF-8: in any other encoding it is ASCII alone, with all other signs escaped, as are those that a
    terminal would obey.
    """
    lead = "{"
    for key, value in record.items():
        yield f"{lead}{_string(key, encoding)}: {_value(value, encoding, 1)}"
        lead = ",\n "
    yield "}\n" if record else "{}\n"


def _value(value: Any, encoding: str, indent: int) -> str:
    """Write any value that stands ``indent`` columns in."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return _string(value, encoding)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else "null"
    if isinstance(value, np.ndarray):
        return _array(value, indent) if value.dtype.kind in "biuf" else _value(value.tolist(), encoding, indent)
    if isinstance(value, Mapping):
        pairs = [f"{_string(key, encoding)}: {_value(item, encoding, indent + 1)}" for key, item in value.items()]
        return _joined("{", pairs, "}", indent)
    if isinstance(value, list | tuple):
        items = [_value(item, encoding, indent + 1) for item in value]
        if not any(item[0] in "[{" for item in items):
            return f"[{', '.join(items)}]"  # an innermost row
        return _joined("[", items, "]", indent)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _string(text: str, encoding: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a key of JSON is text, not {type(text).__name__}")
    writable = text.isascii() or (_is_utf8(encoding) and encodable(text, encoding))
    as_it_is = writable and clean(text) == text
    return json.dumps(str(text), ensure_ascii=not as_it_is)


@cache
def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def _joined(opening: str, items: list[str], closing: str, indent: int) -> str:
    """Put items on one line when they are short, or else each on its own."""
    if sum(map(len, items)) + 2 * len(items) <= SHORT and not any("\n" in item for item in items):
        return opening + ", ".join(items) + closing
    return _spread(opening, f",\n{' ' * (indent + 1)}".join(items), closing, indent)


def _spread(opening: str, inside: str, closing: str, indent: int) -> str:
    return f"{opening}\n{' ' * (indent + 1)}{inside}\n{' ' * indent}{closing}"


def _array(values: Array, indent: int) -> str:
    """Write numbers or truth values, an innermost row a line; json's own C code does nearly all of it."""
    numbers = values.astype(np.float64) if values.dtype.kind == "f" else values
    text = json.dumps(numbers.tolist())
    if values.dtype.kind == "f" and not np.isfinite(numbers).all():
        for word in ("-Infinity", "Infinity", "NaN"):
            text = text.replace(word, "null")
    for depth in range(values.ndim - 1, 0, -1):
        closing, opening = "]" * depth, "[" * depth
        text = text.replace(f"{closing}, {opening}", f"{closing},\n{' ' * (indent + values.ndim - depth)}{opening}")
    return _spread("[", text[1:-1], "]", indent) if values.ndim > 1 and len(values) else text
