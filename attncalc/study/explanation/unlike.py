"""Where a run did something else than the formula says: the run of a mistake."""

import numpy as np

from attncalc.core import masks
from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import Part, Prose
from attncalc.study.explanation.view import View


def unlike(view: View, got: Array, expected: Array, stage: str) -> list[Part]:
    """Say which number of a row differs from what the formula gives, if one does.

    Rounding, also that of the narrower types, is no difference.
    """
    usable = ~np.isnan(expected)
    epsilon = max(8 * view.stages.rules.arithmetic.epsilon, 1e-12)
    size = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
    wrong = np.flatnonzero(usable & ~np.isclose(got, expected, rtol=epsilon, atol=epsilon * size))
    if not len(wrong):
        return []
    j = int(wrong[0])
    return [Prose(view.say("unlike", stage=stage, j=j, got=float(got[j]), expected=float(expected[j])))]


def unlike_inputs(view: View, *names: str) -> list[Part]:
    """Say so when Q, K or V first go wrong in one of these input steps."""
    return [Prose(view.say("unlike.inputs"))] if any(view.part_ways(name) for name in names) else []


def unlike_mask(view: View, i: int) -> list[Part]:
    """Say so when the run lets a query see other keys than the rules do."""
    rules = masks.allowed(view.stages.rules, view.sizes, view.stages.i, view.stages.j)[view.batch, view.head]
    by_rule, by_run = rules[view.row(i)], view.stage("allowed")[view.row(i)]
    wrong = np.flatnonzero(by_rule != by_run)
    if not len(wrong):
        return []
    j = int(wrong[0])
    key = "unlike.blocked" if by_rule[j] else "unlike.opened"
    return [Prose(view.say(key, query=view.query_words(i), j=j))]
