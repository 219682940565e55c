"""The page of ``attncalc scaling``: a table, what its columns mean, and curves."""

import math
from collections.abc import Sequence

from attncalc.show.document import Block, Column, Document, Heading, Lines, Table, Text
from attncalc.study.scaling import KEYS, Row
from attncalc.texts import Voice

HEIGHT = 10
WIDE = 5
"""Columns of the curve for each width d."""

PLAIN, SCALED, BOTH = "×", "•", "#"


def page(rows: Sequence[Row], say: Voice, samples: int, seed: int) -> Document:
    """Make the page."""
    blocks: list[Block] = [
        Heading(say("scaling.title")),
        Text(say("scaling.text", samples=samples, keys=KEYS, seed=seed)),
        _table(rows, say),
        Text(say("scaling.read.variance")),
        Text(say("scaling.read.entropy", most=math.log(KEYS), keys=KEYS)),
        Text(say("scaling.read.weight")),
        Text(say("scaling.read.gradient")),
    ]
    if len(rows) > 1:
        for name in ("max_weight", "gradient"):
            plain = [getattr(row, name) for row in rows]
            scaled = [getattr(row, f"{name}_scaled") for row in rows]
            lines = curve([row.d for row in rows], plain, scaled)
            blocks.append(Lines((say(f"scaling.curve.{name}"), f"  {say('scaling.curve.legend')}", "", *lines)))
    blocks.append(Text(_result(rows, say)))
    return Document(tuple(blocks))


def _table(rows: Sequence[Row], say: Voice) -> Table:
    titles = ["d"]
    for name in ("variance", "entropy", "max_weight", "gradient"):
        titles += [say(f"scaling.{name}"), say(f"scaling.scaled.{name}")]
    cells = []
    for row in rows:
        cell = [str(row.d), f"{row.variance:.1f}", f"{row.variance_scaled:.3f}"]
        for name in ("entropy", "max_weight", "gradient"):
            cell += [f"{getattr(row, name):.4f}", f"{getattr(row, f'{name}_scaled'):.4f}"]
        cells.append(tuple(cell))
    return Table(tuple(Column(title, "right") for title in titles), tuple(cells))


def _result(rows: Sequence[Row], say: Voice) -> str:
    first, last = rows[0], rows[-1]
    shrunk = [row.max_weight_scaled for row in rows]
    numbers = {"high": last.max_weight, "most": max(shrunk), "last": last.d}
    if len(rows) == 1:
        return say("scaling.result.one", **numbers)
    return say("scaling.result", first=first.d, low=first.max_weight, least=min(shrunk), **numbers)


def curve(dims: Sequence[int], plain: Sequence[float], scaled: Sequence[float]) -> list[str]:
    """Draw two curves of numbers from 0 up, one column of signs for each width."""
    top = max(*plain, *scaled)
    top = 1.0 if 0.5 < top <= 1 else top or 1.0
    lines = []
    for level in range(HEIGHT, -1, -1):
        signs = ""
        for a, b in zip(plain, scaled, strict=True):
            at = {round(HEIGHT * a / top): PLAIN}
            place = round(HEIGHT * b / top)
            at[place] = BOTH if place in at else SCALED
            signs += at.get(level, " ").center(WIDE)
        tick = f"{top * level / HEIGHT:.2f}" if level % 5 == 0 else ""
        lines.append(f"{tick:>6} │{signs}".rstrip())
    lines.append(f"{'':>6} ┼{'─' * (WIDE * len(dims))}")
    lines.append(f"{'d':>6}  " + "".join(f"{d:^{WIDE}}" for d in dims))
    return lines
