"""The same walk, a block of rows at a time, so that no T × S stage is built that nobody asked for."""

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from attncalc.core.rules import Rules
from attncalc.core.shapes import INPUT_STAGES, STAGES, Array
from attncalc.core.steps import (
    INPUT_STEPS,
    OUTPUT_STEPS,
    ROW_STEPS,
    Inputs,
    Stages,
    Steps,
    start,
    walk,
)

BLOCK_NUMBERS = 2**21
"""How many numbers a T × S stage of one block holds at the most: 16 MB in float64."""

ROW_STAGES = tuple(stage for stage in STAGES if stage != "output")
"""The stages that the row steps write, which have one row for each query."""


def run_in_rows(
    steps: Steps,
    inputs: Inputs,
    rules: Rules,
    wanted: Collection[str],
    inspect: Callable[[Stages], None] = lambda stages: None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Array]:
    """Walk through all the steps; keep only the stages that are wanted.

    Beside those and the inputs it needs the memory of one block of rows.

    Args:
        steps: the computation; its row steps must not know one query from another.
        inputs: what to compute from.
        rules: the rules in force.
        wanted: names of STAGES and INPUT_STAGES.
        inspect: is shown all the stages of each block, before they are dropped.
        progress: is told after each block which share of the rows is done.

    Returns:
        The wanted stages, in our order of axes.
    """
    sizes = inputs.sizes
    ready = walk(steps, INPUT_STEPS, start(inputs, rules))
    kept = {name: getattr(ready, name) for name in INPUT_STAGES if name in wanted}
    needed = [name for name in ROW_STAGES if name in wanted or name == "heads"]
    rows = max(1, BLOCK_NUMBERS // (sizes.B * sizes.H * sizes.S))
    for first in range(0, sizes.T, rows):
        block = slice(first, min(first + rows, sizes.T))
        part = walk(steps, ROW_STEPS, take_rows(ready, block))
        inspect(part)
        for name in needed:
            piece: Array = getattr(part, name)
            if name not in kept:
                shape = (*piece.shape[:2], sizes.T, *piece.shape[3:])
                kept[name] = piece if len(part.i) == sizes.T else np.empty(shape, piece.dtype)
            if kept[name] is not piece:
                kept[name][:, :, block] = piece
        progress(block.stop / sizes.T)
    if "output" in wanted:
        kept["output"] = walk(steps, OUTPUT_STEPS, replace(ready, heads=kept["heads"])).output
    return {name: array for name, array in kept.items() if name in wanted}


def take_rows(stages: Stages, block: slice) -> Stages:
    """Return the stages with only the queries of the block."""
    return replace(stages, i=stages.i[block], query=stages.query[:, :, block])
