"""What counts as a number in a table, and what only looks like one."""

import re
from dataclasses import dataclass

EXPONENT = r"(?:[eEdD][+\-\u2212]?[0-9]+)?"
POINT = re.compile(rf"[+\-\u2212]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){EXPONENT}")
COMMA = re.compile(rf"[+\-\u2212]?(?:[0-9]+(?:,[0-9]+)?|,[0-9]+){EXPONENT}")
WORD = re.compile(r"[+\-\u2212]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)
TRUTH = {"true": 1.0, "false": 0.0}

# Text that someone meant as a number: 1_000  "1,000"  1.234,56  1'000  0x1F  50%  ٣  1.2.3
LOOKS = re.compile(rf"[+\-\u2212]?[.,]?\d(?:[\d_.,'’ \u00a0\u202f\x0b\x0c\x1c-\x1f]*+{EXPONENT}\s*%?|[xX][0-9a-fA-F]+)")

# Numbers of other notations: –1 with a dash for the minus, 1.0+105 without the E, 1+2j
OTHERS = re.compile(
    r"[\u2010-\u2015\ufe63\uff0d] ?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?"
    r"|[+\-]?[0-9]*\.[0-9]*[+\-][0-9]{3}"
    r"|[+\-]?[0-9.]+(?:[eE][+\-]?[0-9]+)?[+\-][0-9.]+(?:[eE][+\-]?[0-9]+)?[ij]"
)
THOUSANDS = re.compile(
    r"[+\-\u2212]?[0-9]{1,3}(?:[_,.'’ \u00a0\u202f][0-9]{2,3})*[_,.'’ \u00a0\u202f][0-9]{3}(?:[.,][0-9]+)?"
)

# float() reads these and a table does not mean them; other ASCII text it reads just as the patterns above.
GENEROUS = "_\x0b\x0c\x1c\x1d\x1e\x1f"


@dataclass(frozen=True)
class Number:
    """How the numbers of one table are written."""

    decimal: str = "."

    def text(self, cell: str) -> str | None:
        """Return the cell as ``float`` reads it, a word of TRUTH as it stands, or None."""
        if (COMMA if self.decimal == "," else POINT).fullmatch(cell):
            return plain(cell)
        if WORD.fullmatch(cell):
            return cell.replace("\u2212", "-")
        return cell if cell.lower() in TRUTH else None

    def value(self, cell: str) -> float | None:
        """Return the number that a cell holds, or None; infinity, too, when it is too large."""
        text = self.text(cell)
        if text is None:
            return None
        truth = TRUTH.get(text.lower())
        return float(text) if truth is None else truth


def plain(cell: str) -> str:
    """Rewrite a number as ``float`` reads it: Fortran's exponents, U+2212 and decimal commas."""
    if cell.isascii() and "," not in cell and "d" not in cell and "D" not in cell:
        return cell
    return cell.replace("\u2212", "-").replace(",", ".").replace("D", "e").replace("d", "e")


def is_number(cell: str) -> bool:
    """Whether a cell is a number with a decimal point or a decimal comma, or true, false, nan, inf."""
    return bool(POINT.fullmatch(cell) or COMMA.fullmatch(cell) or WORD.fullmatch(cell)) or is_truth(cell)


def is_truth(cell: str) -> bool:
    """Whether a cell is true or false, in either case."""
    return cell.lower() in TRUTH


def is_too_large(cell: str, value: float) -> bool:
    """Whether a number overflowed: infinite, and not written so."""
    return value in (float("inf"), float("-inf")) and not WORD.fullmatch(cell)


def looks_like_number(cell: str) -> bool:
    """Whether a cell is a number or someone meant it as one, so that it is no name of a column."""
    return is_number(cell) or bool(LOOKS.fullmatch(cell) or OTHERS.fullmatch(cell))


def has_thousands(cell: str) -> bool:
    """Whether a number is written in groups of digits: 1,000  1.234,56  1_000_000  12,34,567."""
    return bool(THOUSANDS.fullmatch(cell))


def is_generous(text: str) -> bool:
    """Whether ``float`` might read more in this text than a table means."""
    return not text.isascii() or any(character in text for character in GENEROUS)
