"""Someone's answer beside the right one: how far off, and where."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attncalc.core.dtypes import ARITHMETIC
from attncalc.core.shapes import Array
from attncalc.study.tolerance import Tolerance, round_to, unit_of

EPSILONS = 4.0
"""Rounding errors add up: so many times the distance from 1 to the next number are still rounding."""

ROUNDINGS = ("float64", "float32", "float16", "bfloat16")
"""Types whose arithmetic may explain a difference, the finest first."""


@dataclass(frozen=True)
class Worst:
    """The element with the largest absolute error; NaN is worse than any number."""

    index: tuple[int, ...]
    got: float
    expected: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """An answer beside the right one of the same shape.

    Attributes:
        wrong: where they do not agree, booleans.
        max_abs_error: the largest |got − right|; NaN where one of the two is.
        max_rel_error: the largest |got − right| / |right|; 0 where both are 0.
        max_ulp_error: the largest |got − right| in units of the last place, in the type of the answer.
        worst: the element with the largest absolute error.
        rounding: the finest type whose arithmetic explains every difference, or None.
    """

    wrong: Array
    max_abs_error: float
    max_rel_error: float
    max_ulp_error: float
    worst: Worst
    rounding: str | None

    @property
    def agrees(self) -> bool:
        """Whether every element agrees."""
        return not self.wrong.any()


def compare(got: Array, right: Array, tolerance: Tolerance) -> Comparison:
    """Compare two arrays of one shape, both as float64."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        error = np.where(got == right, 0.0, np.abs(got - right))  # −∞ and −∞ agree
        relative = np.where(error == 0, 0.0, error / np.abs(right))
        units = np.where(error == 0, 0.0, error / unit_of(tolerance.dtype, right))
    flat = error.ravel()
    place = int(np.argmax(np.isnan(flat))) if np.isnan(flat).any() else int(np.argmax(flat))
    index = tuple(int(n) for n in np.unravel_index(place, error.shape))
    return Comparison(
        wrong=~tolerance.near(got, right),
        max_abs_error=float(flat[place]),
        max_rel_error=float(relative.max()),
        max_ulp_error=float(units.max()),
        worst=Worst(index, float(got[index]), float(right[index])),
        rounding=next((name for name in ROUNDINGS if _is_rounding(name, got, right, tolerance)), None),
    )


def _is_rounding(dtype: str, got: Array, right: Array, tolerance: Tolerance) -> bool:
    """Say whether an answer is of a type, and off by no more than its arithmetic: some ε of the largest number."""
    if dtype != tolerance.dtype and not np.array_equal(round_to(dtype, got), got, equal_nan=True):
        return False
    largest = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - right) <= EPSILONS * ARITHMETIC[dtype].epsilon * largest
    return bool((near | (got == right)).all())


def places(wrong: Array, axes: tuple[str, ...]) -> Iterator[str]:
    """Say in words which rows, heads and batches hold wrong elements, an axis at a time.

    Args:
        wrong: which elements, booleans.
        axes: a name for each axis: batch, head, query, key, column.
    """
    for number, axis in enumerate(axes):
        others = tuple(n for n in range(wrong.ndim) if n != number)
        hit = np.flatnonzero(wrong.any(axis=others))
        size = wrong.shape[number]
        if size == 1:
            continue
        plural = {"query": "queries", "batch": "batches"}.get(axis, f"{axis}s")
        if len(hit) == size:
            yield f"all {size} {plural}"
        else:
            yield f"{axis if len(hit) == 1 else plural} {_listed(hit)} of {size}"


def _listed(numbers: Array, most: int = 8) -> str:
    """Write 0, 1, 2, 5 as ``0–2 and 5``; long lists end in how many there are more."""
    runs: list[list[int]] = []
    for n in numbers.tolist():
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and more"
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
