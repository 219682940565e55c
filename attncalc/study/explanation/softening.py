"""The softmax in its true steps: row maximum, differences, exponentials, their sum, quotients."""

from dataclasses import dataclass

import numpy as np

from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import MORE, Grid, Part, Prose, Step, Worked, Working
from attncalc.study.explanation.unlike import unlike
from attncalc.study.explanation.view import LEFT_OUT, View, ends, with_gaps


@dataclass(frozen=True, eq=False)
class Softmax:
    """The numbers between scores and weights, for the queries at hand.

    Attributes:
        maximum: m, (rows,); the sink counts; 0 where everything is blocked.
        differences: scores − m, (rows, S).
        exponentials: exp(scores − m), (rows, S).
        sink: exp(sink − m), (rows,); 0 without a sink.
        total: their sum, the sink's too, (rows,).
    """

    maximum: Array
    differences: Array
    exponentials: Array
    sink: Array
    total: Array


def between(view: View) -> Softmax:
    """Work the numbers out."""
    scores, sink = view.stage("scores"), view.stages.rules.sink
    m = scores.max(axis=-1)
    if sink is not None:
        m = np.maximum(m, scores.dtype.type(sink[view.head]))
    m = np.where(np.isneginf(m), 0, m)
    with np.errstate(invalid="ignore"):  # scores may be infinite
        differences = scores - m[:, np.newaxis]
    exponentials = np.exp(differences)
    extra = np.zeros_like(m) if sink is None else np.exp(sink[view.head] - m)
    return Softmax(m, differences, exponentials, extra, exponentials.sum(axis=-1) + extra)


def soften(view: View) -> Step:
    """Turn scores into weights that are positive and sum to 1."""
    say, found = view.say, between(view)
    parts: list[Part] = [Prose(say("softmax.text"))]
    for i in view.queries:
        parts += _in_full(view, i, found)
    if view.stages.rules.sink is not None:
        parts.append(Prose(say("softmax.sink")))
    if view.several:
        parts.append(view.numbers("weights", blocked=True, shares=True))
    return Step(
        id="softmax",
        title=say("softmax.title"),
        formula="weights = exp(scores − m) / Σ exp(scores − m),   m = max(scores)",
        latex=r"\mathrm{weights}_{ij} = \frac{\exp(\mathrm{scores}_{ij} - m_i)}"
        r"{\sum_{j'} \exp(\mathrm{scores}_{ij'} - m_i)}, \quad m_i = \max_j \mathrm{scores}_{ij}",
        parts=tuple(parts),
        values={
            "maximum": found.maximum,
            "differences": found.differences,
            "exponentials": found.exponentials,
            "sum": found.total,
            "lse": _lse(view, found),
            "weights": view.stage("weights"),
        },
    )


def _lse(view: View, found: Softmax) -> Array:
    """Return lse as the run has it; a mistaken softmax may have none."""
    run: Array | None = view.stages.lse
    if run is not None:
        return view.stage("lse")
    with np.errstate(divide="ignore"):
        return np.asarray(found.maximum + np.log(found.total))


def _in_full(view: View, i: int, found: Softmax) -> list[Part]:
    say, r = view.say, view.row(i)
    scores, weights = view.stage("scores")[r], view.stage("weights")[r]
    sink = view.stages.rules.sink
    open_keys = np.flatnonzero(~np.isneginf(scores))
    if not len(open_keys) and sink is None:
        policy = view.stages.rules.empty_rows
        return [Prose(say(f"softmax.empty.{policy}", query=view.query_words(i), share=1 / view.sizes.S))]
    m, total, e = float(found.maximum[r]), float(found.total[r]), found.exponentials[r]
    listed = [int(j) for j in open_keys]
    candidates = [say.number(float(scores[j])) for j in listed] if len(listed) <= 4 else []
    candidates += [say.number(float(sink[view.head]))] if sink is not None and (candidates or not listed) else []
    largest = f"max({', '.join(candidates)})" if candidates else say("softmax.largest", n=len(listed))
    adds = say.row(e, fixed=True)
    shown = with_gaps(listed[n] for n in ends(len(listed), 6))
    terms = [MORE if j == LEFT_OUT else adds[j] for j in shown]
    if sink is not None:
        terms.append(say.number(float(found.sink[r])))
    parts: list[Part] = [
        Working((Worked("m", (largest,), say.number(m)),)),
        _table(view, i, found),
        Working(
            (
                Worked(say("softmax.sum"), tuple(terms), say.number(total)),
                *_quotients(view, i, listed, adds, total, weights),
                Worked(
                    "lse",
                    ("m + ln(sum)", f"{say.number(m)} + {say.number(float(np.log(total)))}"),
                    say.number(m + float(np.log(total))),
                    sign="=",
                ),
            )
        ),
    ]
    parts.append(Prose(say("softmax.lse")))
    if any(float(scores[j]) == 0 for j in listed):
        parts.append(Prose(say("softmax.zero")))
    parts += unlike(view, weights, e / total, "weights")
    return parts


def _quotients(view: View, i: int, keys: list[int], adds: list[str], total: float, weights: Array) -> list[Worked]:
    """Divide for the keys with a weight; of many, for the two heaviest."""
    say = view.say
    written = say.row(weights, fixed=True)
    chosen = keys if len(keys) <= 4 else sorted(sorted(keys, key=lambda j: -float(weights[j]))[:2])
    return [Worked(f"weights[{i}, {j}]", (f"{adds[j]} / {say.number(total)}",), written[j]) for j in chosen]


def _table(view: View, i: int, found: Softmax) -> Grid:
    """Set score, difference, exponential and weight beside each other, key by key, and their sums below."""
    say, r = view.say, view.row(i)
    columns = [
        say.row(row, fixed=True)
        for row in (view.stage("scores")[r], found.differences[r], found.exponentials[r], view.stage("weights")[r])
    ]
    rows = [
        (view.key_label(j), *((MORE if j == LEFT_OUT else column[j]) for column in columns)) for j in view.keys_shown(i)
    ]
    weight_sum = float(view.stage("weights")[r].sum())
    sink = view.stages.rules.sink
    if sink is not None:
        logit, e, total = float(sink[view.head]), float(found.sink[r]), float(found.total[r])
        numbers = (logit, logit - float(found.maximum[r]), e, e / total)
        rows.append((say("softmax.sink.label"), *(say.number(number) for number in numbers)))
        weight_sum += e / total
    rows.append((say("softmax.sum"), "", "", say.number(float(found.total[r])), say.number(weight_sum)))
    return Grid(
        (
            say("softmax.key"),
            say("softmax.score"),
            say("softmax.difference"),
            say("softmax.exp"),
            say("softmax.weight"),
        ),
        tuple(rows),
    )
