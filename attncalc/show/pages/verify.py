"""The page of ``attncalc verify``: a line for each vector, then what was found."""

from collections.abc import Sequence

from attncalc.mistakes import find
from attncalc.show.document import Block, Column, Document, Facts, Heading, Role, Span, Table, Text
from attncalc.study.verify import Outcome

SIGNS = {
    "passed": Span("✓ pass", Role.RIGHT),
    "failed": Span("✗ FAIL", Role.WRONG),
    "skipped": Span("– skipped", Role.FAINT),
}

LISTED = 3
"""So many explanations of one answer are told in the table."""


def page(outcomes: Sequence[Outcome], name: str) -> Document:
    """Make the page.

    Args:
        outcomes: one for each vector.
        name: what was run.
    """
    rows = tuple((each.vector, SIGNS[each.result], _told(each)) for each in outcomes)
    blocks: list[Block] = [
        Heading(f"{name} on {len(outcomes)} vectors"),
        Table((Column("vector"), Column("result"), Column("what it is")), rows),
        Text(_summary(outcomes)),
    ]
    blocks += _remedies(outcomes)
    return Document(tuple(blocks))


def _told(outcome: Outcome) -> str:
    names = outcome.mistakes
    if not names:
        return outcome.reason
    more = f" (and {len(names) - LISTED} more)" if len(names) > LISTED else ""
    return " or ".join(names[:LISTED]) + more


def _summary(outcomes: Sequence[Outcome]) -> tuple[Span, ...]:
    count = {result: sum(each.result == result for each in outcomes) for result in SIGNS}
    role = Role.WRONG if count["failed"] else Role.RIGHT
    return (Span(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped.", role),)


def _remedies(outcomes: Sequence[Outcome]) -> list[Block]:
    """Tell the mistakes that are named for certain: alone on one vector at least."""
    certain = dict.fromkeys(each.mistakes[0] for each in outcomes if len(each.mistakes) == 1)
    blocks: list[Block] = []
    for id in (id for ids in certain for id in ids.split("+")):
        mistake = find(id)
        words = mistake.words()
        blocks.append(Heading(f"{id}: {words.title}", level=2))
        rows = [("does", words.what), ("but", words.why), ("numpy", mistake.instead.numpy)]
        blocks.append(Facts((*rows, ("PyTorch", mistake.instead.torch))))
    return blocks
