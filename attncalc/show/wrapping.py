"""Words in lines that are not too long, each piece with its role; nothing is ever cut off."""

import re
from collections.abc import Iterator, Sequence

from attncalc.show.document import Role, Span
from attncalc.show.labels import cell_width, clusters

Style = Role | float  # a float: how strong a cell is, from 0 to 1
Segment = tuple[str, Style]
Line = list[Segment]

NOT_FIRST = "，。、；：？！）》」』”’…,.;:?!)]}%"  # never at the start of a line


def wrap(words: Sequence[Span], width: int) -> list[Line]:
    """Break a text at spaces, between Chinese signs, and inside a word only when it is longer than a line."""
    lines: list[Line] = [[]]
    room = width
    for atom, is_space in _atoms(words, width):
        needed = sum(cell_width(text) for text, _ in atom)
        if is_space:
            if lines[-1]:
                lines[-1].extend(atom)
                room -= needed
        else:
            if needed > room and lines[-1]:
                lines.append([])
                room = width
            lines[-1].extend(atom)
            room -= needed
    return [_joined(line) for line in lines]


def _atoms(words: Sequence[Span], width: int) -> Iterator[tuple[Line, bool]]:
    """Group signs into what must stay on one line, and spaces."""
    atom: Line = []
    used = 0
    wide_before = False
    for span in words:
        for piece in re.findall(r"[ ]+|[^ ]+", span.text):
            if piece.startswith(" "):
                if atom:
                    yield atom, False
                yield [(piece, span.role)], True
                atom, used, wide_before = [], 0, False
                continue
            for sign, columns in clusters(piece):
                wide = columns == 2
                may_break = (wide or wide_before) and sign not in NOT_FIRST
                if atom and (may_break or used + columns > width):
                    yield atom, False
                    atom, used = [], 0
                atom.append((sign, span.role))
                used += columns
                wide_before = wide
    if atom:
        yield atom, False


def _joined(line: Line) -> Line:
    """Join neighbours with one role; spaces at the end go."""
    joined: Line = []
    for text, style in line:
        if joined and joined[-1][1] == style:
            joined[-1] = (joined[-1][0] + text, style)
        else:
            joined.append((text, style))
    while joined and not (last := joined[-1][0].rstrip(" ")):
        joined.pop()
    if joined:
        joined[-1] = (last, joined[-1][1])
    return joined
