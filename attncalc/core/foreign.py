"""Steps as libraries take them where no rule says it: what ``core.dialects`` puts in the place of ours.

Ours select: what stands in a blocked key or value changes nothing.  Libraries multiply and add, so that 0 · NaN and
NaN − ∞ get through; and some block with a finite number, which is no block at all where a row holds nothing else.
"""

from dataclasses import replace
from functools import reduce

import numpy as np

from attncalc.core import masks, steps
from attncalc.core.heads import grouped_matmul
from attncalc.core.steps import Stages, Step, Steps, Written


def multiply(s: Stages, record: Steps) -> Written:
    """Mix as weights · V, nothing selected: 0 · NaN is NaN."""
    return {"heads": grouped_matmul(s.weights, s.value, s.accumulator)}


def add_infinity(s: Stages, record: Steps) -> Written:
    """Block by adding −∞: NaN in a blocked key stays NaN."""
    allowed = steps.allow(s, record)["allowed"]
    return {"allowed": allowed, "scores": s.biased + np.where(allowed, 0, -np.inf).astype(s.biased.dtype)}


def add_lowest(s: Stages, record: Steps) -> Written:
    """Block by adding the most negative number of the type.

    In a row without any key it swallows the scores in float32, which leaves their mean; in float16, scores of 16
    and more survive it.
    """
    written = steps.allow(s, record)
    lowest = s.biased.dtype.type(-s.rules.arithmetic.largest)
    with np.errstate(over="ignore"):
        return {**written, "scores": np.where(written["allowed"], s.biased, s.biased + lowest)}


def subtract_a_billion(s: Stages, record: Steps) -> Written:
    """Block by subtracting 1e9, or 65504 in float16; in float32 at the most, as most back-ends do.

    In float32 a billion swallows scores below 32, which leaves the mean of a row without any key; larger ones
    survive it.
    """
    written = steps.allow(s, record)
    with np.errstate(over="ignore"):
        lowered = s.biased.astype(np.float32) - np.float32(65504 if s.rules.arithmetic.name == "float16" else 1e9)
    return {**written, "scores": np.where(written["allowed"], s.biased, lowered.astype(s.biased.dtype))}


def put_finite(share: float) -> Step:
    """Block by putting a finite number in the place of the score: a share of the most negative one of the type.

    A −∞ in the bias is no mask for such a library: where it blocks the rest of a row, the blocked keys win.
    """

    def step(s: Stages, record: Steps) -> Written:
        written = steps.allow(s, record)
        in_force = masks.in_force(s.rules, s.inputs.sizes, s.i, s.j)
        true = [mask for name, mask in in_force.items() if name != "bias"]
        open_ = reduce(np.logical_and, true, np.ones((1, 1, 1, 1), dtype=bool))
        return {
            **written,
            "scores": np.where(open_, s.biased, s.biased.dtype.type(-share * s.rules.arithmetic.largest)),
        }

    return step


def soften_whatever(s: Stages, record: Steps) -> Written:
    """Softmax of whatever the scores are: NaN for a row of −∞, and no look at the masks."""
    written = dict(steps.soften(replace(s, rules=replace(s.rules, empty_rows="zero")), record))
    if s.rules.sink is None:
        gone = np.isneginf(written["lse"])[..., np.newaxis]
        written["weights"] = np.where(gone, written["weights"].dtype.type(np.nan), written["weights"])
    return written


def root_twice(s: Stages, record: Steps) -> Written:
    """Scale Q and K by √scale each, which has no answer for a negative scale."""
    written = steps.scale(s, record)
    return written if s.rules.scale >= 0 else {"scaled": np.full_like(written["scaled"], np.nan)}


def from_the_corner(step: Step) -> Step:
    """Take a masking step as if there were no cache: the first query is level with the first key of all."""

    def without_cache(s: Stages, record: Steps) -> Written:
        return step(replace(s, rules=replace(s.rules, align="upper-left")), record)

    return without_cache
