"""Walk through a run, step by step: the right one, or that of a mistake."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attncalc.core import finite
from attncalc.core.prepare import Problem
from attncalc.core.rows import take_rows
from attncalc.core.steps import INPUT_STEPS, OUTPUT_STEPS, RIGHT, ROW_STEPS, Stages, Steps, start, walk
from attncalc.errors import OptionError, ShapeError, shape_text
from attncalc.study.explanation import cell as one_cell
from attncalc.study.explanation import checking, inputs, masking, mixing, scores, softening
from attncalc.study.explanation.parts import Explanation, Step
from attncalc.study.explanation.trace import trace
from attncalc.study.explanation.view import View
from attncalc.texts import Voice

SHORT = 12
"""Up to so many queries, all of them are computed and shown in short."""

LARGEST = 2**24
"""So many scores of one head and more are not computed for an explanation."""


def explain(
    problem: Problem,
    say: Voice,
    *,
    query: int | None = None,
    cell: tuple[int, int] | None = None,
    everything: bool = False,
    batch: int = 0,
    head: int = 0,
    online: bool = False,
    block: int | None = None,
    steps: Steps = RIGHT,
) -> Explanation:
    """Explain a problem that has been prepared.

    Of a large input only the row of the query is computed, so that no T × S stage is built.

    Args:
        problem: checked inputs and rules.
        say: the language, and how numbers look.
        query: the query that is worked out in full; the first interesting one unless given.
        cell: a query and a key: one score and one weight from the ground up, instead.
        everything: work every query out in full.
        batch: which sequence is shown; ``head`` which query head.
        head: see batch.
        online: show the softmax block by block as well, as FlashAttention computes it.
        block: keys in a block of ``online``.
        steps: the computation; that of a mistake explains the wrong run.

    Raises:
        OptionError: an index that there is not, or more rows than can be shown.
        NumberError: float64 numbers that became infinite or NaN.
    """
    sizes = problem.sizes
    _check("--batch", batch, sizes.B, "batch")
    _check("--head", head, sizes.H, "head")
    if cell is not None:
        _check("--cell", cell[0], sizes.T, "query")
        _check("--cell", cell[1], sizes.S, "key")
        query = cell[0]
    if query is None:
        query = interesting(problem, batch, head)
    _check("--query", query, sizes.T, "query")
    few = sizes.T <= SHORT and sizes.B * sizes.H * sizes.T * sizes.S <= LARGEST
    at_hand = range(sizes.T) if few or everything or steps is not RIGHT else range(query, query + 1)
    if sizes.B * sizes.H * len(at_hand) * sizes.S > LARGEST:
        raise OptionError(f"{sizes.T} queries and {sizes.S} keys are too many to explain all", hint="--query N")
    trail = _trail(problem, steps)
    stages = _rows(steps, trail[INPUT_STEPS[-1]], at_hand)
    if steps is not RIGHT:
        _check_shapes(stages)
    too_large = finite.overflow(stages, problem.layout) if steps is RIGHT else None
    notes = () if too_large is None else (too_large,)
    view = View(
        stages=stages,
        trail=trail,
        say=say,
        batch=batch,
        head=head,
        queries=tuple(at_hand) if everything else (query,),
        query_tokens=problem.query_tokens,
        key_tokens=problem.key_tokens,
        right=None if steps is RIGHT else _trail(problem, RIGHT),
    )
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # a note has named what is too large
        if cell is not None:
            return replace(one_cell.explanation(view, *cell), notes=notes, blocked=say("explain.blocked"))
        taken = walk_through(view)
        if online:
            taken.insert(-1, trace(view, block))
    return Explanation(
        title=say("explain.title"),
        intro=_intro(view),
        steps=tuple(taken),
        batch=batch,
        head=head,
        queries=view.queries,
        at_hand=tuple(at_hand),
        notes=notes,
        blocked=say("explain.blocked"),
    )


def walk_through(view: View) -> list[Step]:
    """Return the steps, those that the rules have, in the order of the computation."""
    steps = [
        inputs.shapes(view),
        inputs.project(view),
        inputs.split(view),
        inputs.rope(view),
        scores.raw(view),
        scores.scale(view),
        scores.cap(view),
        scores.bias(view),
        masking.mask(view),
        softening.soften(view),
        mixing.mix(view),
        mixing.merge(view),
        checking.check(view),
    ]
    return [step for step in steps if step is not None]


def interesting(problem: Problem, batch: int, head: int) -> int:
    """Choose a query to show: the first that a mask partly blocks and that still has a choice of keys.

    Without one, the first that is partly blocked; without a mask, the first.
    """
    partly: int | None = None
    for block, allowed in finite.blocks(problem.rules, problem.sizes):
        batches, heads = allowed.shape[:2]
        one = allowed[batch if batches > 1 else 0, head if heads > 1 else 0]
        rows = np.broadcast_to(one, (block.stop - block.start, problem.sizes.S))
        counts = rows.sum(axis=-1)
        blocked = counts < problem.sizes.S
        if len(found := np.flatnonzero(blocked & (counts > 1))):
            return int(block.start + found[0])
        if partly is None and len(found := np.flatnonzero(blocked & (counts > 0))):
            partly = int(block.start + found[0])
    return partly or 0


def _check_shapes(stages: Stages) -> None:
    """Raise an error when a mistake makes weights or outputs of another shape, which have no row for each step."""
    sizes, rows = stages.inputs.sizes, len(stages.i)
    expected = {"weights": (sizes.B, sizes.H, rows, sizes.S), "heads": (sizes.B, sizes.H, rows, sizes.d_v)}
    for name, shape in expected.items():
        got = getattr(stages, name).shape
        if got != shape:
            facts = [("right", shape_text(shape)), ("here", shape_text(got))]
            raise ShapeError(f"{name} get another shape by this mistake, so the steps cannot be told", facts=facts)


def _trail(problem: Problem, steps: Steps) -> dict[str, Stages]:
    """Return the stages after each of the input steps."""
    stages, trail = start(problem.inputs, problem.rules), {}
    for name in INPUT_STEPS:
        stages = walk(steps, (name,), stages)
        trail[name] = stages
    return trail


def _rows(steps: Steps, ready: Stages, at_hand: Sequence[int]) -> Stages:
    """Compute the rest for the queries at hand."""
    rows = slice(at_hand[0], at_hand[-1] + 1)
    part = take_rows(ready, rows)
    return walk(steps, ROW_STEPS + OUTPUT_STEPS, part)


def _intro(view: View) -> tuple[str, ...]:
    say, sizes = view.say, view.sizes
    if len(view.queries) > 1:
        focus = say("explain.everything", T=sizes.T)
    elif sizes.T == 1:
        focus = say("explain.only")
    else:
        key = "explain.focus" if view.several else "explain.focus.alone"
        focus = say(key, query=view.query_words(view.queries[0]), T=sizes.T)
    return focus, say("explain.digits")


def _check(option: str, index: int, count: int, what: str) -> None:
    if not 0 <= index < count:
        known = f"{what} 0 is the only one" if count == 1 else f"they are numbered 0 to {count - 1}"
        raise OptionError(f"{option}: there is no {what} {index}; {known}")
