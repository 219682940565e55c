"""Document → text for people: the same layout with colours and without.  Alone in importing rich.

The layout is our own (layout.py): rich's Table takes 0.14 ms a cell, 12 s for 300 × 300 weights, and its
start-up would be paid in every pipe.  rich turns roles and strengths into the colours that a terminal has.
"""

from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from attncalc.show.document import Document, Matrix, Role
from attncalc.show.layout import Layout
from attncalc.show.ramp import RAMP_256, mixed, step
from attncalc.show.settings import Depth, Settings
from attncalc.show.wrapping import Line, Style

if TYPE_CHECKING:
    from rich.style import Style as RichStyle

LOOKS = {
    Role.NORMAL: "",
    Role.HEADING: "bold",
    Role.LABEL: "bold",
    Role.TERM: "italic",
    Role.BLOCKED: "dim",
    Role.STRONGEST: "bold underline",
    Role.WRONG: "bold red",
    Role.RIGHT: "green",
    Role.FAINT: "dim",
}

# The colours of 16 are chosen as those of 256 are, in ramp.py.
RAMP_16 = ("blue", "cyan", "white")
RAMP_16_LIGHT = ("cyan", "blue", "black")
LEVELS = 40  # a strength that rounds to level 0 leaves the background alone


def render(document: Document, settings: Settings) -> str:
    """Write a document for a terminal, or for a pipe when there is no width."""
    layout = Layout(settings)
    blocks = [layout.lines(block) for block in document.blocks]
    if any(isinstance(block, Matrix) and _has_blocked_zero(block) for block in document.blocks):
        blocks.append([[(f"{layout.signs.blocked} {document.blocked}", Role.FAINT)]])
    return "\n\n".join(write_lines(lines, settings) for lines in blocks) + "\n"


def write_lines(lines: list[Line], settings: Settings) -> str:
    """Write the lines of a block, coloured where that is wanted."""
    return "\n".join(map(_coloured(settings.depth, settings.light) if settings.color else _plain, lines))


def _has_blocked_zero(matrix: Matrix) -> bool:
    return matrix.blocked is not None and bool((matrix.blocked & (matrix.values == 0)).any())


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line).rstrip()


@cache
def _coloured(depth: Depth, light: bool) -> Callable[[Line], str]:
    from rich.color import ColorSystem

    system = {"16": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}[depth]

    @cache
    def look(level: Role | int) -> "RichStyle":
        from rich.style import Style

        return Style.parse(LOOKS[level]) if isinstance(level, Role) else _strength(level, depth, light)

    def write(line: Line) -> str:
        alike = groupby(line, key=lambda piece: _level(piece[1]))
        return "".join(
            look(level).render("".join(text for text, _ in pieces), color_system=system) for level, pieces in alike
        )

    return write


def _level(style: Style) -> Role | int:
    """Round a strength to one of LEVELS; NaN and what lies outside 0 to 1 are no reason to fail."""
    if isinstance(style, Role):
        return style
    return round(LEVELS * min(max(style, 0.0), 1.0)) if style == style else 0


def _strength(level: int, depth: Depth, light: bool) -> "RichStyle":
    """Choose a background for a strength, and black or white on it, whichever reads better."""
    from rich.color import Color
    from rich.style import Style

    if level == 0:
        return Style.null()
    share = level / LEVELS
    if depth == "16":
        name = step(RAMP_16_LIGHT if light else RAMP_16, share)
        return Style.parse(f"{'white' if name in ('blue', 'black') else 'black'} on {name}")
    share = 1 - share if light else share
    background = Color.from_ansi(step(RAMP_256, share)) if depth == "256" else Color.from_rgb(*mixed(share))
    red, green, blue = (_linear(channel) for channel in background.get_truecolor())
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179
    return Style(bgcolor=background, color=Color.from_ansi(16 if bright else 231))


def _linear(channel: int) -> float:
    """Turn a colour's number into light, as WCAG's contrast does (0.179 is where black and white read alike)."""
    value = channel / 255
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
