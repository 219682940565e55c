"""How a loss moves with Q, K and V: the formulas of ``core.gradient``, in the axes that users see."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays, finite
from attncalc.core.gradient import Gradient, gradient
from attncalc.core.memory import check_memory
from attncalc.core.notes import queries_text
from attncalc.core.prepare import Problem
from attncalc.core.shapes import QUADRATIC, Array
from attncalc.errors import NumberError, ShapeError


@dataclass(frozen=True, eq=False)
class Gradients:
    """The gradients of a loss, read-only, each in the shape of what it belongs to.

    Attributes:
        dq: with respect to Q; with a projection, to the projected Q, (…, T, H·d).
        dk: with respect to K, without past keys; or to the projected K.
        dv: with respect to V, likewise.
        way: every array of the way back, in our order of axes.
        problem: the checked inputs and rules.
        notes: what one should know about them.
    """

    dq: Array
    dk: Array
    dv: Array
    way: Gradient
    problem: Problem
    notes: tuple[str, ...]

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The three by name."""
        return {"dq": self.dq, "dk": self.dk, "dv": self.dv}


def differentiate(problem: Problem, grad: ArrayLike | None = None, *, max_memory: int | None = None) -> Gradients:
    """Return dQ, dK and dV of a loss.

    Args:
        problem: inputs and rules.
        grad: the gradient of the loss with respect to the output, in the shape of the output; ones unless given,
            which makes the loss the sum of all outputs.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.

    Raises:
        ShapeError: grad is not shaped as the output.
        NumberError: grad, or a stage of the run in float64, holds NaN or infinity.
    """
    check_memory(problem, QUADRATIC, max_memory)
    layout, arithmetic = problem.layout, problem.rules.arithmetic
    shape = problem.output_shape
    if grad is None:
        output = np.ones(shape)
    else:
        output = arrays.numbers("grad", grad)
        if output.shape != shape:
            raise ShapeError(
                "grad must have the shape of the output", arrays=[("grad", output.shape), ("output", shape)]
            )
        if not np.isfinite(output).all():
            place = tuple(int(n) for n in np.argwhere(~np.isfinite(output))[0])
            raise NumberError("grad holds NaN or infinity", cell=("grad", place))
    way = gradient(problem.inputs, problem.rules, layout.canonical(output))
    notes = [*problem.notes, *_notes(problem), *_overflow(problem, way)]
    dq, dk, dv = (_hand_out(arithmetic.store(layout.original(each))) for each in (way.query, way.key, way.value))
    return Gradients(dq, dk, dv, way, problem, tuple(notes))


def _notes(problem: Problem) -> list[str]:
    found = []
    if problem.inputs.projection is not None:
        found.append("dq, dk and dv belong to the projected Q, K and V, all heads beside each other")
    if problem.sizes.P:
        found.append("dk and dv belong to the new keys and values; those of the cache are constants")
    if problem.rules.empty_rows == "nan" and problem.empty.any():
        found.append(f"{queries_text(problem.empty, None)} gets NaN and passes it on to dk and dv")
    return found


def _overflow(problem: Problem, way: Gradient) -> list[str]:
    """In float64 a number that is not finite is an error; narrower types show it, with a note."""
    if text := finite.overflow(way.stages, problem.layout):
        return [text]
    if problem.empty.any() or all(np.isfinite(each).all() for each in (way.query, way.key, way.value)):
        return []
    name = problem.rules.arithmetic.name
    text = f"a gradient is not finite: the numbers are too large for {name}"
    if name == "float64":
        raise NumberError(text)
    return [text]


def _hand_out(array: Array) -> Array:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
