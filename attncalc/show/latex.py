"""Document → a fragment for LaTeX, with booktabs' tables."""

import re
from functools import partial

from attncalc.show.charset import for_encoding
from attncalc.show.digits import Signs
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
from attncalc.show.labels import clean, escape_latex
from attncalc.show.settings import Settings

NEEDS = r"% needs \usepackage[T1]{fontenc} \usepackage{amsmath} \usepackage{booktabs}"
SIGNS = Signs(r"$-\infty$", r"$\infty$", r"\textsc{nan}", r"$\surd$", r"$\times$", r"$\times$", r"\dots", r"$\vdots$")
SECTIONS = ("section*", "subsection*", "subsubsection*")
COMMANDS = {
    Role.HEADING: r"\textbf",
    Role.TERM: r"\emph",
    Role.STRONGEST: r"\textbf",
    Role.WRONG: r"\textbf",
    Role.RIGHT: r"\textbf",
}


def render(document: Document, settings: Settings) -> str:
    """Write a document as a fragment to be read with ``\\input``; the first line says what it needs."""
    latex = _Latex(settings)
    return "\n\n".join([NEEDS, *map(latex.block, document.blocks)]) + "\n"


class _Latex:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.say = partial(escape_latex, encoding=settings.encoding)

    def block(self, block: Block) -> str:
        match block:
            case Heading(text, level):
                return f"\\{SECTIONS[min(level, len(SECTIONS)) - 1]}{{{self.say(text)}}}"
            case Text(words) | Note(words):
                return self._words(words)
            case Lines(lines):
                return self._typewriter([plain(words) for words in lines])
            case Facts(rows):
                return _table([], [[self.say(cell) for cell in row] for row in rows], "ll")
            case Formula(_, latex):
                return f"\\[ {for_encoding(clean(latex), self.settings.encoding)} \\]"
            case Matrix():
                return self._matrix(block)
            case Table():
                titles = [self.say(column.title) for column in block.columns]
                cells = [[self._span(cell) for cell in row] for row in block.rows]
                aligns = "".join("r" if column.align == "right" else "l" for column in block.columns)
                return self._title(block.title) + _table(titles, cells, aligns)

    def _span(self, piece: str | Span) -> str:
        if isinstance(piece, str) or piece.role not in COMMANDS:
            return self.say(plain(piece))
        return f"{COMMANDS[piece.role]}{{{self.say(piece.text)}}}"

    def _words(self, words: Words) -> str:
        return "".join(map(self._span, spans(words))).strip()

    def _title(self, title: str) -> str:
        return f"\\noindent\\textbf{{{self.say(title)}}}\\par\\nopagebreak\n" if title else ""

    def _typewriter(self, lines: list[str]) -> str:
        """Keep every space, as verbatim would, but with signs that need mathematics."""
        said = [re.sub(" ", r"\\ ", self.say(line.rstrip())) for line in lines]
        return "{\\ttfamily\\noindent\n" + " \\\\\n".join(line or r"\mbox{}" for line in said) + "\\par}"

    def _matrix(self, matrix: Matrix) -> str:
        grid = grid_of(matrix, self.settings, SIGNS, self.say)
        columns, cells = grid.with_total
        rows = [[label, *map(_number, row)] for label, row in zip(grid.rows, cells, strict=True)]
        titles = [grid.corner, *columns] if any(columns) else []
        remark = f"\n\n\\noindent {self.say(grid.left_out)}" if grid.left_out else ""
        return self._title(matrix.title) + _table(titles, rows, "l" + "r" * len(columns)) + remark


def _number(text: str) -> str:
    """Set a minus sign as one, not as a hyphen, and powers of ten as such."""
    if match := re.fullmatch(r"([-!*]*\d[\d.]*)e([+-]\d+)", text):
        return f"${match[1]} \\cdot 10^{{{int(match[2])}}}$"
    return f"${text}$" if text.startswith("-") else text


def _table(titles: list[str], rows: list[list[str]], aligns: str) -> str:
    lines = [" & ".join(row) + r" \\" for row in rows]
    head = [" & ".join(titles) + r" \\", r"\midrule"] if titles else []
    return "\n".join([f"\\begin{{tabular}}{{{aligns}}}", r"\toprule", *head, *lines, r"\bottomrule", r"\end{tabular}"])
