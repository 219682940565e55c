"""The page of ``attncalc compute``: the rules in force, then every stage that was asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from attncalc.show.document import Array, Block, Column, Document, Facts, Matrix, Table

BLOCKED = ("scores", "weights")  # stages in which blocked cells are marked
WHOLE = ("query", "key", "value", "raw", "allowed")  # stages whose whole numbers are written without decimals
PREFIX = {"query": "q", "key": "k", "column": "d"}


@dataclass(frozen=True, eq=False)
class Computed:
    """What the page shows, as the command line has it after the choice of stages, batch and head."""

    stages: Mapping[str, Array]  # in the order in which they are shown
    axes: Mapping[str, tuple[str, ...]]  # of each stage: batch head query key column, in the array's order
    allowed: Array | None = None  # broadcasts to scores
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    header: tuple[tuple[str, str], ...] = ()  # the rules in force, by name
    trail: tuple[tuple[str, str], ...] = ()  # the shape trail: name and shape
    first: Mapping[str, int] = field(default_factory=dict)  # index of an axis' first element, after --batch 1


def page(computed: Computed) -> Document:
    """Make the page."""
    blocks: list[Block] = [Facts(computed.header)] if computed.header else []
    if computed.trail:
        blocks.append(Table((Column("array"), Column("shape")), computed.trail, title="shapes"))
    for stage in computed.stages:
        blocks += _matrices(computed, stage)
    return Document(tuple(blocks))


def _matrices(computed: Computed, stage: str) -> Iterator[Matrix]:
    """Make a matrix for each batch and head of a stage."""
    axes = computed.axes[stage]
    inner = [axis for axis in PREFIX if axis in axes]
    outer = [axis for axis in axes if axis not in PREFIX]
    order = [axes.index(axis) for axis in (*outer, *inner)]
    values = computed.stages[stage].transpose(order)
    blocked = None
    if stage in BLOCKED and computed.allowed is not None:
        allowed = np.broadcast_to(computed.allowed, computed.stages[stage].shape)
        blocked = np.logical_not(allowed).transpose(order)
    tokens = {"query": computed.query_tokens, "key": computed.key_tokens}
    for index in np.ndindex(values.shape[: len(outer)]):
        places = [f"{axis} {i + computed.first.get(axis, 0)}" for axis, i in zip(outer, index, strict=True)]
        yield Matrix(
            title=" · ".join([stage, *places]),
            values=values[index],
            rows=tokens[inner[0]],
            columns=(stage,) if len(inner) == 1 else tokens.get(inner[1]),
            row_prefix=PREFIX[inner[0]],
            column_prefix=PREFIX[inner[-1]],
            blocked=None if blocked is None else blocked[index],
            strength=_strength(values[index]) if stage == "weights" else None,
            fixed=stage not in WHOLE,
        )


def _strength(weights: Array) -> Array:
    return np.clip(np.nan_to_num(weights.astype(np.float64)), 0.0, 1.0)
