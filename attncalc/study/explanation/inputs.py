"""Steps before any product: shapes, projection, heads, positions."""

import numpy as np

from attncalc.core.shapes import Array
from attncalc.errors import shape_text
from attncalc.study.explanation.parts import Grid, Part, Prose, Step, Worked, Working
from attncalc.study.explanation.unlike import unlike_inputs
from attncalc.study.explanation.view import View, dot, ends, in_product

FEW = 4
"""Columns of a projection that are worked out."""


def shapes(view: View) -> Step:
    """Say what goes in and what the letters are."""
    say, n = view.say, view.sizes
    rows = [
        ("Q", (n.T, n.d), say.count("shapes.queries", n.T)),
        ("K", (n.S, n.d), say.count("shapes.keys", n.S)),
        ("V", (n.S, n.d_v), say.count("shapes.values", n.S)),
        (say("shapes.square"), (n.T, n.S), say("shapes.scores")),
        (say("shapes.output"), (n.T, n.d_v), say("shapes.outputs")),
    ]
    parts: list[Part] = [Prose(say("shapes.text"))]
    head = (say("shapes.array"), say("shapes.shape"), say("shapes.meaning"))
    parts.append(
        Grid(head, tuple((name, shape_text(shape), words) for name, shape, words in rows), frozenset({0, 1, 2}))
    )
    if n.B > 1:
        parts.append(Prose(say("shapes.batch", B=n.B, b=view.batch)))
    if n.H > 1:
        parts.append(Prose(say("shapes.heads", H=n.H, h=view.head)))
    if n.G < n.H:
        parts.append(Prose(_groups(view)))
    if n.P:
        parts.append(Prose(say.count("shapes.past", n.P, P=n.P, last=n.P - 1, S=n.S)))
    inputs = view.stages.inputs
    silent = ["gather"]  # input steps that are told nowhere else
    silent += ["project"] * (inputs.projection is None) + ["rotate"] * (view.stages.rules.rope is None)
    silent += ["split"] * (not inputs.packed or n.H == 1)
    parts += unlike_inputs(view, *silent)
    if len(silent) == 4:
        parts += entering(view)
    sizes = {"query": (n.T, n.d), "key": (n.S, n.d), "value": (n.S, n.d_v), "output": (n.T, n.d_v)}
    return Step(
        id="shapes",
        title=say("shapes.title"),
        formula="output = softmax(Q Kᵀ × scale) V",
        latex=r"\mathrm{output} = \mathrm{softmax}(Q K^{\top} \cdot \mathrm{scale})\, V",
        parts=tuple(parts),
        values={name: np.array(shape) for name, shape in sizes.items()},
    )


def _groups(view: View) -> str:
    """Say which query heads use the same key/value head."""
    n, words = view.sizes, {"h": view.head, "g": view.group}
    return view.say.count("shapes.groups", n.G, H=n.H, G=n.G, share=n.H // n.G, **words)


def entering(view: View) -> list[Part]:
    """Show Q, K and V as they enter the product."""
    return [
        view.matrix("Q", view.query, view.query_rows),
        view.matrix("K", view.key, view.key_rows),
        view.matrix("V", view.value, view.key_rows),
    ]


def project(view: View) -> Step | None:
    """Make Q, K and V from the sequence, column by column, for the first query in full."""
    layer = view.stages.inputs.projection
    if layer is None:
        return None
    say, inputs, b = view.say, view.stages.inputs, view.batch
    after = view.trail["project"]
    parts: list[Part] = [Prose(say("project.text"))]
    for i in view.queries:
        x, q = inputs.query[b, i], after.query[b, i]
        lines = [
            _projected(view, f"q{i}[{c}]", x, layer.wq[:, c], None if layer.bq is None else layer.bq[c], q[c])
            for c in ends(len(q), FEW)
        ]
        parts += [Prose(say("project.query", i=i, query=view.query_words(i))), Working(tuple(lines))]
    if layer.bq is not None:
        parts.append(Prose(say("project.bias")))
    parts += unlike_inputs(view, "project")
    parts.append(
        Prose(
            say(
                "project.keys",
                same=say("project.self" if np.array_equal(inputs.query, inputs.key) else "project.other"),
            )
        )
    )
    return Step(
        id="project",
        title=say("project.title"),
        formula="Q = x Wq + bq,   K = c Wk + bk,   V = c Wv + bv",
        latex=r"Q = x W_q + b_q, \quad K = c W_k + b_k, \quad V = c W_v + b_v",
        parts=tuple(parts),
        values={"query": after.query[b], "key": after.key[b], "value": after.value[b]},
    )


def _projected(view: View, label: str, x: Array, w: Array, bias: float | None, result: float) -> Worked:
    line = dot(view.say, label, x, w, result)
    if bias is None:
        return line
    return Worked(label, (*line.terms, in_product(view.say.number(bias, fixed=False))), line.result)


def split(view: View) -> Step | None:
    """Cut the packed columns into heads."""
    if not view.stages.inputs.packed or view.sizes.H == 1:
        return None
    say, n, after = view.say, view.sizes, view.trail["split"]
    first, last = view.head * n.d, (view.head + 1) * n.d - 1
    parts: list[Part] = [Prose(say("split.text", H=n.H, d=n.d, h=view.head, first=first, last=last))]
    parts += unlike_inputs(view, "split")
    query = view.of_head("query", after)[np.array(view.at_hand)]
    parts.append(view.matrix(say("split.matrix", name="Q", h=view.head), query, view.query_rows))
    if view.stages.rules.rope is None and not n.P:
        parts += [
            view.matrix(say("split.matrix", name="K", h=view.group), view.key, view.key_rows),
            view.matrix(say("split.matrix", name="V", h=view.group), view.value, view.key_rows),
        ]
    return Step(
        id="split",
        title=say("split.title"),
        formula="(T, H·d) → (T, H, d) → (H, T, d)",
        latex=r"(T, H \cdot d) \to (T, H, d) \to (H, T, d)",
        parts=tuple(parts),
        values={name: view.of_head(name, after) for name in ("query", "key", "value")},
    )


def rope(view: View) -> Step | None:
    """Turn queries and keys by their position, pair by pair."""
    rope = view.stages.rules.rope
    if rope is None:
        return None
    say, before, after = view.say, view.trail["split"], view.trail["rotate"]
    parts: list[Part] = [Prose(say("rope.text", base=say.number(float(rope.base), fixed=False), dims=rope.dims))]
    half = rope.dims // 2
    for i in view.queries:
        old, new = view.of_head("query", before)[i], view.of_head("query", after)[i]
        position = rope.start + i
        parts.append(Prose(say("rope.query", query=view.query_words(i), position=position)))
        olds, news, lines = say.row(old), say.row(new, fixed=True), []
        for pair in ends(half, FEW):
            first, second = (pair, pair + half) if rope.pairing == "half" else (2 * pair, 2 * pair + 1)
            angle = position * rope.base ** (-2.0 * pair / rope.dims)
            turned = say.number(angle)
            x, y = in_product(olds[first]), in_product(olds[second])
            lines += [
                Worked(f"q{i}[{first}]", (f"{x} × cos {turned} − {y} × sin {turned}",), news[first]),
                Worked(f"q{i}[{second}]", (f"{y} × cos {turned} + {x} × sin {turned}",), news[second]),
            ]
        parts.append(Working(tuple(lines)))
    if rope.dims < view.sizes.d:
        parts.append(Prose(say("rope.rest", first=rope.dims, last=view.sizes.d - 1)))
    parts += [
        *unlike_inputs(view, "rotate"),
        Prose(say("rope.keys.past" if view.sizes.P else "rope.keys")),
        *entering(view),
    ]
    return Step(
        id="rope",
        title=say("rope.title"),
        formula=say("rope.formula"),
        latex=r"(x, y) \to (x \cos a - y \sin a,\; y \cos a + x \sin a), \quad"
        r" a = \mathrm{position} \cdot \mathrm{base}^{-2n/\mathrm{dims}}",
        parts=tuple(parts),
        values={"query": view.query, "key": view.key},
    )
