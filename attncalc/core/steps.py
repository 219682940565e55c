"""The definition of attention: a record of named steps, and the walk through them.

    x, context ─ project ─► split ─► rotate ─► gather ─► Q, K, V
                                                         │
         raw ─► scale ─► cap ─► bias ─► allow ─► softmax ─► mix ─► merge ─► project_out ─► output

Each step sees the stages so far, the inputs, and the record it belongs to; it returns the stages that it writes.
The record is what makes mistakes simple to state: a wrong attention is ``replace(RIGHT, scale=…)``, the same walk
with one step exchanged.  The right path has no switch to be wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attncalc.core import heads, masks, positions, scores, softmax
from attncalc.core.heads import Projection
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array, Sizes

NOT_YET: Any = None
"""What stands in a stage whose step has not been taken."""


@dataclass(frozen=True)
class Inputs:
    """What attention is computed from, in our order of axes.

    Attributes:
        query: (B, H, T, d), or packed (B, T, H·d); with a projection the sequence x, (B, T, E).
        key: (B, G, S − P, d), or packed; with a projection the context, (B, S − P, E').
        value: (B, G, S − P, d_v), or packed; with a projection the context again.
        sizes: how many there are of each letter.
        packed: the last axis of the inputs holds all heads, and so does the last axis of the output.
        past_key: (B, G, P, d), in front of the keys and already rotated; None without a cache.
        past_value: (B, G, P, d_v), or None.
        projection: the matrices of the layer, or None.
    """

    query: Array
    key: Array
    value: Array
    sizes: Sizes
    packed: bool = False
    past_key: Array | None = None
    past_value: Array | None = None
    projection: Projection | None = None


@dataclass(frozen=True)
class Stages:
    """Everything that has been computed so far; a field is empty until its step has been taken.

    Attributes:
        inputs: what it is computed from.
        rules: the rules in force.
        i: indexes of the queries at hand, (T,); all of them, unless the walk is made in blocks of rows.
        query: Q as it enters the product, (B, H, T, d).
        key: K likewise, (B, G, S, d), past keys in front.
        value: V likewise, (B, G, S, d_v).
        raw: Q Kᵀ, (B, H, T, S); ``scaled``, ``capped``, ``biased`` and ``scores`` likewise.
        allowed: may the query attend to the key, (B, H, T, S) booleans.
        lse: log of the sum of exp(scores), (B, H, T).
        weights: softmax along the keys, (B, H, T, S).
        heads: output of each head, (B, H, T, d_v).
        output: (B, H, T, d_v), or packed (B, T, H·d_v).
    """

    inputs: Inputs
    rules: Rules
    i: Array
    query: Array = NOT_YET
    key: Array = NOT_YET
    value: Array = NOT_YET
    raw: Array = NOT_YET
    scaled: Array = NOT_YET
    capped: Array = NOT_YET
    biased: Array = NOT_YET
    allowed: Array = NOT_YET
    scores: Array = NOT_YET
    lse: Array = NOT_YET
    weights: Array = NOT_YET
    heads: Array = NOT_YET
    output: Array = NOT_YET

    @property
    def j(self) -> Array:
        """Indexes of the keys, (S,)."""
        return np.arange(self.inputs.sizes.S)

    @property
    def accumulator(self) -> type[np.floating]:
        """The type in which products are summed; it depends on the whole problem, not on the rows at hand."""
        return self.rules.arithmetic.accumulator(self.inputs.sizes.multiply_adds)

    @property
    def p(self) -> Array:
        """Positions of the queries among the keys, (1 or B, T)."""
        return masks.positions(self.rules, self.inputs.sizes, self.i)


Written = Mapping[str, Array]
Step = Callable[[Stages, "Steps"], Written]


@dataclass(frozen=True)
class Steps:
    """The computation, step by step, in the order of the fields."""

    project: Step
    split: Step
    rotate: Step
    gather: Step
    raw: Step
    scale: Step
    cap: Step
    bias: Step
    allow: Step
    softmax: Step
    mix: Step
    merge: Step
    project_out: Step


INPUT_STEPS = ("project", "split", "rotate", "gather")
ROW_STEPS = ("raw", "scale", "cap", "bias", "allow", "softmax", "mix")
"""Steps in which no query knows of another, so that they may be taken for a few rows at a time."""
OUTPUT_STEPS = ("merge", "project_out")


def project(s: Stages, steps: Steps) -> Written:
    """Make Q from the sequence and K and V from the context: (B, T, E) -> (B, T, H·d)."""
    q, k, v, layer = s.inputs.query, s.inputs.key, s.inputs.value, s.inputs.projection
    if layer is None:
        return {"query": q, "key": k, "value": v}
    return {
        "query": heads.project(q, layer.wq, layer.bq),
        "key": heads.project(k, layer.wk, layer.bk),
        "value": heads.project(v, layer.wv, layer.bv),
    }


def split(s: Stages, steps: Steps) -> Written:
    """Give packed heads an axis of their own: (B, T, H·d) -> (B, H, T, d)."""
    if not s.inputs.packed:
        return {}
    H, G = s.inputs.sizes.H, s.inputs.sizes.G
    return {"query": heads.split(s.query, H), "key": heads.split(s.key, G), "value": heads.split(s.value, G)}


def rotate(s: Stages, steps: Steps) -> Written:
    """Turn queries and new keys by their position; values are not turned."""
    if s.rules.rope is None:
        return {}
    return {"query": positions.rotate(s.query, s.rules.rope), "key": positions.rotate(s.key, s.rules.rope)}


def gather(s: Stages, steps: Steps) -> Written:
    """Put the past in front of the new keys and values: (B, G, P, d) + (B, G, S − P, d) -> (B, G, S, d)."""
    if s.inputs.past_key is None or s.inputs.past_value is None:
        return {}
    return {
        "key": np.concatenate([s.inputs.past_key, s.key], axis=2),
        "value": np.concatenate([s.inputs.past_value, s.value], axis=2),
    }


def raw(s: Stages, steps: Steps) -> Written:
    """Q Kᵀ: (B, H, T, d) @ (B, G, d, S) -> (B, H, T, S)."""
    return {"raw": scores.raw(s.query, s.key, s.accumulator)}


def scale(s: Stages, steps: Steps) -> Written:
    """raw × scale."""
    return {"scaled": scores.scale(s.raw, s.rules.scale)}


def cap(s: Stages, steps: Steps) -> Written:
    """softcap · tanh(scaled / softcap)."""
    return {"capped": scores.cap(s.scaled, s.rules.softcap)}


def file_bias(s: Stages) -> Array | None:
    """Return the bias file's numbers for the queries at hand, broadcasting to (B, H, T, S)."""
    return None if s.rules.bias is None else masks.pick(s.rules.bias, s.i, s.j)


def alibi_bias(s: Stages) -> Array | None:
    """Return the bias of ALiBi, (B, H, T, S)."""
    slopes = s.rules.alibi_slopes
    return None if slopes is None else positions.alibi(slopes, s.p, s.j).astype(s.capped.dtype)


def bias(s: Stages, steps: Steps) -> Written:
    """Capped + bias file + ALiBi."""
    return {"biased": scores.add(s.capped, file_bias(s), alibi_bias(s))}


def allow(s: Stages, steps: Steps) -> Written:
    """Biased where every mask allows it, −∞ elsewhere."""
    allowed = masks.allowed(s.rules, s.inputs.sizes, s.i, s.j)
    return {"allowed": allowed, "scores": scores.block(s.biased, allowed)}


def soften(s: Stages, steps: Steps) -> Written:
    """exp(scores − lse), and what the policy says for queries without any key."""
    sink = s.rules.sink
    logits = None if sink is None else np.broadcast_to(sink[:, np.newaxis], s.scores.shape[:-1])  # (B, H, T)
    lse, weights = softmax.softmax(s.scores, logits)
    if sink is None:  # with a sink no query is empty: the sink takes all the weight
        weights = softmax.fill_empty_rows(weights, np.logical_not(s.allowed.any(axis=-1)), s.rules.empty_rows)
    return {"lse": lse, "weights": weights}


def mix(s: Stages, steps: Steps) -> Written:
    """Weights · V: (B, H, T, S) @ (B, G, S, d_v) -> (B, H, T, d_v)."""
    return {"heads": softmax.mix(s.weights, s.value, s.accumulator)}


def merge(s: Stages, steps: Steps) -> Written:
    """Set the heads beside each other when they came so: (B, H, T, d_v) -> (B, T, H·d_v)."""
    return {"output": heads.merge(s.heads) if s.inputs.packed else s.heads}


def project_out(s: Stages, steps: Steps) -> Written:
    """Apply the output projection of the layer: (B, T, H·d_v) -> (B, T, E'')."""
    layer = s.inputs.projection
    if layer is None or layer.wo is None:
        return {}
    return {"output": heads.project(s.output, layer.wo, layer.bo)}


RIGHT = Steps(
    project=project,
    split=split,
    rotate=rotate,
    gather=gather,
    raw=raw,
    scale=scale,
    cap=cap,
    bias=bias,
    allow=allow,
    softmax=soften,
    mix=mix,
    merge=merge,
    project_out=project_out,
)


def start(inputs: Inputs, rules: Rules) -> Stages:
    """Return the stages before the first step."""
    return Stages(inputs, rules, i=np.arange(inputs.sizes.T))


def walk(steps: Steps, names: tuple[str, ...], stages: Stages) -> Stages:
    """Take the named steps, each from where the one before it ended.

    Every stage is rounded once to the type asked for, here.
    """
    arithmetic = stages.rules.arithmetic
    for name in names:
        step: Step = getattr(steps, name)
        written = step(stages, steps)
        rounded = {k: x if x.dtype == bool else arithmetic.round(x) for k, x in written.items()}
        stages = replace(stages, **rounded)  # type: ignore[arg-type]  # the keys are fields that hold arrays
    return stages


def run(steps: Steps, inputs: Inputs, rules: Rules) -> Stages:
    """Walk through all the steps; return every stage."""
    return walk(steps, INPUT_STEPS + ROW_STEPS + OUTPUT_STEPS, start(inputs, rules))
