"""Mistakes with projections, heads, keys and values, and the cache."""

import numpy as np

from attncalc.core import heads
from attncalc.core import steps as right
from attncalc.core.heads import Projection
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.using import layer_of, with_layer

IN = ("wq", "wk", "wv")
OUT = ("wo",)


# --- projections


def _turned(layer: Projection, names: tuple[str, ...]) -> dict[str, Array]:
    return {name: w.T for name in names if (w := getattr(layer, name)) is not None}


def project_transposed(s: Stages, steps: Steps) -> Written:
    """Use wq, wk and wv transposed."""
    layer = s.inputs.projection
    return right.project(s if layer is None else with_layer(s, **_turned(layer, IN)), steps)


def project_out_transposed(s: Stages, steps: Steps) -> Written:
    """Use wo transposed."""
    layer = s.inputs.projection
    return right.project_out(s if layer is None else with_layer(s, **_turned(layer, OUT)), steps)


def _can_turn(*names: str) -> Form:
    """Make the form in which these matrices are transposed; all of them are square, none is symmetric."""
    changes = {"project": project_transposed} if "wq" in names else {}
    if "wo" in names:
        changes |= {"project_out": project_out_transposed}

    def applies(problem: Problem) -> bool:
        layer = layer_of(problem)
        there = [w for name in names if (w := getattr(layer, name)) is not None]
        return bool(there) and all(w.shape[0] == w.shape[1] and not np.array_equal(w, w.T) for w in there)

    return Form(changes, applies)


def project_without_bias(s: Stages, steps: Steps) -> Written:
    """Project without bq, bk and bv."""
    return right.project(with_layer(s, bq=None, bk=None, bv=None), steps)


def project_out_without_bias(s: Stages, steps: Steps) -> Written:
    """Project out without bo."""
    return right.project_out(with_layer(s, bo=None), steps)


def _has_bias(*names: str) -> Form:
    """Make the form in which these biases are left out; one of them at least is not 0."""
    changes = {"project": project_without_bias} if "bq" in names else {}
    if "bo" in names:
        changes |= {"project_out": project_out_without_bias}

    def applies(problem: Problem) -> bool:
        layer = layer_of(problem)
        return any((b := getattr(layer, name)) is not None and bool(b.any()) for name in names)

    return Form(changes, applies)


def has_projection(problem: Problem) -> bool:
    """Say whether Q, K and V come from a sequence."""
    return layer_of(problem) is not None


PROJECTION_TRANSPOSED = Mistake(
    "projection-transposed",
    "input",
    has_projection,
    (_can_turn(*IN, *OUT), _can_turn(*IN), _can_turn(*OUT)),
    ("skyzh/tiny-llm#41", "tinygrad/tinygrad#18103", "vllm-project/vllm#44113"),
)
PROJECTION_BIAS_MISSING = Mistake(
    "projection-bias-missing",
    "input",
    has_projection,
    (_has_bias("bq", "bk", "bv", "bo"), _has_bias("bq", "bk", "bv"), _has_bias("bo")),
    ("sbryngelson/ANEForge#253", "OminiX-ai/OminiX-MLX#7"),
)


# --- heads


def split_by_reshape(s: Stages, steps: Steps) -> Written:
    """Reshape (B, T, H·d) to (B, H, T, d) at once: no axis is moved."""

    def cut(rows: Array, count: int) -> Array:
        packed = rows if s.inputs.packed else heads.merge(rows)  # (B, T, H·d)
        B, T, width = packed.shape
        return packed.reshape(B, count, T, width // count)

    H, G = s.inputs.sizes.H, s.inputs.sizes.G
    return {"query": cut(s.query, H), "key": cut(s.key, G), "value": cut(s.value, G)}


def gather_tiled(s: Stages, steps: Steps) -> Written:
    """Give query head h the key/value head h mod G."""
    joined = right.gather(s, steps)
    share = (1, s.inputs.sizes.H // s.inputs.sizes.G, 1, 1)
    return {name: np.tile(joined.get(name, getattr(s, name)), share) for name in ("key", "value")}


HEADS_SPLIT_BY_RESHAPE = Mistake(
    "heads-split-by-reshape",
    "input",
    lambda problem: problem.sizes.H > 1 and (problem.sizes.T > 1 or problem.sizes.S - problem.sizes.P > 1),
    (Form({"split": split_by_reshape}),),
    ("onnx/onnx#7142", "reczoo/FuxiCTR#30", "649453932/Chinese-Text-Classification-Pytorch#10"),
)
GQA_TILED = Mistake(
    "gqa-tiled",
    "input",
    lambda problem: 1 < problem.sizes.G < problem.sizes.H,
    (Form({"gather": gather_tiled}),),
    ("onnx/onnx#7274", "apple/axlearn#842"),
)


# --- keys, values, cache


def project_swapped(s: Stages, steps: Steps) -> Written:
    """Take V for K and K for V."""
    made = right.project(s, steps)
    return {"query": made["query"], "key": made["value"], "value": made["key"]}


def gather_swapped(s: Stages, steps: Steps) -> Written:
    """Take past values for past keys, and the reverse."""
    past_key, past_value = s.inputs.past_key, s.inputs.past_value
    if past_key is None or past_value is None:
        return {}
    return {"key": np.concatenate([past_value, s.key], 2), "value": np.concatenate([past_key, s.value], 2)}


def _keys_can_be_values(problem: Problem) -> bool:
    if problem.sizes.d != problem.sizes.d_v:
        return False
    inputs, layer = problem.inputs, layer_of(problem)
    pairs: list[tuple[Array | None, Array | None]] = [(inputs.past_key, inputs.past_value)]
    pairs += [(inputs.key, inputs.value)] if layer is None else [(layer.wk, layer.wv), (layer.bk, layer.bv)]

    def same(a: Array | None, b: Array | None) -> bool:
        return a is b or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True))

    return not all(same(a, b) for a, b in pairs)


def gather_past_last(s: Stages, steps: Steps) -> Written:
    """Put the past behind the new keys and values."""
    past_key, past_value = s.inputs.past_key, s.inputs.past_value
    if past_key is None or past_value is None:
        return {}
    return {"key": np.concatenate([s.key, past_key], 2), "value": np.concatenate([s.value, past_value], 2)}


def _place_matters(problem: Problem) -> bool:
    rules = problem.rules
    masks = (rules.window_left, rules.window_right, rules.mask, rules.padding, rules.padding_tokens, rules.lengths)
    by_place = (*masks, rules.bias, rules.alibi_slopes)
    return problem.sizes.P > 0 and (rules.causal or any(rule is not None for rule in by_place))


KEY_VALUE_SWAPPED = Mistake(
    "key-value-swapped",
    "input",
    _keys_can_be_values,
    (Form({"project": project_swapped, "gather": gather_swapped}),),
    ("jsbaan/transformer-from-scratch#1", "Keras takes query, value, key in that order"),
)
PAST_APPENDED_AFTER = Mistake(
    "past-appended-after",
    "input",
    _place_matters,
    (Form({"gather": gather_past_last}),),
    ("kyutai-labs/moshi#241 (asked there)",),
)
