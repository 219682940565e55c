"""Wrong attention in plain loops: the formulas of the catalogue, programmed a second time.

Nothing here knows attncalc.  ``World`` holds the inputs as nested lists [b][h][t][c]; ``answer`` computes every
stage, element by element, from small functions, any of which a mistake may replace.
"""

import math
from types import SimpleNamespace

from oracle.axes import in_order, letters_of, merge_packed, split
from oracle.nested import broadcast, build, plain, shape_of
from oracle.numbers import DOUBLE
from oracle.positions import alibi_slopes, rotate

NAN, INF = math.nan, math.inf


class World:
    """Inputs and rules as nested lists and plain numbers."""

    def __init__(self, q, k, v, **o):
        self.o = o
        heads, kv = o.get("heads"), o.get("kv_heads") or o.get("heads")
        self.packed = heads is not None
        self.letters = letters_of(len(shape_of(plain(k))), o.get("layout"), self.packed)
        self.Q, self.K, self.V = (split(plain(x), self.letters, n) for x, n in ((q, heads), (k, kv), (v, kv)))
        past = [o.get("past_key"), o.get("past_value")]
        self.pK, self.pV = (None if x is None else split(plain(x), self.letters, kv) for x in past)
        self.B, self.H, self.T, self.d = shape_of(self.Q)
        self.G, self.dv = len(self.K[0]), len(self.V[0][0][0])
        self.P = len(self.pK[0][0]) if self.pK else 0
        self.S = self.P + len(self.K[0][0])
        self.scale = o.get("scale") or 1 / math.sqrt(self.d)
        self.cap = o.get("softcap")
        self.slopes = alibi_slopes(self.H, DOUBLE) if o.get("alibi") else plain(o.get("alibi_slopes"))
        self.sink = plain(o.get("sink"))
        self.empty = o.get("empty_rows", "error")
        has_heads = self.packed or "h" in self.letters
        self.outer = ("b" if "b" in self.letters else "") + ("h" if has_heads else "")
        lengths = plain(o.get("lengths"))
        self.lengths = [lengths] if isinstance(lengths, int) else lengths

    def length(self, b):
        return self.lengths[b if len(self.lengths) > 1 else 0]

    def offset(self, b):
        if self.P:
            return self.P
        if self.o.get("causal_align") != "lower-right":
            return 0
        return (self.S if self.lengths is None else self.length(b)) - self.T

    def file(self, name):
        """Read a mask or a bias as a function of b, h, i, j."""
        array = plain(self.o[name])
        sizes = [{"b": self.B, "h": self.H}[x] for x in self.outer] + [self.T, self.S]
        at = broadcast(array, tuple(sizes))
        return lambda b, h, i, j: at(*({"b": b, "h": h}[x] for x in self.outer), i, j)

    def mask(self, b, h, i, j):
        return bool(self.file("mask")(b, h, i, j)) is (self.o.get("mask_true", "allowed") == "allowed")

    def real(self, b, j):
        found = True
        if (padding := plain(self.o.get("padding"))) is not None:
            row = padding[b] if isinstance(padding[0], list) else padding
            found = bool(row[j]) is (self.o.get("mask_true", "allowed") == "allowed")
        return found and (self.lengths is None or j < self.length(b))

    @property
    def masks(self):
        """The masks in force, by letter."""
        o = self.o
        found = []
        if o.get("causal"):
            found.append("C")
        if o.get("window_left") is not None or o.get("window_right") is not None:
            found.append("W")
        if o.get("mask") is not None:
            found.append("M")
        if o.get("padding") is not None or self.lengths is not None:
            found.append("R")
        return found


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def within(w, p, j, left, right):
    return (left is None or j >= p - left) and (right is None or j <= p + right)


def causal(w, b, h, i, j):
    return j <= i + w.offset(b)


def window(w, b, h, i, j):
    return within(w, i + w.offset(b), j, w.o.get("window_left"), w.o.get("window_right"))


def mask_file(w, b, h, i, j):
    return w.mask(b, h, i, j)


def real(w, b, h, i, j):
    return w.real(b, j)


MASKS = {"C": causal, "W": window, "M": mask_file, "R": real}


def joined(w, cell, changed=None, left_out=()):
    """Every mask in force says yes."""
    masks = MASKS | (changed or {})
    return all(masks[name](w, *cell) for name in w.masks if name not in left_out)


def rope(w, rows, start, kind=None, dims=None):
    return [
        rotate(row, start + t, kind or w.o["rope"], w.o.get("rope_base", 10000), dims, DOUBLE)
        for t, row in enumerate(rows)
    ]


def rotated(w, kind=None, start=None, values=False):
    """Q, new K and new V after RoPE."""
    r = start if start is not None else w.o.get("rope_offset", w.P)
    dims = w.o.get("rope_dims") or w.d

    def turn(heads, width):
        return [[rope(w, rows, r, kind, width) for rows in batch] for batch in heads]

    return turn(w.Q, dims), turn(w.K, dims), turn(w.V, w.dv) if values else w.V


def gathered(w, Q, K, V):
    """Put the past in front."""
    if not w.P:
        return Q, K, V
    join = [[past + new for past, new in zip(*pair, strict=True)] for pair in zip(w.pK, K, strict=True)]
    values = [[past + new for past, new in zip(*pair, strict=True)] for pair in zip(w.pV, V, strict=True)]
    return Q, join, values


def qkv(w):
    return gathered(w, *(rotated(w) if w.o.get("rope") else (w.Q, w.K, w.V)))


def alibi(w, b, h, i, j, offset=None):
    if not w.slopes:
        return 0.0
    o = w.offset(b) if offset is None else offset
    return -w.slopes[h] * abs(i + o - j)


def bias(w, b, h, i, j):
    return 0.0 if w.o.get("bias") is None else w.file("bias")(b, h, i, j)


def tanh_cap(w, x):
    return x if w.cap is None else w.cap * math.tanh(x / w.cap)


def softmax(terms, sink=None):
    """Weights of a list of scores, the sink in the sum; None for a list without a finite score."""
    every = [*terms, *([] if sink is None else [sink])]
    if any(math.isnan(x) for x in every):
        return [NAN] * len(terms)
    top = max(every)
    if top == -INF:
        return None
    total = math.fsum(math.exp(x - top) for x in every)
    return [math.exp(x - top) / total for x in terms]


def fill_of(kind, n):
    return {"zero": 0.0, "error": 0.0, "nan": NAN, "uniform": 1 / n}[kind]


def row_weights(w, s, b, h, i):
    """The right softmax of a row; rows without a key by the policy, or by what the test is trying."""
    found = softmax(s.scores[b][h][i], w.sink[h] if w.sink else None)
    if found is None:
        return [fill_of(s.fill(b, h, i), w.S)] * w.S
    return found


DEFAULTS = {
    "qkv": lambda w: qkv(w),
    "kv": lambda w, h: h // (w.H // w.G),
    "raw": lambda w, s, b, h, i, j: dot(s.Q[b][h][i], s.K[b][s.kv(h)][j]),
    "scaled": lambda w, s, b, h, i, j: s.raw[b][h][i][j] * w.scale,
    "capped": lambda w, s, b, h, i, j: tanh_cap(w, s.scaled[b][h][i][j]),
    "biased": lambda w, s, b, h, i, j: s.capped[b][h][i][j] + bias(w, b, h, i, j) + alibi(w, b, h, i, j),
    "may": lambda w, b, h, i, j: joined(w, (b, h, i, j)),
    "scores": lambda w, s, b, h, i, j: s.biased[b][h][i][j] if s.may[b][h][i][j] else -INF,
    "weights": row_weights,
    "all_weights": None,
    "mixed": lambda w, s, b, h, i, c: math.fsum(
        s.weights[b][h][i][j] * s.V[b][s.kv(h)][j][c] for j in range(w.S) if s.weights[b][h][i][j] != 0
    ),
    "heads": None,
    "output": None,
}


def answer(w, fill="zero", attend=True, **changed):
    """Compute every stage, some of its functions replaced; give weights and output in the user's axes.

    Args:
        w: inputs and rules.
        fill: the weights of a row that only the mistake empties: zero, nan or uniform.
        attend: rows that the right masks empty attend to what the mistake gives them; else they keep the policy.
        changed: functions by the name of the stage, instead of those in DEFAULTS.
    """
    f = SimpleNamespace(**DEFAULTS | changed)
    s = SimpleNamespace(kv=lambda h: f.kv(w, h))
    s.Q, s.K, s.V = f.qkv(w)
    full, rows = (w.B, w.H, w.T, w.S), (w.B, w.H, w.T)
    right = build(full, lambda *at: joined(w, at) and bias(w, *at) != -INF)

    def policy(b, h, i):
        return w.empty if w.sink is None and not any(right[b][h][i]) else fill

    s.fill, s.fill_group, s.fill_row = policy, fill, fill
    for name in ("raw", "scaled", "capped", "biased"):
        setattr(s, name, build(full, lambda *at, name=name: getattr(f, name)(w, s, *at)))
    s.may = build(full, lambda *at: f.may(w, *at))
    s.scores = build(full, lambda *at: f.scores(w, s, *at))
    if not attend:
        s.scores = build(rows, lambda b, h, i: s.scores[b][h][i] if any(right[b][h][i]) else [-INF] * w.S)
    s.weights = f.all_weights(w, s) if f.all_weights else build(rows, lambda *at: f.weights(w, s, *at))
    if not attend:
        for b, h, i in [(b, h, i) for b in range(w.B) for h in range(w.H) for i in range(w.T)]:
            if not any(right[b][h][i]):
                s.weights[b][h][i] = [fill_of(w.empty, w.S)] * w.S
    s.heads = f.heads(w, s) if f.heads else build((w.B, w.H, w.T, w.dv), lambda *at: f.mixed(w, s, *at))
    if f.output:
        s.output = f.output(w, s)
    else:
        s.output = merge_packed(s.heads, w.letters) if w.packed else in_order(s.heads, w.letters)
    s.shown_weights = in_order(s.weights, w.outer + "td")
    return s
