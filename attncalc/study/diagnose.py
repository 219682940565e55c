"""Which known mistakes, one or two at once, give an answer?"""

from collections.abc import Sequence

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.wrong import MARKED
from attncalc.study import dropout
from attncalc.study.bench import rows_of
from attncalc.study.pairs import RESHAPING, find_pairs
from attncalc.study.search import Candidate, Diagnosis, Found, Search, best_first
from attncalc.study.tolerance import Tolerance

NEARLY = 100.0
"""A mistake that is off by no more tolerances than this is spoken of, though it is not named."""

FAR_NEARER = 1000.0
"""If it is nearer than the right answer by this factor."""


def diagnose(problem: Problem, stage: str, got: Array, right: Array, tolerance: Tolerance) -> Diagnosis:
    """Find the mistakes that give a wrong answer: single ones, or pairs when there is none.

    Args:
        problem: the right problem.
        stage: the stage that the answer claims to be.
        got: the answer as float64, in the user's axes.
        right: the right answer, perhaps of another shape.
        tolerance: how near is near enough.
    """
    search = Search(problem, stage, got, right, tolerance)
    candidates = search.candidates()
    result = Diagnosis(tried=len({each.mistake.id for each in candidates}))
    open_forms = sum(len(m.open_forms(search.problem)) for m in CATALOGUE)
    if len(candidates) < open_forms:
        result.notes.append("the input is too large to try mistakes that mix up queries")
    result.found = _singles(search, candidates)
    if not result.found and not np.isnan(got).all():
        find_pairs(search, candidates, result)
    if not result.found and got.shape == right.shape:
        result.notes += _nearly(search, candidates)
    return result


def _singles(search: Search, candidates: Sequence[Candidate]) -> list[Found]:
    errors: dict[str, float] = {}
    same_shape = search.got.shape == search.right.shape
    for each in candidates:
        if each.mistake.id == dropout.ID:
            continue
        if same_shape and not search.passes(search.some.of((each.form,), MARKED)):
            continue
        if not same_shape and each.mistake.id not in RESHAPING:
            continue
        error = search.confirm(each.form)
        if error is not None:
            errors[each.mistake.id] = min(error, errors.get(each.mistake.id, np.inf))
    if same_shape and (error := dropout.search(search.problem, search.stage, search.got, search.tolerance)) is not None:
        errors[dropout.ID] = error
    found = [Found((mistake,), errors[mistake.id]) for mistake in CATALOGUE if mistake.id in errors]
    return best_first(found, search.right)


def _nearly(search: Search, candidates: Sequence[Candidate]) -> list[str]:
    """Tell the mistake that narrow arithmetic may have blurred: far nearer than what is right, but not the answer."""
    sizes = {
        each.mistake.id: search.tolerances_off(search.some.of((each.form,), MARKED))
        for each in candidates
        if each.form.rows_apart and each.mistake.id != dropout.ID
    }
    nearest = min(sizes, key=sizes.__getitem__, default=None)
    right = search.tolerances_off(rows_of(search.problem, search.stage, search.right, search.some.rows))
    if nearest is None or not sizes[nearest] <= min(NEARLY, right / FAR_NEARER):
        return []
    return [f"it is nearly what {nearest} gives: off by {sizes[nearest]:.2g} times the tolerance, not by {right:.2g}"]
