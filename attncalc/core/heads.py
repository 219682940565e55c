"""Heads: projecting into them, splitting, sharing key/value heads, merging, projecting out.

The source is section 3.2.2 of "Attention Is All You Need" (arXiv:1706.03762); grouped heads are those of
"GQA" (arXiv:2305.13245).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from attncalc.core.shapes import Array


@dataclass(frozen=True)
class Projection:
    """The learned matrices of a layer, each applied to rows as ``x @ w + b``.

    Attributes:
        wq: (E, H·d), with E the width of the sequence.
        wk: (E', G·d), with E' the width of the context.
        wv: (E', G·d_v).
        wo: (H·d_v, E''), or None: the heads are then handed out as they are.
        bq: (H·d,), or None; ``bk``, ``bv`` and ``bo`` likewise.
    """

    wq: Array
    wk: Array
    wv: Array
    wo: Array | None = None
    bq: Array | None = None
    bk: Array | None = None
    bv: Array | None = None
    bo: Array | None = None

    def map(self, change: Callable[[Array], Array]) -> "Projection":
        """Return the layer with every matrix and bias that there is changed."""
        arrays = ((entry.name, getattr(self, entry.name)) for entry in fields(self))
        return Projection(**{name: change(array) for name, array in arrays if array is not None})


def project(x: Array, w: Array, b: Array | None) -> Array:
    """Apply a learned matrix to every row: (…, E) @ (E, F) + (F,) -> (…, F)."""
    rows = x @ w
    return rows if b is None else rows + b


def split(packed: Array, heads: int) -> Array:
    """Give the heads an axis of their own: (B, T, H·d) -> (B, H, T, d).

    First the last axis is cut into heads, then the heads move before the positions.  Reshaping to
    (B, H, T, d) at once has the right shape and mixes tokens with heads.
    """
    B, T, width = packed.shape
    return packed.reshape(B, T, heads, width // heads).transpose(0, 2, 1, 3)


def merge(heads: Array) -> Array:
    """Set the heads beside each other again, token by token: (B, H, T, d) -> (B, T, H·d)."""
    B, H, T, width = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(B, T, H * width)


def grouped_matmul(left: Array, right: Array, accumulator: type[np.floating] | None = None) -> Array:
    """Multiply per head, where consecutive query heads share a key/value head: h uses h div (H/G).

    (B, H, T, n) @ (B, G, n, m) -> (B, H, T, m), without a copy of the shared heads.

    Args:
        left: one matrix for each query head.
        right: one matrix for each key/value head.
        accumulator: the type in which products are summed; that of the arrays when None.
    """
    result = left.dtype
    if accumulator is not None:
        left, right = left.astype(accumulator, copy=False), right.astype(accumulator, copy=False)
    B, H, T, n = left.shape
    G, m = right.shape[1], right.shape[3]
    groups = left.reshape(B, G, H // G, T, n)  # heads 0 … H/G − 1 belong to group 0, and so on
    with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity are found and named afterwards
        product: Array = groups @ right[:, :, np.newaxis]  # (B, G, H/G, T, n) @ (B, G, 1, n, m)
        return product.reshape(B, H, T, m).astype(result, copy=False)
