"""The last step: what must hold for every attention, checked on these numbers."""

import numpy as np

from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import MORE, Part, Prose, Step, Verdict
from attncalc.study.explanation.view import View

NAMED = 6
"""So many queries without any key are named."""


def check(view: View) -> Step:
    """Check the rows at hand: sums, blocked keys, range of the outputs."""
    sums = view.stage("weights").sum(axis=-1) + _sinks(view)
    verdicts = [_sums(view, sums), _blocked(view), _range(view)]
    parts: list[Part] = [verdict for verdict in verdicts if verdict is not None]
    return Step(
        id="check",
        title=view.say("check.title"),
        formula="",
        latex="",
        parts=(*parts, *_left_out(view)),
        values={"row_sums": sums},
    )


def _sinks(view: View) -> Array:
    """Return what the sink takes of each row, (rows,); 0 without a sink."""
    sink = view.stages.rules.sink
    if sink is None or view.stages.lse is None:
        return np.zeros(len(view.at_hand))
    return np.asarray(np.exp(sink[view.head] - view.stage("lse")))


def _checked(view: View) -> Array:
    """Return the rows in which something is attended to, the sink too, (rows,)."""
    if view.stages.rules.sink is not None:
        return np.ones(len(view.at_hand), dtype=bool)
    return np.asarray(view.stage("allowed").any(axis=-1))


def _key(view: View, key: str) -> str:
    """Choose the text for all queries, or for those that have keys."""
    return key if _checked(view).all() else f"{key}.some"


def _left_out(view: View) -> list[Part]:
    """Name the queries that no check is about."""
    checked = _checked(view)
    names = [view.query_words(i) for i, each in zip(view.at_hand, checked, strict=True) if not each]
    if not names:
        return []
    shown = names if len(names) <= NAMED else [*names[: NAMED - 1], MORE, names[-1]]
    key = "check.empty" if checked.any() else "check.nothing"
    return [Prose(view.say.count(key, len(names), query=view.say.listed(shown)))]


def _tolerance(view: View) -> float:
    return 4 * view.sizes.S * view.stages.rules.arithmetic.epsilon


def _sums(view: View, sums: Array) -> Verdict | None:
    say, sink = view.say, view.stages.rules.sink is not None
    rows = np.flatnonzero(_checked(view))
    if not len(rows):
        return None
    off = np.abs(sums[rows] - 1)
    if (off <= _tolerance(view)).all():
        most = float(off.max())
        key = "check.sums.sink" if sink else _key(view, "check.sums")
        return Verdict(True, say(key, off=f"{most:.0e}" if most else "0"))
    worst = rows[int(np.argmax(np.where(np.isnan(off), np.inf, off)))]
    return Verdict(False, say("check.sums.wrong", query=view.query_words(view.at_hand[worst]), got=float(sums[worst])))


def _blocked(view: View) -> Verdict | None:
    say, allowed = view.say, view.stage("allowed")
    checked = _checked(view)[:, np.newaxis]
    if (allowed | ~checked).all():
        return None
    leaking = np.argwhere(~allowed & checked & (view.stage("weights") != 0))
    if not len(leaking):
        return Verdict(True, say(_key(view, "check.blocked")))
    r, j = (int(n) for n in leaking[0])
    weight = float(view.stage("weights")[r, j])
    return Verdict(False, say("check.blocked.wrong", query=view.query_words(view.at_hand[r]), j=j, weight=weight))


def _range(view: View) -> Verdict | None:
    """Check that every output lies between the smallest and the largest value that the query may see."""
    say, value, heads = view.say, view.value, view.stage("heads")
    sink = view.stages.rules.sink is not None
    right, wrong = _key(view, "check.range"), "check.range.wrong"
    if sink:
        right, wrong = "check.range.sink", "check.range.wrong.sink"
    nothing = np.zeros((1, value.shape[1]), value.dtype)
    told: dict[int, str] = {}
    for r, i in enumerate(view.at_hand):
        if not _checked(view)[r]:
            continue
        seen = value[view.stage("allowed")[r]]
        seen = np.concatenate([seen, nothing]) if sink else seen  # the sink's share goes to a value of zero
        low, high = seen.min(axis=0), seen.max(axis=0)
        room = _tolerance(view) * np.maximum(np.abs(low), np.abs(high))
        outside = np.flatnonzero(~((heads[r] >= low - room) & (heads[r] <= high + room)))
        if len(outside):
            c = int(outside[0])
            ends = {"low": float(low[c]), "high": float(high[c]), "got": float(heads[r, c])}
            return Verdict(False, say(wrong, query=view.query_words(i), c=c, **ends))
        if not told or (i in view.queries and told.keys().isdisjoint(view.queries)):
            least, most = (say.number(float(bound[0]), fixed=False) for bound in (low, high))
            bounds = f"{least} ≤ {say.number(float(heads[r, 0]))} ≤ {most}"
            told[i] = say(right, query=view.query_words(i), bounds=bounds)
    return Verdict(True, list(told.values())[-1]) if told else None
