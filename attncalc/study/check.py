"""Is an answer right, and if not, which mistake gives it?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import STAGES, Array
from attncalc.core.steps import RIGHT, run
from attncalc.errors import OptionError, shape_text
from attncalc.mistakes.wrong import in_float64
from attncalc.study.compare import Comparison, Worst, compare, places
from attncalc.study.diagnose import diagnose
from attncalc.study.observe import observe
from attncalc.study.search import Diagnosis, Found
from attncalc.study.tolerance import Spelling, Tolerance, tolerance_for
from attncalc.suggest import did_you_mean

LARGEST_OBSERVED = 2**24
"""How many numbers a T × S stage may hold for remarks that need every stage."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether an answer is right; if not, what is wrong with it.

    Attributes:
        stage: the stage that was compared.
        got: the answer, as float64.
        expected: the right answer.
        tolerance: how far it might have been off.
        comparison: how far it is off and where; None when the shape is another.
        mistakes: known mistakes that give the answer, one or two at once, the best first.
        observations: what else can be said of a wrong answer.
        tried: how many known mistakes apply to these inputs.
        pairs: how many pairs of them were tried.
        places: which batches, heads and rows are wrong.
        notes: what users should know about how the answer was understood.
        problem: the inputs and the rules.
    """

    stage: str
    got: Array
    expected: Array
    tolerance: Tolerance
    comparison: Comparison | None
    problem: Problem
    mistakes: tuple[Found, ...] = ()
    observations: tuple[str, ...] = ()
    tried: int = 0
    pairs: int = 0
    places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the answer is right, within the tolerance."""
        return self.comparison is not None and self.comparison.agrees

    def __bool__(self) -> bool:
        return self.agrees

    @property
    def max_abs_error(self) -> float:
        """The largest |got − right|; NaN where one of the two is, or the shape is another."""
        return float("nan") if self.comparison is None else self.comparison.max_abs_error

    @property
    def max_rel_error(self) -> float:
        """The largest |got − right| / |right|."""
        return float("nan") if self.comparison is None else self.comparison.max_rel_error

    @property
    def worst(self) -> Worst | None:
        """The element with the largest absolute error."""
        return None if self.comparison is None else self.comparison.worst

    @property
    def ids(self) -> tuple[str, ...]:
        """Every mistake that is named, alone or in a pair, without repeats."""
        return tuple(dict.fromkeys(id for found in self.mistakes for id in found.ids))

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        plural = self.stage in ("scores", "weights", "heads")
        verb = "are" if plural else "is"
        if self.agrees:
            return f"the {self.stage} {verb} right"
        if self.comparison is None:
            shapes = f"{shape_text(self.got.shape)}, not {shape_text(self.expected.shape)}"
            return f"the {self.stage} {verb} wrong: {'their' if plural else 'its'} shape is {shapes}"
        count = int(self.comparison.wrong.sum())
        return f"the {self.stage} {verb} wrong: {count} of {self.got.size} numbers {'is' if count == 1 else 'are'} off"

    @property
    def diagnosis(self) -> str:
        """What explains a wrong answer, in a sentence or two."""
        if self.agrees:
            return ""
        if not self.mistakes:
            return f"none of {self.tried} known mistakes that apply here explains it"
        best = [found for found in self.mistakes if len(found.ids) == len(self.mistakes[0].ids)]
        names = [" together with ".join(found.ids) for found in best]
        if len(names) == 1:
            return f"this is what {names[0]} gives: {best[0].title}"
        return f"{len(names)} explanations give this answer, within the tolerance: {'; '.join(names)}"

    @property
    def report(self) -> str:
        """The verdict as text, in a few lines; what a failing assertion prints."""
        if self.agrees:
            return self.sentence
        lines = [self.sentence]
        if self.comparison is not None and (worst := self.worst) is not None:
            lines += [
                f"  worst    {list(worst.index)}: got {worst.got!r}, right is {worst.expected!r}",
                f"  off by   {self.max_abs_error:.3g}, relative {self.max_rel_error:.3g}",
                f"  where    {'; '.join(self.places)}",
            ]
        lines.append(f"  allowed  rtol {self.tolerance.rtol:g}, atol {self.tolerance.atol:g} ({self.tolerance.reason})")
        if self.diagnosis:
            lines.append(f"  {self.diagnosis}")
        lines += [f"  instead  {line}" for found in self.mistakes[:1] for line in found.cure_lines]
        lines += [f"  {remark}" for remark in self.observations]
        return "\n".join(lines)


def check_problem(
    problem: Problem,
    right: Array,
    got: Array,
    *,
    stage: str = "output",
    dtype: str | None = None,
    spelling: Spelling | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    notes: tuple[str, ...] = (),
    search: bool = True,
) -> Verdict:
    """Compare an answer with the right one; look for the mistake that gives it.

    Args:
        problem: the inputs and the rules.
        right: the right stage, in the user's axes.
        got: the answer.
        stage: which stage it claims to be.
        dtype: its type, when that is not numpy's: bfloat16.
        spelling: how a text wrote its numbers; None for arrays.
        rtol: the relative tolerance, or None for that of the type; ``atol`` likewise.
        notes: notes on the right answer.
        search: look for the mistake when it is wrong.
    """
    kind = got.dtype.name if dtype is None else dtype
    got, right = got.astype(np.float64), right.astype(np.float64)
    tolerance = tolerance_for(got, kind, spelling, rtol, atol)
    notes += (tolerance.note,) if tolerance.note else ()
    comparison = compare(got, right, tolerance) if got.shape == right.shape else None
    if comparison is not None and comparison.agrees:
        return Verdict(stage, got, right, tolerance, comparison, problem, notes=notes)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows explains nothing
        found = diagnose(problem, stage, got, right, tolerance) if search else Diagnosis()
        observed = _observations(problem, stage, got, right, tolerance, comparison)
    return Verdict(
        stage,
        got,
        right,
        tolerance,
        comparison,
        problem,
        mistakes=tuple(found.found),
        observations=(*observed, *found.notes),
        tried=found.tried,
        pairs=found.pairs,
        places=() if comparison is None else tuple(places(comparison.wrong, problem.layout.stage_axes(stage))),
        notes=notes,
    )


def _observations(
    problem: Problem, stage: str, got: Array, right: Array, tolerance: Tolerance, comparison: Comparison | None
) -> list[str]:
    found = []
    if comparison is not None and comparison.rounding not in (None, "float64"):
        found.append(f"the difference is consistent with {comparison.rounding} rounding")
    sizes = problem.sizes
    if sizes.B * sizes.H * sizes.T * sizes.S <= LARGEST_OBSERVED:
        wide = in_float64(problem)
        found += observe(problem, stage, got, right, run(RIGHT, wide.inputs, wide.rules), tolerance)
    return found


def check_stage(name: str) -> str:
    """Return the name of a stage that can be checked, or say which one may have been meant."""
    if not isinstance(name, str):
        raise OptionError(f"stage is a name, not {name!r}", hint=f"the stages are {', '.join(STAGES)}")
    if name not in STAGES:
        raise OptionError(
            f"there is no stage {name}", hint=did_you_mean(name, STAGES) or f"the stages are {', '.join(STAGES)}"
        )
    return name


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict by the keys of ``attncalc.check/1``; options and notes are the caller's."""
    worst = verdict.worst
    return {
        "agrees": verdict.agrees,
        "stage": verdict.stage,
        "shape": list(verdict.got.shape),
        "expected_shape": list(verdict.expected.shape),
        "max_abs_error": verdict.max_abs_error,
        "max_rel_error": verdict.max_rel_error,
        "max_ulp_error": None if verdict.comparison is None else verdict.comparison.max_ulp_error,
        "worst": None if worst is None else {"index": list(worst.index), "got": worst.got, "expected": worst.expected},
        "wrong_elements": None if verdict.comparison is None else int(verdict.comparison.wrong.sum()),
        "rounding": None if verdict.comparison is None else verdict.comparison.rounding,
        "dtype": verdict.tolerance.dtype,
        "rtol": verdict.tolerance.rtol,
        "atol": verdict.tolerance.atol,
        "mistakes": [found_json(found) for found in verdict.mistakes],
        "tried": verdict.tried,
        "observations": list(verdict.observations),
    }


def found_json(found: Found) -> dict[str, Any]:
    """Return a mistake, or two at once, as JSON has it."""
    if len(found.ids) == 1:
        return {"id": found.ids[0], "title": found.title, "max_abs_error": found.max_abs_error}
    return {"ids": list(found.ids), "title": found.title, "max_abs_error": found.max_abs_error}
