"""Mistakes with the causal mask and the window: which stretch of keys a query sees."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attncalc.core import masks
from attncalc.core.prepare import Problem
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Step, Steps, Written
from attncalc.mistakes.record import Form, Mistake
from attncalc.mistakes.selecting import blocked_by, every, in_force, instead, without


def is_causal(problem: Problem) -> bool:
    """Say whether the causal mask is in force."""
    return problem.rules.causal


def with_offset(wrong: Callable[[Stages], Array], *which: str) -> Step:
    """Make the step in which the named masks, causal or window, count from other positions.

    Args:
        wrong: gives the positions p of the queries among the keys, (1 or B, T).
        which: causal, window, or both.
    """

    def allow(s: Stages, steps: Steps) -> Written:
        named, p = in_force(s), wrong(s)
        if "causal" in named and "causal" in which:
            named["causal"] = masks.causal(p, s.j)
        if "window" in named and "window" in which:
            named["window"] = masks.window(p, s.j, s.rules.window_left, s.rules.window_right)
        return blocked_by(s, every(named))

    return allow


def _from_zero(s: Stages) -> Array:
    return s.i[np.newaxis]


def _under(wrong: Callable[[Rules], Rules]) -> Callable[[Stages], Array]:
    """Give the positions as they would be under other rules."""
    return lambda s: masks.positions(wrong(s.rules), s.inputs.sizes, s.i)


def _other_corner(rules: Rules) -> Rules:
    return replace(rules, align="lower-right" if rules.align == "upper-left" else "upper-left")


def _no_lengths(rules: Rules) -> Rules:
    return replace(rules, lengths=None)


def _moves(wrong: Callable[[Rules], Rules]) -> Callable[[Problem], bool]:
    """Say whether other rules place the queries elsewhere."""

    def applies(problem: Problem) -> bool:
        rules, sizes = problem.rules, problem.sizes
        return bool((masks.offset(rules, sizes) != masks.offset(wrong(rules), sizes)).any())

    return applies


CAUSAL_IGNORED = Mistake(
    "causal-ignored",
    "scores",
    is_causal,
    (Form({"allow": without("causal")}),),
    ("keras-team/keras#23038", "facebookresearch/xformers#103"),
)
CAUSAL_STRICT = Mistake(
    "causal-strict",
    "scores",
    is_causal,
    (Form({"allow": instead("causal", lambda s, mask: masks.causal(s.p - 1, s.j))}),),
    ("pbloem/former#10",),
)
CAUSAL_ONE_AHEAD = Mistake(
    "causal-one-ahead",
    "scores",
    is_causal,
    (Form({"allow": instead("causal", lambda s, mask: masks.causal(s.p + 1, s.j))}),),
    ("RVC-Boss/GPT-SoVITS#965 (reported)",),
)
CAUSAL_REVERSED = Mistake(
    "causal-reversed",
    "scores",
    is_causal,
    (Form({"allow": instead("causal", lambda s, mask: ~masks.causal(s.p - 1, s.j))}),),
    ("marin-community/levanter#102",),
)
CAUSAL_WRONG_CORNER = Mistake(
    "causal-wrong-corner",
    "scores",
    lambda problem: problem.rules.causal and problem.sizes.P == 0,
    (
        Form({"allow": with_offset(_under(_other_corner), "causal", "window")}, _moves(_other_corner)),
        Form({"allow": with_offset(_under(_no_lengths), "causal", "window")}, _moves(_no_lengths)),
    ),
    ("pytorch/pytorch#108108", "Dao-AILab/flash-attention#517", "onnx/onnx#8068"),
)
CAUSAL_IGNORES_PAST = Mistake(
    "causal-ignores-past",
    "scores",
    lambda problem: problem.rules.causal and problem.sizes.P > 0,
    (Form({"allow": with_offset(_from_zero, "causal", "window")}),),
    ("Dao-AILab/flash-attention#466", "onnx/onnx#7297", "gittensor-ai-lab/sparkinfer#4"),
)


# --- the window


def has_window(problem: Problem) -> bool:
    """Say whether a window is in force."""
    return problem.rules.window_left is not None or problem.rules.window_right is not None


def _resized(by: int, *sides: str) -> Form:
    """Make the form in which N + by is taken for N on these sides, all of which are given and stay at 0 at least."""

    def wrong(s: Stages, mask: Array) -> Array:
        given = {"left": s.rules.window_left, "right": s.rules.window_right}
        changed = {side: n + by if n is not None and side in sides else n for side, n in given.items()}
        return masks.window(s.p, s.j, changed["left"], changed["right"])

    def applies(problem: Problem) -> bool:
        given = (getattr(problem.rules, f"window_{side}") for side in sides)
        return all(n is not None and n + by >= 0 for n in given)

    return Form({"allow": instead("window", wrong)}, applies)


def _counts_elsewhere(problem: Problem) -> bool:
    return has_window(problem) and bool(masks.offset(problem.rules, problem.sizes).any())


WINDOW_IGNORED = Mistake(
    "window-ignored",
    "scores",
    has_window,
    (Form({"allow": without("window")}),),
    ("karpathy/nanochat#456", "rajveer43/VeloxQuant-MLX#463"),
)
WINDOW_ONE_SHORT = Mistake(
    "window-one-short",
    "scores",
    lambda problem: bool(problem.rules.window_left or problem.rules.window_right),
    (_resized(-1, "left"), _resized(-1, "right"), _resized(-1, "left", "right")),
    ("huggingface/transformers#29623", "apple/axlearn#1009 (both ways of counting)"),
)
WINDOW_ONE_LONG = Mistake(
    "window-one-long",
    "scores",
    has_window,
    (_resized(1, "left"), _resized(1, "right"), _resized(1, "left", "right")),
    ("huggingface/transformers#39408", "AI-Hypercomputer/maxtext#4289", "ml-explore/mlx-lm#390"),
)
WINDOW_IGNORES_OFFSET = Mistake(
    "window-ignores-offset",
    "scores",
    _counts_elsewhere,
    (Form({"allow": with_offset(_from_zero, "window")}),),
    ("huggingface/transformers#41228", "trymirai/lalamo#200"),
)
