"""Was dropout left on?  The one mistake whose answer is not a formula: which weights it drops is anyone's guess.

From weights the guess can be read off; from an output of few keys every way of dropping can be tried.  Rows without
any key may have been left as they were.
"""

from dataclasses import dataclass

import numpy as np

from attncalc.core.heads import split
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, run
from attncalc.mistakes.softmax import DROPOUT_LEFT_ON, DROPOUT_RATES
from attncalc.study.tolerance import Tolerance

ID = DROPOUT_LEFT_ON.id

MOST_KEYS = 8
"""From outputs, every way of dropping so many keys is tried."""

MOST_ROWS = 2**12
"""Rows of output that are searched; every way of dropping is tried for each."""

MOST_NUMBERS = 2**24
"""Numbers of a T × S stage that are looked at."""

ENOUGH = 20.0
"""How many binary digits of the answer must be explained beyond what the guesses take."""


@dataclass(frozen=True)
class Fit:
    """How well a rate explains an answer."""

    max_abs_error: float
    bits: float  # digits explained beyond the guesses
    dropped: bool
    kept: bool


def search(problem: Problem, stage: str, got: Array, tolerance: Tolerance) -> float | None:
    """Return how far the nearest answer with dropout is from the one given; None when dropout does not give it.

    Args:
        problem: the problem, in float64.
        stage: weights, heads or output; nothing is found in others.
        got: the answer in the user's axes, of the right shape.
        tolerance: how near is near enough.
    """
    layer, sizes = problem.inputs.projection, problem.sizes
    if np.isnan(got).any() or stage not in ("weights", "heads", "output"):
        return None
    if sizes.B * sizes.H * sizes.T * sizes.S > MOST_NUMBERS:
        return None
    if stage == "weights":
        weights = problem.layout.stage(run(RIGHT, problem.inputs, problem.rules).weights)
        as_it_was = _empty(problem) & tolerance.near(got, weights).all(axis=-1)
        fits = [_from_weights(got[~as_it_was], weights[~as_it_was], rate, tolerance) for rate in DROPOUT_RATES]
    else:
        projected = stage == "output" and layer is not None and layer.wo is not None
        count = sizes.B * sizes.H * sizes.T
        if projected or sizes.S > MOST_KEYS or sizes.d_v < 2 or count > MOST_ROWS:
            return None
        stages = run(RIGHT, problem.inputs, problem.rules)
        answer = as_heads(problem, stage, got)
        value = np.repeat(stages.value, sizes.H // sizes.G, axis=1)  # (B, H, S, d_v)
        as_it_was = np.broadcast_to(problem.empty, answer.shape[:3])
        as_it_was = as_it_was & tolerance.near(answer, stages.heads).all(axis=-1)
        rows = (answer[~as_it_was], stages.weights[~as_it_was], value, np.argwhere(~as_it_was))
        fits = [_from_heads(*rows, rate, tolerance) for rate in DROPOUT_RATES]
    good = [fit for fit in fits if fit is not None and fit.dropped and fit.kept and fit.bits >= ENOUGH]
    return min((fit.max_abs_error for fit in good), default=None)


def as_heads(problem: Problem, stage: str, got: Array) -> Array:
    """Bring an output into (B, H, T, d_v)."""
    layout, sizes = problem.layout, problem.sizes
    if stage == "heads":
        return got.reshape(sizes.B, sizes.H, sizes.T, sizes.d_v)
    ours = layout.canonical(got)
    return split(ours, sizes.H) if layout.packed else ours


def _empty(problem: Problem) -> Array:
    """Return which queries may attend to no key, in the user's axes."""
    sizes = problem.sizes
    return problem.layout.stage(np.broadcast_to(problem.empty, (sizes.B, sizes.H, sizes.T)))


def _from_weights(got: Array, weights: Array, rate: float, tolerance: Tolerance) -> Fit | None:
    """Try a rate: every weight, (n, S), is 0 or 1/(1 − rate) times what it should be."""
    kept = weights / (1 - rate)
    as_kept, as_dropped = tolerance.near(got, kept), tolerance.near(got, np.zeros_like(kept))
    if not (as_kept | as_dropped).all():
        return None
    margin = tolerance.atol + tolerance.rtol * np.abs(kept)
    told = (kept > 2 * margin) & ~tolerance.near(kept, weights)  # elsewhere the two cases look alike
    error = np.where(as_kept, np.abs(got - kept), np.abs(got))
    bits = np.log2(kept[told] / np.maximum(margin[told], np.finfo(float).tiny)) - 1
    return Fit(
        float(error.max(initial=0.0)),
        float(bits.sum()) - np.log2(len(DROPOUT_RATES)),
        bool((as_dropped & told).any()),
        bool((as_kept & told).any()),
    )


def _from_heads(
    got: Array, weights: Array, value: Array, places: Array, rate: float, tolerance: Tolerance
) -> Fit | None:
    """Try a rate: every row is the mix of some of the weights, each divided by 1 − rate.

    Args:
        got: rows of the answer, (n, d_v).
        weights: their weights, (n, S).
        value: all values, (B, H, S, d_v).
        places: batch, head and query of each row, (n, 3).
        rate: the rate.
        tolerance: how near is near enough.
    """
    keys = weights.shape[-1]
    choices = (np.arange(2**keys)[:, np.newaxis] >> np.arange(keys)) & 1  # (2^S, S)
    value = np.where(np.isfinite(value), value, 0)  # what is blocked has no weight
    worst, bits, dropped, kept = 0.0, -float(np.log2(len(DROPOUT_RATES))), False, False
    for row, w, (b, h, _) in zip(got, weights / (1 - rate), places, strict=True):
        v = value[b, h]
        has_weight = w != 0
        usable = choices[(choices[:, ~has_weight] == 0).all(axis=1)]  # (n, S)
        mixes = (usable * w) @ v  # (n, d_v)
        error = np.abs(mixes - row)
        margin = tolerance.atol + tolerance.rtol * np.abs(mixes)
        fitting = np.flatnonzero((error <= margin).all(axis=1))
        if not len(fitting):
            return None
        best = fitting[np.argmin(error[fitting].max(axis=1))]
        worst = max(worst, float(error[best].max()))
        spread = np.ptp(mixes, axis=0) / np.maximum(margin[best], np.finfo(float).tiny)
        bits += float(np.log2(np.maximum(spread, 1)).sum()) - float(np.log2(len(usable)))
        if len(fitting) == 1:
            dropped |= bool((usable[best] == 0)[has_weight].any())
            kept |= bool(usable[best].any())
    return Fit(worst, bits, dropped, kept)
