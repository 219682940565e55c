"""Somebody's answer in the page to explore: the verdict, then the answer, what is right, and the difference."""

from collections.abc import Iterator

import numpy as np

from attncalc.core.shapes import Array
from attncalc.show.document import Block, Document, Matrix, Note, Role
from attncalc.show.pages.check import page
from attncalc.show.pages.compute import PREFIX
from attncalc.show.pages.rules import Rows
from attncalc.study.check import Verdict

SLICES = 6
"""So many batches and heads are shown, those with the largest errors first."""


def answer(verdict: Verdict, header: Rows) -> Document:
    """Make the page of ``check``, its verdict first, with three matrices for every batch and head."""
    said = [block for block in page(verdict, header).blocks if not isinstance(block, Matrix)]
    rules, verdict_in_words, numbers, *explanations = said
    return Document((verdict_in_words, *explanations, *_beside(verdict), numbers, rules))


def _beside(verdict: Verdict) -> Iterator[Block]:
    found, axes = verdict.comparison, verdict.problem.layout.stage_axes(verdict.stage)
    if found is None or verdict.got.ndim != len(axes):
        return
    inner = [axis for axis in PREFIX if axis in axes]
    outer = [axis for axis in axes if axis not in PREFIX]
    order = [axes.index(axis) for axis in (*outer, *inner)]
    got, right, wrong = (array.transpose(order) for array in (verdict.got, verdict.expected, found.wrong))
    with np.errstate(invalid="ignore"):
        difference = np.where(got == right, 0, got - right)
    errors = np.where(np.isnan(difference), np.inf, np.abs(difference))
    places = list(np.ndindex(got.shape[: len(outer)]))
    places.sort(key=lambda place: -float(errors[place].max(initial=0)))
    for place in places[:SLICES]:
        where = "".join(f" · {axis} {n}" for axis, n in zip(outer, place, strict=True))
        yield _matrix(verdict, f"this answer{where}", got[place], inner, wrong[place], Role.WRONG)
        yield _matrix(verdict, f"right{where}", right[place], inner, wrong[place], Role.RIGHT)
        share = errors[place] / max(float(errors[np.isfinite(errors)].max(initial=0)), np.finfo(np.float64).tiny)
        yield _matrix(verdict, f"difference{where}", difference[place], inner, None, Role.NORMAL, np.minimum(share, 1))
    if len(places) > SLICES:
        yield Note(f"{SLICES} of {len(places)} are shown, those with the largest errors")


def _matrix(
    verdict: Verdict,
    title: str,
    values: Array,
    inner: list[str],
    wrong: Array | None,
    role: Role,
    strength: Array | None = None,
) -> Matrix:
    tokens = {"query": verdict.problem.query_tokens, "key": verdict.problem.key_tokens}
    vector = len(inner) == 1
    cells = np.argwhere(wrong.reshape(len(wrong), -1)) if wrong is not None else ()
    return Matrix(
        title,
        values,
        rows=tokens.get(inner[0]),
        columns=(verdict.stage,) if vector else tokens.get(inner[1]),
        row_prefix=PREFIX[inner[0]],
        column_prefix=PREFIX[inner[-1]],
        marks={(int(i), int(j)): role for i, j in cells},
        strength=strength,
        fixed=True,
    )
