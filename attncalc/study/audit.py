"""What a test on these inputs, with this tolerance, would let through."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.steps import RIGHT, run
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.wrong import in_float64
from attncalc.study.bench import shown
from attncalc.study.mistakes import least_difference
from attncalc.study.vectors import VECTORS, exposed

RTOL, ATOL = 1e-5, 1e-8
"""The tolerance of numpy.allclose, which a test has that says nothing else."""


@dataclass(frozen=True)
class Closing:
    """A vector, and the holes that it would close."""

    vector: str
    closes: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """What a test would find.

    Attributes:
        rtol: the relative tolerance of the test.
        atol: the absolute tolerance.
        caught: mistakes that would make it fail, with how far they are off, in tolerances.
        missed: mistakes that apply to the inputs and would pass.
        not_applicable: mistakes that the inputs leave no room for.
        closing: vectors that expose what is missed or does not apply, the most useful first.
    """

    rtol: float
    atol: float
    caught: dict[str, float]
    missed: tuple[str, ...]
    not_applicable: tuple[str, ...]
    closing: tuple[Closing, ...]


def audit(problem: Problem, rtol: float = RTOL, atol: float = ATOL) -> Audit:
    """Try every known mistake on a test: |wrong − right| ≤ atol + rtol · |right| everywhere lets it through.

    A mistake is caught when one way of making it is, however rows without a key are filled.
    """
    problem = in_float64(problem)
    right = shown(problem, "output", run(RIGHT, problem.inputs, problem.rules))
    assert right is not None
    allowed = atol + rtol * np.abs(right)
    caught: dict[str, float] = {}
    missed: list[str] = []
    others: list[str] = []
    for mistake in CATALOGUE:
        forms = mistake.open_forms(problem)
        errors = [least_difference(problem, form, right) for form in forms]
        if not forms:
            others.append(mistake.id)
        elif any((error > allowed).any() for error in errors):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                caught[mistake.id] = max(float(np.nanmax(error / allowed)) for error in errors)
        else:
            missed.append(mistake.id)
    return Audit(rtol, atol, caught, tuple(missed), tuple(others), tuple(_closing(missed + others)))


def _closing(holes: Iterable[str]) -> Iterable[Closing]:
    """Choose vectors, each time the one that exposes most of what is left."""
    left = set(holes)
    while left:
        best = max(VECTORS, key=lambda vector: len(left & set(exposed(vector))))
        closes = tuple(id for id in exposed(best) if id in left)
        if not closes:
            return
        yield Closing(best.name, closes)
        left -= set(closes)
