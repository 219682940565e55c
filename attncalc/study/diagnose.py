"""Which known mistakes, one or two at once, give an answer?

Every candidate is first worked out for a few rows of the answer only; those that survive are confirmed in full.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, walk
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.wrong import MARKED, ORDER, Filling, compatible, fillings, steps_for
from attncalc.study import dropout
from attncalc.study.bench import Bench, Rows, cut, query_axis, rows_of, shown, span
from attncalc.study.tolerance import Tolerance

ROWS = 4
"""How many rows are looked at first."""

BLOCK_NUMBERS = 2**21
"""How many numbers a T × S stage holds at the most while an answer is confirmed in blocks of rows."""

LARGEST_WHOLE = 2**23
"""How many numbers a T × S stage may hold for mistakes that need all rows at once."""

LARGEST_WHOLE_IN_PAIRS = 2**20
"""The same for pairs, of which there are many."""

LARGEST_PAIRS = 2**17
"""How many numbers the first rows may hold for pairs to be tried."""

RESHAPING = ("heads-averaged", "sink-as-extra-value", "output-projection-missing")
"""Mistakes that may give an answer of another shape."""

NEARLY = 100.0
"""A mistake that is off by no more tolerances than this is spoken of, though it is not named."""

FAR_NEARER = 1000.0
"""If it is nearer than the right answer by this factor."""

CHANCE = 2.0**-20
"""How unlikely it must be that one of all pairs fits by accident, for a pair to be named."""


@dataclass(frozen=True)
class Found:
    """A mistake, or two at once, that gives the answer.

    Attributes:
        mistakes: one or two entries.
        max_abs_error: how far its answer is from the one that was given; NaN in both does not count.
    """

    mistakes: tuple[Mistake, ...]
    max_abs_error: float

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in the order of the catalogue."""
        return tuple(mistake.id for mistake in self.mistakes)

    @property
    def title(self) -> str:
        """The titles, joined."""
        return "; and ".join(mistake.title for mistake in self.mistakes)

    @property
    def cure_lines(self) -> tuple[str, ...]:
        """What to write instead, a line for each mistake and library."""
        return tuple(line for mistake in self.mistakes for line in str(mistake.instead).splitlines())


@dataclass
class Diagnosis:
    """What the search came to.

    Attributes:
        found: mistakes that give the answer, the best first.
        tried: how many entries of the catalogue apply to these inputs.
        pairs: how many pairs of forms were tried.
        notes: what was not tried, and why.
    """

    found: list[Found] = field(default_factory=list)
    tried: int = 0
    pairs: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Candidate:
    """One form of one mistake."""

    mistake: Mistake
    form: Form


class Search:
    """The search for the mistakes behind one answer.

    Args:
        problem: the right problem.
        stage: the stage that the answer claims to be.
        got: the answer, in the user's axes.
        right: the right answer, perhaps of another shape.
        tolerance: how near is near enough.
    """

    def __init__(self, problem: Problem, stage: str, got: Array, right: Array, tolerance: Tolerance) -> None:
        self.bench = Bench(problem, stage)
        self.problem, self.stage = self.bench.problem, stage
        self.got, self.right, self.tolerance = got, right, tolerance
        self.has_nan = bool(np.isnan(got).any())
        sizes = problem.sizes
        self.one_row = sizes.B * sizes.H * sizes.S
        rows = self.telling_rows() if got.shape == right.shape else np.arange(min(sizes.T, ROWS))
        self.some = self.bench.chosen(rows)
        fits = got.ndim > 1 and got.shape[query_axis(problem, stage, got.ndim)] == sizes.T
        self.got_some = rows_of(problem, stage, got, rows) if fits else None

    def telling_rows(self) -> Array:
        """Choose the row that is off furthest, the first, the last, and the one that is off least."""
        count = self.problem.sizes.T
        if count <= ROWS:
            return np.arange(count)
        axis = query_axis(self.problem, self.stage, self.got.ndim)
        others = tuple(n for n in range(self.got.ndim) if n != axis)
        with np.errstate(invalid="ignore"):
            error = np.nan_to_num(np.abs(self.got - self.right), nan=np.inf).max(axis=others)
        return np.unique([int(np.argmax(error)), 0, count - 1, int(np.argmin(error))])

    def candidates(self) -> list[Candidate]:
        """Return every form that the inputs leave room for; those that need too much memory are left out."""
        found = [Candidate(m, form) for m in CATALOGUE for form in m.open_forms(self.problem)]
        if self.got.shape != self.right.shape:
            return found
        if self.one_row * self.problem.sizes.T > LARGEST_WHOLE:
            return [each for each in found if each.form.rows_apart]
        return found

    def passes(self, answer: Array | None) -> bool:
        """Say whether the first rows may be those of the answer; NaN stands for what fillings would settle."""
        if answer is None or self.got_some is None or answer.shape != self.got_some.shape:
            return False
        return bool((self.tolerance.near(self.got_some, answer) | np.isnan(answer)).all())

    def tolerances_off(self, answer: Array | None) -> float:
        """Return how many tolerances the first rows of an answer are off at the most; NaN counts as infinite."""
        if answer is None or self.got_some is None or answer.shape != self.got_some.shape:
            return np.inf
        allowed = self.tolerance.atol + self.tolerance.rtol * np.abs(answer)
        with np.errstate(invalid="ignore", divide="ignore"):
            off = np.where(answer == self.got_some, 0, np.abs(answer - self.got_some) / allowed)
        return float(np.nan_to_num(off, nan=np.inf).max())

    def confirm(self, *forms: Form) -> float | None:
        """Return how far some forms' answer is from the one given, in full; None when it is not that answer."""
        errors = (self._error(forms, filling) for filling in fillings(self.problem) if self._possible(filling))
        return min((error for error in errors if error is not None), default=None)

    def _possible(self, filling: Filling) -> bool:
        """Say whether a filling can matter: NaN cannot, in an answer without NaN."""
        return filling.fill != "nan" or self.has_nan

    def _error(self, forms: tuple[Form, ...], filling: Filling) -> float | None:
        worst, shows = 0.0, self.got.shape != self.right.shape
        if not shows and all(form.rows_apart for form in forms):  # a quick look at a few rows first
            few = self.some.of(forms, filling)
            if few is None or self.got_some is None or not self.tolerance.reproduces(self.got_some, few):
                return None
        for rows in self._blocks(forms):
            answer = rows.of(forms, filling)
            if answer is None:
                return None
            whole = len(rows.rows) == self.problem.sizes.T
            if whole and answer.shape != self.got.shape:
                return None
            got = self.got if whole else rows_of(self.problem, self.stage, self.got, rows.rows)
            if not self.tolerance.reproduces(got, answer):
                return None
            with np.errstate(invalid="ignore"):
                worst = max(worst, float(np.nanmax(np.where(got == answer, 0, np.abs(got - answer)), initial=0)))
            if not shows:
                right = self.right if whole else rows_of(self.problem, self.stage, self.right, rows.rows)
                shows = not self.tolerance.reproduces(answer, right)
        return worst if shows else None

    def _blocks(self, forms: tuple[Form, ...]) -> Iterator[Rows]:
        rows = np.arange(self.problem.sizes.T)
        apart = all(form.rows_apart for form in forms) and self.got.shape == self.right.shape
        count = max(1, BLOCK_NUMBERS // self.one_row) if apart else len(rows)
        for first in range(0, len(rows), count):
            yield self.bench.chosen(rows[first : first + count])


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
        _pairs(search, candidates, result)
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
    """Tell the mistake that a narrower type may have blurred: not quite the answer, but far nearer than what is right."""
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


def best_first(found: list[Found], right: Array) -> list[Found]:
    """Sort by error; errors that are mere rounding count as equal and leave the order of the catalogue."""
    finite = np.abs(right[np.isfinite(right)])
    noise = 1e-13 * float(finite.max(initial=1.0))
    return sorted(found, key=lambda each: max(each.max_abs_error, noise))


def _pairs(search: Search, candidates: Sequence[Candidate], result: Diagnosis) -> None:
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
    lead: _Lead | None = None
    for a, b in _partners(candidates):
        if previous is not a or lead is None:
            previous, lead = a, _Lead(search.bench, search.some.rows, a.form)
        result.pairs += 1
        if search.passes(lead.with_partner(b.form)):
            yield a, b


class _Lead:
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
