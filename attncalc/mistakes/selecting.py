"""What wrong masks share: the masks in force by name, and blocking by them.

The catalogue speaks of four masks: causal, window, mask (the mask file) and real (padding, lengths and pad token
together).  −∞ in a bias file blocks through the score itself, whatever the masks say.
"""

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from attncalc.core import finite, masks, scores
from attncalc.core import steps as right
from attncalc.core.prepare import Problem
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import Stages, Step, Steps, Written

Masks = dict[str, Array]
"""The masks in force by name, each broadcasting to (B, H, T, S); True = may attend."""


def in_force(s: Stages, rules: Rules | None = None) -> Masks:
    """Return the masks in force, under the rules of the stages or others."""
    named = masks.in_force(rules or s.rules, s.inputs.sizes, s.i, s.j)
    return {name: mask for name, mask in named.items() if name != "bias"}


def every(named: Mapping[str, Array]) -> Array:
    """Join masks by "and"."""
    return reduce(np.logical_and, named.values(), np.ones((1, 1, 1, 1), dtype=bool))


def some(named: Mapping[str, Array]) -> Array:
    """Join masks by "or"."""
    return reduce(np.logical_or, named.values(), np.zeros((1, 1, 1, 1), dtype=bool))


def open_cells(s: Stages, allowed: Array) -> Array:
    """Give a mask all axes, and take out what −∞ in the bias file blocks: (B, H, T, S)."""
    sizes = s.inputs.sizes
    file = right.file_bias(s)
    if file is not None and np.isneginf(file).any():
        allowed = allowed & ~np.isneginf(file)
    return np.broadcast_to(allowed, (sizes.B, sizes.H, len(s.i), sizes.S))


def blocked_by(s: Stages, allowed: Array) -> Written:
    """Return what a step writes that blocks by this mask."""
    allowed = open_cells(s, allowed)
    return {"allowed": allowed, "scores": scores.block(s.biased, allowed)}


def selecting(wrong: Callable[[Stages, Masks], Array]) -> Step:
    """Make the step that blocks by a wrong mask, worked out from the masks in force."""

    def allow(s: Stages, steps: Steps) -> Written:
        return blocked_by(s, wrong(s, in_force(s)))

    return allow


def without(name: str) -> Step:
    """Make the step that leaves out one of the masks."""
    return selecting(lambda s, named: every({n: mask for n, mask in named.items() if n != name}))


def instead(name: str, wrong: Callable[[Stages, Array], Array]) -> Step:
    """Make the step that puts a wrong mask in the place of the one of that name."""
    return selecting(lambda s, named: every(named | {name: wrong(s, named[name])}))


def count_in_force(rules: Rules) -> int:
    """Return how many of the four masks are in force."""
    window = rules.window_left is not None or rules.window_right is not None
    return sum((rules.causal, window, rules.mask is not None, has_padding(rules)))


def has_padding(rules: Rules) -> bool:
    """Say whether padding, lengths or a pad token are given."""
    return any(each is not None for each in (rules.padding, rules.padding_tokens, rules.lengths))


def some_blocked(problem: Problem) -> bool:
    """Say whether some query may not attend to some key."""
    return any(not allowed.all() for _, allowed in finite.blocks(problem.rules, problem.sizes))
