"""Mistakes with padding: which keys are real."""

from dataclasses import replace

import numpy as np

from attncalc.core import masks
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.selecting import blocked_by, every, has_padding, in_force, instead, without
from attncalc.mistakes.using import under


def has_real(problem: Problem) -> bool:
    """Say whether some keys may be padding."""
    return has_padding(problem.rules)


def _on_queries(s: Stages, real: Array) -> Array:
    """R′[b, i, j] = real[b, i]: (B, 1, 1, S) -> (B, 1, T, 1)."""
    return np.swapaxes(real, -1, -2)[:, :, s.i]


def _from_the_end(s: Stages, real: Array) -> Array:
    return real[..., ::-1]


def _not_the_same_from_both_ends(problem: Problem) -> bool:
    real = masks.real_keys(problem.rules, problem.sizes)
    return real is not None and not np.array_equal(real, real[:, ::-1])


def longer_by(change: int) -> Step:
    """Make the step that works as if --lengths said so many more, within 0 and S; it moves lower-right as well."""

    def allow(s: Stages, steps: Steps) -> Written:
        if s.rules.lengths is None:
            return blocked_by(s, every(in_force(s)))
        other = under(s, lengths=np.clip(s.rules.lengths + change, 0, s.inputs.sizes.S))
        if s.rules.alibi_slopes is None or s.rules.align != "lower-right":
            return blocked_by(s, every(in_force(other)))
        biased = steps.bias(other, steps)["biased"]  # ALiBi counts from the same positions
        return {"biased": biased, **blocked_by(replace(s, biased=biased), every(in_force(other)))}

    return allow


def _has_lengths(problem: Problem) -> bool:
    return problem.rules.lengths is not None


def _has_short_lengths(problem: Problem) -> bool:
    lengths = problem.rules.lengths
    return lengths is not None and bool((lengths < problem.sizes.S).any())


PADDING_IGNORED = Mistake(
    "padding-ignored",
    "scores",
    has_real,
    (Form({"allow": without("real")}),),
    ("rosinality/mac-network-pytorch#7", "jingyaogong/minimind-v#76"),
)
PADDING_INVERTED = Mistake(
    "padding-inverted",
    "scores",
    has_real,
    (Form({"allow": instead("real", lambda s, real: ~real)}),),
    ("lucidrains/halonet-pytorch#6", "nyu-mll/jiant#465"),
)
PADDING_ON_QUERIES = Mistake(
    "padding-on-queries",
    "scores",
    lambda problem: has_real(problem) and problem.sizes.T == problem.sizes.S,
    (Form({"allow": instead("real", _on_queries)}),),
    ("hyunwoongko/transformer#40", "pytorch/pytorch#63271"),
)
PADDING_WRONG_SIDE = Mistake(
    "padding-wrong-side",
    "scores",
    _not_the_same_from_both_ends,
    (Form({"allow": instead("real", _from_the_end)}),),
    ("NVIDIA-NeMo/Automodel#3704",),
)
LENGTHS_ONE_SHORT = Mistake(
    "lengths-one-short",
    "scores",
    _has_lengths,
    (Form({"allow": longer_by(-1)}),),
    (
        "onnxruntime's GroupQueryAttention counts total − 1",
        "microsoft/onnxruntime-genai#2354 (the other way)",
    ),
)
LENGTHS_ONE_LONG = Mistake(
    "lengths-one-long",
    "scores",
    _has_short_lengths,
    (Form({"allow": longer_by(1)}),),
    ("microsoft/onnxruntime-genai#2354",),
)
