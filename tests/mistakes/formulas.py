"""Every form of every mistake as a replaced function of ``plain.answer``: id, form, when it applies, the change."""

import math
from types import SimpleNamespace

from oracle.axes import in_order
from oracle.nested import build
from oracle.rounding import FORMATS, round_to

from . import plain as p
from .plain import INF, NAN, joined, within

FORMULAS = []


def formula(id, form="", when=lambda w: True):
    """Add a function of a world that gives what is replaced."""

    def add(function):
        FORMULAS.append(SimpleNamespace(id=id, form=form, when=when, change=function))
        return function

    return add


def simple(id, when=lambda w: True, form="", **changed):
    formula(id, form, when)(lambda w: changed)


def full(w):
    return (w.B, w.H, w.T, w.S)


# --- input


@formula("heads-split-by-reshape", when=lambda w: w.H > 1 and (w.T > 1 or w.S - w.P > 1))
def _(w):
    def cut(heads):
        B, H, T, width = len(heads), len(heads[0]), len(heads[0][0]), len(heads[0][0][0])
        result = []
        for b in range(B):
            memory = [heads[b][h][t][c] for t in range(T) for h in range(H) for c in range(width)]
            result.append(build((H, T, width), lambda h, t, c, m=memory: m[(h * T + t) * width + c]))
        return result

    def inputs(w):
        other = SimpleNamespace(**vars(w) | {"Q": cut(w.Q), "K": cut(w.K), "V": cut(w.V)})
        return p.gathered(w, *(p.rotated(other) if w.o.get("rope") else (other.Q, other.K, other.V)))

    return {"qkv": inputs}


@formula("key-value-swapped", when=lambda w: w.d == w.dv)
def _(w):
    def inputs(w):
        other = SimpleNamespace(**vars(w) | {"K": w.V, "V": w.K, "pK": w.pV, "pV": w.pK})
        return p.gathered(other, *(p.rotated(other) if w.o.get("rope") else (other.Q, other.K, other.V)))

    return {"qkv": inputs}


def depends_on_place(w):
    return bool(w.masks) or w.o.get("bias") is not None or bool(w.slopes)


@formula("past-appended-after", when=lambda w: w.P and depends_on_place(w))
def _(w):
    def inputs(w):
        Q, K, V = p.rotated(w) if w.o.get("rope") else (w.Q, w.K, w.V)
        behind = [
            [[new + past for new, past in zip(*pair, strict=True)] for pair in zip(a, b, strict=True)]
            for a, b in ((K, w.pK), (V, w.pV))
        ]
        return Q, *behind

    return {"qkv": inputs}


simple("gqa-tiled", lambda w: 1 < w.G < w.H, kv=lambda w, h: h % w.G)
has_rope = lambda w: bool(w.o.get("rope"))  # noqa: E731
simple("rope-ignored", has_rope, qkv=lambda w: p.gathered(w, w.Q, w.K, w.V))
OTHER = {"half": "interleaved", "interleaved": "half"}
simple(
    "rope-pairing",
    lambda w: has_rope(w) and (w.o.get("rope_dims") or w.d) > 2,
    qkv=lambda w: p.gathered(w, *p.rotated(w, kind=OTHER[w.o["rope"]])),
)
simple(
    "rope-on-values", lambda w: has_rope(w) and w.dv % 2 == 0, qkv=lambda w: p.gathered(w, *p.rotated(w, values=True))
)
simple(
    "rope-offset-ignored",
    lambda w: has_rope(w) and w.P and w.o.get("rope_offset", w.P) != 0,
    qkv=lambda w: p.gathered(w, *p.rotated(w, start=0)),
)

# --- raw, scaled, capped

simple("query-key-swapped", lambda w: w.T == w.S, raw=lambda w, s, b, h, i, j: p.dot(s.Q[b][h][j], s.K[b][s.kv(h)][i]))
simple(
    "key-not-transposed",
    lambda w: w.d == w.S,
    raw=lambda w, s, b, h, i, j: math.fsum(s.Q[b][h][i][n] * s.K[b][s.kv(h)][n][j] for n in range(w.d)),
)


def scaled_by(id, factor, when):
    simple(id, when, scaled=lambda w, s, b, h, i, j: s.raw[b][h][i][j] * factor(w))


scaled_by("scale-missing", lambda w: 1, lambda w: w.scale != 1)
scaled_by("scale-d-model", lambda w: 1 / math.sqrt(w.H * w.d), lambda w: w.H > 1)
scaled_by("scale-inverted", lambda w: 1 / w.scale, lambda w: w.scale != 1)
scaled_by("scale-twice", lambda w: w.scale * w.scale, lambda w: w.scale != 1)
scaled_by("scale-d-not-sqrt", lambda w: 1 / w.d, lambda w: w.d > 1)
scaled_by("scale-from-values", lambda w: 1 / math.sqrt(w.dv), lambda w: w.dv != w.d or w.o.get("scale"))
scaled_by("scale-option-ignored", lambda w: 1 / math.sqrt(w.d), lambda w: w.o.get("scale"))

has_cap = lambda w: w.cap is not None  # noqa: E731
simple("softcap-ignored", has_cap, capped=lambda w, s, *at: p_pick(s.scaled, at))
simple("softcap-before-scale", has_cap, capped=lambda w, s, *at: w.scale * w.cap * math.tanh(p_pick(s.raw, at) / w.cap))
simple(
    "softcap-wrong-formula",
    has_cap,
    capped=lambda w, s, *at: p_pick(s.scaled, at) * math.tanh(p_pick(s.scaled, at) / w.cap),
)


def p_pick(array, at):
    for n in at:
        array = array[n]
    return array


# --- biased

has_bias = lambda w: w.o.get("bias") is not None  # noqa: E731
has_alibi = lambda w: bool(w.slopes)  # noqa: E731
simple("bias-ignored", has_bias, biased=lambda w, s, *at: p_pick(s.capped, at) + p.alibi(w, *at))
simple(
    "bias-before-scale",
    has_bias,
    biased=lambda w, s, *at: p.tanh_cap(w, (p_pick(s.raw, at) + p.bias(w, *at)) * w.scale) + p.alibi(w, *at),
)
simple("alibi-ignored", has_alibi, biased=lambda w, s, *at: p_pick(s.capped, at) + p.bias(w, *at))
simple("alibi-sign", has_alibi, biased=lambda w, s, *at: p_pick(s.capped, at) + p.bias(w, *at) - p.alibi(w, *at))
simple(
    "alibi-slopes-shifted",
    lambda w: w.o.get("alibi") and w.H in (1, 2, 4, 8),
    biased=lambda w, s, b, h, i, j: (
        s.capped[b][h][i][j] + p.bias(w, b, h, i, j) - 2 ** (-8 * h / w.H) * abs(i + w.offset(b) - j)
    ),
)

# --- scores: which keys


def masked(id, when, form="", left_out=(), **changed):
    simple(id, when, form, may=lambda w, *at: joined(w, at, changed, left_out))


def uses(letter):
    return lambda w: letter in w.masks


masked("causal-ignored", uses("C"), left_out="C")
masked("causal-strict", uses("C"), C=lambda w, b, h, i, j: j < i + w.offset(b))
masked("causal-one-ahead", uses("C"), C=lambda w, b, h, i, j: j <= i + w.offset(b) + 1)
masked("causal-reversed", uses("C"), C=lambda w, b, h, i, j: j >= i + w.offset(b))


def moved(o):
    """Causal mask and window count from another offset."""
    return {
        "C": lambda w, b, h, i, j: j <= i + o(w, b),
        "W": lambda w, b, h, i, j: within(w, i + o(w, b), j, w.o.get("window_left"), w.o.get("window_right")),
    }


def other_corner(w, b):
    if w.o.get("causal_align") == "lower-right":
        return 0
    return (w.S if w.lengths is None else w.length(b)) - w.T


masked("causal-wrong-corner", lambda w: "C" in w.masks and not w.P, "a", **moved(other_corner))
masked(
    "causal-wrong-corner",
    lambda w: "C" in w.masks and not w.P and w.lengths and w.o.get("causal_align") == "lower-right",
    "b",
    **moved(lambda w, b: w.S - w.T),
)
masked("causal-ignores-past", lambda w: "C" in w.masks and w.P, **moved(lambda w, b: 0))
masked("window-ignored", uses("W"), left_out="W")


def resized(w, b, i, j, by, sides):
    n = {side: w.o.get(f"window_{side}") for side in ("left", "right")}
    n = {side: size + by if side in sides else size for side, size in n.items()}
    return within(w, i + w.offset(b), j, n["left"], n["right"])


for by, id in ((-1, "window-one-short"), (1, "window-one-long")):
    for form, sides in (("a", ("left",)), ("b", ("right",)), ("c", ("left", "right"))):
        masked(
            id,
            lambda w, by=by, sides=sides: all(
                w.o.get(f"window_{side}") is not None and w.o[f"window_{side}"] + by >= 0 for side in sides
            ),
            form,
            W=lambda w, b, h, i, j, by=by, sides=sides: resized(w, b, i, j, by, sides),
        )
masked(
    "window-ignores-offset",
    lambda w: "W" in w.masks and any(w.offset(b) for b in range(w.B)),
    W=lambda w, b, h, i, j: within(w, i, j, w.o.get("window_left"), w.o.get("window_right")),
)
masked("mask-ignored", uses("M"), left_out="M")
masked("mask-inverted", uses("M"), "a", M=lambda w, *at: not w.mask(*at))
simple("mask-inverted", lambda w: w.masks, "b", may=lambda w, *at: not joined(w, at))
masked("mask-transposed", lambda w: "M" in w.masks and w.T == w.S, M=lambda w, b, h, i, j: w.mask(b, h, j, i))
simple(
    "mask-batch-order",
    lambda w: w.B > 1 and w.H > 1 and w.masks,
    may=lambda w, b, h, i, j: joined(w, ((b * w.H + h) % w.B, h, i, j)),
)
simple("masks-unioned", lambda w: len(w.masks) > 1, may=lambda w, *at: any(p.MASKS[name](w, *at) for name in w.masks))
masked("padding-ignored", uses("R"), left_out="R")
masked("padding-inverted", uses("R"), R=lambda w, b, h, i, j: not w.real(b, j))
masked("padding-on-queries", lambda w: "R" in w.masks and w.T == w.S, R=lambda w, b, h, i, j: w.real(b, i))
masked("padding-wrong-side", uses("R"), R=lambda w, b, h, i, j: w.real(b, w.S - 1 - j))


def lengths_changed(by):
    def change(w):
        other = p.World.__new__(p.World)
        other.__dict__ = w.__dict__ | {"lengths": [min(max(n + by, 0), w.S) for n in w.lengths]}
        biased = lambda w, s, *at: p_pick(s.capped, at) + p.bias(w, *at) + p.alibi(other, *at)  # noqa: E731
        return {"may": lambda w, *at: joined(other, at), "biased": biased}

    return change


formula("lengths-one-short", when=lambda w: w.lengths)(lengths_changed(-1))
formula("lengths-one-long", when=lambda w: w.lengths and any(n < w.S for n in w.lengths))(lengths_changed(1))

# --- scores: how masks act


def added(letter, number):
    def change(w):
        biased = lambda w, s, *at: p.DEFAULTS["biased"](w, s, *at) + number(w, *at)  # noqa: E731
        return {"biased": biased, "may": lambda w, *at: joined(w, at, left_out=letter)}

    return change


def own_padding(w, b, h, i, j):
    if w.lengths:
        return float(j < w.length(b))
    padding = p.plain(w.o["padding"])
    return float((padding[b] if isinstance(padding[0], list) else padding)[j])


formula("mask-added-as-numbers", "a", uses("M"))(added("M", lambda w, *at: float(w.file("mask")(*at))))
formula("mask-added-as-numbers", "b", lambda w: (w.o.get("padding") is not None) != (w.lengths is not None))(
    added("R", own_padding)
)
blocked = lambda w: bool(w.masks)  # noqa: E731
finite = lambda w: bool(w.masks) and "bad" not in w.o  # noqa: E731
simple("mask-multiplied", blocked, scores=lambda w, s, *at: p_pick(s.biased, at) * p_pick(s.may, at))
for F in (-10.0, -1e4, -1e9):
    simple(
        "mask-finite-fill",
        finite,
        f"a {F:g}",
        scores=lambda w, s, *at, F=F: p_pick(s.biased, at) if p_pick(s.may, at) else F,
    )
    simple(
        "mask-finite-fill",
        finite,
        f"b {F:g}",
        scores=lambda w, s, *at, F=F: p_pick(s.biased, at) + (0 if p_pick(s.may, at) else F),
    )


def capped_last(w, s, *at):
    if not p_pick(s.may, at):
        return -w.cap
    return p.tanh_cap(w, p_pick(s.scaled, at) + p.bias(w, *at) + p.alibi(w, *at))


simple("softcap-after-mask", lambda w: has_cap(w) and (w.masks or has_bias(w) or has_alibi(w)), scores=capped_last)

# --- weights


def softened_then_masked(w, s, b, h, i):
    found = p.softmax(s.biased[b][h][i], w.sink[h] if w.sink else None)
    return [x if s.may[b][h][i][j] else 0.0 for j, x in enumerate(found)]


simple("mask-after-softmax", blocked, weights=softened_then_masked)
simple(
    "scale-after-softmax",
    scaled=lambda w, s, *at: p_pick(s.raw, at),
    weights=lambda w, s, b, h, i: [w.scale * x for x in p.row_weights(w, s, b, h, i)],
)


def over(group):
    """Softmax over other groups of cells."""

    def all_weights(w, s):
        weights = build(full(w), lambda *at: None)
        for cells in group(w):
            found = p.softmax([p_pick(s.scores, at) for at in cells])
            if found is None:
                found = [p.fill_of(s.fill_group, len(cells))] * len(cells)
            for (b, h, i, j), x in zip(cells, found, strict=True):
                weights[b][h][i][j] = x
        return weights

    return all_weights


def columns(w):
    return [[(b, h, i, j) for i in range(w.T)] for b in range(w.B) for h in range(w.H) for j in range(w.S)]


def across_heads(w):
    return [[(b, h, i, j) for h in range(w.H)] for b in range(w.B) for i in range(w.T) for j in range(w.S)]


def across_heads_and_keys(w):
    return [[(b, h, i, j) for h in range(w.H) for j in range(w.S)] for b in range(w.B) for i in range(w.T)]


no_sink = lambda w: w.sink is None  # noqa: E731
simple("softmax-over-queries", lambda w: w.T > 1 and no_sink(w), all_weights=over(columns))
simple("softmax-over-heads", lambda w: w.H > 1 and no_sink(w), "a", all_weights=over(across_heads))
simple("softmax-over-heads", lambda w: w.H > 1 and no_sink(w), "b", all_weights=over(across_heads_and_keys))
simple("softmax-missing", weights=lambda w, s, b, h, i: [x if x != -INF else 0.0 for x in s.scores[b][h][i]])


def unstable(format):
    largest = float(FORMATS[format].largest)
    smallest = 2.0 ** (FORMATS[format].lowest - FORMATS[format].bits + 1)

    def exponential(x):
        e = INF if x > 709.78 else math.exp(x)
        return INF if e > largest else 0.0 if e < smallest else e

    def weights(w, s, b, h, i):
        e = [exponential(x) for x in s.scores[b][h][i]]
        total = sum(e) + (exponential(w.sink[h]) if w.sink else 0)
        if total == 0:
            return [NAN] * w.S
        return [NAN if x == INF else x / total for x in e]

    return weights


for form, format in (("a", "float64"), ("b", "float32"), ("c", "float16")):
    simple("softmax-unstable", form=form, weights=unstable(format))


def rounded(format):
    def weights(w, s, b, h, i):
        scores = [x if x == -INF else round_to(format, x) for x in s.scores[b][h][i]]
        found = p.softmax(scores, round_to(format, w.sink[h]) if w.sink else None)
        if found is None:
            return p.row_weights(w, s, b, h, i)
        return [round_to(format, x) for x in found]

    return weights


simple("softmax-low-precision", form="a", weights=rounded("float16"))
simple("softmax-low-precision", form="b", weights=rounded("bfloat16"))
simple(
    "empty-row-nan",
    lambda w: w.empty in ("zero", "uniform") and no_sink(w) and w.masks,
    weights=lambda w, s, b, h, i: p.softmax(s.scores[b][h][i]) or [NAN] * w.S,
)


def dropped(rate):
    def weights(w, s, b, h, i):
        row = p.row_weights(w, s, b, h, i)
        return [0.0 if (7 * b + 5 * h + 3 * i + 2 * j) % 4 == 0 else x / (1 - rate) for j, x in enumerate(row)]

    return weights


for rate in (0.1, 0.2, 0.25, 0.3, 0.4, 0.5):
    simple("dropout-left-on", lambda w: w.dv > 1 and w.S <= 8, f"{rate}", weights=dropped(rate))
has_sink = lambda w: w.sink is not None  # noqa: E731


def without_sink(w, s, b, h, i):
    return p.softmax(s.scores[b][h][i]) or [p.fill_of(s.fill_row, w.S)] * w.S


def renormalised(w, s, b, h, i):
    row = p.row_weights(w, s, b, h, i)
    total = math.fsum(row)
    return [x / total for x in row] if total else [p.fill_of(s.fill_row, w.S)] * w.S


simple("sink-ignored", has_sink, weights=without_sink)
simple("sink-renormalised", has_sink, weights=renormalised)

# --- output


def sink_share(w, s, b, h, i):
    terms = [x for x in s.scores[b][h][i] if x != -INF] + [w.sink[h]]
    top = max(terms)
    return math.exp(w.sink[h] - top) / math.fsum(math.exp(x - top) for x in terms)


def sink_to_first(w, s, b, h, i):
    row = list(p.row_weights(w, s, b, h, i))
    row[0] += sink_share(w, s, b, h, i)
    return row


simple("sink-as-extra-value", has_sink, "a", weights=sink_to_first)
simple(
    "sink-as-extra-value",
    has_sink,
    "b",
    mixed=lambda w, s, b, h, i, c: p.DEFAULTS["mixed"](w, s, b, h, i, c) + sink_share(w, s, b, h, i),
)
simple(
    "weights-transposed",
    lambda w: w.T == w.S,
    mixed=lambda w, s, b, h, i, c: math.fsum(
        s.weights[b][h][j][i] * s.V[b][s.kv(h)][j][c] for j in range(w.S) if s.weights[b][h][j][i] != 0
    ),
)
simple(
    "blocked-nan-leaks",
    lambda w: w.o.get("bad") == "value",
    "a",
    mixed=lambda w, s, b, h, i, c: sum(s.weights[b][h][i][j] * s.V[b][s.kv(h)][j][c] for j in range(w.S)),
)
simple(
    "blocked-nan-leaks",
    lambda w: w.o.get("bad") == "key",
    "b",
    scores=lambda w, s, *at: p_pick(s.biased, at) + (0 if p_pick(s.may, at) else -INF),
)


def permuted(source):
    def heads(w, s):
        right = build((w.B, w.H, w.T, w.dv), lambda *at: p.DEFAULTS["mixed"](w, s, *at))
        return build((w.B, w.H), lambda b, h: p_pick(right, source(w, b, h)))

    return heads


both = lambda w: w.B > 1 and w.H > 1  # noqa: E731
simple("heads-batch-swapped", both, "a", heads=permuted(lambda w, b, h: divmod(h * w.B + b, w.H)))
simple("heads-batch-swapped", both, "b", heads=permuted(lambda w, b, h: ((b * w.H + h) % w.B, (b * w.H + h) // w.B)))
many = lambda w: w.H > 1  # noqa: E731


def mean_output(w, s):
    mean = build((w.B, 1, w.T, w.dv), lambda b, _, i, c: math.fsum(s.heads[b][h][i][c] for h in range(w.H)) / w.H)
    return in_order(mean, w.letters.replace("h", ""))


def mean_heads(w, s):
    right = build((w.B, w.H, w.T, w.dv), lambda *at: p.DEFAULTS["mixed"](w, s, *at))
    return build((w.B, w.H, w.T, w.dv), lambda b, h, i, c: math.fsum(right[b][g][i][c] for g in range(w.H)) / w.H)


def mean_weights(w, s):
    right = build((w.B, w.H, w.T), lambda *at: p.row_weights(w, s, *at))
    return build(full(w), lambda b, h, i, j: math.fsum(right[b][g][i][j] for g in range(w.H)) / w.H)


simple("heads-averaged", many, "a", output=mean_output)
simple("heads-averaged", many, "b", heads=mean_heads)
simple("heads-averaged", many, "c", all_weights=mean_weights)


def merged_by_reshape(w, s):
    def token(b):
        memory = [s.heads[b][h][t][c] for h in range(w.H) for t in range(w.T) for c in range(w.dv)]
        return build((w.T, w.H * w.dv), lambda t, c: memory[t * w.H * w.dv + c])

    packed = [token(b) for b in range(w.B)]
    return packed if "b" in w.letters else packed[0]


simple("heads-merged-by-reshape", lambda w: w.packed and w.H > 1 and w.T > 1, output=merged_by_reshape)
