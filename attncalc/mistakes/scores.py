"""Mistakes with the product, the scale, the soft cap and the bias file."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attncalc.core import heads, scores
from attncalc.core import steps as right
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Sizes
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.using import ready, under

# --- the product


def raw_swapped(s: Stages, steps: Steps) -> Written:
    """K Qᵀ: raw′[i, j] = raw[j, i]."""
    return {"raw": right.raw(s, steps)["raw"].swapaxes(-1, -2)}


def _not_symmetric(problem: Problem) -> bool:
    if problem.sizes.T != problem.sizes.S:
        return False
    s = ready(problem)
    for i in range(problem.sizes.T):  # nearly always the first row tells
        one_query = scores.raw(s.query[:, :, i : i + 1], s.key)[:, :, 0]  # (B, H, S)
        one_key = scores.raw(s.query, s.key[:, :, i : i + 1])[..., 0]  # (B, H, T)
        if not np.allclose(one_query, one_key, rtol=1e-12, atol=0, equal_nan=True):
            return True
    return False


def raw_not_transposed(s: Stages, steps: Steps) -> Written:
    """Q K: raw′[i, j] = Σ_n Q[i, n] · K[n, j]."""
    return {"raw": heads.grouped_matmul(s.query, s.key)}


QUERY_KEY_SWAPPED = Mistake(
    "query-key-swapped",
    "raw",
    _not_symmetric,
    (Form({"raw": raw_swapped}, rows_apart=False),),
    ("keyvank/femtoGPT#30",),
)
KEY_NOT_TRANSPOSED = Mistake(
    "key-not-transposed",
    "raw",
    lambda problem: problem.sizes.d == problem.sizes.S,
    (Form({"raw": raw_not_transposed}),),
    ("HomericIntelligence/Odyssey#5648",),
)


# --- the scale


def scaled_by(factor: Callable[[float, Sizes], float]) -> Step:
    """Make the step that scales by a function of the scale in force and the sizes."""

    def scale(s: Stages, steps: Steps) -> Written:
        return {"scaled": scores.scale(s.raw, factor(s.rules.scale, s.inputs.sizes))}

    return scale


def _scale_mistake(
    id: str,
    factor: Callable[[float, Sizes], float],
    applies: Callable[[float, Sizes], bool],
    *source: str,
) -> Mistake:
    return Mistake(
        id,
        "scaled",
        lambda problem: applies(problem.rules.scale, problem.sizes),
        (Form({"scale": scaled_by(factor)}),),
        source,
    )


def _inverted(scale: float, sizes: Sizes) -> float:
    return 1 / scale if scale else math.inf


SCALE_MISSING = _scale_mistake(
    "scale-missing",
    lambda scale, sizes: 1.0,
    lambda scale, sizes: scale != 1,
    "PAIR-code/tiny-transformers#71",
    "mlc-ai/mlc-llm#3426",
)
SCALE_D_MODEL = _scale_mistake(
    "scale-d-model",
    lambda scale, sizes: 1 / math.sqrt(sizes.H * sizes.d),
    lambda scale, sizes: sizes.H > 1,
    "karpathy/ng-video-lecture#6",
    "lucidrains/vit-pytorch#65",
    "chelsea0x3b/dfdx#171",
)
SCALE_INVERTED = _scale_mistake(
    "scale-inverted",
    _inverted,
    lambda scale, sizes: scale != 1,
    "AI-Hypercomputer/maxtext#1370",
    "esceptico/perceiver-io#9",
)
SCALE_TWICE = _scale_mistake(
    "scale-twice",
    lambda scale, sizes: scale * scale,  # ** would raise OverflowError
    lambda scale, sizes: scale != 1,
    "huggingface/transformers#38290",
    "FlagOpen/FlagGems#424",
)
SCALE_D_NOT_SQRT = _scale_mistake(
    "scale-d-not-sqrt",
    lambda scale, sizes: 1 / sizes.d,
    lambda scale, sizes: sizes.d > 1 and scale != 1 / sizes.d,
    "delzac/cntkx#10",
)
SCALE_FROM_VALUES = _scale_mistake(
    "scale-from-values",
    lambda scale, sizes: 1 / math.sqrt(sizes.d_v),
    lambda scale, sizes: scale != 1 / math.sqrt(sizes.d_v),
    "juho-lee/set_transformer#18",
)
SCALE_OPTION_IGNORED = _scale_mistake(
    "scale-option-ignored",
    lambda scale, sizes: 1 / math.sqrt(sizes.d),
    lambda scale, sizes: scale != 1 / math.sqrt(sizes.d),
    "NVIDIA/Megatron-LM#3698",
    "ml-explore/mlx-swift-examples#99",
)


# --- the soft cap


def has_softcap(problem: Problem) -> bool:
    """Say whether scores are capped."""
    return problem.rules.softcap is not None


def cap_nothing(s: Stages, steps: Steps) -> Written:
    """Leave the scores as they are."""
    return {"capped": s.scaled}


def cap_before_scale(s: Stages, steps: Steps) -> Written:
    """Scale · c · tanh(raw / c)."""
    return {"capped": steps.scale(replace(s, raw=scores.cap(s.raw, s.rules.softcap)), steps)["scaled"]}


def cap_wrong_formula(s: Stages, steps: Steps) -> Written:
    """Scaled · tanh(scaled / c)."""
    c = s.rules.softcap
    if c is None:
        return {"capped": s.scaled}
    with np.errstate(over="ignore", invalid="ignore"):
        return {"capped": s.scaled * np.tanh(s.scaled / c)}


SOFTCAP_IGNORED = Mistake(
    "softcap-ignored",
    "capped",
    has_softcap,
    (Form({"cap": cap_nothing}),),
    ("sgl-project/sgl-kernel-xpu#491", "vllm-project/vllm-metal#665"),
)
SOFTCAP_BEFORE_SCALE = Mistake(
    "softcap-before-scale",
    "capped",
    lambda problem: has_softcap(problem) and problem.rules.scale != 1,
    (Form({"cap": cap_before_scale}),),
    ("huggingface/trl#5691 (the same order, on final logits)",),
)
SOFTCAP_WRONG_FORMULA = Mistake(
    "softcap-wrong-formula",
    "capped",
    has_softcap,
    (Form({"cap": cap_wrong_formula}),),
    ("unslothai/unsloth-zoo#593",),
)


# --- the bias file


def _blocks(problem: Problem) -> bool:
    """Say whether the bias file blocks keys by −∞."""
    bias = problem.rules.bias
    return bias is not None and bool(np.isneginf(bias).any())


def bias_without_file(s: Stages, steps: Steps) -> Written:
    """Add ALiBi only."""
    return right.bias(under(s, bias=None), steps)


def allow_without_file(s: Stages, steps: Steps) -> Written:
    """Block nothing on account of −∞ in the bias file."""
    return right.allow(under(s, bias=None), steps)


def _varies_along_keys(problem: Problem) -> bool:
    bias = problem.rules.bias
    return bias is not None and bool((bias != bias[..., :1]).any())


def bias_before_scale(s: Stages, steps: Steps) -> Written:
    """(raw + bias) × scale; nothing is added from the file later."""
    file = right.file_bias(s)
    if file is None:
        return right.bias(s, steps)
    s = replace(s, raw=scores.add(s.raw, file))
    with np.errstate(invalid="ignore"):
        s = replace(s, scaled=steps.scale(s, steps)["scaled"])
    s = replace(s, capped=steps.cap(s, steps)["capped"])
    return {"scaled": s.scaled, "capped": s.capped, **bias_without_file(s, steps)}


BIAS_IGNORED = Mistake(
    "bias-ignored",
    "biased",
    _varies_along_keys,
    (
        Form({"bias": bias_without_file}, lambda problem: not _blocks(problem)),
        Form({"bias": bias_without_file, "allow": allow_without_file}, _blocks),
    ),
    ("ByteDance-Seed/VeOmni#1051",),
)
BIAS_BEFORE_SCALE = Mistake(
    "bias-before-scale",
    "biased",
    lambda problem: problem.rules.bias is not None and problem.rules.scale != 1,
    (Form({"bias": bias_before_scale}),),
    ("NVIDIA/OpenSeq2Seq#76", "tenstorrent/tt-metal#56406"),
)
