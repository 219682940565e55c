"""The step of ``--online``: the softmax block by block, on the same numbers, with the same answer."""

import math

import numpy as np

from attncalc.core.shapes import Array
from attncalc.errors import OptionError
from attncalc.study.explanation.parts import GAP, MORE, Grid, Part, Prose, Step, Verdict, Worked, Working
from attncalc.study.explanation.view import LEFT_OUT, View, ends, in_product, vector, with_gaps
from attncalc.study.online import Block, Trace, online

BLOCKS = 6
"""So many blocks are worked out; of more, both ends."""

COLUMNS = 4


def trace(view: View, block: int | None) -> Step:
    """Read the row of each query in blocks, and compare the answer.

    Args:
        view: what is looked at.
        block: keys in a block; about a quarter of them unless given.
    """
    say = view.say
    size = max(1, round(view.sizes.S / 4)) if block is None else block
    if size < 1:
        raise OptionError(f"--block must be 1 or more, not {size}")
    sink = view.stages.rules.sink
    parts: list[Part] = [Prose(say("online.text")), Prose(say.count("online.size", size))]
    if sink is not None:
        parts.append(Prose(say("online.sink", sink=float(sink[view.head]))))
    values = {}
    for i in view.queries:
        scores = view.stage("scores")[view.row(i)]
        found = online(scores, view.value, size, None if sink is None else float(sink[view.head]))
        if len(view.queries) > 1:
            parts.append(Prose(say("online.query", query=view.query_words(i))))
        parts += _told(view, i, found)
        values = {
            "block": np.array(size),
            "maximum": np.array([b.maximum for b in found.blocks]),
            "sum": np.array([b.total for b in found.blocks]),
            "rescale": np.array([b.shrink for b in found.blocks]),
            "accumulated": np.array([b.output for b in found.blocks]),
            "output": found.output,
        }
    parts.append(Prose(say("online.why", S=view.sizes.S)))
    return Step(
        id="online",
        title=say("online.title"),
        formula="m′ = max(m, scores),   r = exp(m − m′),   l′ = r × l + Σ exp(scores − m′),   "
        "o′ = r × o + Σ exp(scores − m′) × V",
        latex=r"m' = \max(m, s), \quad r = e^{m - m'}, \quad l' = r\,l + \sum_j e^{s_j - m'}, \quad"
        r" o' = r\,o + \sum_j e^{s_j - m'} V_j",
        parts=tuple(parts),
        values=values,
    )


def _told(view: View, i: int, found: Trace) -> list[Part]:
    say = view.say
    parts: list[Part] = []
    for n in with_gaps(ends(len(found.blocks), BLOCKS)):
        if n == LEFT_OUT:
            parts.append(Prose(say("online.more", n=len(found.blocks) - BLOCKS)))
            continue
        block = found.blocks[n]
        keys = view.keys_words(range(block.first, block.last + 1))
        if block.skipped:
            parts.append(Prose(say("online.skipped", number=n + 1, keys=keys)))
            continue
        parts.append(Prose(say("online.block", number=n + 1, keys=keys)))
        parts.append(Working(tuple(_lines(view, block, found.blocks[n - 1] if n else None))))
    parts.append(_summary(view, found))
    last = found.blocks[-1]
    if last.total > 0:
        quotient = f"{_vector(view, last.output)} / {say.number(last.total)}"
        parts.append(Working((Worked(say("online.end"), (quotient,), _vector(view, found.output)),)))
    same = np.allclose(found.output, view.stage("heads")[view.row(i)], rtol=_tolerance(view), atol=_tolerance(view))
    if not view.stages.allowed[view.batch, view.head, view.row(i)].any() and view.stages.rules.sink is None:
        parts.append(Prose(say("online.empty", query=view.query_words(i))))
    else:
        parts.append(Verdict(bool(same), say("online.same" if same else "online.differs")))
    return parts


def _tolerance(view: View) -> float:
    return max(1e-9, 16 * view.stages.rules.arithmetic.epsilon)


def _lines(view: View, block: Block, before: Block | None) -> list[Worked]:
    say = view.say
    usable = [float(score) for score in block.scores if score != -math.inf]
    maximum, old = say.number(block.maximum), say.number(block.before)
    started = block.before != -math.inf
    largest = say.number(max(usable))
    lines = [Worked("m", (f"max({old}, {largest})",), maximum)] if started else [Worked("m", (largest,))]
    terms = [say.number(float(e)) for e in block.exponentials if e != 0]
    if len(terms) > COLUMNS:
        terms = [*terms[: COLUMNS - 1], MORE, terms[-1]]
    sums = say.number(block.total)
    if started:
        r = say.number(block.shrink)
        kept = say.number(before.total if before else 1.0)
        lines.append(Worked("r", (f"exp({old} − {in_product(maximum)})",), r))
        lines.append(Worked("l", (f"{r} × {kept}", *terms), sums))
        so_far = [f"{r} × {_vector(view, before.output)}"] if before else []
    else:
        lines.append(Worked("l", tuple(terms), sums if len(terms) > 1 else ""))
        so_far = []
    lines.append(Worked("o", (*so_far, *_shares(view, block)), _vector(view, block.output)))
    return lines


def _shares(view: View, block: Block) -> list[str]:
    """Write what each key of a block adds to the output: exp(score − m) × its value."""
    keys = [n for n, e in enumerate(block.exponentials) if e != 0]
    shown = with_gaps(keys[n] for n in ends(len(keys), COLUMNS - 1))
    written = view.say.row(block.exponentials, fixed=True)
    return [
        MORE if n == LEFT_OUT else f"{written[n]} × {_vector(view, view.value[block.first + n], fixed=False)}"
        for n in shown
    ]


def _summary(view: View, found: Trace) -> Grid:
    """Set what is kept after each block below each other."""
    say = view.say
    columns = [
        say.row([getattr(block, name) for block in found.blocks], fixed=True) for name in ("maximum", "shrink", "total")
    ]
    rows = []
    for n in with_gaps(ends(len(found.blocks), 2 * BLOCKS)):
        if n == LEFT_OUT:
            rows.append((GAP, *[MORE] * 5))
            continue
        block = found.blocks[n]
        keys = f"k{block.first}" if block.first == block.last else f"k{block.first}–k{block.last}"
        rows.append((str(n + 1), keys, *(column[n] for column in columns), _vector(view, block.output)))
    head = (say("online.column.block"), say("online.column.keys"), "m", "r", "l", "o")
    return Grid(head, tuple(rows), frozenset({0, 1, 5}))


def _vector(view: View, numbers: Array, fixed: bool = True) -> str:
    return vector(view.say.row(numbers, fixed), COLUMNS)
