"""Document → heat maps for a terminal: every matrix as coloured cells, two rows in a line where there are many.

Without colours the cells are shades ( ░▒▓█), or ASCII signs that grow darker.  A matrix beyond the window is averaged
down to it, and says so.  Everything that is no matrix is written as on any other page.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attncalc.show.charset import encodable
from attncalc.show.digits import number
from attncalc.show.document import Array, Document, Matrix, Role, as_columns
from attncalc.show.labels import cell_width, pad, shorten
from attncalc.show.layout import Layout
from attncalc.show.ramp import NEGATIVE, NEGATIVE_256, RAMP, RAMP_256, mixed, step
from attncalc.show.settings import Settings
from attncalc.show.terminal import write_lines

WIDTH = 100  # columns where there is no terminal to ask
LINES = 32  # lines of a heat map, unless the user says otherwise
WIDEST = 7  # columns of a cell
LABEL = 16
BAR = 24  # columns of the legend
SHADES = "░▒▓█"
ASCII_SHADES = ".:-=+*#%@"
NOTHING = 0.01  # a smaller share is drawn as nothing where there are no colours
RESET = "\x1b[0m"
NAN = "?"


@dataclass(frozen=True)
class Scale:
    """From numbers to shares of the strongest colour: −1 to 1, or 0 to 1 where colours cannot tell a sign."""

    low: float
    high: float
    signed: bool

    @classmethod
    def of(cls, arrays: Iterable[Array], signed: bool) -> "Scale":
        """Make one scale for panels that are to be compared."""
        numbers = np.concatenate([array.ravel() for array in arrays])
        numbers = numbers[np.isfinite(numbers)]
        low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
        if signed and low < 0:
            return cls(-max(-low, high), max(-low, high), True)
        return cls(low, high, False)

    def shares(self, values: Array) -> Array:
        """Turn numbers into shares; infinity is as far as the scale goes, and NaN stays NaN."""
        zero = 0.0 if self.signed else self.low
        return np.subtract(np.clip(values, self.low, self.high), zero) / ((self.high - zero) or 1.0)


def render(document: Document, settings: Settings) -> str:
    """Write a document with its matrices as heat maps."""
    layout = Layout(settings)
    panels = [Panel(block, layout) if isinstance(block, Matrix) else block for block in document.blocks]
    texts = []
    for panel in panels:
        if not isinstance(panel, Panel):
            texts.append(write_lines(layout.lines(panel), settings))
            continue
        family = [other for other in panels if isinstance(other, Panel) and other.family == panel.family]
        scale = Scale.of((other.values for other in family), panel.colored)
        texts.append("\n".join(panel.lines(scale)))
        if panel is family[-1]:
            signs = {f"{other.hidden} blocked": None for other in family if other.blocked.any()}
            signs |= {f"{NAN} NaN": None for other in family if other.odd.any()}
            texts.append("   ".join([legend(scale, layout, panel.colored), *signs]))
    return "\n\n".join(texts) + "\n"


class Panel:
    """One matrix that is being drawn; ``values`` and ``blocked`` are what is seen of it."""

    def __init__(self, matrix: Matrix, layout: Layout) -> None:
        settings = layout.settings
        self.matrix, self.layout, self.settings = matrix, layout, settings
        self.colored = settings.color and settings.depth != "16"
        self.halves = self.colored and encodable("▀▄", settings.encoding)
        self.row_labels = [self._short(label, LABEL) for label in matrix.row_labels]
        self.left = max(map(cell_width, self.row_labels), default=0)
        self.room = max((settings.width or WIDTH) - self.left - 2, 8)
        height, width = matrix.grid.shape
        lines, most = settings.max_rows or LINES, settings.max_cols or width
        self.roomy = height <= lines and 2 * width <= self.room and width <= most
        rows = height if self.roomy else min(height, 2 * lines if self.halves else lines)
        columns = width if self.roomy else min(width, self.room, most)
        self.values, self.blocked = _averaged(matrix, rows, columns)
        self.firsts = [np.arange(n) * count // n for count, n in ((height, rows), (width, columns))]

    @property
    def family(self) -> str:
        """The stage: panels of one stage share their colours, so that heads can be compared."""
        return self.matrix.title.split(" · ")[0]

    @property
    def hidden(self) -> str:
        """The sign of a blocked cell."""
        dot = not self.roomy and encodable("·", self.settings.encoding)
        return "·" if dot else self.layout.signs.blocked

    @property
    def odd(self) -> Array:
        """Which cells are NaN, and not for being blocked."""
        odd: Array = np.isnan(self.values) & np.logical_not(self.blocked)
        return odd

    def lines(self, scale: Scale) -> list[str]:
        """Draw the title, the column labels and the cells."""
        shares = scale.shares(self.values)
        in_halves = self.halves and not self.roomy
        cells = self._in_halves(shares) if in_halves else self._in_lines(shares)
        per_line = 2 if in_halves else 1
        labels = [self.row_labels[int(n)] for n in self.firsts[0][::per_line]]
        title = write_lines([[(self.layout.say(self.matrix.title), Role.HEADING)]], self.settings)
        drawn = [title] if self.matrix.title else []
        if head := self._head():
            drawn.append(" " * (self.left + 1) + head)
        drawn += [f"{pad(label, self.left)} {row}".rstrip(" ") for label, row in zip(labels, cells, strict=True)]
        shape, whole = self.values.shape, self.matrix.grid.shape
        if shape != whole:
            sizes = [" × ".join(map(str, each)) for each in (whole, shape)]
            drawn.append(self.layout.say(f"{sizes[0]}, averaged to {sizes[1]}"))
        return drawn

    def _short(self, label: str, width: int) -> str:
        return shorten(self.layout.say(label), width, self.layout.signs.more)

    @property
    def cell(self) -> int:
        """Columns of a cell: what its label needs, if there is room."""
        if not self.roomy:
            return 1
        labels = [cell_width(self.layout.say(label)) + 1 for label in self.matrix.column_labels]
        room = self.room // int(self.values.shape[1])
        return max(2, min(max(4, *labels), WIDEST, room))

    def _head(self) -> str:
        """Write the labels of the columns, as many as there is room for."""
        labels = self.matrix.column_labels
        if not any(labels):
            return ""
        text = ""
        for n, first in enumerate(self.firsts[1]):
            start = n * self.cell
            if cell_width(text) > start or (text and cell_width(text) == start and not text.endswith(" ")):
                continue
            width = self.cell - 1 if self.roomy and self.cell > 2 else LABEL
            text = pad(text, start) + self._short(labels[int(first)], width) + " "
        return shorten(text.rstrip(), self.room, self.layout.signs.more)

    def _in_lines(self, shares: Array) -> list[str]:
        """Draw a row in a line; where there is room, a cell is several columns wide."""
        width = self.cell
        gap = " " if width > 1 else ""
        sign = self._dimmed(self.hidden.center(width))
        rows = []
        for row, hidden in zip(shares.tolist(), self.blocked.tolist(), strict=True):
            text = ""
            for share, blocked in zip(row, hidden, strict=True):
                if blocked:
                    text += sign
                elif math.isnan(share):
                    text += NAN.center(width)
                elif self.colored:
                    text += f"\x1b[48;{self._color(share)}m{' ' * width}{RESET}"
                else:
                    text += shade(share, self.settings) * (width - len(gap)) + gap
            rows.append(text)
        return rows

    def _in_halves(self, shares: Array) -> list[str]:
        """Draw two rows in a line."""
        rows = []
        for i in range(0, len(shares), 2):
            upper = self._colors(shares[i], self.blocked[i])
            last = i + 1 == len(shares)
            lower = [" "] * len(upper) if last else self._colors(shares[i + 1], self.blocked[i + 1])
            rows.append("".join(map(self._half, upper, lower)))
        return rows

    def _colors(self, shares: Array, blocked: Array) -> list[str]:
        """Return the colours of a row; nothing for blocked cells."""
        pairs = zip(shares.tolist(), blocked.tolist(), strict=True)
        return ["" if hidden or math.isnan(share) else self._color(share) for share, hidden in pairs]

    def _color(self, share: float) -> str:
        return color_code(share, self.settings)

    def _half(self, upper: str, lower: str) -> str:
        """Draw two cells in one place, each half a line high; a space is no cell at all."""
        if upper and lower.strip():
            return f"\x1b[38;{upper};48;{lower}m▀{RESET}"
        if upper or lower.strip():
            return f"\x1b[38;{upper or lower}m{'▀' if upper else '▄'}{RESET}"
        return self._dimmed(self.hidden)

    def _dimmed(self, text: str) -> str:
        return f"\x1b[2m{text}{RESET}" if self.colored else text


def shade(share: float, settings: Settings) -> str:
    """Return a sign that is the darker the larger the share; only next to nothing is empty."""
    shades = SHADES if encodable(SHADES, settings.encoding) else ASCII_SHADES
    return " " if share < NOTHING else step(shades, share)


def color_code(share: float, settings: Settings) -> str:
    """Return the colour for a share as a terminal wants it, behind 38; or 48;."""
    size = min(abs(share), 1.0)
    size = 1 - size if settings.light else size
    if settings.depth == "256":
        return f"5;{step(NEGATIVE_256 if share < 0 else RAMP_256, size)}"
    red, green, blue = (round(channel) for channel in mixed(size, NEGATIVE if share < 0 else RAMP))
    return f"2;{red};{green};{blue}"


def _averaged(matrix: Matrix, rows: int, columns: int) -> tuple[Array, Array]:
    """Return (values, blocked) with so many rows and columns: means, and blocked where everything is."""
    values = matrix.grid.astype(np.float64)
    blocked = np.zeros(values.shape, bool) if matrix.blocked is None else as_columns(matrix.blocked).astype(bool)
    if values.shape == (rows, columns):
        return values, blocked
    finite = np.isfinite(values)
    starts = [np.arange(n) * count // n for count, n in zip(values.shape, (rows, columns), strict=True)]

    def total(array: Array) -> Array:
        summed: Array = np.add.reduceat(np.add.reduceat(array.astype(np.float64), starts[0], 0), starts[1], 1)
        return summed

    counts = total(finite)
    means = np.where(counts, total(np.where(finite, values, 0.0)) / np.maximum(counts, 1), np.nan)
    return means, total(~blocked) == 0


def legend(scale: Scale, layout: Layout, colored: bool) -> str:
    """Draw the colours from the lowest to the highest number."""
    settings = layout.settings
    shares = np.linspace(-1 if scale.signed else 0, 1, BAR).tolist()
    if colored:
        bar = "".join(f"\x1b[48;{color_code(share, settings)}m {RESET}" for share in shares)
    else:
        bar = "".join(shade(share, settings) for share in shares)
    low, high = (number(value, settings.digits, fixed=False, signs=layout.signs) for value in (scale.low, scale.high))
    return f"{low} [{bar}] {high}"
