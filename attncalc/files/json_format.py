"""JSON: nested lists, ``{"data": …, "shape": …}``, bundles, and attncalc's own documents.

Python's parser and NumPy make the arrays.  Where they meet anything but plain numbers, ``json_array`` walks
through the lists and says which entry is wrong.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attncalc import address_space
from attncalc.errors import FileError, shape_text
from attncalc.files.entry import Entry, File, LazyEntries
from attncalc.files.json_array import (
    DEEPEST,
    Spelled,
    is_texts,
    kind_of,
    leaves,
    means_texts,
    quick_array,
    text_list,
    walked_array,
)
from attncalc.files.json_faults import syntax_fault

OWN = "attncalc."  # how the schema of attncalc's own documents begins
NO_ARRAYS = ("schema", "shapes", "options", "notes")  # what is none of their arrays
TEXTS = re.compile(r'\s*\[\s*"(?:[^"\\]|\\.)*"\s*(?:,|\Z)')  # how a list of texts begins
EMPTY = re.compile(r"\s*\[[\s\[\],]*")  # lists that hold nothing but lists
BLOCKED = ("scores", "lse")  # where their null is −∞; elsewhere it is NaN
LARGE = 1 << 16  # characters from which on it is worth while to load a faster parser


@dataclass(frozen=True)
class Piece:
    """One array's place in a document."""

    text: str
    source: str
    path: tuple[str, ...] = ()  # the names that lead to it
    null: float | None = None  # what null stands for; None where it is a fault
    notes: tuple[str, ...] = ()

    @property
    def entry_source(self) -> str:
        """The file, and the name of the array in it."""
        return ":".join((self.source, *self.path[:1]))

    @property
    def label(self) -> str:
        """What stands before an index in a message: ``q`` for ``q[1][2]``."""
        return ".".join(self.path)

    def again(self, number: Callable[[str], Any], integer: Callable[[str], Any]) -> Any:
        """Return the value once more, its numbers made from their texts by other functions."""
        value = parse(self.text, self.source, number, integer)
        for name in self.path:
            value = value[name]
        return value

    def array(self, value: Any) -> np.ndarray:
        """Make the array of nested lists."""
        array = quick_array(value)
        if array is None:
            array = walked_array(self.again(Spelled, Spelled.integer), self.source, self.label, self.null)
        return array

    def entry(self, values: np.ndarray) -> Entry:
        """Make the entry of an array."""
        dtype = "bool" if values.dtype == bool else "float64"
        return Entry(values, self.entry_source, dtype, notes=self.notes, spelled=self._numbers)

    def _numbers(self) -> Iterator[str]:
        return leaves(self.again(str, str))


def is_json(text: str) -> bool:
    """Whether a text begins as a list or an object does."""
    return text.lstrip()[:1] in ("[", "{")


def read_json(text: str, source: str, notes: tuple[str, ...] = ()) -> File:
    """Read one array or a bundle; the arrays of a bundle are made when they are looked up."""
    document = parse(text, source)
    if not isinstance(document, dict) or _is_shaped(document):
        entry = _read(document, Piece(text, source, notes=notes), top=True)
        return File(source, "json", {"": entry}, notes)
    own = str(document.get("schema", "")).startswith(OWN)
    readers: dict[str, Callable[[], Entry]] = {}
    for name, value in document.items():
        if _is_own_array(name, value) if own else _may_be_array(value):
            null = None if not own else -math.inf if name in BLOCKED else math.nan
            readers[name] = partial(_read, value, Piece(text, source, (name,), null, notes))
    if not readers:
        raise FileError(f"{source}: is a JSON object without arrays")
    others = {name: kind_of(value) for name, value in document.items() if name not in readers and value is not None}
    return File(source, "json", LazyEntries(readers), notes, {} if own else others)


def read_texts(text: str, source: str) -> list[str] | None:
    """Read a JSON list of texts, or of numbers, which then are texts; None for what is no JSON at all."""
    try:
        value = parse(text, source, str, str)
    except FileError:
        if source.lower().removesuffix(".gz").endswith(".json") or TEXTS.match(text):
            raise
        return None  # a first token that is a bracket, such as [CLS]
    if isinstance(value, dict):
        names = [name for name, entry in value.items() if is_texts(entry)]
        raise FileError(
            f"{source}: is a JSON object, not a list of texts", hint=f"{source}:{names[0]}" if names else None
        )
    return text_list(value, source)


def scalar_kind(text: str) -> str | None:
    """Say what JSON without brackets is; None for what is no JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return "a single number" if isinstance(value, int | float) else "a single text" if value else "null"


def unusual_array(text: str) -> np.ndarray | None:
    """Return the array of a list that holds nothing but lists, such as ``[]`` or ``[[], []]``; None for all else."""
    if EMPTY.fullmatch(text) is None:
        return None
    try:
        return np.array(json.loads(text), dtype=np.float64)
    except (ValueError, RecursionError):
        return None


def parse(
    text: str,
    source: str,
    number: Callable[[str], Any] | None = None,
    integer: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON; names that stand twice in an object are an error."""
    plain = number is None and integer is None
    if plain and len(text) >= LARGE and address_space.limit() is None:  # orjson crashes where it gets no memory
        value = _quickly(text)
        if value is not None:
            return value
    try:
        return json.loads(text, object_pairs_hook=partial(_object, source), parse_float=number, parse_int=integer)
    except FileError:
        raise
    except json.JSONDecodeError as error:
        raise syntax_fault(error, source) from None
    except RecursionError:
        raise FileError(f"{source}: has lists or objects nested too deeply") from None
    except ValueError:  # an integer of more digits than Python converts
        return parse(text, source, Spelled, Spelled.integer)


def _quickly(text: str) -> Any:
    """Let orjson parse what is surely right, of the extra ``fast``; None for all else, NaN and infinity included."""
    try:
        import orjson

        value = orjson.loads(text)
        unique = text.count('"') == 2 * _texts(value)  # or else a name may stand twice
    except (ImportError, ValueError, RecursionError):
        return None
    return value if unique else None


def _texts(value: Any) -> int:
    """Count names, and the texts that are their values; those in lists do not count."""
    if isinstance(value, dict):
        return sum(1 + _texts(entry) for entry in value.values())
    return isinstance(value, str)


def _object(source: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{source}: the name “{twice}” stands twice in one object")
    return found


def _read(value: Any, piece: Piece, top: bool = False) -> Entry:
    """Read one value of a document."""
    if isinstance(value, dict) and _is_shaped(value):
        data = Piece(piece.text, piece.source, (*piece.path, "data"), piece.null, piece.notes)
        return replace(data.entry(_reshaped(value, data, piece)), source=piece.entry_source)
    if not top and means_texts(value) and not is_texts(value):
        text_list(value, piece.source, piece.label)  # which says what is no text
    if not top and is_texts(value):
        return Entry(np.array(value, dtype=object), piece.entry_source, "text", notes=piece.notes)
    return piece.entry(piece.array(value))


def _reshaped(value: dict[str, Any], piece: Piece, outer: Piece) -> np.ndarray:
    """Give data the shape that stands beside it; nested data have to have it already."""
    shape, name = value["shape"], f"{outer.source}: {outer.label}".removesuffix(": ")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise FileError(f"{name}: shape is not a list of whole numbers", hint='such as "shape": [3, 2]')
    if len(shape) > DEEPEST:
        raise FileError(f"{name}: shape has {len(shape)} axes; at most {DEEPEST} are read")
    size = math.prod(shape)
    array = np.zeros(0) if value["data"] == [] and size == 0 else piece.array(value["data"])
    if array.ndim > 1 and array.shape != tuple(shape):
        raise FileError(f"{name}: data is {shape_text(array.shape)}, its shape says {shape_text(shape)}")
    if array.size != size:
        numbers = "1 number" if array.size == 1 else f"{array.size} numbers"
        raise FileError(f"{name}: data has {numbers}, its shape {shape_text(shape)} needs {size}")
    return array.reshape(shape)


def _is_shaped(value: dict[str, Any]) -> bool:
    return "data" in value and "shape" in value


def _may_be_array(value: Any) -> bool:
    """Whether a value of a user's bundle is meant as an array; other values are nobody's business."""
    if isinstance(value, dict):
        return _is_shaped(value)
    return isinstance(value, list | int | float)


def _is_own_array(name: str, value: Any) -> bool:
    """Whether a value of attncalc's own document is an array of numbers or a list of tokens."""
    if name in NO_ARRAYS or not isinstance(value, list):
        return False
    if is_texts(value):
        return True
    while isinstance(value, list) and value:
        value = value[0]
    return value is None or isinstance(value, int | float)
