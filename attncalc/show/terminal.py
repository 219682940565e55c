"""Document → text for people: the same layout with colours and without.  Alone in importing rich.

The layout is our own (layout.py): rich's Table takes 0.14 ms a cell, 12 s for 300 × 300 weights, and its
start-up would be paid in every pipe.  rich turns roles and strengths into the colours that a terminal has.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from attncalc.show.document import Document, Matrix, Role
from attncalc.show.layout import Layout
from attncalc.show.settings import Depth, Settings
from attncalc.show.wrapping import Line, Style

if TYPE_CHECKING:
    from rich.style import Style as RichStyle

T = TypeVar("T")

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

# From weak to strong on a dark background, backwards on a light one: a single hue that grows in lightness, so
# that it reads the same to every kind of eye.  The colours of 256 and of 16 are chosen: the nearest are green.
RAMP = ((14, 27, 56), (23, 55, 104), (30, 92, 150), (56, 139, 192), (116, 186, 220), (190, 226, 240))
RAMP_256 = (17, 18, 25, 32, 74, 117, 195)
RAMP_16 = ("blue", "cyan", "white")
RAMP_16_LIGHT = ("cyan", "blue", "black")
LEVELS = 40  # a strength that rounds to level 0 leaves the background alone


def render(document: Document, settings: Settings) -> str:
    """Write a document for a terminal, or for a pipe when there is no width."""
    layout = Layout(settings)
    blocks = [layout.lines(block) for block in document.blocks]
    if any(isinstance(block, Matrix) and _has_blocked_zero(block) for block in document.blocks):
        blocks.append([[(f"{layout.signs.blocked} blocked", Role.FAINT)]])
    write = _coloured(settings.depth, settings.light) if settings.color else _plain
    return "\n\n".join("\n".join(map(write, lines)) for lines in blocks) + "\n"


def _has_blocked_zero(matrix: Matrix) -> bool:
    return matrix.blocked is not None and bool((matrix.blocked & (matrix.values == 0)).any())


def _plain(line: Line) -> str:
    return "".join(text for text, _ in line).rstrip()


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
        name = _step(RAMP_16_LIGHT if light else RAMP_16, share)
        return Style.parse(f"{'white' if name in ('blue', 'black') else 'black'} on {name}")
    share = 1 - share if light else share
    background = Color.from_ansi(_step(RAMP_256, share)) if depth == "256" else Color.from_rgb(*_mixed(share))
    red, green, blue = (_linear(channel) for channel in background.get_truecolor())
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179
    return Style(bgcolor=background, color=Color.from_ansi(16 if bright else 231))


def _step(ramp: Sequence[T], share: float) -> T:
    return ramp[min(int(share * len(ramp)), len(ramp) - 1)]


def _mixed(share: float) -> list[float]:
    """Mix the two neighbours in RAMP."""
    place = share * (len(RAMP) - 1)
    i = min(int(place), len(RAMP) - 2)
    return [a + (b - a) * (place - i) for a, b in zip(RAMP[i], RAMP[i + 1], strict=True)]


def _linear(channel: int) -> float:
    """Turn a colour's number into light, as WCAG's contrast does (0.179 is where black and white read alike)."""
    value = channel / 255
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
