"""What narrower arithmetic loses: every stage in float32, float16 and bfloat16 against the float64 truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.core import arrays
from attncalc.core.dtypes import ARITHMETIC, Arithmetic
from attncalc.core.memory import check_memory
from attncalc.core.prepare import Problem, prepare
from attncalc.core.rows import run_in_rows
from attncalc.core.shapes import QUADRATIC, STAGES, Array
from attncalc.core.steps import RIGHT

NARROWER = ("float32", "float16", "bfloat16")
COMPARED = tuple(stage for stage in STAGES if stage != "allowed")

SMALLEST_EXPONENT = {"float32": -126, "float16": -14, "bfloat16": -126, "float64": -1022}
"""Exponent of the smallest normal number; below it the spacing of the numbers stays the same."""


@dataclass(frozen=True)
class Loss:
    """What one type has lost by the end of one stage.

    Attributes:
        dtype: the type.
        stage: the stage; its errors hold those of the stages before it, and the rounding of the inputs.
        max_abs_error: largest |got − true|; infinite where one side is not finite.
        max_rel_error: largest |got − true| / |true|; 0 where both are 0.
        max_ulp_error: largest |got − true| in units of the spacing that numbers of the type have at the true value.
    """

    dtype: str
    stage: str
    max_abs_error: float
    max_rel_error: float
    max_ulp_error: float


@dataclass(frozen=True)
class Precision:
    """What the types lose, stage by stage.

    Attributes:
        problem: inputs and rules, in float64.
        rows: one for each type and stage, in the order of both.
        worst: for each type, the stage that adds most to the error in ULP over the stage before it; None where
            nothing is lost.
        notes: what one should know.
    """

    problem: Problem
    rows: tuple[Loss, ...]
    worst: dict[str, str | None]
    notes: tuple[str, ...]


def precision(dtypes: Sequence[str] = NARROWER, *, max_memory: int | None = None, **given: Any) -> Precision:
    """Compare the stages in narrower types with those in float64.

    The truth is the float64 run of the inputs as they were given, so rounding them to the type counts as a loss.

    Args:
        dtypes: which types.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.
        given: the arguments of ``attncalc.core.prepare.prepare``; ``dtype`` is set here.
    """
    for dtype in dtypes:
        arrays.choice("dtype", dtype, NARROWER)
    problem = prepare(**{**given, "dtype": "float64"})
    check_memory(problem, QUADRATIC, max_memory)
    truth = _stages(problem)
    rows: list[Loss] = []
    worst: dict[str, str | None] = {}
    notes = list(problem.notes)
    for dtype in dtypes:
        narrow = _stages(prepare(**{**given, "dtype": dtype}))
        losses = [loss(dtype, stage, narrow[stage], truth[stage]) for stage in COMPARED]
        rows += losses
        worst[dtype] = largest_step(losses)
        if lost := [each.stage for each in losses if not np.isfinite(each.max_abs_error)]:
            notes.append(f"{lost[0]} is not finite in {dtype} where it is in float64")
    return Precision(problem, tuple(rows), worst, tuple(notes))


def loss(dtype: str, stage: str, got: Array, true: Array) -> Loss:
    """Measure one stage; cells that are infinite or NaN on both sides, such as blocked scores, are no loss."""
    got, true = np.asarray(got, dtype=np.float64), np.asarray(true, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        apart = ~((got == true) | (np.isnan(got) & np.isnan(true)))
        error = np.abs(got - true)[apart]
        error = np.where(np.isnan(error), np.inf, error)
        relative = error / np.abs(true[apart])
        units = error / spacing(true[apart], ARITHMETIC[dtype])
    measures = (np.where(np.isnan(each), np.inf, each).max(initial=0.0) for each in (error, relative, units))
    return Loss(dtype, stage, *(float(each) for each in measures))


def spacing(true: Array, arithmetic: Arithmetic) -> Array:
    """Return one ULP at each true value: 2^(e − p + 1) for 2^e ≤ |true| < 2^(e+1), in a type of p bits.

    Below the smallest normal number e stays the type's smallest exponent, so that the ULP of 0 is the smallest
    number of the type.  This is Goldberg's definition, extended to real numbers as in J.-M. Muller, "On the
    definition of ulp(x)" (2005): correct rounding is within half a ULP.
    """
    _, exponent = np.frexp(np.where(np.isfinite(true), true, 0.0))  # |true| is in [½, 1) · 2^exponent
    smallest = SMALLEST_EXPONENT[arithmetic.name]
    exponent = np.where(true == 0, smallest, np.maximum(exponent - 1, smallest))
    ulp: Array = np.ldexp(1.0, exponent - (arithmetic.bits - 1))
    return ulp


def largest_step(losses: Sequence[Loss]) -> str | None:
    """Return the stage whose error in ULP exceeds that of the stage before it by most, the first of several."""
    errors = [0.0, *(each.max_ulp_error for each in losses)]
    with np.errstate(invalid="ignore"):
        steps = np.nan_to_num(np.diff(np.minimum(errors, 1e300)))
    return losses[int(np.argmax(steps))].stage if steps.max() > 0 else None


def _stages(problem: Problem) -> dict[str, Array]:
    with np.errstate(over="ignore", invalid="ignore"):
        return run_in_rows(RIGHT, problem.inputs, problem.rules, COMPARED)
