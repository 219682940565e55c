"""The pages of ``attncalc mistakes``: the list, one entry, and what all of them do to these numbers."""

from collections.abc import Iterable

import numpy as np

from attncalc.core.shapes import Array
from attncalc.mistakes import CATALOGUE
from attncalc.mistakes.record import Mistake
from attncalc.show.document import Block, Column, Document, Facts, Heading, Lines, Matrix, Role, Span, Table, Text
from attncalc.show.pages.rules import Rows
from attncalc.study.mistakes import Effect, Effects
from attncalc.texts import Voice

Tokens = tuple[str, ...] | None

NOISE = 1e-12
"""A smaller difference is rounding."""


def list_page(say: Voice) -> Document:
    """List the catalogue by stage."""
    blocks: list[Block] = [
        Heading(say("mistakes.title")),
        Text(say("mistakes.list", count=len(CATALOGUE))),
    ]
    columns = (Column(say("mistakes.id")), Column(say("mistakes.name")))
    for stage in dict.fromkeys(mistake.stage for mistake in CATALOGUE):
        rows = tuple((m.id, m.words(say.lang).title) for m in CATALOGUE if m.stage == stage)
        blocks.append(Table(columns, rows, title=stage))
    return Document(tuple(blocks))


def one_page(
    effect: Effect,
    right: Effects,
    say: Voice,
    header: Rows,
    output_axes: tuple[str, ...] = ("query", "column"),
    query_tokens: Tokens = None,
    key_tokens: Tokens = None,
) -> Document:
    """Tell one mistake, with the wrong and the right numbers side by side.

    Args:
        effect: the mistake and what it does.
        right: the right numbers.
        say: the language.
        header: the rules in force.
        output_axes: names of the axes of the right output.
        query_tokens: labels of the queries.
        key_tokens: labels of the keys.
    """
    mistake = effect.mistake
    words = mistake.words(say.lang)
    blocks: list[Block] = [
        Heading(f"{mistake.id}: {words.title}"),
        Text(((Span(say("mistakes.what"), Role.LABEL)), f"  {words.what}")),
        Text(((Span(say("mistakes.why"), Role.LABEL)), f"  {words.why}")),
        Text(((Span(say("mistakes.shows"), Role.LABEL)), f"  {words.shows}")),
        Heading(say("mistakes.instead"), level=2),
        Lines(tuple(str(mistake.instead).splitlines())),
        Facts(((say("mistakes.stage"), mistake.stage), (say("mistakes.source"), ", ".join(mistake.source)))),
        Heading(say("mistakes.inputs"), level=2),
        Facts(header),
    ]
    if effect.weights is None or effect.output is None:
        return Document((*blocks, Text(say("mistakes.inputs.not"))))
    if not _visible(effect):
        return Document((*blocks, Text(say("mistakes.inputs.same"))))
    blocks.append(Text(say("mistakes.inputs.difference", difference=_size(effect))))
    place = output_axes.index("query")

    def rows_first(output: Array) -> Array:
        return np.moveaxis(output, place, -2) if output.ndim == len(output_axes) else output

    pairs: list[tuple[str, Array, Array]] = [
        ("weights", right.weights, effect.weights),
        ("output", rows_first(right.output), rows_first(effect.output)),
    ]
    for name, good, bad in pairs:
        by_key = name == "weights"
        for index in _slices(good, bad):
            where = f" {list(index)}" if index else ""
            for kind, array, other in (("right", good, bad), ("wrong", bad, good)):
                values = array[index[len(index) - (array.ndim - 2) :]] if array.ndim > 2 else array
                beside = other[index[len(index) - (other.ndim - 2) :]] if other.ndim > 2 else other
                blocks.append(
                    Matrix(
                        f"{name}{where} · {say(f'mistakes.{kind}')}",
                        values,
                        rows=query_tokens,
                        columns=key_tokens if by_key and key_tokens and len(key_tokens) == values.shape[1] else None,
                        column_prefix="k" if by_key else "d",
                        marks=_marks(values, beside) if kind == "wrong" else {},
                        total=(say("mistakes.sum"), values.sum(axis=1)) if by_key else None,
                        fixed=True,
                    )
                )
    return Document(tuple(blocks))


def _slices(*arrays: Array) -> Iterable[tuple[int, ...]]:
    """Yield the batches and heads of the array that has most of these axes."""
    outer = max((array.shape[:-2] for array in arrays), key=len)
    return np.ndindex(outer)


def _marks(values: Array, right: Array) -> dict[tuple[int, int], Role]:
    if values.shape != right.shape:
        return {}
    with np.errstate(invalid="ignore"):
        same = (np.abs(values - right) <= NOISE) | (values == right) | (np.isnan(values) & np.isnan(right))
    return {(int(i), int(j)): Role.WRONG for i, j in np.argwhere(~same)}


def effects_page(found: Effects, say: Voice, header: Rows) -> Document:
    """Tell what each mistake does to these numbers.

    Args:
        found: all effects.
        say: the language.
        header: the rules in force.
    """
    seen = [each for each in found.effects if _visible(each)]
    unseen = [each.mistake for each in found.effects if each.applies and not _visible(each)]
    others = sum(not each.applies for each in found.effects)
    columns = (
        Column(say("mistakes.id")),
        Column(say("mistakes.name")),
        Column(say("mistakes.stage")),
        Column(say("mistakes.difference"), "right"),
        Column(say("mistakes.leak"), "right"),
    )
    rows = tuple(
        (each.mistake.id, each.mistake.words(say.lang).title, each.mistake.stage, _size(each), _leak(each))
        for each in seen
    )
    blocks: list[Block] = [
        Heading(say("mistakes.effects")),
        Facts(header),
        Text(say("mistakes.effects.text")),
        Table(columns, rows),
    ]
    if unseen:
        blocks.append(Text(say.count("mistakes.unseen", len(unseen), ids=_ids(unseen))))
    if others:
        blocks.append(Text(say.count("mistakes.others", others)))
    return Document(tuple(blocks))


def _visible(effect: Effect) -> bool:
    return (effect.max_abs_error or 0.0) > NOISE


def _size(effect: Effect) -> str:
    size = effect.max_abs_error or 0.0
    return f"{size:.4g}" if np.isfinite(size) else "∞"


def _leak(effect: Effect) -> str:
    leak = effect.leak or 0.0
    return f"{leak:.4f}" if leak > NOISE else ""


def _ids(mistakes: Iterable[Mistake]) -> str:
    return ", ".join(mistake.id for mistake in mistakes)
