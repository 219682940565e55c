"""Document → GitHub's Markdown."""

import re
from functools import partial

from attncalc.show.charset import for_encoding
from attncalc.show.digits import signs_for
from attncalc.show.document import (
    Block,
    Document,
    Facts,
    Formula,
    Heading,
    Lines,
    Matrix,
    Note,
    Role,
    Span,
    Table,
    Text,
    Words,
    plain,
    spans,
)
from attncalc.show.grid import grid_of
from attncalc.show.labels import clean, escape_markdown
from attncalc.show.settings import Settings

AROUND = {Role.HEADING: "**", Role.TERM: "*", Role.STRONGEST: "**", Role.WRONG: "**", Role.RIGHT: "**"}


def render(document: Document, settings: Settings) -> str:
    """Write a document in Markdown, with tables that GitHub draws."""
    return "\n\n".join(_Markdown(settings).block(block) for block in document.blocks) + "\n"


class _Markdown:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.say = partial(escape_markdown, encoding=settings.encoding)

    def block(self, block: Block) -> str:
        match block:
            case Heading(text, level):
                return f"{'#' * level} {self.say(text)}"
            case Text(words):
                return self._paragraph(words)
            case Note(words):
                return f"> {self._words(words)}"
            case Lines(lines):
                return self._code([plain(words) for words in lines])
            case Facts(rows):
                return "\n".join(f"- **{self.say(name)}**: {self.say(value)}" for name, value in rows)
            case Formula(_, latex):
                return f"$${for_encoding(clean(latex), self.settings.encoding)}$$"
            case Matrix():
                return self._matrix(block)
            case Table():
                titles = [self.say(column.title) for column in block.columns]
                cells = [[self._span(cell) for cell in row] for row in block.rows]
                table = _table(titles, cells, [column.align for column in block.columns])
                return f"**{self.say(block.title)}**\n\n{table}" if block.title else table

    def _span(self, piece: str | Span) -> str:
        if isinstance(piece, str):
            return self.say(piece)
        around = AROUND.get(piece.role, "") if piece.text.strip() == piece.text and piece.text else ""
        return f"{around}{self.say(piece.text)}{around}"

    def _words(self, words: Words) -> str:
        return "".join(map(self._span, spans(words))).strip()

    def _paragraph(self, words: Words) -> str:
        """Write a paragraph that does not start like a list or a quotation."""
        return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", self._words(words))

    def _code(self, lines: list[str]) -> str:
        text = "\n".join(for_encoding(clean(line), self.settings.encoding).rstrip() for line in lines)
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
        return f"{fence}\n{text}\n{fence}"

    def _matrix(self, matrix: Matrix) -> str:
        grid = grid_of(matrix, self.settings, signs_for(self.settings.encoding), self.say)
        columns, cells = grid.with_total
        rows = [[f"**{label}**" if label else "", *row] for label, row in zip(grid.rows, cells, strict=True)]
        parts = [f"**{self.say(matrix.title)}**"] if matrix.title else []
        parts.append(_table([grid.corner, *columns], rows, ["left", *["right"] * len(columns)]))
        parts += [self.say(grid.left_out)] if grid.left_out else []
        return "\n\n".join(parts)


def _table(titles: list[str], rows: list[list[str]], aligns: list[str]) -> str:
    rules = ["---:" if align == "right" else "---" for align in aligns]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [titles, rules, *rows])
