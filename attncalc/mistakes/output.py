"""Mistakes after the softmax: mixing values, ordering heads, merging and projecting them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attncalc.core import heads
from attncalc.core import steps as right
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array, Sizes
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.selecting import every, in_force
from attncalc.mistakes.softmax import has_sink
from attncalc.mistakes.using import layer_of, ready

ROW_STAGES = ("raw", "scaled", "capped", "biased", "allowed", "scores", "lse", "weights")


# --- the sink's share


def _sink_weight(s: Stages, steps: Steps) -> Array:
    """exp(sink − lse): (B, H, T)."""
    lse: Array | None = s.lse  # a wrong softmax may have none
    sink = s.rules.sink
    if sink is None:
        return np.zeros(s.scores.shape[:-1])
    share: Array = np.exp(sink[:, np.newaxis] - (right.soften(s, steps)["lse"] if lse is None else lse))
    return share


def mix_sink_with_first(s: Stages, steps: Steps) -> Written:
    """Let the sink's weight meet the value of key 0."""
    weights = s.weights.copy()
    weights[..., 0] += _sink_weight(s, steps)
    return {"weights": weights, **right.mix(replace(s, weights=weights), steps)}


def mix_sink_with_ones(s: Stages, steps: Steps) -> Written:
    """Let the sink's weight meet a row of ones; the weights get one more column."""
    share = _sink_weight(s, steps)[..., np.newaxis]
    weights = np.concatenate([s.weights, share], axis=-1)
    return {"weights": weights, "heads": right.mix(s, steps)["heads"] + share}


SINK_AS_EXTRA_VALUE = Mistake(
    "sink-as-extra-value",
    "output",
    has_sink,
    (Form({"mix": mix_sink_with_first}), Form({"mix": mix_sink_with_ones})),
    ("asked for in reviews: sgl-project/sgl-kernel-npu#216", "NVIDIA/TensorRT-LLM#6520"),
)


# --- mixing


def mix_transposed(s: Stages, steps: Steps) -> Written:
    """weights′[i, j] = weights[j, i], then · V."""
    weights = s.weights.swapaxes(-1, -2)
    return {"weights": weights, **right.mix(replace(s, weights=weights), steps)}


def mix_touching_all(s: Stages, steps: Steps) -> Written:
    """Sum over all keys: a weight of 0 times NaN is NaN."""
    return {"heads": heads.grouped_matmul(s.weights, s.value)}


def allow_by_adding(s: Stages, steps: Steps) -> Written:
    """Add 0 where allowed and −∞ where blocked: NaN stays NaN."""
    allowed = np.broadcast_to(every(in_force(s)), s.biased.shape)
    with np.errstate(invalid="ignore"):
        return {"allowed": allowed, "scores": s.biased + np.where(allowed, 0, -np.inf)}


def _holds_nan(*names: str) -> Callable[[Problem], bool]:
    """Say whether NaN or infinity stands in keys, or in values; where a query attends to them that is an error."""

    def applies(problem: Problem) -> bool:
        s = ready(problem)
        return any(not np.isfinite(getattr(s, name)).all() for name in names)

    return applies


WEIGHTS_TRANSPOSED = Mistake(
    "weights-transposed",
    "output",
    lambda problem: problem.sizes.T == problem.sizes.S,
    (Form({"mix": mix_transposed}, rows_apart=False),),
    ("heykeetae/Self-Attention-GAN#11", "huggingface/pytorch-image-models#888"),
)
BLOCKED_NAN_LEAKS = Mistake(
    "blocked-nan-leaks",
    "output",
    _holds_nan("key", "value"),
    (
        Form({"mix": mix_touching_all}, _holds_nan("value")),
        Form({"allow": allow_by_adding}, _holds_nan("key")),
    ),
    ("pytorch/pytorch#101967",),
)


# --- the order of heads and batch


def from_blocks(source: Callable[[Array, Array, Sizes], tuple[Array, Array]]) -> Step:
    """Make the step that takes the block (b, h) of every stage from another place.

    Args:
        source: from b, (B, 1), h, (H,), and the sizes to the place where the block comes from.
    """

    def mix(s: Stages, steps: Steps) -> Written:
        sizes = s.inputs.sizes
        place = source(np.arange(sizes.B)[:, np.newaxis], np.arange(sizes.H), sizes)
        stages = {name: getattr(s, name) for name in ROW_STAGES} | dict(right.mix(s, steps))
        return {name: array[place] for name, array in stages.items() if array is not None}

    return mix


def _counted_heads_first(b: Array, h: Array, sizes: Sizes) -> tuple[Array, Array]:
    n = h * sizes.B + b
    return n // sizes.H, n % sizes.H


def _counted_batch_first(b: Array, h: Array, sizes: Sizes) -> tuple[Array, Array]:
    n = b * sizes.H + h
    return n % sizes.B, n // sizes.B


HEADS_BATCH_SWAPPED = Mistake(
    "heads-batch-swapped",
    "output",
    lambda problem: problem.sizes.B > 1 and problem.sizes.H > 1,
    (Form({"mix": from_blocks(_counted_heads_first)}), Form({"mix": from_blocks(_counted_batch_first)})),
    (
        "gazelle93/Transformer-Various-Positional-Encoding#1",
        "lsdefine/attention-is-all-you-need-keras#28",
    ),
)


# --- averaging, merging, projecting out


def merge_into_mean(s: Stages, steps: Steps) -> Written:
    """Average the heads, and lose their axis: (B, H, T, d_v) -> (B, T, d_v)."""
    return {"weights": s.weights.mean(axis=1), "output": s.heads.mean(axis=1)}


def mix_into_mean(s: Stages, steps: Steps) -> Written:
    """Give every head the mean of all heads' outputs."""
    mixed = right.mix(s, steps)["heads"]
    return {
        "weights": np.broadcast_to(s.weights.mean(axis=1, keepdims=True), s.weights.shape),
        "heads": np.broadcast_to(mixed.mean(axis=1, keepdims=True), mixed.shape),
    }


def mix_mean_weights(s: Stages, steps: Steps) -> Written:
    """Average the weights of all heads, and let every head mix its own values with them."""
    weights = np.broadcast_to(s.weights.mean(axis=1, keepdims=True), s.weights.shape)
    return {"weights": weights, **right.mix(replace(s, weights=weights), steps)}


def project_out_nothing(s: Stages, steps: Steps) -> Written:
    """Hand out what the heads give, without wo and bo."""
    return {}


def merge_by_reshape(s: Stages, steps: Steps) -> Written:
    """Reshape (B, H, T, d_v) to (B, T, H·d_v) at once: no axis is moved."""
    B, H, T, width = s.heads.shape
    return {"output": s.heads.reshape(B, T, H * width)}


def _projected_out(problem: Problem) -> bool:
    layer = layer_of(problem)
    return layer is not None and layer.wo is not None


HEADS_AVERAGED = Mistake(
    "heads-averaged",
    "output",
    lambda problem: problem.sizes.H > 1,
    (
        Form({"merge": merge_into_mean, "project_out": project_out_nothing}),
        Form({"mix": mix_into_mean}),
        Form({"mix": mix_into_mean, "project_out": project_out_nothing}, _projected_out),
        Form({"mix": mix_mean_weights}),
    ),
    ("pytorch/pytorch#34537", "wimmerth/anyup#27"),
)
HEADS_MERGED_BY_RESHAPE = Mistake(
    "heads-merged-by-reshape",
    "output",
    lambda problem: problem.inputs.packed and problem.sizes.H > 1 and problem.sizes.T > 1,
    (Form({"merge": merge_by_reshape}, rows_apart=False),),
    ("jsbaan/transformer-from-scratch#6", "hackiey/QAnet-pytorch#2"),
)
OUTPUT_PROJECTION_MISSING = Mistake(
    "output-projection-missing",
    "output",
    _projected_out,
    (Form({"project_out": project_out_nothing}),),
    ("Kyubyong/transformer#117", "jwallbridge/translob#4"),
)
