"""Mistakes with rotary embeddings and ALiBi."""

from dataclasses import replace

import numpy as np

from attncalc.core import positions
from attncalc.core import steps as right
from attncalc.core.prepare import Problem
from attncalc.core.steps import Stages, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.using import under


def has_rope(problem: Problem) -> bool:
    """Say whether queries and keys are rotated."""
    return problem.rules.rope is not None


# --- RoPE


def rotate_nothing(s: Stages, steps: Steps) -> Written:
    """Leave Q and K as they are."""
    return {}


def rotate_other_pairs(s: Stages, steps: Steps) -> Written:
    """Turn pairs (n, n + d/2) for (2n, 2n + 1), and the reverse."""
    rope = s.rules.rope
    if rope is None:
        return {}
    other = replace(rope, pairing="interleaved" if rope.pairing == "half" else "half")
    return right.rotate(under(s, rope=other), steps)


def rotate_values_too(s: Stages, steps: Steps) -> Written:
    """Turn the new rows of V like those of K, with d_v for d."""
    rope = s.rules.rope
    if rope is None:
        return {}
    sizes = s.inputs.sizes
    dims = sizes.d_v if rope.dims == sizes.d else min(rope.dims, sizes.d_v)
    turned = positions.rotate(s.value, replace(rope, dims=dims))
    return {**right.rotate(s, steps), "value": turned}


def rotate_from_zero(s: Stages, steps: Steps) -> Written:
    """Count positions from 0, whatever is in the cache."""
    rope = s.rules.rope
    return {} if rope is None else right.rotate(under(s, rope=replace(rope, start=0)), steps)


ROPE_IGNORED = Mistake(
    "rope-ignored",
    "input",
    has_rope,
    (Form({"rotate": rotate_nothing}),),
    ("vllm-project/vllm#30413",),
)
ROPE_PAIRING = Mistake(
    "rope-pairing",
    "input",
    lambda problem: problem.rules.rope is not None and problem.rules.rope.dims > 2,
    (Form({"rotate": rotate_other_pairs}),),
    ("huggingface/transformers#25199", "huggingface/candle#3948", "Dao-AILab/flash-attention#288"),
)
ROPE_ON_VALUES = Mistake(
    "rope-on-values",
    "input",
    lambda problem: has_rope(problem) and problem.sizes.d_v % 2 == 0,
    (Form({"rotate": rotate_values_too}),),
    ("lucidrains/x-transformers#182",),
)
ROPE_OFFSET_IGNORED = Mistake(
    "rope-offset-ignored",
    "input",
    lambda problem: problem.rules.rope is not None and problem.sizes.P > 0 and problem.rules.rope.start != 0,
    (Form({"rotate": rotate_from_zero}),),
    ("Blaizzy/mlx-vlm#1983", "pytorch/executorch#2010"),
)


# --- ALiBi


def has_alibi(problem: Problem) -> bool:
    """Say whether ALiBi is in force."""
    return problem.rules.alibi_slopes is not None


def bias_without_alibi(s: Stages, steps: Steps) -> Written:
    """Add the bias file only."""
    return right.bias(under(s, alibi_slopes=None), steps)


def bias_alibi_sign(s: Stages, steps: Steps) -> Written:
    """Add + m·|p − j|."""
    slopes = s.rules.alibi_slopes
    return right.bias(s if slopes is None else under(s, alibi_slopes=-slopes), steps)


def bias_alibi_slopes_shifted(s: Stages, steps: Steps) -> Written:
    """Take the slopes 2^(−8h/H), with h from 0."""
    H = s.inputs.sizes.H
    return right.bias(under(s, alibi_slopes=2.0 ** (-8 * np.arange(H) / H)), steps)


ALIBI_IGNORED = Mistake(
    "alibi-ignored",
    "biased",
    has_alibi,
    (Form({"bias": bias_without_alibi}),),
    ("ofirpress/attention_with_linear_biases#20",),
)
ALIBI_SIGN = Mistake(
    "alibi-sign",
    "biased",
    has_alibi,
    (Form({"bias": bias_alibi_sign}),),
    ("meta-pytorch/attention-gym#86",),
)
ALIBI_SLOPES_SHIFTED = Mistake(
    "alibi-slopes-shifted",
    "biased",
    lambda problem: problem.rules.alibi_standard and problem.sizes.H.bit_count() == 1,
    (Form({"bias": bias_alibi_slopes_shifted}),),
    ("paiml/aprender#2143",),
)
