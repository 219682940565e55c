"""Findings about numbers and rows: NaN and infinity where they count, and queries that may attend to no key."""

from collections.abc import Iterator

import numpy as np

from attncalc.core import masks
from attncalc.core.arrays import letter
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array, Layout, Sizes
from attncalc.core.steps import Stages
from attncalc.errors import NumberError

MASK_NUMBERS = 2**24
"""How many cells of a mask are looked at together."""


def blocks(rules: Rules, sizes: Sizes) -> Iterator[tuple[slice, Array]]:
    """Yield (rows, what they may attend to); the second broadcasts to (B, H, rows, S)."""
    j = np.arange(sizes.S)
    rows = max(1, MASK_NUMBERS // (sizes.B * sizes.H * sizes.S))
    for first in range(0, sizes.T, rows):
        block = slice(first, min(first + rows, sizes.T))
        yield block, masks.together(rules, sizes, np.arange(sizes.T)[block], j)


def empty_queries(rules: Rules, sizes: Sizes) -> Array:
    """Return which queries may attend to no key, (B or 1, H or 1, T); decided from the masks alone."""
    if rules.mask is None and rules.bias is None:
        first, last = masks.span(rules, sizes, np.arange(sizes.T))  # (B or 1, T)
        counts = _counts(rules, sizes)
        seen = np.take_along_axis(counts, last, axis=-1) - np.take_along_axis(counts, first, axis=-1)
        return np.asarray(seen == 0)[:, np.newaxis]
    parts = []
    for block, allowed in blocks(rules, sizes):
        empty = ~allowed.any(axis=-1)
        parts.append(np.broadcast_to(empty, (*empty.shape[:2], block.stop - block.start)))
    return np.concatenate(parts, axis=-1)


def attended_keys(rules: Rules, sizes: Sizes) -> Array:
    """Return which keys some query may attend to, for each key/value head: (B, G, S)."""
    if rules.mask is None and rules.bias is None:
        first, last = masks.span(rules, sizes, np.arange(sizes.T))
        begin, end = (np.stack([np.bincount(n, minlength=sizes.S + 1) for n in rows]) for rows in (first, last))
        within = np.cumsum(begin - end, axis=-1)[:, np.newaxis, :-1] > 0  # (B or 1, 1, S)
        if (real := masks.real_keys(rules, sizes)) is not None:
            within = within & real[:, np.newaxis]
        return np.broadcast_to(within, (sizes.B, sizes.G, sizes.S))
    attended = np.zeros((sizes.B, sizes.H, sizes.S), dtype=bool)
    for _, allowed in blocks(rules, sizes):
        attended |= allowed.any(axis=-2)
    shared: Array = np.any(attended.reshape(sizes.B, sizes.G, sizes.H // sizes.G, sizes.S), axis=2)
    return shared


def _counts(rules: Rules, sizes: Sizes) -> Array:
    """Return how many real keys stand before each place, (B or 1, S + 1)."""
    real = masks.real_keys(rules, sizes)
    if real is None:
        return np.arange(sizes.S + 1)[np.newaxis]
    return np.pad(np.cumsum(real, axis=-1), ((0, 0), (1, 0)))


def check_stages(s: Stages, layout: Layout) -> tuple[str, str] | None:
    """Find the first stage that is infinite or NaN where the query may attend to the key.

    Returns:
        (stage, what and where), such as ("scaled", "infinite at query 1, key 0"), or None.
    """
    # An infinite product is infinite or NaN once scaled, so ``scaled`` speaks for ``raw``; without a cap or a bias
    # the later stages are the same array, which is not looked at twice.
    seen = s.raw
    for name in ("scaled", "capped", "biased"):
        stage: Array = getattr(s, name)
        if stage is seen or np.isfinite(stage).all():
            seen = stage
            continue
        seen = stage
        wrong = ~np.isfinite(stage) & s.allowed
        if wrong.any():
            first = "raw" if name == "scaled" and (~np.isfinite(s.raw) & wrong).any() else name
            return first, _where(getattr(s, first), wrong, s, layout, first)
    if np.isfinite(s.heads).all():
        return None
    has_key = s.allowed.any(axis=-1, keepdims=True)
    wrong = ~np.isfinite(s.heads) & has_key
    return ("heads", _where(s.heads, wrong, s, layout, "heads")) if wrong.any() else None


def overflow(s: Stages, layout: Layout) -> str | None:
    """Say which stage is too large for the type, or None; in float64 that is an error.

    Raises:
        NumberError: a stage is infinite or NaN in float64.
    """
    if (found := check_stages(s, layout)) is None:
        return None
    name = s.rules.arithmetic.name
    text = f"{found[0]} is {found[1]}: the numbers are too large for {name}"
    if name == "float64":
        raise NumberError(text)
    return text


def _where(stage: Array, wrong: Array, s: Stages, layout: Layout, name: str) -> str:
    b, h, t, last = (int(n) for n in np.argwhere(wrong)[0])
    kind = "NaN" if np.isnan(stage[b, h, t, last]) else "infinite"
    index = (*((b,) if layout.has_batch else ()), *((h,) if layout.has_heads else ()), int(s.i[t]), last)
    return f"{kind} at {layout.cell_text(name, index)}"


def check_input(name: str, array: Array, used: Array | None, layout: Layout) -> None:
    """Raise an error when an input holds NaN or infinity in a row that is used.

    Args:
        name: the input's keyword.
        array: in the user's order of axes.
        used: which rows are used, (B, heads, rows); None for all.
        layout: the order of the axes.
    """
    wrong = ~np.isfinite(array)
    if not wrong.any():
        return
    ours = layout.canonical(wrong)
    if used is not None:
        if layout.packed:
            B, rows, width = ours.shape
            heads = used.shape[1]
            ours = ours.reshape(B, rows, heads, width // heads) & used.transpose(0, 2, 1)[..., np.newaxis]
            ours = ours.reshape(B, rows, width)
        else:
            ours = ours & used[..., np.newaxis]
    bad = np.argwhere(layout.original(ours))
    if not len(bad):
        return
    place = tuple(int(n) for n in bad[0])
    kind = "NaN" if np.isnan(array[place]) else "infinity"
    more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    used_by = "" if used is None else ", where some query may attend to it"
    raise NumberError(f"{letter(name)} holds {kind}{used_by}{more}", cell=(name, place))
