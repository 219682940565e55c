"""What the reader's screen or pipe is like: decided by the caller, never looked up here."""

from dataclasses import dataclass
from typing import Literal

Depth = Literal["16", "256", "truecolor"]


@dataclass(frozen=True)
class Settings:
    """How a document is to be written."""

    digits: int = 4  # decimals in tables
    full: bool = False  # all digits: the shortest text that reads back to the same number
    width: int | None = None  # columns of the terminal; None: no limit, nothing is wrapped, cut or left out
    max_rows: int | None = None  # rows of a matrix before its middle is left out; None or 0: no limit
    max_cols: int | None = None  # the same for columns; None: what fits the width; 0: all, even if it does not fit
    color: bool = False
    depth: Depth = "256"  # the colours that the terminal has
    light: bool = False  # dark letters on a light background
    encoding: str = "utf-8"
