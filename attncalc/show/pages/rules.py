"""The head of a page: shapes, and the rules in force, so that nobody has to guess."""

import math

import numpy as np

from attncalc.core.dialects import Adopted
from attncalc.core.prepare import Problem
from attncalc.errors import LETTERS, shape_text

Rows = tuple[tuple[str, str], ...]

FILLED = {
    "error": "an error",
    "zero": "zeros",
    "nan": "NaN",
    "uniform": "the mean of all values",
}


def header(problem: Problem) -> Rows:
    """Return the facts at the head of a page, as (name, text)."""
    shapes = [f"{LETTERS.get(name, name)} {shape_text(shape)}" for name, shape in problem.shapes.items()]
    rows = [("shapes", " · ".join(shapes)), *_heads(problem), ("scale", _scale(problem))]
    rows += [("change", text) for text in _changes(problem)]
    rows += [("masks", " and ".join(_masks(problem)) or "none")]
    rows += [("dtype", problem.rules.arithmetic.name)]
    if problem.empty.any():
        rows.append(("empty rows", FILLED[problem.rules.empty_rows]))
    if problem.adopted is not None:
        rows.append(("like", like_text(problem.adopted)))
    return tuple(rows)


def like_text(adopted: Adopted) -> str:
    """Say which library's rules hold, how they are known, and what they changed."""
    dialect = adopted.dialect
    flag = f" ({dialect.flag})" if dialect.flag else ""
    changed = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in adopted.changed.items())
    return f"{dialect.name}{flag}, {dialect.source}: {changed or 'nothing differs here'}"


def _heads(problem: Problem) -> Rows:
    heads, kv_heads = problem.sizes.H, problem.sizes.G
    if not problem.layout.has_heads:
        return ()
    shared = "" if heads == kv_heads else f", {heads // kv_heads} on each of {kv_heads} key/value heads"
    packed = ", packed in the last axis" if problem.layout.packed else ""
    return (("heads", f"{heads}{shared}{packed}"),)


def _scale(problem: Problem) -> str:
    scale, d = problem.rules.scale, problem.sizes.d
    return f"{scale:.6g} = 1/√{d}" if scale == 1 / math.sqrt(d) else f"{scale:.6g}"


def _changes(problem: Problem) -> list[str]:
    """Say what is done to the scores, and to Q and K, beside scale and masks."""
    rules, sizes = problem.rules, problem.sizes
    found = []
    if sizes.P:
        found.append(f"{sizes.P} past keys in front")
    if rope := rules.rope:
        columns = "" if rope.dims == sizes.d else f", first {rope.dims} columns"
        found.append(f"RoPE ({rope.pairing}, base {rope.base:g}{columns}, from position {rope.start})")
    if rules.softcap is not None:
        found.append(f"soft cap {rules.softcap:g}")
    if rules.bias is not None:
        found.append("bias added")
    if rules.alibi_slopes is not None:
        found.append("ALiBi" if rules.alibi_standard else "ALiBi with given slopes")
    if rules.sink is not None:
        found.append("sink in the denominator")
    return found


def _masks(problem: Problem) -> list[str]:
    rules = problem.rules
    placed = "past keys" if rules.align == "past" else rules.align
    found = [f"causal ({placed})"] if rules.causal else []
    if rules.window_left is not None or rules.window_right is not None:
        left = "all" if rules.window_left is None else rules.window_left
        right = "all" if rules.window_right is None else rules.window_right
        found.append(f"window ({left} to the left, {right} to the right{'' if rules.causal else f', {placed}'})")
    if rules.mask is not None:
        found.append(f"mask file (true = {rules.mask_true})")
    if rules.bias is not None and np.isneginf(rules.bias).any():
        found.append("bias (where it is −∞)")
    if rules.padding is not None:
        found.append(f"padding (true = {'real' if rules.mask_true == 'allowed' else 'padding'})")
    if rules.lengths is not None:
        found.append(f"lengths {','.join(map(str, rules.lengths))}")
    if rules.padding_tokens is not None:
        found.append(f"pad token {problem.options['pad_token']}")
    return found
