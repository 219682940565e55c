"""Small tools for wrong steps: the right functions, given something wrong."""

from dataclasses import replace
from typing import Any

from attncalc.core import steps as right
from attncalc.core.heads import Projection
from attncalc.core.prepare import Problem
from attncalc.core.steps import INPUT_STEPS, RIGHT, Stages


def under(s: Stages, **rules: Any) -> Stages:
    """Return the stages with some of the rules changed."""
    return replace(s, rules=replace(s.rules, **rules))


def with_layer(s: Stages, **matrices: Any) -> Stages:
    """Return the stages with some matrices of the projection changed."""
    layer = s.inputs.projection
    return s if layer is None else replace(s, inputs=replace(s.inputs, projection=replace(layer, **matrices)))


def layer_of(problem: Problem) -> Projection | None:
    """Return the matrices of the layer, where Q, K and V come from a sequence."""
    return problem.inputs.projection


def ready(problem: Problem) -> Stages:
    """Return Q, K and V as they enter the product."""
    return right.walk(RIGHT, INPUT_STEPS, right.start(problem.inputs, problem.rules))
