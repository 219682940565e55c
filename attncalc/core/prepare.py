"""From what users give to a problem that can be computed: the only place where inputs are checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays, dialects, finite, fit, notes
from attncalc.core import weights as layers
from attncalc.core.dialects import Adopted
from attncalc.core.dtypes import Arithmetic
from attncalc.core.heads import Projection
from attncalc.core.rules import Rules
from attncalc.core.ruling import options_from, rules_from
from attncalc.core.shapes import Array, Layout, Sizes
from attncalc.core.steps import Inputs
from attncalc.errors import OptionError, ShapeError


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
    adopted: Adopted | None = None

    @property
    def sizes(self) -> Sizes:
        """How many there are of each letter."""
        return self.inputs.sizes

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the output as users see it."""
        sizes, layer = self.sizes, self.inputs.projection
        counts = {"b": sizes.B, "h": sizes.H, "t": sizes.T, "d": sizes.d_v * (sizes.H if self.layout.packed else 1)}
        if layer is not None and layer.wo is not None:
            counts["d"] = layer.wo.shape[1]
        return tuple(counts[axis] for axis in self.layout.axes)


@dataclass(frozen=True)
class Given:
    """The arrays that users give, as numbers, in their own order of axes.

    Attributes:
        query: Q, or the sequence x of a projection; ``key`` and ``value`` are K and V, or the context.
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
    given = _given(query, key, value, x, context, weights, weights_prefix, past_key, past_value)
    shown = fit.layout_of(given.query.ndim, _packed_heads(given, heads), layout)
    shown = replace(shown, single=given.projection is not None and heads is None)
    sizes = fit.sizes_of(*_projected_shapes(given), shown, heads or 1, kv_heads)
    if given.projection is not None:
        fit.check_output_projection(given.projection, sizes)
    past_layouts = {name: fit.past_layout(name, array, shown) for name, array in given.past.items()}
    past = {name: fit.past(name, array, past_layouts[name], sizes) for name, array in given.past.items()}
    if past:
        P = past["past_key"].shape[2]
        if past["past_value"].shape[2] != P:
            raise ShapeError(
                "past_key and past_value must have the same number of rows",
                arrays=[(name, array.shape) for name, array in given.past.items()],
            )
        sizes = replace(sizes, S=sizes.S + P, P=P)
    labels = _labels(tokens, query_tokens, key_tokens, sizes)
    if like is not None:
        explicit = {name for name, value in options.items() if value is not None}
        adopted = dialects.adopt(like, asked, explicit, sizes, shown)
        asked = adopted.options
    rules = rules_from(asked, sizes, shown, labels[1])
    _check_numbers(given, past_layouts, rules, sizes, shown)
    empty = finite.empty_queries(rules, sizes) if rules.sink is None else np.zeros((1, 1, sizes.T), dtype=bool)
    if rules.empty_rows == "error" and empty.any():
        raise notes.empty_error(empty, rules, sizes, labels[0])
    return Problem(
        inputs=_inputs(given, past, sizes, shown, rules.arithmetic),
        rules=rules,
        layout=shown,
        options=_options(options, rules, asked, heads, kv_heads, layout, past_key, past_value, key_tokens or tokens),
        shapes=_shapes(given),
        empty=empty,
        notes=(*notes.of(asked, rules, sizes, empty), *notes.of_dialect(adopted, given.value)),
        adopted=adopted,
        query_tokens=labels[0],
        key_tokens=labels[1],
    )


def _given(
    query: ArrayLike | None,
    key: ArrayLike | None,
    value: ArrayLike | None,
    x: ArrayLike | None,
    context: ArrayLike | None,
    weights: Mapping[str, ArrayLike] | None,
    weights_prefix: str | None,
    past_key: ArrayLike | None,
    past_value: ArrayLike | None,
) -> Given:
    if (past_key is None) != (past_value is None):
        raise OptionError("past_key and past_value go together, and only one of them is given")
    past = {}
    if past_key is not None and past_value is not None:
        past = {
            "past_key": arrays.numbers("past_key", past_key),
            "past_value": arrays.numbers("past_value", past_value),
        }
    if x is None:
        if context is not None or weights is not None or weights_prefix is not None:
            raise OptionError("weights and context belong to a sequence x", hint="--x FILE")
        if query is None or key is None or value is None:
            raise OptionError("Q, K and V are needed")
        q, k, v = arrays.numbers("query", query), arrays.numbers("key", key), arrays.numbers("value", value)
        q = q[np.newaxis] if q.ndim == 1 else q
        fit.check_ranks(("query", q.shape), ("key", k.shape), ("value", v.shape))
        return Given(q, k, v, past=past)
    if query is not None or key is not None or value is not None:
        raise OptionError("a sequence x takes the place of Q, K and V; both are given")
    if weights is None:
        raise OptionError("a sequence x needs the weights that project it", hint="--weights FILE")
    sequence = arrays.numbers("x", x)
    around = sequence if context is None else arrays.numbers("context", context)
    name = "x" if context is None else "context"
    fit.check_ranks(("x", sequence.shape), (name, around.shape))
    if sequence.ndim not in (2, 3):
        raise ShapeError("x must be (T, E), or (B, T, E) for a batch", arrays=[("x", sequence.shape)])
    matrices = layers.projection(weights, weights_prefix, sequence, around, name)
    return Given(sequence, around, around, ("x", name, name), matrices, past)


def _packed_heads(given: Given, heads: int | None) -> int | None:
    return heads if given.projection is None else heads or 1


def _projected_shapes(given: Given) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    q, k, v, layer = given.query.shape, given.key.shape, given.value.shape, given.projection
    if layer is None:
        return q, k, v
    return (*q[:-1], layer.wq.shape[1]), (*k[:-1], layer.wk.shape[1]), (*v[:-1], layer.wv.shape[1])


def _shapes(given: Given) -> dict[str, tuple[int, ...]]:
    if given.projection is None:
        return {"query": given.query.shape, "key": given.key.shape, "value": given.value.shape}
    return dict(zip(given.names[:2], (given.query.shape, given.key.shape), strict=True))


def _labels(
    tokens: Sequence[str] | None,
    query_tokens: Sequence[str] | None,
    key_tokens: Sequence[str] | None,
    sizes: Sizes,
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the labels of queries and keys; ``tokens`` names both where it is long enough for both."""
    if tokens is not None and len(tokens) not in (sizes.S, sizes.T):
        raise ShapeError(f"tokens has {len(tokens)} labels, for {sizes.T} queries and {sizes.S} keys")
    found = []
    for name, own, count in (("query_tokens", query_tokens, sizes.T), ("key_tokens", key_tokens, sizes.S)):
        labels = own if own is not None or tokens is None or len(tokens) != count else tokens
        if labels is not None and len(labels) != count:
            raise ShapeError(f"{name} has {len(labels)} labels for {count}")
        found.append(None if labels is None else tuple(map(str, labels)))
    return found[0], found[1]


def _check_numbers(
    given: Given, past_layouts: Mapping[str, Layout], rules: Rules, sizes: Sizes, layout: Layout
) -> None:
    """Raise an error for NaN or infinity in a query, or in a key or value that some query may attend to."""
    finite.check_input(given.names[0], given.query, None, layout)
    others = [(given.names[1], given.key, layout, True), (given.names[2], given.value, layout, True)]
    others += [(name, array, past_layouts[name], False) for name, array in given.past.items()]
    if all(np.isfinite(array).all() for _, array, _, _ in others):
        return
    attended = finite.attended_keys(rules, sizes)
    for name, array, order, new in others:
        used = attended[:, :, sizes.P :] if new else attended[:, :, : sizes.P]
        if new and given.projection is not None:
            used = np.any(used, axis=1, keepdims=True)  # a row of the context serves every head
        finite.check_input(name, array, used, order)


def _inputs(given: Given, past: Mapping[str, Array], sizes: Sizes, layout: Layout, arithmetic: Arithmetic) -> Inputs:
    def ready(array: Array) -> Array:
        return arithmetic.round(layout.canonical(array))

    layer = given.projection
    if layer is not None:
        matrices = ((name, getattr(layer, name)) for name in fit.MATRICES)
        rounded: dict[str, Any] = {name: arithmetic.round(w) for name, w in matrices if w is not None}
        layer = Projection(**rounded)
    return Inputs(
        query=ready(given.query),
        key=ready(given.key),
        value=ready(given.value),
        sizes=sizes,
        packed=layout.packed,
        past_key=arithmetic.round(past["past_key"]) if past else None,
        past_value=arithmetic.round(past["past_value"]) if past else None,
        projection=layer,
    )


def _options(
    asked_for: Mapping[str, Any],
    rules: Rules,
    asked: Any,
    heads: int | None,
    kv_heads: int | None,
    layout: str | None,
    past_key: ArrayLike | None,
    past_value: ArrayLike | None,
    key_tokens: Sequence[str] | None,
) -> dict[str, Any]:
    """Return every rule in force by library keyword; what was not asked for is None, or the default."""

    def array(given: ArrayLike | None) -> Array | None:
        return None if given is None else np.asarray(given)

    rope = rules.rope
    options: dict[str, Any] = {
        "scale": rules.scale,
        "softcap": rules.softcap,
        "causal": rules.align if rules.causal else None,
        "causal_align": None if rules.align == "past" else rules.align,
        "window_left": rules.window_left,
        "window_right": rules.window_right,
        "mask": array(asked.mask),
        "mask_true": rules.mask_true,
        "padding": array(asked.padding),
        "pad_token": asked.pad_token,
        "lengths": None if rules.lengths is None else rules.lengths.tolist(),
        "empty_rows": rules.empty_rows,
        "bias": array(asked.bias),
        "alibi": bool(asked.alibi),
        "alibi_slopes": array(asked.alibi_slopes),
        "sink": array(asked.sink),
        "rope": rope.pairing if rope else None,
        "rope_base": rope.base if rope else None,
        "rope_dims": rope.dims if rope else None,
        "rope_offset": rope.start if rope else None,
        "dtype": rules.arithmetic.name,
        "heads": heads,
        "kv_heads": kv_heads,
        "layout": layout,
        "past_key": array(past_key),
        "past_value": array(past_value),
    }
    if asked.pad_token is not None:
        options["key_tokens"] = list(key_tokens or ())
    return options
