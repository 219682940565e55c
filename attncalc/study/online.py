"""The online softmax: one row of scores read block by block, as FlashAttention does it.

Only three things are kept between blocks: the largest score so far, the sum so far, and the output so far, both
relative to that largest score.  When a block brings a larger score, what was kept shrinks by exp(m − m′).

Milakov and Gimelshein, "Online normalizer calculation for softmax" (arXiv:1805.02867); Dao et al.,
"FlashAttention" (arXiv:2205.14135), algorithm 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from attncalc.core.shapes import Array


@dataclass(frozen=True, eq=False)
class Block:
    """What one block of keys did.

    Attributes:
        first: its first key; ``last`` its last.
        scores: the block's scores, (n,).
        before: the largest score before the block, −∞ at the start.
        maximum: the largest score after it.
        shrink: exp(before − maximum): what the sum and the output so far are multiplied by.
        exponentials: exp(scores − maximum), (n,).
        total: the sum after the block.
        output: the output after the block, not yet divided by the sum, (d_v,).
        skipped: every score of the block is −∞, so nothing happens.
    """

    first: int
    last: int
    scores: Array
    before: float
    maximum: float
    shrink: float
    exponentials: Array
    total: float
    output: Array
    skipped: bool


@dataclass(frozen=True, eq=False)
class Trace:
    """All blocks of one row, and what comes out.

    Attributes:
        blocks: in the order of the keys.
        lse: m + log(sum) at the end.
        output: the output divided by the sum, (d_v,).
    """

    blocks: tuple[Block, ...]
    lse: float
    output: Array


def online(scores: Array, value: Array, size: int, sink: float | None = None) -> Trace:
    """Read one row of scores block by block.

    Args:
        scores: (S,), −∞ where blocked.
        value: (S, d_v).
        size: keys in a block.
        sink: a score without a key, which starts the sum.
    """
    m = -math.inf if sink is None else float(sink)
    total = 0.0 if sink is None else 1.0
    output = np.zeros(value.shape[1])
    blocks = []
    for first in range(0, len(scores), size):
        part = scores[first : first + size].astype(np.float64)
        rows = np.where(np.isneginf(part)[:, np.newaxis], 0, value[first : first + size]).astype(np.float64)
        before, m = m, max(m, float(part.max()))
        skipped = bool(np.isneginf(part).all())
        shrink = 1.0 if before == m else math.exp(before - m)
        exponentials = np.zeros_like(part) if skipped else np.exp(part - m)
        total = shrink * total + float(exponentials.sum())
        output = shrink * output + exponentials @ rows
        last = first + len(part) - 1
        blocks.append(Block(first, last, part, before, m, shrink, exponentials, total, output, skipped))
    empty = total == 0
    lse = -math.inf if empty else m + math.log(total)
    return Trace(tuple(blocks), lse, output if empty else output / total)
