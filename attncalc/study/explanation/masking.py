"""The step that blocks: what each mask says, −∞, and the weights without the mask beside those with it."""

import numpy as np

from attncalc.core import masks, softmax
from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import GAP, MORE, Grid, Part, Prose, Step
from attncalc.study.explanation.unlike import unlike_mask
from attncalc.study.explanation.view import LEFT_OUT, View


def mask(view: View) -> Step:
    """Put −∞ in place of every score that the query may not see."""
    say = view.say
    blocks = blocking(view)
    parts: list[Part] = []
    if blocks:
        parts += [
            Prose(say("mask.rules")),
            Grid((say("mask.mask"), say("mask.rule")), _rules(view, blocks), frozenset({0, 1})),
        ]
    else:
        parts.append(Prose(say("mask.none")))
    kinds = set()  # of the rows with blocked keys: do they have others?
    for i in view.queries:
        allowed = view.stage("allowed")[view.row(i)]
        parts += unlike_mask(view, i)
        if allowed.all():
            parts += [Prose(say("mask.all", query=view.query_words(i)))] if blocks else []
            continue
        kinds.add(bool(allowed.any()))
        parts.append(Prose(_verdict(view, i, allowed)))
        parts += empty(view, i)
        parts.append(_beside(view, i, allowed, blocks))
    if kinds:
        some = ".none" if True not in kinds else ".some" if False in kinds else ""
        parts.append(Prose(say(f"mask.infinity{some}")))
    if blocks and view.several:
        parts.append(view.numbers("scores", blocked=True))
    return Step(
        id="mask",
        title=say("mask.title"),
        formula=formula(view),
        latex=rf"\mathrm{{scores}}_{{ij}} = \mathrm{{{last_stage(view)}}}_{{ij}} \;\mathrm{{or}}\; -\infty",
        parts=tuple(parts),
        values={
            "allowed": view.stage("allowed"),
            "scores": view.stage("scores"),
            "weights_without_mask": without_mask(view),
        },
    )


def last_stage(view: View) -> str:
    """Name the stage that the mask changes: without soft cap and bias the scores are those of the scale."""
    rules = view.stages.rules
    if rules.bias is not None or rules.alibi_slopes is not None:
        return "biased"
    return "scaled" if rules.softcap is None else "capped"


def formula(view: View) -> str:
    """Write the formula of the mask."""
    return view.say("mask.formula", before=last_stage(view))


def blocking(view: View) -> dict[str, Array]:
    """Return what each mask in force allows this head, by name: (rows, S)."""
    found = {}
    shape = view.stages.scores.shape
    for name, allowed in masks.in_force(view.stages.rules, view.sizes, view.stages.i, view.stages.j).items():
        found[name] = np.broadcast_to(allowed, shape)[view.batch, view.head]
    return found


def without_mask(view: View) -> Array:
    """Return the weights that the queries would have if nothing were blocked: (rows, S)."""
    scores = view.stage("biased")
    sink = view.stages.rules.sink
    logits = None if sink is None else np.full(scores.shape[:-1], sink[view.head], scores.dtype)
    return softmax.softmax(scores, logits)[1]


def _rules(view: View, blocks: dict[str, Array]) -> tuple[tuple[str, str], ...]:
    say, rules, sizes = view.say, view.stages.rules, view.sizes
    steps = masks.offset(rules, sizes)
    offset = int(steps[view.batch if len(steps) > 1 else 0])
    place = "i" if offset == 0 else f"i {'+' if offset > 0 else '−'} {abs(offset)}"
    texts = {
        "causal": say("mask.causal", place=place),
        "window": say("mask.window", window=_window(view, place)),
        "mask": say("mask.file", true=say(f"mask.{rules.mask_true}")),
        "real": say("mask.real"),
        "bias": say("mask.bias"),
    }
    return tuple((say(f"mask.name.{name}"), texts[name]) for name in blocks)


def _window(view: View, place: str) -> str:
    rules = view.stages.rules
    left = "" if rules.window_left is None else f"{place} − {rules.window_left} ≤ "
    right = "" if rules.window_right is None else f" ≤ {place} + {rules.window_right}"
    return f"{left}j{right}"


def _verdict(view: View, i: int, allowed: Array) -> str:
    say, query = view.say, view.query_words(i)
    if not allowed.any():
        key = "mask.empty.sink" if view.stages.rules.sink is not None else "mask.empty"
        return say(key, query=query)
    seen, hidden = (view.keys_words(int(j) for j in np.flatnonzero(cells)) for cells in (allowed, ~allowed))
    return say("mask.verdict", query=query, seen=seen, hidden=hidden)


def empty(view: View, i: int) -> list[Part]:
    """Say which option decides what query i gets, when it may attend to no key and no sink takes its weight."""
    if view.stage("allowed")[view.row(i)].any() or view.stages.rules.sink is not None:
        return []
    return [Prose(view.say(f"mask.empty.{view.stages.rules.empty_rows}"))]


def _beside(view: View, i: int, allowed: Array, blocks: dict[str, Array]) -> Grid:
    """Set score, verdict and weight without and with the mask beside each other, key by key."""
    say, r = view.say, view.row(i)
    before, after, free, weights = (
        say.row(row, fixed=True)
        for row in (view.stage("biased")[r], view.stage("scores")[r], without_mask(view)[r], view.stage("weights")[r])
    )

    def weight(j: int) -> str:
        return weights[j] if allowed[j] or view.stage("weights")[r, j] != 0 else "0"

    rows = []
    for j in view.keys_shown(i):
        if j == LEFT_OUT:
            rows.append((GAP, *[MORE] * 5))
            continue
        reasons = [say(f"mask.name.{name}") for name, allows in blocks.items() if not allows[r, j]]
        verdict = say("mask.yes") if allowed[j] else say("mask.no", reasons=", ".join(reasons))
        rows.append((view.key_label(j), before[j], verdict, after[j], free[j], weight(j)))
    names = ("key", "before", "verdict", "after", "free", "weight")
    return Grid(tuple(say(f"mask.column.{name}") for name in names), tuple(rows), frozenset({0, 2}))
