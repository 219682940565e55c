"""From scores to weights, and from weights to the mixed values."""

from typing import Literal

import numpy as np

from attncalc.core.heads import grouped_matmul
from attncalc.core.shapes import Array

EmptyRows = Literal["error", "zero", "nan", "uniform"]


def softmax(scores: Array, sink: Array | None = None) -> tuple[Array, Array]:
    """Return (lse, weights) along the keys: weights = exp(scores − lse), (…, S) -> (…), (…, S).

    The row maximum m is subtracted first, so that no exponential overflows; weights are then
    exp(scores − m) / Σ exp(scores − m), which equals exp(scores − lse) and keeps the digits that
    rounding m + log Σ would lose.  A row of −∞ has lse −∞ and weights 0.

    Args:
        scores: the logits, −∞ where a key is blocked.
        sink: a logit in the denominator only, (…) without the keys; None where there is none.
    """
    m = scores.max(axis=-1, keepdims=True)  # (…, 1)
    if sink is not None:
        m = np.maximum(m, sink[..., np.newaxis])
    m = np.where(np.isneginf(m), 0, m)  # −∞ − (−∞) is NaN; any finite m gives exp(−∞) = 0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        e = np.exp(scores - m)
        total = e.sum(axis=-1, keepdims=True)
        if sink is not None:
            total = total + np.exp(sink[..., np.newaxis] - m)
        lse = (m + np.log(total))[..., 0]
        weights = np.divide(e, total, out=e, where=total != 0)
    return lse, weights


def fill_empty_rows(weights: Array, empty: Array, policy: EmptyRows) -> Array:
    """Give the queries that may attend to no key the weights that the policy names.

    Args:
        weights: (…, T, S); the empty rows hold 0.
        empty: (…, T), True for a query without any key; decided from the masks, never from the scores.
        policy: "zero" and "error" leave 0 (the error is raised before anything is computed).
    """
    if policy in ("zero", "error") or not empty.any():
        return weights
    fill = np.nan if policy == "nan" else 1 / weights.shape[-1]
    return np.where(empty[..., np.newaxis], weights.dtype.type(fill), weights)


def mix(weights: Array, value: Array, accumulator: type[np.floating] | None = None) -> Array:
    """Return the weighted sum of the values: weights · V, (B, H, T, S), (B, G, S, d_v) -> (B, H, T, d_v).

    A value whose weight is exactly 0 is not touched, whatever it is: 0 · NaN would be NaN.
    """
    usable = np.isfinite(value)
    if usable.all():
        return grouped_matmul(weights, value, accumulator)
    mixed = grouped_matmul(weights, np.where(usable, value, value.dtype.type(0)), accumulator)
    B, G, S, _ = value.shape
    share = weights.shape[1] // G  # query heads on one key/value head
    has_weight = (weights != 0).any(axis=2).reshape(B, G, share, S).any(axis=2)  # (B, G, S)
    with np.errstate(invalid="ignore"):
        for b, g, j in np.argwhere(has_weight & ~usable.all(axis=-1)):
            heads = slice(g * share, (g + 1) * share)
            w = weights[b, heads, :, j, np.newaxis]  # (H/G, T, 1)
            bad = np.where(usable[b, g, j], value.dtype.type(0), value[b, g, j])  # (d_v,)
            mixed[b, heads] += np.where(w == 0, value.dtype.type(0), w * bad)
    return mixed
