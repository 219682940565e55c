"""The shape trail: how the sizes of the arrays change from the inputs to the output."""

from dataclasses import dataclass

from attncalc.core.prepare import Problem
from attncalc.errors import LETTERS, Shape, shape_text


@dataclass(frozen=True)
class Mark:
    """One stop of the trail.

    Attributes:
        name: the array, or several of one shape: ``Q, K, V``.
        shape: in the axes that users see.
        each: whether the name stands for several.
    """

    name: str
    shape: Shape
    each: bool = False

    @property
    def text(self) -> str:
        """The shape in words: ``2 × 3 × 8 each``."""
        return shape_text(self.shape) + (" each" if self.each else "")


def trail(problem: Problem) -> tuple[Mark, ...]:
    """Return the shapes from the inputs to the output, in the order of the steps.

    For a sequence (2, 3, 8) with two heads: (2, 3, 8), (2, 3, 8) each, (2, 2, 3, 4) each, (2, 2, 3, 3),
    (2, 2, 3, 4), (2, 3, 8), (2, 3, 8).
    """
    sizes, layout, layer = problem.sizes, problem.layout, problem.inputs.projection
    batch = (sizes.B,) if layout.has_batch else ()
    heads = (sizes.H,) if layout.has_heads else ()
    shared = (sizes.G,) if layout.has_heads else ()
    new = sizes.S - sizes.P

    marks = [*together({LETTERS.get(name, name): shape for name, shape in problem.shapes.items()})]
    if layer is not None:
        widths = {"Q": sizes.H * sizes.d, "K": sizes.G * sizes.d, "V": sizes.G * sizes.d_v}
        rows = {"Q": sizes.T, "K": new, "V": new}
        marks += together({name: (*batch, rows[name], width) for name, width in widths.items()}, "projected")
    if layout.packed and heads:
        q, k, v = (*heads, sizes.T, sizes.d), (*shared, new, sizes.d), (*shared, new, sizes.d_v)
        marks += together({"Q": (*batch, *q), "K": (*batch, *k), "V": (*batch, *v)}, "split into heads")
    if sizes.P:
        k, v = (*batch, *shared, sizes.S, sizes.d), (*batch, *shared, sizes.S, sizes.d_v)
        marks += together({"K": k, "V": v}, "behind the past")
    marks.append(Mark("scores, weights", layout.visible(sizes), each=True))
    if heads:
        marks.append(Mark("heads", (*batch, *heads, sizes.T, sizes.d_v)))
    if layout.packed and heads and layer is not None and layer.wo is not None:
        marks.append(Mark("merged", (*batch, sizes.T, sizes.H * sizes.d_v)))
    return (*marks, Mark("output", problem.output_shape))


def together(shapes: dict[str, Shape], what: str = "") -> list[Mark]:
    """Return one mark for all arrays when they have one shape, or else a mark for each."""
    after = f" {what}" if what else ""
    if len(shapes) > 1 and len(set(shapes.values())) == 1:
        return [Mark(", ".join(shapes) + after, next(iter(shapes.values())), each=True)]
    return [Mark(name + after, shape) for name, shape in shapes.items()]
