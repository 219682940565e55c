"""From queries and keys to scores: product, scale, soft cap, bias, and −∞ where a key is blocked.

The order matters.  The cap comes before the bias and the mask, because tanh would make a finite number of −∞;
the mask comes before the softmax, because weights set to zero afterwards no longer sum to 1.
"""

import numpy as np

from attncalc.core.heads import grouped_matmul
from attncalc.core.shapes import Array


def raw(query: Array, key: Array, accumulator: type[np.floating] | None = None) -> Array:
    """Return the dot product of every query with every key: Q Kᵀ, (B, H, T, d), (B, G, S, d) -> (B, H, T, S)."""
    return grouped_matmul(query, key.swapaxes(-1, -2), accumulator)


def scale(raw: Array, factor: float) -> Array:
    """Scale the products: raw × factor.

    Once and after the product; √factor on both sides would fail for a negative factor.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled: Array = raw * raw.dtype.type(factor)
    return scaled


def cap(scaled: Array, softcap: float | None) -> Array:
    """Keep scores within ±softcap: softcap · tanh(scaled / softcap); without a cap, the scores themselves.

    A cap that is 0 in the type of the scores leaves 0.
    """
    if softcap is None:
        return scaled
    c = scaled.dtype.type(softcap)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        capped: Array = c * np.tanh(scaled / c)
    return capped if c else np.where(np.isnan(scaled), scaled, c)


def add(capped: Array, *biases: Array | None) -> Array:
    """Add every bias there is, each broadcast to (B, H, T, S)."""
    total = capped
    with np.errstate(over="ignore", invalid="ignore"):
        for bias in biases:
            total = total if bias is None else total + bias
    return total


def block(biased: Array, allowed: Array) -> Array:
    """Put −∞ in the place of every blocked score.

    The score is selected, not changed: 0 · NaN and NaN − ∞ are NaN, and a large negative number cancels in a row
    that holds nothing else.
    """
    if allowed.all():
        return biased
    return np.where(allowed, biased, biased.dtype.type(-np.inf))
