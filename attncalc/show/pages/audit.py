"""The page of ``attncalc audit``: what the test would catch, what it would let through, and what would help."""

from attncalc.mistakes import CATALOGUE, find
from attncalc.show.document import Block, Column, Document, Facts, Heading, Role, Span, Table, Text
from attncalc.show.pages.rules import Rows
from attncalc.study.audit import Audit


def page(found: Audit, header: Rows) -> Document:
    """Make the page.

    Args:
        found: what was found.
        header: the rules in force.
    """
    blocks: list[Block] = [
        Facts((*header, ("tolerance", f"rtol {found.rtol:g}, atol {found.atol:g}"))),
        Text(
            (
                f"Of {len(CATALOGUE)} known mistakes this test would catch {len(found.caught)} and let ",
                Span(f"{len(found.missed)} through", Role.WRONG if found.missed else Role.RIGHT),
                f"; {len(found.not_applicable)} do not apply to these inputs, so it says nothing about them.",
            )
        ),
    ]
    if found.missed:
        rows = tuple((Span(id, Role.WRONG), find(id).title) for id in found.missed)
        blocks.append(Table((Column("let through"), Column("mistake")), rows))
    if found.caught:
        narrow = sorted(found.caught.items(), key=lambda item: item[1])
        caught = tuple((id, find(id).title, f"{size:.3g}") for id, size in narrow)
        columns = (Column("caught"), Column("mistake"), Column("off by so many tolerances", "right"))
        blocks.append(Table(columns, caught))
    if found.closing:
        blocks.append(Heading("Vectors that would close the holes", level=2))
        blocks.append(Text("attncalc vectors DIR writes them; attncalc verify runs an implementation on them."))
        vectors = tuple((each.vector, ", ".join(each.closes)) for each in found.closing)
        blocks.append(Table((Column("vector"), Column("exposes")), vectors))
    return Document(tuple(blocks))
