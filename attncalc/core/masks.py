"""Which keys a query may attend to.

Masks are boolean, True = may attend; a query may attend to a key when every mask in force says yes.  One function
for each mask.  All of them work on any choice of queries and keys, given by their indexes i and j, so that a
block of rows, or a single column, costs no more than it holds.
"""

from functools import reduce

import numpy as np

from attncalc.core.rules import Rules
from attncalc.core.shapes import Array, Sizes


def offset(rules: Rules, sizes: Sizes) -> Array:
    """Return how far the queries stand behind the keys of the same index: (1 or B,).

    Query i has the position p = i + offset among the keys.  Causal mask, window and ALiBi share it.
    """
    if rules.align == "past":
        return np.array([sizes.P])
    if rules.align == "upper-left":
        return np.array([0])
    if rules.lengths is None:
        return np.array([sizes.S - sizes.T])
    return rules.lengths - sizes.T  # level with the last real key of its own sequence


def positions(rules: Rules, sizes: Sizes, i: Array) -> Array:
    """Return the positions p of the queries i among the keys: (1 or B, T)."""
    place: Array = i + offset(rules, sizes)[:, np.newaxis]
    return place


def causal(p: Array, j: Array) -> Array:
    """Nothing after the query's own position: j ≤ p; (B, T), (S,) -> (B, 1, T, S)."""
    visible: Array = j <= p[:, np.newaxis, :, np.newaxis]
    return visible


def window(p: Array, j: Array, left: int | None, right: int | None) -> Array:
    """Nothing far away: p − left ≤ j ≤ p + right; (B, T), (S,) -> (B, 1, T, S).

    The position itself is inside and is not counted: left = 1 allows two keys.
    """
    p = p[:, np.newaxis, :, np.newaxis]
    inside = np.ones(np.broadcast_shapes(p.shape, j.shape), dtype=bool)
    if left is not None:
        inside &= j >= p - left
    if right is not None:
        inside &= j <= p + right
    return inside


def real_keys(rules: Rules, sizes: Sizes, j: Array | None = None) -> Array | None:
    """Return which keys are no padding, by padding, lengths and pad token together: (1 or B, S), or None.

    With ``j`` of those keys alone.
    """
    chosen: Array | slice = slice(None) if j is None else j
    kinds = [real[:, chosen] for real in (rules.padding, rules.padding_tokens) if real is not None]
    if rules.lengths is not None:
        kinds.append(np.arange(sizes.S)[chosen] < rules.lengths[:, np.newaxis])
    return reduce(np.logical_and, kinds) if kinds else None


def span(rules: Rules, sizes: Sizes, i: Array) -> tuple[Array, Array]:
    """Return the keys that causal mask, window and lengths leave to each query: (first, past the last), (1 or B, T).

    What they block lies outside, so that a block of keys there need not be looked at.
    """
    p = positions(rules, sizes, i)
    first, last = np.zeros_like(p), np.full_like(p, sizes.S)
    if rules.causal:
        last = np.minimum(last, p + 1)
    if rules.window_left is not None:
        first = np.maximum(first, p - rules.window_left)
    if rules.window_right is not None:
        last = np.minimum(last, p + rules.window_right + 1)
    if rules.lengths is not None:
        last = np.minimum(last, rules.lengths[:, np.newaxis])
    first = np.minimum(first, sizes.S)
    return first, np.maximum(last, first)


def pick(array: Array, i: Array, j: Array) -> Array:
    """Take the rows i and columns j of an array that broadcasts to (B, H, T, S); nothing is copied without need."""
    if array.shape[-2] != 1:
        array = array[..., _run(i), :]
    return array if array.shape[-1] == 1 else array[..., _run(j)]


def _run(indexes: Array) -> Array | slice:
    """Return indexes that follow each other as a slice."""
    if len(indexes) == 0 or (np.diff(indexes) != 1).any():
        return indexes
    return slice(int(indexes[0]), int(indexes[-1]) + 1)


def in_force(rules: Rules, sizes: Sizes, i: Array, j: Array) -> dict[str, Array]:
    """Return the masks in force, by name, each broadcasting to (B, H, T, S) for the queries i and keys j.

    The names are ``causal``, ``window``, ``mask`` (the mask file), ``real`` (padding, lengths, pad token) and
    ``bias`` (where the bias is −∞), in this order, those that are in force.
    """
    p = positions(rules, sizes, i)
    masks: dict[str, Array] = {}
    if rules.causal:
        masks["causal"] = causal(p, j)
    if rules.window_left is not None or rules.window_right is not None:
        masks["window"] = window(p, j, rules.window_left, rules.window_right)
    if rules.mask is not None:
        masks["mask"] = pick(rules.mask, i, j)
    if (real := real_keys(rules, sizes, j)) is not None:
        masks["real"] = real[:, np.newaxis, np.newaxis]
    if rules.bias is not None and (infinite := np.isneginf(pick(rules.bias, i, j))).any():
        masks["bias"] = ~infinite
    return masks


def together(rules: Rules, sizes: Sizes, i: Array, j: Array) -> Array:
    """Join all masks in force by "and"; the result broadcasts to (B, H, T, S)."""
    masks = in_force(rules, sizes, i, j).values()
    return reduce(np.logical_and, masks) if masks else np.ones((1, 1, 1, 1), dtype=bool)


def allowed(rules: Rules, sizes: Sizes, i: Array, j: Array) -> Array:
    """Return what the queries i may attend to among the keys j: (B, H, T, S), a read-only view."""
    return np.broadcast_to(together(rules, sizes, i, j), (sizes.B, sizes.H, len(i), len(j)))
