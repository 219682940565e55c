"""The errors that a user of attncalc can cause, and nothing else.

    ValueError
    └── AttnCalcError        what is wrong, where, and (when it is likely right) what to do
        ├── OptionError      an option, or a combination of options, that cannot be used
        ├── ShapeError       arrays whose sizes do not fit each other
        ├── NumberError      NaN or infinity where a finite number is needed
        ├── EmptyRowError    a query that may attend to no key
        └── FileError        a file that cannot be read or written

Inner code states the bare fact, in terms of its own arrays; the command line knows which file an array
came from and adds it (``arrays`` and ``cell`` say what to look up).
"""

from collections.abc import Iterable

Index = tuple[int, ...]
Shape = tuple[int, ...]


class AttnCalcError(ValueError):
    """A mistake in the input, told in four parts.

    Args:
        message: one sentence, without a full stop: what is wrong.
        facts: lines of aligned columns that show it, such as ``("Q", "3 × 2")``.
        hint: one concrete remedy; only when it is likely right.
        arrays: the inputs that the message is about, as (name, shape); the name is a library keyword.
        cell: the one element that it is about, as (name, index); the index counts from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        facts: Iterable[tuple[str, ...]] = (),
        hint: str | None = None,
        arrays: Iterable[tuple[str, Shape]] = (),
        cell: tuple[str, Index] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.facts = tuple(facts)
        self.hint = hint
        self.arrays = tuple(arrays)
        self.cell = cell

    def __str__(self) -> str:
        rows = [(LETTERS.get(name, name), shape_text(shape)) for name, shape in self.arrays]
        lines = [self.message, *aligned([*rows, *self.facts])]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class OptionError(AttnCalcError):
    """An option, or a combination of options, that cannot be used."""


class ShapeError(AttnCalcError):
    """Arrays whose sizes do not fit each other."""


class NumberError(AttnCalcError):
    """NaN or infinity where a finite number is needed."""


class EmptyRowError(AttnCalcError):
    """A query that may attend to no key, while ``empty_rows`` is ``"error"``."""


class FileError(AttnCalcError):
    """A file that cannot be read or written."""


LETTERS = {"query": "Q", "key": "K", "value": "V"}


HUGE = 10**40  # a size that no message needs in full, and that Python may refuse to write


def shape_text(shape: Iterable[int]) -> str:
    """Write a shape as people do: ``3 × 2``; ``a single number`` for no axes."""
    return " × ".join("…" if isinstance(n, int) and abs(n) > HUGE else str(n) for n in shape) or "a single number"


def listed(names: Iterable[str], most: int = 20) -> str:
    """Write names one after the other, the first ones if there are many: ``q, k, v``."""
    known = list(names)
    more = [f"and {len(known) - most} more"] if len(known) > most else []
    return ", ".join([*known[:most], *more]) or "nothing"


def index_text(index: Iterable[int]) -> str:
    """Write the place of an element as one would type it: ``[1][2]``."""
    return "".join(f"[{i}]" for i in index)


def aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Lay out rows of cells as indented lines with aligned columns."""
    rows = list(rows)
    columns = max(map(len, rows), default=0)
    widths = [max((len(row[c]) for row in rows if c < len(row)), default=0) for c in range(columns)]
    return ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
