"""The page of ``attncalc gradient``: the formulas of the way back, and dQ, dK and dV."""

import numpy as np

from attncalc.core.prepare import Problem
from attncalc.core.shapes import Layout
from attncalc.show.document import Array, Block, Document, Facts, Formula, Heading, Matrix, Text
from attncalc.show.pages.rules import header
from attncalc.study.gradient import Gradients


def page(found: Gradients, *, given: bool) -> Document:
    """Make the page.

    Args:
        found: the gradients.
        given: the gradient of the loss was given; otherwise it is ones.
    """
    problem = found.problem
    blocks: list[Block] = [Heading("gradient"), Facts(header(problem))]
    blocks.append(
        Text(
            "dO is the gradient of the loss with respect to the output, as given."
            if given
            else "The loss is the sum of all outputs: dO is made of ones."
        )
    )
    blocks += formulas(problem)
    for name, array in found.arrays.items():
        blocks += _matrices(problem, name, array)
    return Document(tuple(blocks))


def formulas(problem: Problem) -> list[Block]:
    """Return the steps of the way back that these rules take, each a formula and a sentence."""
    rules, layer = problem.rules, problem.inputs.projection
    steps: list[tuple[str, str, str]] = []
    if layer is not None and layer.wo is not None:
        steps.append(("dO = dOutput · Woᵀ", r"dO = d\mathrm{Output}\, W_O^\top", "Back through the output projection."))
    steps += [
        ("dV = Wᵀ · dO", r"dV = W^\top dO", "A value gets what the outputs get, by its weight in each."),
        ("dW = dO · Vᵀ", r"dW = dO\, V^\top", "A weight matters as much as its value points along dO."),
        (
            "dS = W ∘ (dW − rowsum(W ∘ dW))",
            r"dS = W \circ (dW - \mathrm{rowsum}(W \circ dW))",
            "Softmax: raising one score lowers all other weights of its row. Blocked scores get 0.",
        ),
    ]
    before = "dS"
    if rules.softcap is not None:
        steps.append(
            (
                f"dScaled = dS ∘ (1 − (capped / {rules.softcap:g})²)",
                rf"d\mathrm{{Scaled}} = dS \circ \left(1 - (\mathrm{{capped}} / {rules.softcap:g})^2\right)",
                "Soft cap: the derivative of c · tanh(x / c). Near the cap nothing gets through.",
            )
        )
        before = "dScaled"
    latex = r"d\mathrm{Scaled}" if before == "dScaled" else before
    steps.append(
        (f"dRaw = {before} × {rules.scale:.6g}", rf"d\mathrm{{Raw}} = {latex} \times {rules.scale:.6g}", "Scale.")
    )
    steps += [
        ("dQ = dRaw · K", r"dQ = d\mathrm{Raw}\, K", "A query moves along the keys whose scores should rise."),
        (
            "dK = dRawᵀ · Q",
            r"dK = d\mathrm{Raw}^\top Q",
            "A key moves along the queries whose scores for it should rise.",
        ),
    ]
    blocks: list[Block] = []
    for plain, tex, text in steps:
        blocks += [Formula(plain, tex), Text(text)]
    blocks += [Text(text) for text in _remarks(problem)]
    return blocks


def _remarks(problem: Problem) -> list[str]:
    rules, sizes = problem.rules, problem.sizes
    found = []
    if rules.rope is not None:
        found.append("RoPE: dQ and dK are turned back by the angle of their position.")
    if sizes.G < sizes.H:
        found.append(f"Each key/value head serves {sizes.H // sizes.G} query heads; its dK and dV are their sum.")
    if rules.sink is not None:
        found.append("The sink has a weight and no value, so it adds nothing to rowsum(W ∘ dW).")
    if rules.bias is not None or rules.alibi_slopes is not None:
        found.append("The bias is a constant: it passes dS on as it is.")
    if problem.empty.any() and rules.empty_rows != "nan":
        found.append("A query without any key does not depend on its scores: its dS is 0.")
    return found


def _matrices(problem: Problem, name: str, array: Array) -> list[Matrix]:
    """Make a matrix for each batch and head."""
    axes = layout_axes(problem.layout)
    order = [axes.index(axis) for axis in ("batch", "head", "row", "column") if axis in axes]
    values = array.transpose(order)
    outer = [axes[n] for n in order][:-2]
    tokens = problem.query_tokens if name == "dq" else problem.key_tokens
    if name != "dq" and tokens is not None:
        tokens = tokens[problem.sizes.P :]
    return [
        Matrix(
            title=" · ".join([name, *(f"{axis} {n}" for axis, n in zip(outer, index, strict=True))]),
            values=values[index],
            rows=tokens,
            row_prefix="q" if name == "dq" else "k",
            column_prefix="d",
            fixed=True,
        )
        for index in np.ndindex(values.shape[:-2])
    ]


def layout_axes(layout: Layout) -> list[str]:
    """Name the axes of Q, K and V as users give them."""
    names = {"b": "batch", "h": "head", "t": "row", "d": "column"}
    return [names[axis] for axis in layout.axes]
