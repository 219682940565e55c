"""Document → a picture of its matrices through matplotlib, for papers and slides.  Alone in importing matplotlib.

Every matrix is a panel; panels of one stage share colours and a colour bar.  Blocked cells are hatched: what is
blocked is no colour, and the hatching of the background shows through.
"""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.errors import AttnCalcError
from attncalc.show.digits import texts
from attncalc.show.document import Array, Document, Matrix, as_columns
from attncalc.show.labels import clean, shorten
from attncalc.show.picture_fonts import fonts_for
from attncalc.show.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")

SEQUENTIAL, DIVERGING = "Blues", "PuOr"  # both read the same to every kind of eye; Blues in print, too
AXES = {"q": "query", "k": "key", "d": "column"}
WRITTEN = 400  # a panel with more cells has no numbers in them
TICK = 0.17  # inches that a label needs; more labels than fit are thinned out
NUMBER = 0.42  # inches that a number needs
LABEL = 24
DPI = 200
MANY = 4096
LARGEST = 9.0  # inches of all panels beside each other

STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",  # letters as outlines: the same on every machine
    "svg.hashsalt": "attncalc",  # the same names inside the file, run after run
    "pdf.fonttype": 3,
}

METADATA: Mapping[str, Mapping[str, str | None]] = {
    "png": {"Software": "attncalc"},
    "svg": {"Date": None, "Creator": "attncalc"},
    "pdf": {"CreationDate": None, "Creator": "attncalc", "Producer": None},
}


@dataclass(frozen=True)
class Picture:
    """A picture as a file's content.

    Attributes:
        data: the bytes.
        missing: signs of the labels for which no font is installed.
    """

    data: bytes
    missing: str = ""


@dataclass(frozen=True)
class Limits:
    """The numbers at the ends of a colour bar; ``beyond`` where some are larger."""

    low: float
    high: float
    beyond: bool = False


def picture(document: Document, format: str, settings: Settings) -> Picture:
    """Draw the matrices of a document.

    Args:
        document: what is drawn; anything but matrices is left out.
        format: one of FORMATS.
        settings: digits of the numbers in small panels.

    Raises:
        AttnCalcError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        message = "a picture is drawn by the package matplotlib, which is not installed"
        raise AttnCalcError(message, hint="pip install 'attncalc[plot]'") from None
    matrices = [block for block in document.blocks if isinstance(block, Matrix)]
    words = "".join(clean(text) for matrix in matrices for text in _words(matrix))
    fonts, missing = fonts_for(words)
    buffer = io.BytesIO()
    look: dict[Any, Any] = {**STYLE, "font.family": fonts}
    with mpl.rc_context(look), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)  # told by ``missing``
        _figure(matrices, settings).savefig(buffer, format=format, dpi=DPI, metadata=dict(METADATA[format]))
    return Picture(buffer.getvalue(), missing)


def _words(matrix: Matrix) -> list[str]:
    return [matrix.title, *matrix.row_labels, *matrix.column_labels]


def _figure(matrices: Sequence[Matrix], settings: Settings) -> "Figure":
    """Set the panels beside each other, as square as it gets."""
    from matplotlib.figure import Figure

    across = max(1, math.ceil(math.sqrt(len(matrices))))
    down = math.ceil(len(matrices) / across)
    sizes = [_size(matrix, max(LARGEST / across, 2.0)) for matrix in matrices]
    width, height = (max(size[n] for size in sizes) if sizes else 1.0 for n in (0, 1))
    figure = Figure(figsize=(across * width + 0.9, down * height + 0.2), layout="constrained")
    names = dict.fromkeys(map(_family, matrices))
    limits = {name: _limits([matrix for matrix in matrices if _family(matrix) == name]) for name in names}
    drawn: dict[str, list[tuple[Axes, Any]]] = {name: [] for name in names}
    for n, matrix in enumerate(matrices):
        axes, name = figure.add_subplot(down, across, n + 1), _family(matrix)
        drawn[name].append((axes, _panel(axes, matrix, limits[name], (width, height), settings)))
    for name, panels in drawn.items():
        bar = figure.colorbar(
            panels[0][1],
            ax=[axes for axes, _ in panels],
            extend="max" if limits[name].beyond else "neither",
            shrink=0.8,
            aspect=30,
            pad=0.02,
        )
        bar.outline.set_linewidth(0.6)
    return figure


def _family(matrix: Matrix) -> str:
    return matrix.title.split(" · ")[0]


def _size(matrix: Matrix, most: float) -> tuple[float, float]:
    """Choose the size of a panel in inches: room for the numbers of small ones."""
    rows, columns = matrix.grid.shape
    cell = 0.52 if rows * columns <= WRITTEN else 0.2
    label = min(max((len(text) for text in matrix.row_labels), default=0), LABEL) * 0.075
    return (min(max(columns * cell + label, 1.6), most) + 0.5, min(max(rows * cell * 0.7, 1.0), most) + 0.9)


def _limits(family: Sequence[Matrix]) -> Limits:
    """Choose the ends of the colour bar: 0 to 1 for weights that reach far, else what there is.

    In a large matrix one key may hold all of a row, beside which thousands of small weights would have no colour:
    there the few largest go beyond the bar, which ends in a point.
    """
    numbers = np.concatenate([matrix.values[_seen(matrix)].astype(np.float64).ravel() for matrix in family])
    low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
    if low < 0:
        return Limits(-max(-low, high), max(-low, high))
    if numbers.size > MANY and 0 < (most := float(np.quantile(numbers, 0.995))) < high / 2:
        return Limits(0.0, most, beyond=True)
    shares = all(matrix.strength is not None for matrix in family)
    return Limits(0.0, 1.0 if shares and high > 0.5 else high or 1.0)


def _seen(matrix: Matrix) -> Array:
    """Return which numbers have a colour: those that are finite and not blocked."""
    seen = np.isfinite(matrix.values.astype(np.float64))
    return seen if matrix.blocked is None else seen & ~matrix.blocked.astype(bool)


def _panel(axes: "Axes", matrix: Matrix, limits: Limits, size: tuple[float, float], settings: Settings) -> Any:
    """Draw one matrix, so many inches large."""
    values = matrix.grid.astype(np.float64)
    hidden = np.logical_not(as_columns(_seen(matrix)))
    axes.patch.set(facecolor="#f4f4f4", edgecolor="#a0a0a0", hatch="////", linewidth=0)
    image = axes.imshow(
        np.ma.masked_array(values, hidden),
        cmap=DIVERGING if limits.low < 0 else SEQUENTIAL,
        vmin=limits.low,
        vmax=limits.high,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_title(clean(matrix.title), parse_math=False)
    _ticks(axes, "x", matrix.column_labels, size[0])
    _ticks(axes, "y", matrix.row_labels, size[1])
    axes.set_xlabel(AXES[matrix.column_prefix] if any(matrix.column_labels) else "")
    axes.set_ylabel(AXES[matrix.row_prefix])
    if values.size <= WRITTEN and values.shape[1] * NUMBER <= size[0]:
        _numbers(axes, matrix, values, hidden, limits, settings)
    return image


def _ticks(axes: "Axes", side: str, labels: Sequence[str], inches: float) -> None:
    """Write labels: each of few, some of many; users' text is never taken for mathematics."""
    every = math.ceil(len(labels) * TICK / inches) or 1
    places = range(0, len(labels), every)
    told = [shorten(clean(labels[n]), LABEL) for n in places]
    turned = side == "x" and max(map(len, told), default=0) * 0.09 > inches / max(len(told), 1)
    look: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    setter = axes.set_xticks if side == "x" else axes.set_yticks
    setter(list(places), labels=told, parse_math=False, **look)
    axes.tick_params(length=0 if every == 1 else 2, width=0.6)


def _numbers(axes: "Axes", matrix: Matrix, values: Array, hidden: Array, limits: Limits, settings: Settings) -> None:
    """Write the number into every cell that is not blocked, black on light and white on dark."""
    fixed = matrix.fixed or matrix.strength is not None
    told = texts(matrix.grid, matrix.grid, settings.digits, fixed=fixed)
    for i, j in np.argwhere(np.logical_not(hidden)).tolist():
        share = abs(values[i, j]) / limits.high
        axes.text(j, i, told[i][j], ha="center", va="center", fontsize=7, color="white" if share > 0.6 else "black")
