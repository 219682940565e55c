"""Mistakes with the mask file, and with the way in which masks act on scores."""

from dataclasses import replace

import numpy as np

from attncalc.core import finite, masks, scores
from attncalc.core import steps as right
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.selecting import (
    blocked_by,
    count_in_force,
    every,
    in_force,
    instead,
    selecting,
    some,
    some_blocked,
    without,
)


def has_mask(problem: Problem) -> bool:
    """Say whether a mask file is given."""
    return problem.rules.mask is not None


# --- which keys


def _turned(s: Stages, mask: Array) -> Array:
    return mask if s.rules.mask is None else masks.pick(s.rules.mask.swapaxes(-1, -2), s.i, s.j)


def _can_be_turned(problem: Problem) -> bool:
    mask, T = problem.rules.mask, problem.sizes.T
    if mask is None or T != problem.sizes.S or mask.shape[-2:] != (T, T):
        return False
    return not np.array_equal(mask, mask.swapaxes(-1, -2))


def allow_batch_order(s: Stages, steps: Steps) -> Written:
    """Give block (b, h) the allowed keys of sequence (b·H + h) mod B."""
    sizes = s.inputs.sizes
    allowed = np.broadcast_to(every(in_force(s)), (sizes.B, sizes.H, len(s.i), sizes.S))
    h = np.arange(sizes.H)
    sequence = (np.arange(sizes.B)[:, np.newaxis] * sizes.H + h) % sizes.B  # (B, H)
    return blocked_by(s, allowed[sequence, h])


def _differs_between_sequences(problem: Problem) -> bool:
    if problem.sizes.B == 1 or problem.sizes.H == 1:
        return False
    between_sequences = False
    for _, allowed in finite.blocks(problem.rules, problem.sizes):
        if (allowed != allowed[:, :1]).any():
            return False  # between heads
        between_sequences |= bool((allowed != allowed[:1]).any())
    return between_sequences


MASK_IGNORED = Mistake(
    "mask-ignored",
    "scores",
    has_mask,
    (Form({"allow": without("mask")}),),
    ("opendilab/DI-engine#333",),
)
MASK_INVERTED = Mistake(
    "mask-inverted",
    "scores",
    lambda problem: count_in_force(problem.rules) > 0,
    (
        Form({"allow": instead("mask", lambda s, mask: ~mask)}, has_mask),
        Form({"allow": selecting(lambda s, named: ~every(named))}),
    ),
    ("rasbt/LLMs-from-scratch#1061", "pytorch/pytorch#120668", "InseeFrLab/torchTextClassifiers#92"),
)
MASK_TRANSPOSED = Mistake(
    "mask-transposed",
    "scores",
    _can_be_turned,
    (Form({"allow": instead("mask", _turned)}),),
    ("cs231n/cs231n.github.io#279",),
)
MASK_BATCH_ORDER = Mistake(
    "mask-batch-order",
    "scores",
    _differs_between_sequences,
    (Form({"allow": allow_batch_order}),),
    ("line/lighthouse#77", "ArrowLuo/CLIP4Clip#22", "lsdefine/attention-is-all-you-need-keras#36"),
)
MASKS_UNIONED = Mistake(
    "masks-unioned",
    "scores",
    lambda problem: count_in_force(problem.rules) > 1,
    (Form({"allow": selecting(lambda s, named: some(named))}),),
    ("lucidrains/local-attention#5", "huggingface/transformers#31673"),
)


# --- how a mask acts


def allow_mask_added(s: Stages, steps: Steps) -> Written:
    """Add the mask file's own 0s and 1s to the scores; only the other masks block."""
    if s.rules.mask is None:
        return right.allow(s, steps)
    mask = masks.pick(s.rules.mask, s.i, s.j)
    return _added(s, mask if s.rules.mask_true == "allowed" else ~mask, "mask")


def allow_padding_added(s: Stages, steps: Steps) -> Written:
    """Add the numbers of the padding, 1 for a real key, to the scores; only the other masks block."""
    rules = s.rules
    if rules.padding is not None:
        real = rules.padding if rules.mask_true == "allowed" else ~rules.padding
    elif rules.lengths is not None:
        real = s.j < rules.lengths[:, np.newaxis]
    else:
        return right.allow(s, steps)
    return _added(s, real[:, np.newaxis, np.newaxis], "real")


def _added(s: Stages, numbers: Array, name: str) -> Written:
    """Add numbers where the mask of that name should have blocked."""
    biased = scores.add(s.biased, numbers.astype(s.biased.dtype))
    others = {n: mask for n, mask in in_force(s).items() if n != name}
    return {"biased": biased, **blocked_by(replace(s, biased=biased), every(others))}


def _padding_or_lengths(problem: Problem) -> bool:
    return (problem.rules.padding is not None) != (problem.rules.lengths is not None)


def reaching(allowed: Array) -> Array:
    """Open the rows that hold nothing: whoever only lowers blocked scores still attends to something there."""
    opened: Array = allowed | ~allowed.any(axis=-1, keepdims=True)
    return opened


def allow_multiplied(s: Stages, steps: Steps) -> Written:
    """Multiply scores by 1 where allowed and by 0 elsewhere."""
    allowed = np.broadcast_to(every(in_force(s)), s.biased.shape)
    with np.errstate(invalid="ignore"):
        return {"allowed": reaching(allowed), "scores": s.biased * allowed}


def filled_with(fill: float, added: bool) -> Step:
    """Make the step that puts a finite number in the place of blocked scores, or adds it to them."""

    def allow(s: Stages, steps: Steps) -> Written:
        allowed = np.broadcast_to(every(in_force(s)), s.biased.shape)
        blocked = s.biased + fill if added else s.biased.dtype.type(fill)
        return {"allowed": reaching(allowed), "scores": np.where(allowed, s.biased, blocked)}

    return allow


def _finite_and_some_blocked(problem: Problem) -> bool:
    inputs = problem.inputs
    arrays = (inputs.key, inputs.value, inputs.past_key, inputs.past_value)
    return all(array is None or bool(np.isfinite(array).all()) for array in arrays) and some_blocked(problem)


def allow_then_cap(s: Stages, steps: Steps) -> Written:
    """Cap last: blocked keys, at −∞, come out as −c."""
    s = replace(s, capped=s.scaled)
    s = replace(s, biased=steps.bias(s, steps)["biased"])
    allowed = np.broadcast_to(every(in_force(s)), s.biased.shape)
    masked = scores.block(s.biased, allowed)
    return {
        "biased": s.biased,
        "allowed": reaching(allowed),
        "scores": steps.cap(replace(s, scaled=masked), steps)["capped"],
    }


MASK_ADDED_AS_NUMBERS = Mistake(
    "mask-added-as-numbers",
    "scores",
    lambda problem: has_mask(problem) or _padding_or_lengths(problem),
    (
        Form({"allow": allow_mask_added}, has_mask),
        Form({"allow": allow_padding_added}, _padding_or_lengths),
    ),
    ("pytorch/pytorch#21518", "huggingface/diffusers#14342"),
)
MASK_MULTIPLIED = Mistake(
    "mask-multiplied",
    "scores",
    some_blocked,
    (Form({"allow": allow_multiplied}),),
    ("georg-wolflein/good-features#1", "hyunwoongko/transformer#10", "awslabs/gluonts#1401"),
)
MASK_FINITE_FILL = Mistake(
    "mask-finite-fill",
    "scores",
    _finite_and_some_blocked,
    tuple(
        Form({"allow": filled_with(fill, added)}, own_rows=True)
        for added in (False, True)
        for fill in (-10.0, -1e4, -1e9)
    ),
    ("microsoft/onnxruntime#28904", "lucidrains/nGPT-pytorch#11", "TransformerLensOrg/TransformerLens#366"),
)
SOFTCAP_AFTER_MASK = Mistake(
    "softcap-after-mask",
    "scores",
    lambda problem: (
        problem.rules.softcap is not None
        and (
            count_in_force(problem.rules) > 0
            or problem.rules.bias is not None
            or problem.rules.alibi_slopes is not None
        )
    ),
    (Form({"allow": allow_then_cap}),),
    ("onnx/onnx#7865", "Dao-AILab/flash-attention#1025", "flashinfer-ai/flashinfer#350"),
)
