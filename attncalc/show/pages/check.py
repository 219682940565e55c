"""The page of ``attncalc check``: the verdict, how far off and where, and which mistake gives this answer."""

import numpy as np

from attncalc.core.shapes import Array
from attncalc.errors import shape_text
from attncalc.show.document import Block, Document, Facts, Heading, Matrix, Note, Role, Span, Text
from attncalc.show.pages.rules import Rows
from attncalc.study.check import Verdict
from attncalc.study.search import Found

LISTED = 8
"""So many explanations are told."""

FEW_UNITS = 1e6
"""A larger error has nothing to do with the last place."""

LARGEST = 400
"""An answer with more numbers is not shown."""


def page(verdict: Verdict, header: Rows) -> Document:
    """Make the page.

    Args:
        verdict: what came out.
        header: the rules in force.
    """
    sign, role = ("✓ ", Role.RIGHT) if verdict.agrees else ("✗ ", Role.WRONG)
    blocks: list[Block] = [
        Facts(header),
        Text((Span(sign + verdict.sentence[:1].upper() + verdict.sentence[1:], role), ".")),
        Facts(_numbers(verdict)),
    ]
    if verdict.agrees:
        return Document(tuple(blocks))
    blocks += _explanations(verdict)
    blocks += [Text(f"{remark[:1].upper()}{remark[1:]}.") for remark in verdict.observations]
    blocks += _beside(verdict)
    return Document(tuple(blocks))


def _numbers(verdict: Verdict) -> Rows:
    tolerance, found = verdict.tolerance, verdict.comparison
    allowed = ("allowed", f"rtol {tolerance.rtol:g}, atol {tolerance.atol:g} ({tolerance.reason})")
    if found is None:
        return (("shape", shape_text(verdict.got.shape)), ("right", shape_text(verdict.expected.shape)), allowed)
    rows = [
        ("largest error", f"{found.max_abs_error:.4g}"),
        ("relative", f"{found.max_rel_error:.4g}"),
        allowed,
    ]
    if found.max_ulp_error < FEW_UNITS:
        rows.insert(2, ("in units", f"{found.max_ulp_error:.4g} of the last place of {tolerance.dtype}"))
    if found.agrees:
        rounding = "the last digits" if found.rounding == "float64" else f"{found.rounding} rounding"
        return (*rows, ("consistent with", rounding)) if found.rounding and found.max_abs_error else tuple(rows)
    worst = found.worst
    where = ", ".join(
        f"{axis} {n}" for axis, n in zip(verdict.problem.layout.stage_axes(verdict.stage), worst.index, strict=True)
    )
    return (
        ("worst", f"{where}: got {worst.got:.8g}, right is {worst.expected:.8g}"),
        ("wrong", f"{int(found.wrong.sum())} of {found.wrong.size}: {'; '.join(verdict.places)}"),
        *rows,
    )


def _explanations(verdict: Verdict) -> list[Block]:
    found = verdict.mistakes
    if not found:
        pairs = f", and none of {verdict.pairs} pairs of them" if verdict.pairs else ""
        return [Text(f"None of the {verdict.tried} known mistakes that apply here explains it{pairs}.")]
    blocks: list[Block] = []
    if len(found) > 1:
        blocks.append(Text(f"{len(found)} explanations give this answer, within the tolerance; the nearest first."))
    for each in found[:LISTED]:
        blocks += _explanation(each)
    if len(found) > LISTED:
        more = " ".join("+".join(each.ids) for each in found[LISTED:])
        blocks.append(Note(f"and {len(found) - LISTED} more: {more}"))
    return blocks


def _explanation(found: Found) -> list[Block]:
    blocks: list[Block] = [Heading(f"{' together with '.join(found.ids)}: {found.title}", level=2)]
    for mistake in found.mistakes:
        words = mistake.words()
        rows = [("does", words.what), ("but", words.why), ("numpy", mistake.instead.numpy)]
        blocks.append(Facts((*rows, ("PyTorch", mistake.instead.torch))))
    return blocks


def _beside(verdict: Verdict) -> list[Block]:
    """Show the answer and what is right, when there are few numbers: of several heads the one that is off most."""
    found, problem = verdict.comparison, verdict.problem
    if found is None:
        return []
    axes = problem.layout.stage_axes(verdict.stage)
    shown = [axis for axis in ("query", "key", "column") if axis in axes]
    fixed = {axis: n for axis, n in zip(axes, found.worst.index, strict=True) if axis not in shown}
    where = "".join(f" · {axis} {n}" for axis, n in fixed.items())
    by_key = "key" in shown

    def slice_of(array: Array) -> Array:
        part = array[tuple(fixed.get(axis, slice(None)) for axis in axes)]
        return part.transpose([[a for a in axes if a in shown].index(axis) for axis in shown])

    def matrix(title: str, array: Array, role: Role) -> Matrix:
        wrong = slice_of(found.wrong)
        return Matrix(
            f"{title}{where}",
            slice_of(array),
            rows=problem.query_tokens,
            columns=problem.key_tokens if by_key else None,
            column_prefix="k" if by_key else "d",
            marks={(int(i), int(j)): role for i, j in np.argwhere(wrong.reshape(len(wrong), -1))},
        )

    if slice_of(found.wrong).size > LARGEST:
        return []
    return [matrix("this answer", verdict.got, Role.WRONG), matrix("right", verdict.expected, Role.RIGHT)]
