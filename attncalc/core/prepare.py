"""From what users give to a problem that can be computed: the only place where inputs are checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import finite, fit, notes
from attncalc.core.given import attended, past_of, projected
from attncalc.core.rules import Rules
from attncalc.core.ruling import in_force, options_from, rules_from
from attncalc.core.shapes import Array, Layout, Sizes
from attncalc.core.steps import Inputs
from attncalc.errors import OptionError, ShapeError

if TYPE_CHECKING:
    from attncalc.core.dialects import Adopted


@dataclass(frozen=True)
class Problem:
    """Inputs that fit each other, and the rules for them: all that a computation needs.

    Attributes:
        inputs: what to compute from, in our order of axes.
        rules: the rules in force.
        layout: the order of the axes that users see.
        options: the rules by library keyword, such that ``attention(q, k, v, **options)`` repeats the run.
        shapes: shapes of the inputs as users gave them, by keyword.
        empty: queries that may attend to no key, (B or 1, H or 1, T).
        notes: what users should know about how their input was understood.
        query_tokens: labels of the queries, or None.
        key_tokens: labels of the keys, past ones included, or None.
        adopted: the library whose rules hold where no option says otherwise, and what it changed; or None.
    """

    inputs: Inputs
    rules: Rules
    layout: Layout
    options: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    empty: Array
    notes: tuple[str, ...] = ()
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    adopted: "Adopted | None" = None

    @property
    def sizes(self) -> Sizes:
        """How many there are of each letter."""
        return self.inputs.sizes

    @property
    def all_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of what users gave, of Q, K and V (as a projection makes them), and of the output, by name."""
        sizes, layer = self.sizes, self.inputs.projection
        made: dict[str, tuple[int, ...]] = {}
        if layer is not None:
            batch, new = (sizes.B,) if self.layout.has_batch else (), sizes.S - sizes.P
            made = {"query": (*batch, sizes.T, layer.wq.shape[1])}
            made |= {"key": (*batch, new, layer.wk.shape[1]), "value": (*batch, new, layer.wv.shape[1])}
        return {**self.shapes, **made, "output": self.output_shape}

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the output as users see it."""
        sizes, layer = self.sizes, self.inputs.projection
        counts = {"b": sizes.B, "h": sizes.H, "t": sizes.T, "d": sizes.d_v * (sizes.H if self.layout.packed else 1)}
        if layer is not None and layer.wo is not None:
            counts["d"] = layer.wo.shape[1]
        return tuple(counts[axis] for axis in self.layout.axes)


def prepare(
    query: ArrayLike | None = None,
    key: ArrayLike | None = None,
    value: ArrayLike | None = None,
    *,
    x: ArrayLike | None = None,
    context: ArrayLike | None = None,
    weights: Mapping[str, ArrayLike] | None = None,
    weights_prefix: str | None = None,
    past_key: ArrayLike | None = None,
    past_value: ArrayLike | None = None,
    heads: int | None = None,
    kv_heads: int | None = None,
    layout: str | None = None,
    tokens: Sequence[str] | None = None,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    like: str | None = None,
    **options: Any,
) -> Problem:
    """Check inputs and options; return the problem they pose.

    Args:
        query: Q, (d,), (T, d), (H, T, d), (B, H, T, d), or another order of axes with ``layout``.
        key: K, (S, d) and so on.
        value: V, (S, d_v) and so on.
        x: a sequence, (T, E) or (B, T, E), to be projected with ``weights``; instead of Q, K and V.
        context: where K and V are made from, (S, E'); x unless given.
        weights: the matrices ``wq wk wv`` and optionally ``wo bq bk bv bo``, or a module's: see ``core.weights``.
        weights_prefix: what stands in front of a layer's names in a whole model's weights.
        past_key: keys of a cache, in front of K; ``past_value`` belongs to it.
        past_value: values of a cache, in front of V.
        heads: query heads that the last axis holds beside each other.
        kv_heads: key/value heads in the last axis of K and V.
        layout: the order of the axes: td htd btd bhtd thd bthd.
        tokens: labels of queries and keys.
        query_tokens: labels of the queries; they beat ``tokens``.
        key_tokens: labels of the keys.
        like: a library whose rules hold wherever no option says otherwise: a name of ``core.dialects``.
        options: the fields of ``Options``.

    Raises:
        AttnCalcError: something does not fit, with the place and, where it is likely right, the remedy.
    """
    asked, adopted = options_from(options), None
    heads, kv_heads = fit.head_counts(heads, kv_heads)
    if x is None:
        if context is not None or weights is not None or weights_prefix is not None:
            raise OptionError("weights and context belong to a sequence x", hint="--x FILE")
        given, packed_heads = attended(query, key, value), heads
    else:
        if query is not None or key is not None or value is not None:
            raise OptionError("a sequence x takes the place of Q, K and V; both are given")
        given, packed_heads = projected(x, context, weights, weights_prefix), heads or 1
    given = replace(given, past=past_of(past_key, past_value))
    shown = fit.layout_of(given.query.ndim, packed_heads, layout)
    shown = replace(shown, single=given.projection is not None and heads is None)
    sizes = fit.sizes_of(*given.projected_shapes, shown, packed_heads or 1, kv_heads)
    if given.projection is not None:
        fit.check_output_projection(given.projection, sizes)
    past = given.canonical_past(shown, sizes)
    if past:
        P = past["past_key"].shape[2]
        sizes = replace(sizes, S=sizes.S + P, P=P)
    labels = _labels(tokens, query_tokens, key_tokens, sizes)
    if like is not None:
        explicit = {name for name, value in options.items() if value is not None}
        from attncalc.core import dialects

        adopted = dialects.adopt(like, asked, explicit, sizes, shown)
        asked = adopted.options
    rules = rules_from(asked, sizes, shown, labels[1])
    given.check_numbers(rules, sizes, shown)
    empty = finite.empty_queries(rules, sizes) if rules.sink is None else np.zeros((1, 1, sizes.T), dtype=bool)
    if rules.empty_rows == "error" and empty.any():
        raise notes.empty_error(empty, rules, sizes, labels[0])
    geometry = {"heads": heads, "kv_heads": kv_heads, "layout": layout}
    return Problem(
        inputs=given.inputs(past, sizes, shown, rules.arithmetic),
        rules=rules,
        layout=shown,
        options=in_force(rules, asked, labels[1])
        | geometry
        | {"past_key": None, "past_value": None}
        | dict(given.past),
        shapes=given.shapes,
        empty=empty,
        notes=(*notes.of(asked, rules, sizes, empty), *notes.of_dialect(adopted, given.value)),
        adopted=adopted,
        query_tokens=labels[0],
        key_tokens=labels[1],
    )


def _counted(labels: Sequence[str]) -> str:
    return "1 label" if len(labels) == 1 else f"{len(labels)} labels"


def _labels(
    tokens: Sequence[str] | None,
    query_tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    sizes: Sizes,
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the labels of queries and keys; ``tokens`` names both where it is long enough for both."""
    if tokens is not None and len(tokens) not in (sizes.S, sizes.T):
        raise ShapeError(f"tokens has {_counted(tokens)}, for {sizes.T} queries and {sizes.S} keys")
    found = []
    for name, own, count in (("query_tokens", query_tokens, sizes.T), ("key_tokens", key_tokens, sizes.S)):
        labels = own if own is not None or tokens is None or len(tokens) != count else tokens
        if labels is not None and len(labels) != count:
            raise ShapeError(f"{name} has {_counted(labels)} for {count}")
        found.append(None if labels is None else tuple(map(str, labels)))
    return found[0], found[1]
