"""The pages of ``attncalc dialects``: the list with the rules, and the answers to one input."""

from collections.abc import Iterator

import numpy as np

from attncalc.core.dialects import DIALECTS, Dialect
from attncalc.show.document import Array, Block, Column, Document, Facts, Heading, Matrix, Role, Span, Table, Text
from attncalc.show.pages.rules import FILLED, header
from attncalc.study.dialects import Answer, Comparison

SHOWN = 4
"""So many queries are shown on which answers part."""


def listing() -> Document:
    """Make the list of all dialects."""
    columns = tuple(map(Column, ("dialect", "no key", "true", "numbers", "causal", "window", "scale")))
    return Document(
        (
            Heading("dialects"),
            Text(
                "What libraries do with the same words. --like NAME takes over a library's rules wherever no option "
                "says otherwise; attncalc dialects Q K V shows where they part on your own numbers."
            ),
            Table(columns, tuple(_row(dialect) for dialect in DIALECTS)),
            Facts(
                (
                    ("no key", "what a query gets that may attend to no key"),
                    ("true", "what it means in a mask"),
                    ("numbers", "in a mask, 0 and 1 too: added to the scores, or read as true and false"),
                    ("causal", "where it starts when T ≠ S; by lengths: lower-right where lengths are given"),
                    ("window", "of n: n keys and the query's own, or n keys with it"),
                )
            ),
            *(block for dialect in DIALECTS for block in _about(dialect)),
            Heading("what no rule says", level=2),
            Text(
                "All of them let NaN in a blocked value through, since 0 · NaN is NaN; attncalc selects and does not. "
                "The comparison shows what the library does; --like keeps to attncalc's own way, and a note says so."
            ),
        )
    )


def _row(dialect: Dialect) -> tuple[str, ...]:
    return (
        dialect.name,
        {"uniform": "mean of V"}.get(dialect.empty_rows, FILLED[dialect.empty_rows]),
        dialect.mask_true,
        "" if "mask" in dialect.lacks else "added" if dialect.mask_numbers == "added" else "read",
        {"lengths": "by lengths"}.get(dialect.corner, dialect.corner),
        "" if "window" in dialect.lacks else "n with own" if dialect.window_counts_itself else "n and own",
        "1/√d" if dialect.scale is None else f"{dialect.scale:g}",
    )


def _about(dialect: Dialect) -> tuple[Block, ...]:
    more = [dialect.remark] * bool(dialect.remark)
    if dialect.short_mask:
        more.append("a mask with too few columns is filled up with blocked")
    if dialect.window_both_sides:
        more.append("a window holds on both sides")
    if not dialect.cache:
        more.append("its causal mask knows of no cache")
    if dialect.lacks:
        more.append(f"it has no {', no '.join(dialect.lacks)}")
    return Heading(dialect.name, level=2), Text(f"{_what(dialect)}: {'; '.join(more)}.")


def _what(dialect: Dialect) -> str:
    flag = f" ({dialect.flag})" if dialect.flag else ""
    return f"{dialect.call}{flag}, {dialect.source}"


def rules_of(dialect: Dialect) -> Iterator[str]:
    """Say in words what a dialect sets."""
    yield f"a query without any key gets {FILLED[dialect.empty_rows]}"
    if dialect.mask_true == "blocked":
        yield "true in a mask means blocked"
    if dialect.mask_numbers == "added":
        yield "a mask of numbers is added to the scores, 0 and 1 too"
    if dialect.short_mask:
        yield "a mask with too few columns is filled up with blocked"
    if dialect.corner == "lower-right":
        yield "causal is lower-right"
    if dialect.corner == "lengths":
        yield "causal is lower-right with lengths"
    if dialect.scale is not None:
        yield f"scale {dialect.scale:g}"
    if dialect.window_counts_itself:
        yield "a window counts the query's own key" + (" and holds on both sides" if dialect.window_both_sides else "")
    if not dialect.cache:
        yield "causal knows of no cache"
    if dialect.lacks:
        yield f"has no {', no '.join(dialect.lacks)}"


def page(found: Comparison) -> Document:
    """Make the table of answers: one row for each query and dialect that parts, and the dialects that agree."""
    blocks: list[Block] = [Heading("dialects"), Facts(_facts(found))]
    agree = [answer.dialect.name for answer in found.answers if answer.output is not None and not answer.differs]
    part = [answer for answer in found.answers if answer.differs]
    silent = [answer for answer in found.answers if answer.output is None]
    blocks.append(_summary(found))
    if agree:
        blocks.append(Text((Span("✓ ", Role.RIGHT), f"As the rules in force: {', '.join(agree)}.")))
    if part:
        blocks.append(
            Text((Span("✗ ", Role.WRONG), f"They part: {', '.join(answer.dialect.name for answer in part)}."))
        )
        blocks += _parting(found, part)
    if silent:
        blocks += [
            Heading("no answer", level=2),
            Table((Column("dialect"), Column("why")), tuple((each.dialect.name, each.reason) for each in silent)),
        ]
    return Document(tuple(blocks))


def _facts(found: Comparison) -> tuple[tuple[str, str], ...]:
    """Return the head of the page; a query without any key is an error in force, whatever was computed for it."""
    empty = FILLED["error"] if found.undefined else None
    return tuple((name, empty if empty and name == "empty rows" else text) for name, text in header(found.problem))


def _summary(found: Comparison) -> Table:
    columns = (
        Column("dialect"),
        Column("version"),
        Column("rules that it changes"),
        Column("queries that differ"),
    )
    rows = []
    for answer in found.answers:
        changed = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in answer.changed.items())
        if answer.output is None:
            differs = Span("no answer", Role.FAINT)
        elif answer.differs:
            differs = Span(_queries(answer, found), Role.WRONG)
        else:
            differs = Span("none", Role.RIGHT)
        rows.append((answer.dialect.name, answer.dialect.version, changed, differs))
    return Table(columns, tuple(rows))


def _queries(answer: Answer, found: Comparison) -> str:
    if len(answer.differs) == found.problem.sizes.T > 1:
        return "all"
    listed = ", ".join(map(str, answer.differs[:8]))
    return listed + (f" and {len(answer.differs) - 8} more" if len(answer.differs) > 8 else "")


def _parting(found: Comparison, part: list[Answer]) -> list[Block]:
    """Show the first queries on which some part: the output row from everyone, in the first batch and head."""
    queries = sorted({query for answer in part for query in answer.differs})[:SHOWN]
    answers = [answer for answer in found.answers if answer.output is not None]
    labels = ("rules in force", *(answer.dialect.name for answer in answers))
    axes = found.problem.layout.axes
    where = "".join(f" · {name} 0" for letter, name in (("b", "batch"), ("h", "head")) if letter in axes)
    blocks: list[Block] = []
    for query in queries:
        values = np.stack([_first(output, axes, query) for output in (found.output, *(a.output for a in answers))])
        rows = [n for n, answer in enumerate(answers, 1) if query in answer.differs]
        marks = {(n, column): Role.WRONG for n in rows for column in range(values.shape[1])}
        token = f" ({found.problem.query_tokens[query]})" if found.problem.query_tokens else ""
        title = f"output of query {query}{token}{where}"
        blocks.append(Matrix(title, values, labels, column_prefix="d", marks=marks, fixed=True))
    return blocks


def _first(output: Array | None, axes: str, query: int) -> Array:
    """Return the row of one query in the first batch and head."""
    assert output is not None
    picks = tuple({"b": 0, "h": 0, "t": query}.get(axis, slice(None)) for axis in axes)
    row: Array = output[picks]
    return row
