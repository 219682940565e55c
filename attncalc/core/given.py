"""The arrays that users give, as numbers and in their own order of axes, before they are fitted together."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays, finite, fit
from attncalc.core import weights as layers
from attncalc.core.dtypes import Arithmetic
from attncalc.core.heads import Projection
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array, Layout, Sizes
from attncalc.core.steps import Inputs
from attncalc.errors import OptionError, Shape, ShapeError


@dataclass(frozen=True)
class Given:
    """Q, K and V, or a sequence with the weights that make them.

    Attributes:
        query: Q, or the sequence x of a projection.
        key: K, or the context that the projection makes keys from; ``value`` likewise.
        value: V, or the context.
        names: what messages call the three.
        projection: the matrices of the layer, or None.
        past: past_key and past_value, where there is a cache.
    """

    query: Array
    key: Array
    value: Array
    names: tuple[str, str, str] = ("query", "key", "value")
    projection: Projection | None = None
    past: Mapping[str, Array] = field(default_factory=dict)

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of what users gave, by keyword."""
        return dict(zip(self.names, (self.query.shape, self.key.shape, self.value.shape), strict=True))

    @property
    def projected_shapes(self) -> tuple[Shape, Shape, Shape]:
        """The shapes of Q, K and V, as the projection makes them."""
        q, k, v, layer = self.query.shape, self.key.shape, self.value.shape, self.projection
        if layer is None:
            return q, k, v
        return (*q[:-1], layer.wq.shape[1]), (*k[:-1], layer.wk.shape[1]), (*v[:-1], layer.wv.shape[1])

    def past_layouts(self, layout: Layout) -> dict[str, Layout]:
        """Return the order of the axes of the cache, which packed inputs may have unpacked."""
        return {name: fit.past_layout(name, array, layout) for name, array in self.past.items()}

    def canonical_past(self, layout: Layout, sizes: Sizes) -> dict[str, Array]:
        """Return the cache as (B, G, P, width), checked; ``sizes`` are those without it."""
        layouts = self.past_layouts(layout)
        past = {name: fit.past(name, array, layouts[name], sizes) for name, array in self.past.items()}
        if len({array.shape[2] for array in past.values()}) > 1:
            raise ShapeError(
                "past_key and past_value must have the same number of rows",
                arrays=[(name, array.shape) for name, array in self.past.items()],
            )
        return past

    def check_numbers(self, rules: Rules, sizes: Sizes, layout: Layout) -> None:
        """Raise an error for NaN or infinity in a query, or in a key or value that some query may attend to."""
        finite.check_input(self.names[0], self.query, None, layout)
        new = [(self.names[1], self.key), (self.names[2], self.value)]
        if all(np.isfinite(array).all() for _, array in (*new, *self.past.items())):
            return
        attended = finite.attended_keys(rules, sizes)  # (B, G, S)
        past, used = attended[:, :, : sizes.P], attended[:, :, sizes.P :]
        if self.projection is not None:
            used = np.any(used, axis=1, keepdims=True)  # a row of the context serves every head
        for name, array in new:
            finite.check_input(name, array, used, layout)
        for name, order in self.past_layouts(layout).items():
            finite.check_input(name, self.past[name], past, order)

    def inputs(self, past: Mapping[str, Array], sizes: Sizes, layout: Layout, arithmetic: Arithmetic) -> Inputs:
        """Return everything in our order of axes, rounded to the type of the arithmetic.

        Q, K and V may be in a narrower type, so that a large file need not be copied; the first step widens them.
        """
        cache = {name: arithmetic.round(array) for name, array in past.items()}
        return Inputs(
            query=arithmetic.keep(layout.canonical(self.query)),
            key=arithmetic.keep(layout.canonical(self.key)),
            value=arithmetic.keep(layout.canonical(self.value)),
            sizes=sizes,
            packed=layout.packed,
            past_key=cache.get("past_key"),
            past_value=cache.get("past_value"),
            projection=None if self.projection is None else self.projection.map(arithmetic.round),
        )


def attended(query: ArrayLike | None, key: ArrayLike | None, value: ArrayLike | None) -> Given:
    """Return Q, K and V as numbers; a single query becomes one row."""
    if query is None or key is None or value is None:
        raise OptionError("Q, K and V are needed")
    q, k, v = arrays.numbers("query", query), arrays.numbers("key", key), arrays.numbers("value", value)
    q = q[np.newaxis] if q.ndim == 1 else q
    fit.check_ranks(("query", q.shape), ("key", k.shape), ("value", v.shape))
    return Given(q, k, v)


def projected(
    x: ArrayLike, context: ArrayLike | None, weights: Mapping[str, ArrayLike] | None, prefix: str | None
) -> Given:
    """Return a sequence, its context and the matrices that project them."""
    if weights is None:
        raise OptionError("a sequence x needs the weights that project it", hint="--weights FILE")
    sequence = arrays.numbers("x", x)
    around = sequence if context is None else arrays.numbers("context", context)
    name = "x" if context is None else "context"
    fit.check_ranks(("x", sequence.shape), (name, around.shape))
    if sequence.ndim not in (2, 3):
        raise ShapeError("x must be (T, E), or (B, T, E) for a batch", arrays=[("x", sequence.shape)])
    matrices = layers.projection(weights, prefix, sequence, around, name)
    return Given(sequence, around, around, ("x", name, name), matrices)


def past_of(past_key: ArrayLike | None, past_value: ArrayLike | None) -> dict[str, Array]:
    """Return the arrays of a cache as numbers; none, or both."""
    given = {"past_key": past_key, "past_value": past_value}
    past = {name: arrays.numbers(name, array) for name, array in given.items() if array is not None}
    if len(past) == 1:
        raise OptionError("past_key and past_value go together, and only one of them is given")
    return past
