"""The search for the mistakes behind one answer: its candidates, a first look at a few rows, and the confirmation.

Every candidate is first worked out for a few rows of the answer only; those that survive are confirmed in full.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.wrong import Filling, fillings
from attncalc.study.bench import Bench, Rows, query_axis, rows_of
from attncalc.study.tolerance import Tolerance

ROWS = 4
"""How many rows are looked at first."""

BLOCK_NUMBERS = 2**21
"""How many numbers a T × S stage holds at the most while an answer is confirmed in blocks of rows."""

LARGEST_WHOLE = 2**23
"""How many numbers a T × S stage may hold for mistakes that need all rows at once."""


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
        fits = got.ndim > (stage != "lse") and got.shape[query_axis(problem, stage, got.ndim)] == sizes.T
        self.got_some = rows_of(problem, stage, got, rows) if fits else None
        self.unsettled = self._unsettled(rows) if got.shape == right.shape else np.zeros((), dtype=bool)

    def telling_rows(self) -> Array:
        """Choose the row that is off furthest, the first, the last, and the one that is off least."""
        count = self.problem.sizes.T
        if count <= ROWS:
            return np.arange(count)
        axis = query_axis(self.problem, self.stage, self.got.ndim)
        others = tuple(n for n in range(self.got.ndim) if n != axis)
        with np.errstate(invalid="ignore"):
            off = np.where(self.got == self.right, 0, np.abs(self.got - self.right))  # −∞ and −∞ agree
        error = np.nan_to_num(off, nan=np.inf).max(axis=others)
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
        return bool((self.tolerance.near(self.got_some, answer) | np.isnan(answer) | self.unsettled).all())

    def _unsettled(self, rows: Array) -> Array:
        """Return which of the first rows' cells fillings settle though they are no NaN: those of empty queries."""
        problem = self.problem
        if self.stage not in ("allowed", "scores", "lse") or not problem.empty.any():
            return np.zeros((), dtype=bool)
        sizes = problem.sizes
        empty = np.broadcast_to(problem.empty[..., rows], (sizes.B, sizes.H, len(rows)))
        if self.stage != "lse":
            empty = np.repeat(empty[..., np.newaxis], sizes.S, axis=-1)
        cells: Array = problem.layout.stage(empty)
        return cells

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


def best_first(found: list[Found], right: Array) -> list[Found]:
    """Sort by error; errors that are mere rounding count as equal and leave the order of the catalogue."""
    finite = np.abs(right[np.isfinite(right)])
    noise = 1e-13 * float(finite.max(initial=1.0))
    return sorted(found, key=lambda each: max(each.max_abs_error, noise))
