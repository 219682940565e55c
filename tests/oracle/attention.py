"""Scaled dot-product attention with every option, stage by stage."""

from typing import Any

from .axes import in_order, letters_of, merge_packed, split
from .masks import Sizes, allowed_of, offset_of
from .nested import broadcast, build, pick, plain, shape_of
from .numbers import Numbers, numbers_of
from .positions import alibi_slopes as paper_slopes
from .positions import rotate
from .softmax import mix, softmax_row


class EmptyRowError(ValueError):
    """A query that may attend to no key, while ``empty_rows`` is ``"error"``."""

    def __init__(self, query: int) -> None:
        super().__init__(f"query {query} may attend to no key")
        self.query = query


def attend(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool | str | None = None,
    causal_align: str | None = None,
    mask: Any = None,
    mask_true: str = "allowed",
    padding: Any = None,
    lengths: Any = None,
    window_left: int | None = None,
    window_right: int | None = None,
    empty_rows: str = "error",
    scale: float | None = None,
    softcap: float | None = None,
    bias: Any = None,
    alibi: bool = False,
    alibi_slopes: Any = None,
    sink: Any = None,
    rope: str | None = None,
    rope_base: float = 10000,
    rope_dims: int | None = None,
    rope_offset: int | None = None,
    past_key: Any = None,
    past_value: Any = None,
    heads: int | None = None,
    kv_heads: int | None = None,
    layout: str | None = None,
    number: type = float,
) -> dict[str, Any]:
    """Compute attention; give every stage by name, as nested lists in the user's axes.

    A blocked score is −∞ and its weight 0, whatever stands in the key and the value.
    """
    n = numbers_of(number)
    q, k, v, past_key, past_value = (plain(array) for array in (q, k, v, past_key, past_value))
    if not isinstance(q[0], list | tuple):
        q = [q]  # one query
    packed = heads is not None
    groups = (kv_heads or heads) if packed else None
    letters = letters_of(len(shape_of(k)), layout, packed)

    Q = numbers_in(split(q, letters, heads), n)
    new_K = numbers_in(split(k, letters, groups), n)
    new_V = numbers_in(split(v, letters, groups), n)
    past_K = numbers_in(split_past(past_key, letters, groups), n)
    past_V = numbers_in(split_past(past_value, letters, groups), n)
    B, H, T, d = shape_of(Q)
    G = len(new_K[0])
    P = len(past_K[0][0]) if past_K else 0

    if rope:
        start = P if rope_offset is None else rope_offset
        dims = d if rope_dims is None else rope_dims

        def turned(heads_of_rows: Any) -> Any:
            sizes = shape_of(heads_of_rows)[:3]
            return build(
                sizes,
                lambda b, h, t: rotate(heads_of_rows[b][h][t], start + t, rope, rope_base, dims, n),
            )

        Q, new_K = turned(Q), turned(new_K)  # past keys were turned when they were new

    K = build((B, G), lambda b, g: (past_K[b][g] if P else []) + new_K[b][g])
    V = build((B, G), lambda b, g: (past_V[b][g] if P else []) + new_V[b][g])
    S = len(K[0][0])
    has_heads = packed or "h" in letters
    sizes = Sizes(B, H, T, S, P, ("b" if "b" in letters else "") + ("h" if has_heads else ""))

    align = causal if isinstance(causal, str) and causal != "past" else causal_align
    allowed = allowed_of(
        sizes,
        causal=bool(causal),
        align=align,
        mask=mask,
        mask_true=mask_true,
        padding=padding,
        lengths=lengths,
        window_left=window_left,
        window_right=window_right,
        bias=bias,
    )
    factor = 1 / n.sqrt(n.make(d)) if scale is None else n.make(scale)
    cap = None if softcap is None else n.make(softcap)
    bias_at = None if bias is None else broadcast(plain(bias), sizes.stage)
    slopes = None
    if alibi_slopes is not None:
        slopes = [n.make(slope) for slope in plain(alibi_slopes)]
    elif alibi:
        slopes = paper_slopes(H, n)
    sinks = None if sink is None else [n.make(logit) for logit in plain(sink)]

    def raw_at(b: int, h: int, i: int, j: int) -> Any:
        query, key = Q[b][h][i], K[b][h // (H // G)][j]
        return n.total(x * y for x, y in zip(query, key, strict=True))

    def biased_at(b: int, h: int, i: int, j: int) -> Any:
        value = capped[b][h][i][j]
        if bias_at is not None:
            value += n.make(bias_at(*sizes.in_stage(b, h, i, j)))
        if slopes is not None:
            value -= slopes[h] * abs(i + offset_of(sizes, b, align, lengths) - j)
        return value

    full = (B, H, T, S)
    raw = build(full, raw_at)
    scaled = build(full, lambda *at: pick(raw, at) * factor)
    capped = scaled if cap is None else build(full, lambda *at: cap * n.tanh(pick(scaled, at) / cap))
    biased = build(full, biased_at)
    may = build(full, allowed)
    scores = build(full, lambda *at: pick(biased, at) if pick(may, at) else n.make("-inf"))

    lse = build((B, H, T), lambda *at: None)
    weights = build((B, H, T), lambda *at: None)
    outputs = build((B, H, T), lambda *at: None)
    for b, h, i in [(b, h, i) for b in range(B) for h in range(H) for i in range(T)]:
        keys = [j for j in range(S) if may[b][h][i][j]]
        sink_here = sinks[h] if sinks else None
        empty = not keys and sink_here is None
        if empty and empty_rows == "error":
            raise EmptyRowError(i)
        row_lse, row_weights = softmax_row(scores[b][h][i], keys, sink_here, empty_rows, n)
        lse[b][h][i], weights[b][h][i] = row_lse, row_weights
        mixed = range(S) if empty and empty_rows != "zero" else keys
        outputs[b][h][i] = mix(row_weights, V[b][h // (H // G)], list(mixed), n)

    stages = {"raw": raw, "scaled": scaled, "capped": capped, "biased": biased, "allowed": may}
    stages |= {"scores": scores, "weights": weights, "heads": outputs}
    stages = {name: in_order(array, sizes.outer + "td") for name, array in stages.items()}
    stages["lse"] = in_order(build((B, H, T, 1), lambda b, h, i, _: lse[b][h][i]), sizes.outer + "td")
    stages["lse"] = build(shape_of(stages["lse"])[:-1], lambda *at: pick(stages["lse"], (*at, 0)))
    stages["output"] = merge_packed(outputs, letters) if packed else in_order(outputs, letters)
    return stages


def split_past(past: Any, letters: str, groups: int | None) -> Any:
    """Bring cached keys or values into [b][g][t][c]; beside packed arrays they may have a heads axis."""
    if past is None:
        return None
    if groups is not None and len(shape_of(past)) == len(letters) + 1:
        return split(past, letters.replace("t", "ht"), None)
    return split(past, letters, groups)


def numbers_in(array: Any, n: Numbers) -> Any:
    if array is None:
        return None
    return build(shape_of(array), lambda *at: n.make(pick(array, at)))
