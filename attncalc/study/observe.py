"""What can be said of a wrong answer, whether or not a known mistake gives it."""

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from attncalc.core import masks
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages
from attncalc.errors import shape_text
from attncalc.study.bench import query_axis, shown
from attncalc.study.dropout import as_heads
from attncalc.study.tolerance import Tolerance

OTHERS = ("raw", "scaled", "capped", "biased", "scores", "lse", "weights", "heads", "output")


def observe(problem: Problem, stage: str, got: Array, right: Array, stages: Stages, tolerance: Tolerance) -> list[str]:
    """Return remarks on a wrong answer, in sentences without a full stop.

    Args:
        problem: the right problem.
        stage: the stage that the answer claims to be.
        got: the answer as float64, in the user's axes.
        right: the right answer.
        stages: every right stage.
        tolerance: how near is near enough.
    """
    found = list(_another_stage(problem, stage, got, right, stages, tolerance))
    if got.shape != right.shape:
        return found or list(_other_order(got, right, tolerance))
    found += _not_a_number(got, right)
    found += _rearranged(problem, stage, got, right, tolerance)
    found += _a_multiple(got, right, tolerance)
    found += _only_padded_rows(problem, stage, got, right, tolerance)
    if stage == "weights":
        found += _no_weights(problem, got, right, tolerance)
    if stage == "heads" or (stage == "output" and problem.inputs.projection is None):
        found += _outside_values(problem, stage, got, stages, tolerance)
    return found


def _another_stage(
    problem: Problem, stage: str, got: Array, right: Array, stages: Stages, tolerance: Tolerance
) -> Iterator[str]:
    for name in OTHERS:
        other = shown(problem, name, stages)
        if name == stage or other is None or (other.shape == right.shape and tolerance.reproduces(other, right)):
            continue
        if tolerance.reproduces(got, other):
            yield f"it is the stage {name}, not {stage}"
            return


def _other_order(got: Array, right: Array, tolerance: Tolerance) -> Iterator[str]:
    """Look for the right numbers in another shape."""
    if got.size != right.size:
        return
    if got.ndim == right.ndim:
        for order in permutations(range(right.ndim)):
            if right.transpose(order).shape == got.shape and tolerance.reproduces(got, right.transpose(order)):
                yield f"it is right but for the order of its axes: {order} of {shape_text(right.shape)}"
                return
    if tolerance.reproduces(got.ravel(), right.ravel()):
        yield "its numbers are right, in the right order; only the shape is another"
    elif tolerance.reproduces(np.sort(got, axis=None), np.sort(right, axis=None)):
        yield "it holds the right numbers in another order"


def _not_a_number(got: Array, right: Array) -> Iterator[str]:
    if (count := int(np.isnan(got).sum())) and not np.isnan(right).any():
        yield f"it holds NaN in {count} of {got.size} places"
    elif np.isnan(right).any():
        yield "NaN is what --empty-rows nan gives there, but NaN never agrees: check the other rows without it"


def _rearranged(problem: Problem, stage: str, got: Array, right: Array, tolerance: Tolerance) -> Iterator[str]:
    if got.ndim < 2:
        return
    n = got.shape[-1]
    if got.shape[-2] == n and tolerance.reproduces(got, right.swapaxes(-1, -2)):
        yield "it is the right answer transposed"
        return
    for axis, name in enumerate(problem.layout.stage_axes(stage)):
        order = _order(got, right, axis, tolerance)
        if order is not None:
            plural = {"query": "queries", "batch": "batches"}.get(name, f"{name}s")
            yield f"it is right with its {plural} in another order: {', '.join(map(str, order))}"
            return
    if tolerance.reproduces(np.sort(got, axis=None), np.sort(right, axis=None)):
        yield "it holds the right numbers in another order"


def _order(got: Array, right: Array, axis: int, tolerance: Tolerance) -> list[int] | None:
    """Return which slice of the right answer stands in each place of the given one, when all are found."""
    size = got.shape[axis]
    if not 1 < size <= 512:
        return None
    mine = np.moveaxis(got, axis, 0).reshape(size, -1)
    theirs = np.moveaxis(right, axis, 0).reshape(size, -1)
    order: list[int] = []
    for row in mine:
        near: Array = np.asarray(tolerance.near(row, theirs).all(axis=1))
        near[order] = False
        if not near.any():
            return None
        order.append(int(np.argmax(near)))
    return order if order != sorted(order) else None


def _a_multiple(got: Array, right: Array, tolerance: Tolerance) -> Iterator[str]:
    good = np.isfinite(got) & np.isfinite(right)
    if not good.all() or not right.any() or right.size < 2:
        return
    factor = float((got * right).sum() / (right * right).sum())
    if factor != 0 and tolerance.reproduces(got, factor * right):
        yield f"every number is {factor:.6g} times the right one"
        return
    shift = float((got - right).mean())
    if shift != 0 and tolerance.reproduces(got, right + shift):
        yield f"every number is the right one {'+' if shift > 0 else '−'} {abs(shift):.6g}"


def _only_padded_rows(problem: Problem, stage: str, got: Array, right: Array, tolerance: Tolerance) -> Iterator[str]:
    sizes = problem.sizes
    real = masks.real_keys(problem.rules, sizes)
    if real is None or sizes.T != sizes.S or real.all():
        return
    axis = query_axis(problem, stage, got.ndim)
    wrong = np.moveaxis(~tolerance.near(got, right), axis, -1)
    rows = wrong.reshape(sizes.B if problem.layout.has_batch else 1, -1, sizes.T)
    if not (rows & np.broadcast_to(real[:, np.newaxis], rows.shape)).any():
        yield "only the rows of padded positions differ, which nobody should read"


def _no_weights(problem: Problem, got: Array, right: Array, tolerance: Tolerance) -> Iterator[str]:
    sums, expected = got.sum(axis=-1), right.sum(axis=-1)
    margin = tolerance.atol * got.shape[-1] + tolerance.rtol
    with np.errstate(invalid="ignore"):
        off = ~(np.abs(sums - expected) <= margin)
    if off.any() and np.isfinite(sums).all():
        low, high = float(sums[off].min()), float(sums[off].max())
        span = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        one = "1" if problem.rules.sink is None and not problem.empty.any() else "what they should"
        yield f"{int(off.sum())} of {off.size} rows do not sum to {one}, but to {span}"
        columns = got.sum(axis=-2)
        if np.abs(columns - 1).max() <= tolerance.atol * got.shape[-2] + tolerance.rtol:
            yield "its columns sum to 1"
    if negative := int((got < -tolerance.atol).sum()):
        yield f"{negative} weights are negative"


def _outside_values(problem: Problem, stage: str, got: Array, stages: Stages, tolerance: Tolerance) -> Iterator[str]:
    """Find numbers that no mean of the values can have; with less than all the weight, 0 is within reach too."""
    sizes = problem.sizes
    answer = as_heads(problem, stage, got)  # (B, H, T, d_v)
    value = np.repeat(stages.value, sizes.H // sizes.G, axis=1)
    attended: Array = np.asarray(stages.allowed.any(axis=2))  # (B, H, S)
    usable = attended[..., np.newaxis] & np.isfinite(value)  # (B, H, S, d_v)
    low = np.where(usable, value, np.inf).min(axis=2)[:, :, np.newaxis]  # (B, H, 1, d_v)
    high = np.where(usable, value, -np.inf).max(axis=2)[:, :, np.newaxis]
    if problem.rules.sink is not None or problem.empty.any():
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    margin = tolerance.atol + tolerance.rtol * np.abs(answer)
    with np.errstate(invalid="ignore"):
        outside = (answer < low - margin) | (answer > high + margin)
    if outside.any():
        b, h, t, column = (int(n) for n in np.argwhere(outside)[0])
        where = [f"batch {b}"] * problem.layout.has_batch + [f"head {h}"] * problem.layout.has_heads
        where += [f"query {t}", f"column {column}"]
        yield (
            f"{int(outside.sum())} numbers lie outside the range of V, where no weighted mean can be: "
            f"{answer[b, h, t, column]:.6g} at {', '.join(where)}, with values from "
            f"{low[b, h, 0, column]:.6g} to {high[b, h, 0, column]:.6g}"
        )
