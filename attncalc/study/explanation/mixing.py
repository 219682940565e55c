"""From weights to the output: the weighted sum of the values, heads side by side, output projection."""

import numpy as np

from attncalc.core.shapes import Array
from attncalc.study.explanation.parts import MORE, Part, Prose, Step, Worked, Working
from attncalc.study.explanation.unlike import unlike
from attncalc.study.explanation.view import LEFT_OUT, TERMS, View, dot, ends, in_product, product, vector, with_gaps

COLUMNS = 8
"""So many columns of an output are worked out; of more, both ends."""


def mix(view: View) -> Step:
    """Add up the values, each times its weight."""
    say = view.say
    told = "output.text" if view.stages.rules.sink is None else "output.text.sink"
    columns = any((view.stage("weights")[view.row(i)] != 0).any() for i in view.queries)
    parts: list[Part] = [Prose(say(told if columns else f"{told}.alone"))]
    for i in view.queries:
        parts += _in_full(view, i)
    heads = view.stage("heads")
    if view.several:
        parts.append(view.matrix("heads" if merged(view) else "output", heads, view.query_rows))
    return Step(
        id="output",
        title=say("output.title"),
        formula="output = weights · V,   output[i, c] = weights[i, 0]×V[0, c] + …",
        latex=r"\mathrm{output} = \mathrm{weights} \cdot V, \quad"
        r" \mathrm{output}_{ic} = \sum_j \mathrm{weights}_{ij} V_{jc}",
        parts=tuple(parts),
        values={"weights": view.stage("weights"), "value": view.value, "heads" if merged(view) else "output": heads},
    )


def merged(view: View) -> bool:
    """Whether something comes after the outputs of the heads."""
    inputs = view.stages.inputs
    projected = inputs.projection is not None and inputs.projection.wo is not None
    return projected or (inputs.packed and view.sizes.H > 1)


def _in_full(view: View, i: int) -> list[Part]:
    say, r = view.say, view.row(i)
    weights, values, output = view.stage("weights")[r], view.value, view.stage("heads")[r]
    used = np.flatnonzero(weights != 0)
    if not len(used):
        return [Prose(say("output.nothing", query=view.query_words(i)))]
    heaviest = used[np.argsort(-weights[used], kind="stable")[: TERMS // 2]]
    if len(used) <= TERMS:
        shown = [int(j) for j in used]
    else:
        shown = with_gaps({*(int(used[n]) for n in ends(len(used), TERMS // 2)), *(int(j) for j in heaviest)})
    written, results = say.row(weights, fixed=True), say.row(output, fixed=True)
    lines = []
    for c in with_gaps(ends(len(output), COLUMNS)):
        if c == LEFT_OUT:
            lines.append(Worked("⋮"))
            continue
        column = say.row(values[:, c])
        terms = tuple(MORE if j == LEFT_OUT else product(written[j], column[j]) for j in shown)
        lines.append(Worked(f"output[{i}, {c}]", terms, results[c]))
    parts: list[Part] = [Working(tuple(lines))]
    if len(used) < len(weights):
        parts.append(Prose(say("output.left_out")))
    expected = weights[used] @ values[used]
    return parts + unlike(view, output, expected, "output")


def merge(view: View) -> Step | None:
    """Set the heads beside each other, and apply the output projection where there is one."""
    if not merged(view):
        return None
    say, stages, b, n = view.say, view.stages, view.batch, view.sizes
    layer = stages.inputs.projection
    wo = None if layer is None else layer.wo
    parts: list[Part] = []
    for i in view.queries:
        heads = stages.heads[b, :, view.row(i)]
        if n.H > 1:
            lines = [Worked(f"head {h}", (_vector(view, heads[h]),)) for h in ends(n.H, COLUMNS)]
            beside = Worked(say("merge.beside"), (_vector(view, heads.reshape(-1)),))
            parts += [Prose(say("merge.text", H=n.H, d=n.d_v, query=view.query_words(i))), Working((*lines, beside))]
        if wo is not None:
            row, output = heads.reshape(-1), stages.output[b, view.row(i)]
            parts.append(Prose(say("merge.project", query=view.query_words(i))))
            bo = None if layer is None else layer.bo
            parts.append(
                Working(tuple(_projected(view, i, row, wo, bo, output, c) for c in ends(len(output), COLUMNS)))
            )
    if view.several:
        parts.append(view.matrix("output", stages.output[b], view.query_rows))
    return Step(
        id="merge",
        title=say("merge.title.project" if wo is not None else "merge.title"),
        formula="output = concat(head 0, head 1, …)" + (" Wo + bo" if wo is not None else ""),
        latex=r"\mathrm{output} = \mathrm{concat}(\mathrm{head}_0, \mathrm{head}_1, \dots)"
        + (" W_o + b_o" if wo is not None else ""),
        parts=tuple(parts),
        values={"heads": stages.heads[b], "output": stages.output[b]},
    )


def _projected(view: View, i: int, row: Array, wo: Array, bo: Array | None, output: Array, c: int) -> Worked:
    line = dot(view.say, f"output[{i}, {c}]", row, wo[:, c], float(output[c]), fixed=True)
    if bo is None:
        return line
    return Worked(line.label, (*line.terms, in_product(view.say.number(float(bo[c]), fixed=False))), line.result)


def _vector(view: View, numbers: Array) -> str:
    return vector(view.say.row(numbers, fixed=True))
