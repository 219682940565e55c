"""The page of ``attncalc replay``: whether a decoder gets what the whole sequence gets, and where not."""

import numpy as np

from attncalc.show.document import Array, Block, Document, Facts, Heading, Matrix, Note, Role, Span, Text
from attncalc.show.pages.rules import header
from attncalc.study.replay import Replay


def page(found: Replay, *, got: str | None = None) -> Document:
    """Make the page.

    Args:
        found: what agreed.
        got: the file of the decoder's own rows, where they were given.
    """
    allowed = f"{found.tolerance.atol:g} + {found.tolerance.rtol:g} · |whole|"
    how = "token by token" if found.chunk == 1 else f"{found.chunk} tokens at a time"
    other = got or f"{how}, through a cache"
    blocks: list[Block] = [
        Heading("replay"),
        Facts((*header(found.problem), ("compared", f"whole sequence · {other}"))),
    ]
    if found.agrees:
        noise = f"; the largest difference, {found.max_abs_error:.1e}, is rounding" if found.max_abs_error else ""
        blocks.append(Text((Span("✓ ", Role.RIGHT), f"Both agree in every row{noise}.")))
    else:
        blocks.append(
            Text(
                (
                    Span("✗ ", Role.WRONG),
                    f"They part first at query {found.first_difference}; the largest difference is "
                    f"{found.max_abs_error:.4g} (allowed: {allowed}).",
                )
            )
        )
    blocks += [Note(reason) for reason in found.reasons]
    if not found.agrees:
        blocks += _rows(found, other)
    return Document(tuple(blocks))


def _rows(found: Replay, other: str) -> list[Block]:
    """Show the first row that differs, from both, in each batch and head that differs there."""
    axes = found.problem.layout.axes
    query = found.first_difference
    assert query is not None
    order = [axes.index(axis) for axis in ("b", "h", "t", "d") if axis in axes]
    names = [{"b": "batch", "h": "head"}[axes[n]] for n in order if axes[n] in "bh"]
    whole, pieces = found.whole.transpose(order)[..., query, :], found.pieces.transpose(order)[..., query, :]
    blocks: list[Block] = []
    for index in np.ndindex(whole.shape[:-1]):
        a, b = whole[index], pieces[index]
        near = _near(a, b, found)
        if near.all():
            continue
        place = "".join(f" · {name} {n}" for name, n in zip(names, index, strict=True))
        rows = np.stack([a, b.astype(a.dtype)])
        marks = {(1, n): Role.WRONG for n in np.flatnonzero(np.logical_not(near)).tolist()}
        blocks.append(
            Matrix(
                f"output of query {query}{place}", rows, ("whole", other), column_prefix="d", marks=marks, fixed=True
            )
        )
    return blocks[:SHOWN]


SHOWN = 4
"""So many batches and heads are shown."""


def _near(whole: Array, pieces: Array, found: Replay) -> Array:
    near: Array = found.tolerance.near(pieces.astype(np.float64), whole.astype(np.float64))
    return near
