"""What reading a file gives: named arrays, each with all that a message needs to point into it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from attncalc.errors import FileError, Index, index_text, shape_text


@dataclass(frozen=True)
class Written:
    """How a text file wrote its numbers; NaN, infinities, true and false do not count."""

    significant: int  # the most significant digits that any number has
    decimals: int  # the most decimals that any number writes: 1.5e-3 has 4
    integers: bool  # every number is written as an integer
    floating: bool = False  # it is the significant digits that are alike, not the decimals: %e, %g


@dataclass(frozen=True, eq=False)
class Entry:
    """One array of a file."""

    values: np.ndarray  # booleans, integers or floats, native byte order; texts are a 1-D array of objects
    source: str  # as the user wrote it: "q.json", "all.npz:q", "-"
    dtype: str  # as the file says it: "float64", "bfloat16" (held as float32), "bool", "text", …
    labels: tuple[str, ...] | None = None  # a first column of labels, one a row
    notes: tuple[str, ...] = ()  # what was recognised and is not obvious, each naming the file
    locate: Callable[[Index], str] = field(default=index_text, repr=False)
    spelled: Callable[[], Iterable[str]] | None = field(default=None, repr=False)  # its numbers as written

    def place(self, index: Index) -> str:
        """Say where an element stands: ``line 2, column 1`` in a table, ``[0][1]`` elsewhere."""
        return self.locate(index)

    def texts(self) -> list[str]:
        """Return a list of texts; numbers are texts as they are written."""
        if self.values.ndim != 1:
            raise FileError(f"{self.source}: is {shape_text(self.values.shape)}, not a list of texts")
        if self.dtype == "text" or self.spelled is None:
            return list(map(str, self.values.tolist()))
        return list(self.spelled())

    def written(self) -> Written | None:
        """Measure how the numbers are written; None for binary formats."""
        return None if self.spelled is None else measure(self.spelled())


@dataclass(frozen=True, eq=False)
class File:
    """A file that was read; the arrays of a container are read when they are looked up."""

    source: str
    format: str  # "json" "table" "npy" "npz" "safetensors"
    entries: Mapping[str, Entry]  # one array without a name is {"": entry}
    notes: tuple[str, ...] = ()  # about the whole file; those of an entry include them
    others: Mapping[str, str] = field(default_factory=dict)  # what a container holds beside arrays: name → “a text”

    @property
    def bundle(self) -> bool:
        """Whether it holds arrays by name."""
        return list(self.entries) != [""]


class LazyEntries(Mapping[str, Entry]):
    """Entries by name, each read when it is first asked for: what nobody uses cannot be in the way."""

    def __init__(self, readers: Mapping[str, Callable[[], Entry]]) -> None:
        self.readers = readers
        self.known: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self.known:
            self.known[name] = self.readers[name]()
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.readers

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def __len__(self) -> int:
        return len(self.readers)


def measure(texts: Iterable[str]) -> Written:
    """Measure numbers that are written as ``float`` reads them."""
    kinds: Counter[tuple[int, int, int]] = Counter()  # digits, decimals, digits that zeros at the end do not add to
    integers = scientific = True
    for text in texts:
        if text[-1:].isalpha():  # nan, inf, infinity, true, false
            continue
        mantissa, _, exponent = text.lower().partition("e")
        if len(exponent.lstrip("+-0")) > 4:  # a number that is 0 for this, whatever its digits
            continue
        whole, point, fraction = mantissa.lstrip("+-").partition(".")
        digits = (whole + fraction).lstrip("0")
        places = len(fraction) - int(exponent) if exponent else len(fraction)
        kinds[len(digits), places, len(digits if exponent else digits.rstrip("0"))] += 1
        integers = integers and not (point or exponent)
        scientific = scientific and bool(exponent)
    significant = max((digits for digits, _, _ in kinds), default=0)
    decimals = max(0, max((places for _, places, _ in kinds), default=0))
    return Written(
        significant, decimals, integers, bool(kinds) and (scientific or _is_floating(kinds, significant, decimals))
    )


def _is_floating(kinds: Mapping[tuple[int, int, int], int], significant: int, decimals: int) -> bool:
    """Say whether numbers have significant digits alike, rather than decimals.

    Where decimals are alike, the largest number has the most digits: ``significant - decimals`` of them before the
    point, and smaller ones have fewer.  Where digits are alike, the smallest has the most decimals, others more before
    the point.
    """
    before = significant - decimals
    larger = sum(n for (d, places, own), n in kinds.items() if d - places > before and own >= significant - 2)
    smaller = sum(n for (d, places, _), n in kinds.items() if d - places < before and d and places >= decimals - 1)
    return larger > 0 and larger >= smaller
