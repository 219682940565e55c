"""Every rule in force, in one record.

Arrays are in our order of axes and ready to use; what users typed has become these values in ``prepare``.
"""

from dataclasses import dataclass
from typing import Literal

from attncalc.core.dtypes import ARITHMETIC, Arithmetic
from attncalc.core.positions import Rope
from attncalc.core.shapes import Array
from attncalc.core.softmax import EmptyRows

Align = Literal["upper-left", "lower-right", "past"]
MaskTrue = Literal["allowed", "blocked"]


@dataclass(frozen=True)
class Rules:
    """What decides how scores, weights and outputs follow from Q, K and V.

    Attributes:
        scale: factor of the products; 1/√d unless given.
        softcap: c of c · tanh(x / c), or None.
        causal: whether query i sees key j only when j ≤ i + offset.
        align: where queries stand among the keys: offset 0, S − T (or length − T), or the number of past keys.
        window_left: how many keys before its own position a query sees; None for all.
        window_right: how many keys after it; None for all.
        mask: booleans, True = may attend, that broadcast to (B, H, T, S); None without a mask file.
        mask_true: how the mask file was read; with "blocked", ``mask`` is its negation.
        padding: booleans, True = a real key, (1 or B, S); None when not given.
        padding_tokens: the same from the pad token, (1, S); None when not given.
        lengths: number of real keys, (1 or B,); None when not given.
        empty_rows: what becomes of a query that may attend to no key.
        bias: added to the scores, broadcasts to (B, H, T, S); −∞ blocks.
        alibi_slopes: (H,), or None; the bias is −slope · |p − j|.
        alibi_standard: the slopes are those of ``--alibi``, not a list of the user's.
        sink: a logit for every head, (H,), in the denominator only.
        rope: how queries and keys are rotated, or None.
        arithmetic: the type of the numbers.
    """

    scale: float
    softcap: float | None = None
    causal: bool = False
    align: Align = "upper-left"
    window_left: int | None = None
    window_right: int | None = None
    mask: Array | None = None
    mask_true: MaskTrue = "allowed"
    padding: Array | None = None
    padding_tokens: Array | None = None
    lengths: Array | None = None
    empty_rows: EmptyRows = "error"
    bias: Array | None = None
    alibi_slopes: Array | None = None
    alibi_standard: bool = False
    sink: Array | None = None
    rope: Rope | None = None
    arithmetic: Arithmetic = ARITHMETIC["float64"]
