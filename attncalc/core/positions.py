"""Where a token stands: rotary embeddings (RoPE) and linear biases (ALiBi).

RoPE is "RoFormer" (arXiv:2104.09864), equation 34; ALiBi is "Train Short, Test Long" (arXiv:2108.12409) with the
slopes of the authors' code.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attncalc.core.shapes import Array

ROWS = 4096
"""How many positions are turned at a time, so that what is between needs little memory."""

Pairing = Literal["half", "interleaved"]


@dataclass(frozen=True)
class Rope:
    """How queries and keys are turned by their position.

    Attributes:
        pairing: which columns are turned together: (n, n + dims/2) for half, (2n, 2n + 1) for interleaved.
        base: the slowest pair turns by about position / base.
        dims: how many of the first columns are turned; the rest stay as they are.
        start: position of the first query and of the first new key.
    """

    pairing: Pairing
    base: float
    dims: int
    start: int


def rotate(rows: Array, rope: Rope, *, back: bool = False) -> Array:
    """Turn each pair (x, y) of columns to (x cos a − y sin a, y cos a + x sin a).

    The angle is a = position · base^(−2n/dims) for pair n.  (…, T, d) -> (…, T, d); row i stands at start + i.
    ``back`` turns by −a, which undoes it and, as for every rotation, is its transpose.
    """
    speed = rope.base ** (-2.0 * np.arange(rope.dims // 2) / rope.dims)
    if rope.pairing == "half":
        first, second = slice(0, rope.dims // 2), slice(rope.dims // 2, rope.dims)
    else:
        first, second = slice(0, rope.dims, 2), slice(1, rope.dims, 2)
    turned = rows.copy()
    for n in range(0, rows.shape[-2], ROWS):
        some = turned[..., n : n + ROWS, :]
        position = rope.start + np.arange(n, n + some.shape[-2])
        angle = position[:, np.newaxis] * speed  # (ROWS, dims/2)
        cos, sin = np.cos(angle).astype(rows.dtype), np.sin(angle).astype(rows.dtype)
        if back:
            sin = -sin
        x, y = some[..., first].copy(), some[..., second].copy()
        with np.errstate(over="ignore", invalid="ignore"):  # infinity may stand in a blocked key
            some[..., first] = x * cos - y * sin
            some[..., second] = y * cos + x * sin
    return turned


def alibi_slopes(heads: int) -> Array:
    """Return the H slopes of ALiBi: 2^(−8(h+1)/H) when H is a power of two.

    Otherwise, as in the authors' code: with c the largest power of two below H, the c slopes of c heads, then
    every second slope, from the first, of 2c heads.
    """
    below = 2 ** (heads.bit_length() - 1)  # the largest power of two that is not above H
    slopes = [2.0 ** (-8 * (h + 1) / below) for h in range(below)]
    slopes += [2.0 ** (-8 * (h + 1) / (2 * below)) for h in range(0, 2 * (heads - below), 2)]
    return np.array(slopes)


def alibi(slopes: Array, positions: Array, keys: Array) -> Array:
    """Return the bias −slope·|p − j|: slopes (H,), positions (B, T), keys (S,) -> (B, H, T, S)."""
    distance = np.abs(positions[:, np.newaxis, :, np.newaxis] - keys)  # (B, 1, T, S)
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite bias is found and told later
        bias: Array = -slopes[:, np.newaxis, np.newaxis] * distance  # (H, 1, 1) · (B, 1, T, S)
    return bias
