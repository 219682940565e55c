"""Steps from Q and K to scores: product, scale, soft cap, bias."""

import math

import numpy as np

from attncalc.core import scores
from attncalc.core.shapes import Array
from attncalc.core.steps import alibi_bias, file_bias
from attncalc.study.explanation.parts import GAP, Part, Prose, Step, Worked, Working
from attncalc.study.explanation.unlike import unlike
from attncalc.study.explanation.view import LEFT_OUT, View, dot, in_product, lines_per_key

RAW = "raw = Q Kᵀ,   raw[i, j] = Q[i, 0]×K[j, 0] + Q[i, 1]×K[j, 1] + …"
RAW_LATEX = r"\mathrm{raw} = Q K^{\top}, \quad \mathrm{raw}_{ij} = \sum_n Q_{in} K_{jn}"


def raw(view: View) -> Step:
    """Multiply every query with every key."""
    say = view.say
    parts: list[Part] = [Prose(say("raw.text"))]
    for i in view.queries:
        query, row = view.query[view.row(i)], view.stage("raw")[view.row(i)]
        results = say.row(row)
        lines = []
        for j in view.keys_shown(i):
            if j == LEFT_OUT:
                lines.append(Worked(GAP))
            else:
                line = dot(say, f"q{i} · k{j}", query, view.key[j], row[j])
                lines.append(Worked(line.label, line.terms, results[j]))
        parts.append(Working(tuple(lines)))
        parts += unlike(view, row, view.key @ query, "raw")
    parts += _short(view, "raw", None, fixed=False)
    return Step(
        id="raw",
        title=say("raw.title"),
        formula=RAW,
        latex=RAW_LATEX,
        parts=tuple(parts),
        values={"query": view.query, "raw": view.stage("raw")},
    )


def scale(view: View, key: int | None = None) -> Step:
    """Multiply by the scale, and say why."""
    say, factor, d = view.say, view.stages.rules.scale, view.sizes.d
    usual = math.isclose(factor, 1 / math.sqrt(d), rel_tol=1e-12)
    root = math.sqrt(d)
    shown = say.number(root, fixed=False)
    parts: list[Part] = [Prose(say("scale.usual" if usual else "scale.given", d=d, factor=factor, usual=1 / root))]
    if usual:
        parts.append(Working((Worked("scale", (f"1/√{d}", f"1/{shown}"), say.number(factor), sign="="),)))
    factor_text = say.number(factor)
    for i in view.queries:
        raws, results = say.row(view.stage("raw")[view.row(i)]), say.row(view.stage("scaled")[view.row(i)], fixed=True)
        parts.append(
            lines_per_key(
                (j, Worked(f"scaled[{i}, {j}]", (f"{in_product(raws[j])} × {in_product(factor_text)}",), results[j]))
                for j in _keys(view, i, key)
            )
        )
        parts += unlike(view, view.stage("scaled")[view.row(i)], view.stage("raw")[view.row(i)] * factor, "scaled")
    parts += _short(view, "scaled", key)
    return Step(
        id="scale",
        title=say("scale.title"),
        formula=f"scaled = raw × scale,   scale = {f'1/√d = 1/√{d} = ' if usual else ''}{factor_text}",
        latex=r"\mathrm{scaled} = \mathrm{raw} \cdot \mathrm{scale}, \quad \mathrm{scale} = "
        + (rf"\frac{{1}}{{\sqrt{{d}}}} = \frac{{1}}{{\sqrt{{{d}}}}} \approx {factor_text}" if usual else factor_text),
        parts=tuple(parts),
        values={"scale": np.array(factor), "scaled": view.stage("scaled")},
    )


def cap(view: View, key: int | None = None) -> Step | None:
    """Keep the scores within ±softcap."""
    say, softcap = view.say, view.stages.rules.softcap
    if softcap is None:
        return None
    c = say.number(softcap, fixed=False)
    parts: list[Part] = [Prose(say("cap.text", c=c))]
    for i in view.queries:
        before, after = view.stage("scaled")[view.row(i)], view.stage("capped")[view.row(i)]
        olds, news = say.row(before, fixed=True), say.row(after, fixed=True)
        parts.append(
            lines_per_key(
                (j, Worked(f"capped[{i}, {j}]", (f"{c} × tanh({olds[j]} / {c})",), news[j]))
                for j in _keys(view, i, key)
            )
        )
        parts += unlike(view, after, scores.cap(before, softcap), "capped")
    parts += _short(view, "capped", key)
    return Step(
        id="cap",
        title=say("cap.title"),
        formula=f"capped = c × tanh(scaled / c),   c = {c}",
        latex=rf"\mathrm{{capped}} = c \tanh(\mathrm{{scaled}} / c), \quad c = {c}",
        parts=tuple(parts),
        values={"softcap": np.array(softcap), "capped": view.stage("capped")},
    )


def bias(view: View, key: int | None = None) -> Step | None:
    """Add the bias file and ALiBi."""
    say, stages = view.say, view.stages
    from_file, alibi = _of_head(view, file_bias(stages)), _of_head(view, alibi_bias(stages))
    added = {name: array for name, array in (("file", from_file), ("alibi", alibi)) if array is not None}
    if not added:
        return None
    parts: list[Part] = []
    if from_file is not None:
        parts.append(Prose(say("bias.file")))
    if alibi is not None and stages.rules.alibi_slopes is not None:
        slope = float(stages.rules.alibi_slopes[view.head])
        parts.append(Prose(say("bias.alibi", slope=slope, h=view.head)))
    for i in view.queries:
        r = view.row(i)
        before, after = (say.row(view.stage(name)[r], fixed=True) for name in ("capped", "biased"))
        terms = [say.row(array[r], fixed=True) for array in added.values()]
        parts.append(
            lines_per_key(
                (j, Worked(f"biased[{i}, {j}]", (before[j], *(in_product(term[j]) for term in terms)), after[j]))
                for j in _keys(view, i, key)
            )
        )
        parts += unlike(
            view, view.stage("biased")[r], view.stage("capped")[r] + sum(a[r] for a in added.values()), "biased"
        )
    parts += _short(view, "biased", key)
    return Step(
        id="bias",
        title=say("bias.title"),
        formula=" + ".join(["biased = capped", *(["bias"] * (from_file is not None))])
        + (" − slope × |p − j|" if alibi is not None else ""),
        latex=r"\mathrm{biased} = \mathrm{capped}"
        + (r" + \mathrm{bias}" if from_file is not None else "")
        + (r" - \mathrm{slope} \cdot |p - j|" if alibi is not None else ""),
        parts=tuple(parts),
        values={**{f"bias_{name}": array for name, array in added.items()}, "biased": view.stage("biased")},
    )


def _of_head(view: View, added: Array | None) -> Array | None:
    """Take this head's rows of a bias that broadcasts to (B, H, rows, S)."""
    if added is None:
        return None
    whole: Array = np.broadcast_to(added, view.stages.capped.shape)[view.batch, view.head]
    return whole


def _keys(view: View, i: int, key: int | None) -> list[int]:
    """Return the keys that are worked out: one, or those that are listed for query i."""
    return view.keys_shown(i) if key is None else [key]


def _short(view: View, stage: str, key: int | None, fixed: bool = True) -> list[Part]:
    """Show the stage for all the queries at hand, where there are others and no cell was asked for."""
    return [view.numbers(stage, fixed=fixed)] if view.several and key is None else []
