"""Mistakes with the softmax: along which axis, of what, in which arithmetic, and what comes before and after it."""

from dataclasses import replace

import numpy as np

from attncalc.core import softmax
from attncalc.core import steps as right
from attncalc.core.dtypes import ARITHMETIC
from attncalc.core.prepare import Problem
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.selecting import some_blocked
from attncalc.mistakes.using import under


def has_sink(problem: Problem) -> bool:
    """Say whether the denominator has a sink."""
    return problem.rules.sink is not None


# --- what comes before and after it


def soften_then_mask(s: Stages, steps: Steps) -> Written:
    """Softmax of all scores, then 0 where blocked."""
    everything = np.ones_like(s.allowed)
    made = right.soften(replace(s, scores=s.biased, allowed=everything), steps)
    return {**made, "weights": np.where(s.allowed, made["weights"], 0)}


def soften_then_scale(s: Stages, steps: Steps) -> Written:
    """Scale × softmax of unscaled scores, which go through cap, bias and mask as they are."""
    s = replace(s, scaled=s.raw)
    written: dict[str, Array] = {"scaled": s.raw}
    for name in ("cap", "bias", "allow"):
        step: Step = getattr(steps, name)
        made = step(s, steps)
        s = replace(s, **made)  # type: ignore[arg-type]  # the keys are fields that hold arrays
        written |= made
    written |= right.soften(s, steps)
    return {**written, "weights": written["weights"] * s.rules.scale}


def softened_over(axes: tuple[int, ...]) -> Step:
    """Make the step in which the exponentials are divided by their sum over other axes of (B, H, T, S)."""

    def soften(s: Stages, steps: Steps) -> Written:
        last = np.moveaxis(s.scores, axes, range(-len(axes), 0))
        flat = last.reshape(*last.shape[: -len(axes)], -1)
        _, weights = softmax.softmax(flat)
        empty: Array = np.asarray(np.isneginf(flat).all(axis=-1))
        weights = softmax.fill_empty_rows(weights, empty, s.rules.empty_rows)
        return {"weights": np.moveaxis(weights.reshape(last.shape), range(-len(axes), 0), axes)}

    return soften


def soften_nothing(s: Stages, steps: Steps) -> Written:
    """Take the scores for weights, and 0 where blocked."""
    return {"weights": np.where(np.isneginf(s.scores), 0, s.scores)}


MASK_AFTER_SOFTMAX = Mistake(
    "mask-after-softmax",
    "weights",
    some_blocked,
    (Form({"softmax": soften_then_mask}),),
    ("huggingface/pytorch-image-models#2236", "lucidrains/memory-compressed-attention#2"),
)
SCALE_AFTER_SOFTMAX = Mistake(
    "scale-after-softmax",
    "weights",
    lambda problem: problem.rules.scale != 1,
    (Form({"softmax": soften_then_scale}),),
    ("FrancescoSaverioZuppichini/ViT#2",),
)
SOFTMAX_OVER_QUERIES = Mistake(
    "softmax-over-queries",
    "weights",
    lambda problem: problem.sizes.T > 1 and not has_sink(problem),
    (Form({"softmax": softened_over((-2,))}, rows_apart=False),),
    ("labmlai/annotated_deep_learning_paper_implementations#146", "PetrochukM/PyTorch-NLP#2"),
)
SOFTMAX_OVER_HEADS = Mistake(
    "softmax-over-heads",
    "weights",
    lambda problem: problem.sizes.H > 1 and not has_sink(problem),
    (Form({"softmax": softened_over((-3,))}), Form({"softmax": softened_over((-3, -1))})),
    ("facebookresearch/detr#247",),
)
SOFTMAX_MISSING = Mistake(
    "softmax-missing",
    "weights",
    lambda problem: True,
    (Form({"softmax": soften_nothing}),),
    ("PaddlePaddle/PaddleOCR#4556", "datawhalechina/happy-llm#161"),
)


# --- arithmetic


def unstable_in(largest: float, smallest: float) -> Step:
    """Make the step that subtracts no maximum, in a format that ends at these positive numbers."""

    def exponential(x: Array) -> Array:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            e = np.exp(x)
        e = np.where(e > largest, np.inf, e)
        return np.where(e < smallest, 0, e)

    def soften(s: Stages, steps: Steps) -> Written:
        e = exponential(s.scores)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            total = e.sum(axis=-1, keepdims=True)
            if s.rules.sink is not None:
                total = total + exponential(s.rules.sink)[:, np.newaxis, np.newaxis]
            return {"weights": e / total}

    return soften


FORMATS = (
    (np.finfo(np.float64).max, 2.0**-1074),
    (float(np.finfo(np.float32).max), 2.0**-149),
    (float(np.finfo(np.float16).max), 2.0**-24),
)
"""The largest and the smallest positive number of float64, float32 and float16."""


def softened_in(name: str) -> Step:
    """Make the step whose scores, sink and weights are rounded to a narrow type."""
    narrow = ARITHMETIC[name]

    def rounded(x: Array) -> Array:
        return narrow.round(x).astype(np.float64)

    def soften(s: Stages, steps: Steps) -> Written:
        sink = s.rules.sink
        s = replace(s, scores=rounded(s.scores))
        made = right.soften(s if sink is None else under(s, sink=rounded(sink)), steps)
        return {**made, "weights": rounded(made["weights"])}

    return soften


SOFTMAX_UNSTABLE = Mistake(
    "softmax-unstable",
    "weights",
    lambda problem: True,
    tuple(Form({"softmax": unstable_in(*ends)}) for ends in FORMATS),
    ("NVIDIA/FasterTransformer#43", "pytorch/executorch#18407"),
)
SOFTMAX_LOW_PRECISION = Mistake(
    "softmax-low-precision",
    "weights",
    lambda problem: True,
    tuple(Form({"softmax": softened_in(name)}, keeps_rows=True) for name in ("float16", "bfloat16")),
    ("pytorch/pytorch#123911", "huggingface/transformers#37363"),
)


# --- queries without any key, dropout


def soften_empty_to_nan(s: Stages, steps: Steps) -> Written:
    """Divide 0 by 0 in the rows without any key."""
    return right.soften(under(s, empty_rows="nan"), steps)


DROPOUT_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
"""The rates that are looked for in an answer."""

SHOWN_RATE = 0.25
"""The rate with which the catalogue shows what dropout does."""


def soften_with_dropout(s: Stages, steps: Steps) -> Written:
    """Drop a quarter of the weights and divide the others by 3/4; which ones is always the same here.

    In a real program they change from call to call, so ``check`` searches for them instead.
    """
    made = right.soften(s, steps)
    sizes = s.inputs.sizes
    coins = np.random.default_rng(7).random((sizes.B, sizes.H, sizes.T, sizes.S))[:, :, s.i]
    return {**made, "weights": np.where(coins < SHOWN_RATE, 0, made["weights"] / (1 - SHOWN_RATE))}


EMPTY_ROW_NAN = Mistake(
    "empty-row-nan",
    "weights",
    lambda problem: bool(problem.empty.any()) and problem.rules.empty_rows in ("zero", "uniform"),
    (Form({"softmax": soften_empty_to_nan}, own_rows=True),),
    ("pytorch/pytorch#103749", "pytorch/pytorch#41508", "onnx/onnx#8068"),
)
DROPOUT_LEFT_ON = Mistake(
    "dropout-left-on",
    "weights",
    lambda problem: True,
    (Form({"softmax": soften_with_dropout}, keeps_rows=True),),
    ("pytorch/pytorch#124464", "wenet-e2e/wenet#2699"),
)


# --- the sink


def soften_without_sink(s: Stages, steps: Steps) -> Written:
    """Leave the sink out of the sum."""
    return right.soften(under(s, sink=None), steps)


def soften_renormalised(s: Stages, steps: Steps) -> Written:
    """Divide the weights by their sum once more, which takes the sink out again."""
    made = right.soften(s, steps)
    total = made["weights"].sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(total == 0, 0, made["weights"] / total)
    return {**made, "weights": softmax.fill_empty_rows(weights, total[..., 0] == 0, s.rules.empty_rows)}


SINK_IGNORED = Mistake(
    "sink-ignored",
    "weights",
    has_sink,
    (Form({"softmax": soften_without_sink}),),
    ("vllm-project/vllm#52156", "vllm-project/vllm-metal#550"),
)
SINK_RENORMALISED = Mistake(
    "sink-renormalised",
    "weights",
    has_sink,
    (Form({"softmax": soften_renormalised}),),
    ("follows from the formula",),
)
