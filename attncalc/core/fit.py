"""Do Q, K and V fit each other?  The layout, the sizes, and every message about them."""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core.arrays import choice, letter, numbers, whole_number
from attncalc.core.heads import Projection, split
from attncalc.core.shapes import LAYOUTS, Array, Layout, Sizes
from attncalc.errors import NumberError, OptionError, Shape, ShapeError

MATRICES = tuple(entry.name for entry in fields(Projection))
"""Names of the matrices and biases of a layer: wq wk wv wo bq bk bv bo."""

TRANSPOSED = "{name} looks transposed: PyTorch stores it so, under the name {letter}_proj.weight"
TURNED_OUTPUT = "wo looks transposed: the name wo is for x @ w, and out_proj.weight for x @ w.T"


def layout_of(rank: int, heads: int | None, layout: str | None) -> Layout:
    """Return the order of axes of inputs with this rank, 2 to 4.

    Args:
        rank: number of axes of Q.
        heads: query heads that are packed in the last axis; None when they are not packed.
        layout: what the user asked for, one of LAYOUTS, or None.
    """
    if rank not in (2, 3, 4):
        raise ShapeError(f"Q has {rank} axes; it may have 1 to 4", hint="(queries, width) is enough")
    if layout is not None:
        choice("layout", layout, LAYOUTS)
        if len(layout) != rank:
            raise OptionError(f"layout {layout} names {len(layout)} axes, but Q has {rank}")
        if heads is not None and "h" in layout:
            raise OptionError(
                f"layout {layout} has an axis for the heads, and heads are given as well",
                hint="--heads is for inputs whose last axis holds all heads",
            )
    if heads is None:
        return Layout(layout or {2: "td", 3: "htd", 4: "bhtd"}[rank])
    if rank == 4:
        raise OptionError(
            "inputs with 4 axes have their heads already; heads cannot be given as well",
            hint="leave out --heads",
        )
    return Layout(layout or {2: "td", 3: "btd"}[rank], packed=True)


def check_ranks(*named: tuple[str, Shape]) -> None:
    """Check that the inputs, the first of which may be one query, have equally many axes, none of them empty."""
    for name, shape in named[1:]:
        if len(shape) < 2:
            raise ShapeError(
                f"{letter(name)} must be a matrix, one row for each key",
                arrays=[(name, shape)],
                hint="write a matrix as [[1, 2], [3, 4]]; one row is [[1, 2]], one column is [[1], [2]]",
            )
    if len({len(shape) for _, shape in named}) > 1:
        raise ShapeError("Q, K and V must have the same number of axes", arrays=named)
    for name, shape in named:
        if 0 in shape:
            raise ShapeError(f"{letter(name)} is empty", arrays=[(name, shape)])


def sizes_of(query: Shape, key: Shape, value: Shape, layout: Layout, heads: int, kv_heads: int | None) -> Sizes:
    """Return the sizes of Q, K and V without past keys, or say which two do not fit.

    Args:
        query: shape of Q in the user's order of axes; ``key`` and ``value`` likewise.
        layout: the order of the axes.
        heads: query heads of packed inputs.
        kv_heads: key/value heads of packed inputs; as many as query heads when None.
    """

    def size(shape: Shape, axis: str) -> int:
        return shape[layout.axes.index(axis)] if axis in layout.axes else 1

    q, k, v = ("query", query), ("key", key), ("value", value)
    for pair, (a, b) in (((q, k), (query, key)), ((q, v), (query, value))):
        if size(a, "b") != size(b, "b"):
            raise ShapeError("Q, K and V must have the same batch size", arrays=pair)
    if layout.packed:
        H, G, d, d_v = _packed(query, key, value, heads, kv_heads)
    else:
        H, G = size(query, "h"), size(key, "h")
        d, d_v = size(query, "d"), size(value, "d")
        if size(value, "h") != G:
            raise ShapeError("K and V must have the same number of heads", arrays=[k, v])
        if H % G:
            raise ShapeError("the heads of Q must be a multiple of those of K and V", arrays=[q, k, v])
        if size(key, "d") != d:
            turned = size(key, "t") == d
            raise ShapeError(
                "K and Q must have the same width",
                arrays=[q, k],
                hint="K looks transposed: it needs one row for each key" if turned else None,
            )
    if size(key, "t") != size(value, "t"):
        raise ShapeError("K and V must have the same number of rows", arrays=[k, v])
    return Sizes(B=size(query, "b"), H=H, G=G, T=size(query, "t"), S=size(key, "t"), d=d, d_v=d_v)


def _packed(query: Shape, key: Shape, value: Shape, H: int, kv_heads: int | None) -> tuple[int, int, int, int]:
    """Return H, G, d and d_v of packed inputs."""
    G = H if kv_heads is None else kv_heads
    if H % G:
        raise OptionError(f"heads must be a multiple of kv_heads, and {H} is none of {G}")
    for name, shape, count in (("query", query, H), ("key", key, G), ("value", value, G)):
        if shape[-1] % count:
            raise ShapeError(
                f"the width of {letter(name)} does not divide into {_heads(count)}", arrays=[(name, shape)]
            )
    d = query[-1] // H
    if key[-1] != G * d:
        fitting = key[-1] // d if key[-1] % d == 0 else 0
        grouped = kv_heads is None and fitting and H % fitting == 0
        raise ShapeError(
            f"K must be {G * d} wide: {_heads(G)} of the width {d} of Q's heads",
            arrays=[("query", query), ("key", key)],
            hint=f"K and V have fewer heads than Q? --kv-heads {fitting}" if grouped else None,
        )
    return H, G, d, value[-1] // G


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"


def head_counts(heads: int | None, kv_heads: int | None) -> tuple[int | None, int | None]:
    """Check the two options that say how many heads are packed."""
    if heads is None and kv_heads is not None:
        raise OptionError("kv_heads is for packed heads and needs heads as well", hint="--heads N --kv-heads N")
    return (
        None if heads is None else whole_number("heads", heads, 1),
        None if kv_heads is None else whole_number("kv_heads", kv_heads, 1),
    )


def past_layout(name: str, array: Array, layout: Layout) -> Layout:
    """Return the order of axes of past keys or values.

    They are shaped as K and V are, or (B, G, P, width) when heads are packed, without B where K has none.
    """
    if array.ndim == len(layout.axes):
        return layout
    if layout.packed and array.ndim == len(layout.axes) + 1:
        return Layout("bhtd" if layout.has_batch else "htd")
    raise ShapeError(f"{name} must have as many axes as K and V", arrays=[(name, array.shape)])


def past(name: str, array: Array, layout: Layout, sizes: Sizes) -> Array:
    """Return past keys or values, which came in this layout, as (B, G, P, width)."""
    width = sizes.d if name == "past_key" else sizes.d_v
    ours = layout.canonical(array)
    if layout.packed:
        if ours.shape[-1] != sizes.G * width:
            raise ShapeError(
                f"{name} must be {sizes.G * width} wide: {_heads(sizes.G)} of {width}",
                arrays=[(name, array.shape)],
            )
        ours = split(ours, sizes.G)
    if ours.shape != (sizes.B, sizes.G, ours.shape[2], width):
        raise ShapeError(
            f"{name} does not fit K and V",
            arrays=[(name, array.shape)],
            facts=[("needed", f"batch {sizes.B}, heads {sizes.G}, any number of rows, width {width}")],
        )
    return ours


def projection(weights: Mapping[str, ArrayLike], x: Array, context: Array, context_name: str) -> Projection:
    """Return the matrices of a layer, checked against the width of the sequences that they project.

    Args:
        weights: ``wq wk wv`` and optionally ``wo bq bk bv bo``; (E, F) matrices and (F,) biases.
        x: the sequence, (…, E).
        context: the sequence that K and V are made from, (…, E').
        context_name: what messages call it.
    """
    found = {name: numbers(name, given) for name, given in weights.items()}
    if missing := [name for name in MATRICES[:3] if name not in found]:
        raise OptionError(f"weights needs wq, wk and wv; {' and '.join(missing)} is not there")
    for name, array in found.items():
        shape = (name, array.shape)
        if array.ndim != (1 if name.startswith("b") else 2):
            raise ShapeError(f"{name} must be {'a list' if name.startswith('b') else 'a matrix'}", arrays=[shape])
        if not np.isfinite(array).all():
            place = tuple(int(n) for n in np.argwhere(~np.isfinite(array))[0])
            raise NumberError(f"{name} holds NaN or infinity", cell=(name, place))
    for name, source, rows in (("wq", "x", x), ("wk", context_name, context), ("wv", context_name, context)):
        if found[name].shape[0] != rows.shape[-1]:
            raise ShapeError(
                f"{name} must have one row for each column of {source}",
                arrays=[(source, rows.shape), (name, found[name].shape)],
                hint=TRANSPOSED.format(name=name, letter=name[1]) if found[name].shape[1] == rows.shape[-1] else None,
            )
    for name, array in found.items():
        if name.startswith("b"):
            matrix = found.get("w" + name[1])
            if matrix is None or matrix.shape[1] != len(array):
                others = [] if matrix is None else [("w" + name[1], matrix.shape)]
                turned = name == "bo" and matrix is not None and matrix.shape[0] == len(array)
                raise ShapeError(
                    f"{name} must be as wide as the result of w{name[1]}",
                    arrays=[(name, array.shape), *others],
                    hint=TURNED_OUTPUT if turned else None,
                )
    return Projection(**found)


def check_output_projection(layer: Projection, sizes: Sizes) -> None:
    """Check that the output projection takes what the heads make."""
    if layer.wo is not None and layer.wo.shape[0] != sizes.H * sizes.d_v:
        raise ShapeError(
            "wo must have one row for each column of the merged heads",
            arrays=[("wo", layer.wo.shape)],
            facts=[("heads", f"{sizes.H} × {sizes.d_v} columns")],
            hint=TURNED_OUTPUT if layer.wo.shape[1] == sizes.H * sizes.d_v else None,
        )
