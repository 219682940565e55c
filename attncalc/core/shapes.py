"""The letters of attention, the order of the axes, and how arrays get into and out of our order.

    B   batch                       T     number of queries (rows of Q)
    H   query heads                 S     number of keys = rows of K = rows of V, past ones included
    G   key/value heads             d     width of Q and K
    P   past keys, of a cache       d_v   width of V

Inside, arrays have the axes (B, H, T, d); an axis that the input does not have is there with the size 1.
Packed arrays, whose last axis holds all heads beside each other, are (B, T, H·d) until they are split.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LAYOUTS = ("td", "htd", "btd", "bhtd", "thd", "bthd")
"""Orders of axes that inputs may come in: b batch, h heads, t positions, d width."""

STAGES = ("raw", "scaled", "capped", "biased", "allowed", "scores", "lse", "weights", "heads", "output")
"""Every stage of a computation, in the order in which they follow from each other."""

INPUT_STAGES = ("query", "key", "value")
"""Q, K and V as they enter the product: projected, split, rotated, past rows in front."""

QUADRATIC = ("raw", "scaled", "capped", "biased", "allowed", "scores", "weights")
"""The stages that hold T × S numbers a head."""


@dataclass(frozen=True)
class Sizes:
    """How many there are of each letter; ``P`` of the ``S`` keys come from a cache."""

    B: int
    H: int
    G: int
    T: int
    S: int
    d: int
    d_v: int
    P: int = 0

    @property
    def multiply_adds(self) -> int:
        """Multiplications with an addition in Q Kᵀ and in weights · V together."""
        return self.B * self.H * self.T * self.S * (self.d + self.d_v)


@dataclass(frozen=True)
class Layout:
    """The order of the axes in which Q came, and so the order in which results go out.

    Attributes:
        axes: one of LAYOUTS.
        packed: the last axis holds all heads beside each other; ``axes`` has no h then.
        single: packed by a projection into one head that nobody asked to see as an axis.
    """

    axes: str
    packed: bool = False
    single: bool = False

    @property
    def has_batch(self) -> bool:
        """Whether users see a batch axis."""
        return "b" in self.axes

    @property
    def has_heads(self) -> bool:
        """Whether users see a heads axis in the stages."""
        return "h" in self.axes or (self.packed and not self.single)

    def canonical(self, array: Array) -> Array:
        """Bring an array in this layout into our order: (B, H, T, d), or (B, T, H·d) when it is packed."""
        wanted = "btd" if self.packed else "bhtd"
        array = array.transpose([self.axes.index(axis) for axis in wanted if axis in self.axes])
        missing = tuple(n for n, axis in enumerate(wanted) if axis not in self.axes)
        return np.expand_dims(array, missing)

    def original(self, array: Array) -> Array:
        """Undo ``canonical``: give an array in our order the axes that the input had."""
        ours = "btd" if self.packed else "bhtd"
        array = array.squeeze(tuple(n for n, axis in enumerate(ours) if axis not in self.axes))
        kept = [axis for axis in ours if axis in self.axes]
        return array.transpose([kept.index(axis) for axis in self.axes])

    def stage(self, array: Array) -> Array:
        """Drop the axes B and H of a stage, (B, H, …), where the input has none."""
        absent = (() if self.has_batch else (0,)) + (() if self.has_heads else (1,))
        return array.squeeze(absent)

    def visible(self, sizes: Sizes) -> tuple[int, ...]:
        """Return the shape of ``scores`` as users see it: (…, T, S)."""
        return (
            *((sizes.B,) if self.has_batch else ()),
            *((sizes.H,) if self.has_heads else ()),
            sizes.T,
            sizes.S,
        )

    def broadcast(self, array: Array) -> Array:
        """Line up an array from the right with ``scores`` as users see it; return it with all of B, H, T, S."""
        rank = 2 + self.has_batch + self.has_heads
        array = array.reshape((1,) * (rank - array.ndim) + array.shape)
        if not self.has_batch:
            array = array[np.newaxis]
        return array if self.has_heads else array[:, np.newaxis]

    def stage_axes(self, stage: str) -> tuple[str, ...]:
        """Name the axes of a stage as users see it, such as ("batch", "head", "query", "key")."""
        if stage == "output":
            names = {"b": "batch", "h": "head", "t": "query", "d": "column"}
            return tuple(names[axis] for axis in self.axes)
        front = (("batch",) if self.has_batch else ()) + (("head",) if self.has_heads else ())
        last: dict[str, tuple[str, ...]] = {
            "lse": ("query",),
            "heads": ("query", "column"),
            "query": ("query", "column"),
            "key": ("key", "column"),
            "value": ("key", "column"),
        }
        return front + last.get(stage, ("query", "key"))

    def cell_text(self, stage: str, index: tuple[int, ...]) -> str:
        """Name a cell of a stage as users see it: ``batch 0, head 1, query 2, key 3``."""
        return ", ".join(f"{axis} {n}" for axis, n in zip(self.stage_axes(stage), index, strict=True))
