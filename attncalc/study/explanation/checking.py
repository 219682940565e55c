"""The last step: what must hold for every attention, checked on these numbers."""

import numpy as np

from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import Step, Verdict
from attncalc.study.explanation.view import View


def check(view: View) -> Step:
    """Check the rows at hand: sums, blocked keys, range of the outputs."""
    sums = view.stage("weights").sum(axis=-1) + _sinks(view)
    verdicts = [_sums(view, sums), _blocked(view), _range(view)]
    return Step(
        id="check",
        title=view.say("check.title"),
        formula="",
        latex="",
        parts=tuple(verdict for verdict in verdicts if verdict is not None),
        values={"row_sums": sums},
    )


def _sinks(view: View) -> Array:
    """Return what the sink takes of each row, (rows,); 0 without a sink."""
    sink = view.stages.rules.sink
    if sink is None or view.stages.lse is None:
        return np.zeros(len(view.at_hand))
    return np.asarray(np.exp(sink[view.head] - view.stage("lse")))


def _filled(view: View) -> Array:
    """Return the rows in which something is attended to, (rows,)."""
    return np.asarray(view.stage("allowed").any(axis=-1))


def _tolerance(view: View) -> float:
    return 4 * view.sizes.S * view.stages.rules.arithmetic.epsilon


def _sums(view: View, sums: Array) -> Verdict | None:
    say, sink = view.say, view.stages.rules.sink is not None
    rows = np.flatnonzero(_filled(view)) if not sink else np.arange(len(sums))
    if not len(rows):
        return None
    off = np.abs(sums[rows] - 1)
    if (off <= _tolerance(view)).all():
        most = float(off.max())
        return Verdict(True, say("check.sums.sink" if sink else "check.sums", off=f"{most:.0e}" if most else "0"))
    worst = rows[int(np.argmax(np.where(np.isnan(off), np.inf, off)))]
    return Verdict(False, say("check.sums.wrong", query=view.query_words(view.at_hand[worst]), got=float(sums[worst])))


def _blocked(view: View) -> Verdict | None:
    say, allowed = view.say, view.stage("allowed")
    filled = _filled(view)[:, np.newaxis]
    if (allowed | ~filled).all():
        return None
    leaking = np.argwhere(~allowed & filled & (view.stage("weights") != 0))
    if not len(leaking):
        return Verdict(True, say("check.blocked"))
    r, j = (int(n) for n in leaking[0])
    weight = float(view.stage("weights")[r, j])
    return Verdict(False, say("check.blocked.wrong", query=view.query_words(view.at_hand[r]), j=j, weight=weight))


def _range(view: View) -> Verdict | None:
    """Check that every output lies between the smallest and the largest value that the query may see."""
    say, value, heads = view.say, view.value, view.stage("heads")
    shown = None
    for r, i in enumerate(view.at_hand):
        seen = value[view.stage("allowed")[r]]
        if not len(seen):
            continue
        low, high = seen.min(axis=0), seen.max(axis=0)
        if view.stages.rules.sink is not None:  # the sink's share goes to a value of zero
            low, high = np.minimum(low, 0), np.maximum(high, 0)
        room = _tolerance(view) * np.maximum(np.abs(low), np.abs(high))
        outside = np.flatnonzero(~((heads[r] >= low - room) & (heads[r] <= high + room)))
        if len(outside):
            c = int(outside[0])
            ends = {"low": float(low[c]), "high": float(high[c]), "got": float(heads[r, c])}
            return Verdict(False, say("check.range.wrong", query=view.query_words(i), c=c, **ends))
        if shown is None and i in view.queries:
            least, most = (say.number(float(bound[0]), fixed=False) for bound in (low, high))
            bounds = f"{least} ≤ {say.number(float(heads[r, 0]))} ≤ {most}"
            shown = say("check.range", query=view.query_words(i), bounds=bounds)
    return None if shown is None else Verdict(True, shown)
