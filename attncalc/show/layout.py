"""Blocks → lines of pieces with roles: where everything stands, without colours."""

from typing import assert_never

from attncalc.show.charset import for_encoding
from attncalc.show.digits import signs_for
from attncalc.show.document import Block, Facts, Formula, Heading, Lines, Matrix, Note, Role, Span, Table, Text, spans
from attncalc.show.labels import cell_width, clean, pad
from attncalc.show.matrix_layout import matrix_lines
from attncalc.show.settings import Settings
from attncalc.show.table_layout import table_lines
from attncalc.show.wrapping import Line, wrap

READABLE = 80  # prose is not set wider than this, on a wide screen and in a pipe
FACT = 24  # a name wider than this does not push the values of the others to the right


class Layout:
    """Lays blocks out for one reader."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.signs = signs_for(settings.encoding)
        self.readable = min(settings.width or READABLE, READABLE)

    def say(self, text: str) -> str:
        """Make a text harmless, and fit for the reader's encoding."""
        return for_encoding(clean(text), self.settings.encoding)

    def lines(self, block: Block) -> list[Line]:
        """Lay one block out."""
        match block:
            case Heading():
                return self._heading(block)
            case Text(words):
                return wrap(self._said(spans(words)), self.readable)
            case Note(words):
                return wrap(self._said([Span("note: ", Role.LABEL), *spans(words)]), self.readable)
            case Lines(lines):
                return [[(span.text, span.role) for span in self._said(spans(words))] for words in lines]
            case Facts(rows):
                return self._facts(rows)
            case Formula(plain):
                return [[("  ", Role.NORMAL), *line] for line in wrap([Span(self.say(plain))], self._wide(2))]
            case Matrix():
                return matrix_lines(block, self.settings, self.signs, self.say)
            case Table():
                return table_lines(block, self.settings, self.say)
            case _:
                assert_never(block)

    def _said(self, pieces: list[Span]) -> list[Span]:
        return [Span(self.say(span.text), span.role) for span in pieces]

    def _wide(self, indent: int) -> int:
        """The room of a line that is wrapped on a terminal only."""
        return max(self.settings.width - indent, 1) if self.settings.width else 10**9

    def _heading(self, heading: Heading) -> list[Line]:
        lines = wrap([Span(self.say(heading.text), Role.HEADING)], self._wide(0))
        if heading.level == 1:
            width = max(sum(cell_width(text) for text, _ in line) for line in lines)
            lines.append([(self.say("─") * width, Role.FAINT)])
        return lines

    def _facts(self, rows: tuple[tuple[str, str], ...]) -> list[Line]:
        said = [(self.say(name), self.say(value)) for name, value in rows]
        widths = [width for name, _ in said if (width := cell_width(name)) <= FACT]
        left = max(widths, default=0)
        lines: list[Line] = []
        for name, value in said:
            wrapped = wrap([Span(value)], max(self._wide(left + 2), 12))
            lines.append([(pad(name, left), Role.LABEL), ("  ", Role.NORMAL), *wrapped[0]])
            lines.extend([(" " * (left + 2), Role.NORMAL), *line] for line in wrapped[1:])
        return lines
