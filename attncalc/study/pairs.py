"""Two mistakes at once.

The stages that the earlier mistake of a pair leaves before each step are kept for all its partners, so that a pair
costs no more than its last steps, for a few rows.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, walk
from attncalc.mistakes.record import Form
from attncalc.mistakes.wrong import MARKED, ORDER, compatible, fillings, steps_for
from attncalc.study import dropout
from attncalc.study.bench import Bench, cut, shown, span
from attncalc.study.search import Candidate, Diagnosis, Found, Search, best_first

LARGEST_PAIRS = 2**17
"""How many numbers the first rows may hold for pairs to be tried."""

LARGEST_WHOLE_IN_PAIRS = 2**20
"""How many numbers a T × S stage may hold for pairs with mistakes that need all rows at once."""

RESHAPING = ("heads-averaged", "sink-as-extra-value", "output-projection-missing")
"""Mistakes that may give an answer of another shape."""

CHANCE = 2.0**-20
"""How unlikely it must be that one of all pairs fits by accident, for a pair to be named."""


def find_pairs(search: Search, candidates: Sequence[Candidate], result: Diagnosis) -> None:
    """Try two mistakes at once, of different stages and steps."""
    candidates = [each for each in candidates if each.mistake.id != dropout.ID]
    whole = search.one_row * search.problem.sizes.T
    same_shape = search.got.shape == search.right.shape
    if (search.one_row * len(search.some.rows) if same_shape else whole) > LARGEST_PAIRS:
        result.notes.append("the input is too large to try two mistakes at once")
        return
    if same_shape and not _enough_evidence(search, len(candidates)):
        result.notes.append(
            "the answer has too few numbers, or too few digits, to try two mistakes at once: one of many pairs could "
            "fit by accident"
        )
        return
    if whole > LARGEST_WHOLE_IN_PAIRS:
        candidates = [each for each in candidates if each.form.rows_apart]
    if same_shape:
        hopeful = list(_screened(search, candidates, result))
    else:
        hopeful = [pair for pair in _partners(candidates) if any(each.mistake.id in RESHAPING for each in pair)]
    errors: dict[tuple[str, str], tuple[float, Candidate, Candidate]] = {}
    for a, b in hopeful:
        key = (a.mistake.id, b.mistake.id)
        error = search.confirm(a.form, b.form)
        if error is not None and (key not in errors or error < errors[key][0]) and _both_matter(search, a, b):
            errors[key] = (error, a, b)
    found = [Found((a.mistake, b.mistake), error) for error, a, b in errors.values()]
    result.found = best_first(found, search.right)


def _partners(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield pairs from different stages that replace different steps, the earlier change first."""
    ordered = sorted(candidates, key=lambda each: span((each.form,))[0])
    for n, a in enumerate(ordered):
        for b in ordered[n + 1 :]:
            if a.mistake.stage != b.mistake.stage and compatible(a.form, b.form):
                yield a, b


def _screened(
    search: Search, candidates: Sequence[Candidate], result: Diagnosis
) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield pairs whose first rows may be those of the answer.

    The stages that the earlier mistake of a pair leaves before each step are kept for all its partners.
    """
    previous: Candidate | None = None
    lead: Lead | None = None
    for a, b in _partners(candidates):
        if previous is not a or lead is None:
            previous, lead = a, Lead(search.bench, search.some.rows, a.form)
        result.pairs += 1
        if search.passes(lead.with_partner(b.form)):
            yield a, b


class Lead:
    """The earlier mistake of many pairs, with the stages that it leaves.

    Args:
        bench: the bench.
        rows: the rows that are worked out.
        form: the earlier mistake.
    """

    def __init__(self, bench: Bench, rows: Array, form: Form) -> None:
        self.bench, self.rows, self.form = bench, rows, form
        self.steps = steps_for((form,), bench.problem.empty, MARKED)
        self.first, _, self.whole = span((form,))
        self.full: dict[int, Stages] = {self.first: bench.right_before(self.first)}
        self.part: dict[int, Stages] = {}

    def _full_before(self, number: int) -> Stages:
        known = max(n for n in self.full if n <= number)
        if known < number:
            self.full[number] = walk(self.steps, ORDER[known:number], self.full[known])
        return self.full[number]

    def _part_before(self, number: int) -> Stages:
        """Return the stages of the chosen rows, cut as early as the mistake allows."""
        known = [n for n in self.part if n <= number]
        if not known:
            earliest = max(ORDER.index("raw"), self.first if self.whole is None else self.whole + 1)
            if number < earliest:
                return cut(self._full_before(number), self.rows)
            self.part[earliest] = cut(self._full_before(earliest), self.rows)
            known = [earliest]
        if max(known) < number:
            self.part[number] = walk(self.steps, ORDER[max(known) : number], self.part[max(known)])
        return self.part[number]

    def with_partner(self, form: Form) -> Array | None:
        """Return the chosen rows of the stage as both mistakes make them."""
        pair = (self.form, form)
        steps = steps_for(pair, self.bench.problem.empty, MARKED)
        first, _, _ = span((form,))
        _, last, whole = span(pair)
        end = max(self.bench.end, last + 1)
        if whole is not None and whole >= first:
            stages = cut(walk(steps, ORDER[first : whole + 1], self._full_before(first)), self.rows)
            stages = walk(steps, ORDER[whole + 1 : end], stages)
        elif first < ORDER.index("raw"):
            raw = ORDER.index("raw")
            stages = cut(walk(steps, ORDER[first:raw], self._full_before(first)), self.rows)
            stages = walk(steps, ORDER[raw:end], stages)
        else:
            stages = walk(steps, ORDER[first:end], self._part_before(first))
        return shown(self.bench.problem, self.bench.stage, stages)


def _both_matter(search: Search, a: Candidate, b: Candidate) -> bool:
    """Say whether each mistake of a pair changes the answer that the other one gives."""
    rows = search.bench.chosen(np.arange(search.problem.sizes.T))
    filling = next(fillings(search.problem))
    both = rows.of((a.form, b.form), filling)
    for one in (a, b):
        alone = rows.of((one.form,), filling)
        if both is not None and alone is not None and search.tolerance.reproduces(both, alone):
            return False
    return True


def _enough_evidence(search: Search, forms: int) -> bool:
    """Say whether no pair is likely to fit by accident.

    A number that is off by δ, with a tolerance of ε, is met by accident once in δ/ε times or so.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        allowed = search.tolerance.atol + search.tolerance.rtol * np.abs(search.right)
        odds = np.abs(search.got - search.right) / np.where(allowed > 0, allowed, np.finfo(float).tiny)
    bits = float(np.log2(np.maximum(odds[np.isfinite(odds)], 1)).sum())
    bits += float(np.count_nonzero(np.isnan(search.got)))
    return bits > float(np.log2(max(1, forms) ** 2) - np.log2(CHANCE))
