"""What happens when the positions change places: attention itself knows no order, and what brings order breaks that."""

from dataclasses import dataclass, replace

import numpy as np

from attncalc.core.positions import Rope, alibi_slopes
from attncalc.core.prepare import Problem
from attncalc.core.rows import run_in_rows
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, Stages, Steps, Written

NOISE = 1e-9
"""Sums in another order differ by less than this, relative to the largest output."""


@dataclass(frozen=True)
class Shuffled:
    """One set of rules under the same permutation.

    Attributes:
        rules: plain, causal, rope, alibi or given.
        difference: the largest difference between the outputs of the shuffled input and the shuffled outputs.
        follows: whether the outputs follow the positions, but for rounding.
    """

    rules: str
    difference: float
    follows: bool


@dataclass(frozen=True, eq=False)
class Shuffle:
    """What a permutation of the positions does.

    Attributes:
        permutation: the position that stands at each place now, (S − P,).
        queries: the queries are permuted too (there are as many as new keys); otherwise keys and values alone,
            and the outputs must stay as they are.
        rows: one for each set of rules.
    """

    permutation: Array
    queries: bool
    rows: tuple[Shuffled, ...]


def shuffle(problem: Problem, seed: int) -> Shuffle:
    """Permute the positions and compare, under rules that know no order, and under some that do."""
    sizes = problem.sizes
    count = sizes.S - sizes.P
    permutation = np.random.default_rng(seed).permutation(count)
    if count > 1 and (permutation == np.arange(count)).all():
        permutation = np.roll(permutation, 1)
    queries = count == sizes.T
    rows = [_compare(problem, name, rules, permutation, queries) for name, rules in _rules(problem).items()]
    return Shuffle(permutation, queries, tuple(rows))


def _rules(problem: Problem) -> dict[str, Rules]:
    """Return the sets of rules to compare: those that know no order first."""
    rules, sizes = problem.rules, problem.sizes
    plain = replace(
        rules,
        causal=False,
        window_left=None,
        window_right=None,
        mask=None,
        padding=None,
        padding_tokens=None,
        lengths=None,
        bias=None,
        alibi_slopes=None,
        rope=None,
        empty_rows="zero",
    )
    found = {"plain": plain, "causal": replace(plain, causal=True)}
    if sizes.d % 2 == 0:
        found["rope"] = replace(plain, rope=Rope("half", 10000.0, sizes.d, sizes.P))
    found["alibi"] = replace(plain, alibi_slopes=rules.arithmetic.round(alibi_slopes(sizes.H)))
    return found | {"given": rules}


def _compare(problem: Problem, name: str, rules: Rules, permutation: Array, queries: bool) -> Shuffled:
    def project(s: Stages, steps: Steps) -> Written:
        written = RIGHT.project(s, steps)
        arrays = ("query", "key", "value") if queries else ("key", "value")
        return {**written, **{array: written[array][..., permutation, :] for array in arrays}}

    def run(steps: Steps) -> Array:
        return run_in_rows(steps, problem.inputs, rules, ("output",))["output"].astype(np.float64)

    straight, shuffled = run(RIGHT), run(replace(RIGHT, project=project))
    expected = straight[..., permutation, :] if queries else straight
    difference = float(np.abs(expected - shuffled).max())
    room = max(NOISE, 16 * rules.arithmetic.epsilon) * max(1.0, float(np.abs(straight).max()))
    return Shuffled(name, difference, difference <= room)
