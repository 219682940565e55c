"""The page of ``attncalc probe``: which outputs move, by how much, and whether a later position is among the causes."""

import numpy as np

from attncalc.show.document import Block, Column, Document, Heading, Matrix, Role, Span, Table, Text
from attncalc.study.probe import Probed
from attncalc.study.shuffle import Shuffle
from attncalc.texts import Voice

LISTED = 8
"""So many positions, or pairs, are told in words."""

Tokens = tuple[str, ...] | None


def page(
    probed: Probed,
    say: Voice,
    *,
    causal: bool,
    function: str | None = None,
    query_tokens: Tokens = None,
    key_tokens: Tokens = None,
    shuffled: Shuffle | None = None,
) -> Document:
    """Make the page.

    Args:
        probed: what moved.
        say: the language.
        causal: later positions should have no influence.
        function: the name of the implementation, where it is not attncalc's own.
        query_tokens: labels of the queries.
        key_tokens: labels of the keys.
        shuffled: what a permutation did.
    """
    title = say("probe.title") if function is None else say("probe.title.python", function=function)
    columns = query_tokens if probed.what == "queries" else key_tokens
    marks = {(int(i), int(j)): Role.WRONG for i, j in probed.leaks} if causal else {}
    prefix = "q" if probed.what == "queries" else "k"
    blocks: list[Block] = [
        Heading(title),
        Text(say(f"probe.what.{probed.what}")),
        Matrix(say("probe.moves"), probed.influence, query_tokens, columns, column_prefix=prefix, marks=marks),
        Matrix(
            say("probe.sizes"),
            probed.change,
            query_tokens,
            columns,
            column_prefix=prefix,
            marks=marks,
            fixed=True,
            tiny=True,
        ),
    ]
    blocks += _stays(probed, say, columns)
    blocks.append(_verdict(probed, say, causal))
    if shuffled is not None:
        blocks += _shuffle(shuffled, say)
    return Document(tuple(blocks))


def _stays(probed: Probed, say: Voice, tokens: Tokens) -> list[Text]:
    """Say for each position which outputs stay, when there are few."""
    if probed.what == "queries" or probed.influence.shape[1] > LISTED or len(probed.influence) > LISTED:
        return []
    told = []
    for j, moved in enumerate(probed.influence.T):
        position = say("probe.position", j=j) if tokens is None else say("probe.position.token", j=j, token=tokens[j])
        same = [f"q{i}" for i in np.flatnonzero(~moved)]
        if not same or len(same) == len(moved):
            told.append(Text(say("probe.stays.all" if same else "probe.stays.none", position=position)))
        else:
            told.append(Text(say.count("probe.stays", len(same), position=position, same=say.listed(same))))
    return told


def _verdict(probed: Probed, say: Voice, causal: bool) -> Text:
    good, bad = Span("✓ ", Role.RIGHT), Span("✗ ", Role.WRONG)
    if probed.what == "queries":
        others = np.argwhere(probed.influence & ~np.eye(len(probed.influence), dtype=bool))
        if len(others):
            return Text((bad, say("probe.notown", pairs=_pairs(others, say))))
        return Text((good, _own(np.flatnonzero(~probed.influence.diagonal()), len(probed.influence), say)))
    if not len(probed.leaks):
        return Text((good, say("probe.causal")))
    told = say.count("probe.leaks", len(probed.leaks), pairs=_pairs(probed.leaks, say))
    return Text((bad, told) if causal else f"{told} {say('probe.unmasked')}")


def _own(still: np.ndarray, count: int, say: Voice) -> str:
    """Say which queries move their own output: all, or all but some, or none."""
    if not len(still):
        return say("probe.own")
    if len(still) == count:
        return say("probe.own.none")
    names = [f"q{i}" for i in still[:LISTED]] + ["…"] * (len(still) > LISTED)
    return say("probe.own.but", still=say.listed(names))


def _pairs(pairs: np.ndarray, say: Voice) -> str:
    told = [say("probe.pair", i=int(i), j=int(j)) for i, j in pairs[:LISTED]]
    return say("list.comma").join(told + ["…"] * (len(pairs) > LISTED))


def _shuffle(shuffled: Shuffle, say: Voice) -> list[Block]:
    follows = say("shuffle.follows" if shuffled.queries else "shuffle.follows.keys")
    rows = tuple(
        (
            say(f"shuffle.rules.{row.rules}"),
            f"{row.difference:.1e}" if row.difference else "0",
            follows if row.follows else Span(say("shuffle.differs"), Role.STRONGEST),
        )
        for row in shuffled.rows
    )
    head = (
        Column(say("shuffle.rules")),
        Column(say("shuffle.difference"), "right"),
        Column(say("shuffle.verdict")),
    )
    order = " ".join(map(str, shuffled.permutation[: 4 * LISTED])) + (" …" if len(shuffled.permutation) > 32 else "")
    return [
        Heading(say("shuffle.title", order=order), level=2),
        Text(say("shuffle.queries" if shuffled.queries else "shuffle.keys")),
        Table(head, rows),
        Text(say("shuffle.why")),
    ]
