r"""Users' text as data: never markup, never a control code, and how much room it takes.

``clean`` first, for every target; then the target's own escape, which cleans by itself.
"""

import re
from collections.abc import Iterator
from unicodedata import category, combining, east_asian_width

from attncalc.show.charset import escape, for_encoding

JOINERS = "\u200c\u200d"  # inside emoji and in several scripts; junk elsewhere
EMOJI_STYLE = "\ufe0f"
UNSEEN = "\u3164\uffa0\u2800"  # letters and signs that draw nothing
SEEN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # format, but drawn
NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def clean(text: str) -> str:
    r"""Make control, direction and invisible characters visible (``\x1b``, ``\u202e``); change nothing else."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        NAMED.get(char) or escape(char) if _unseen(char) and not _joins(text, i) else char
        for i, char in enumerate(text)
    )


def _unseen(char: str) -> bool:
    return char in UNSEEN or (category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in SEEN)


def _joins(text: str, i: int) -> bool:
    """Say whether a format character holds two visible signs together, or spells a flag, as it should."""
    before = text[i - 1 : i]
    if "\U000e0020" <= text[i] <= "\U000e007f":
        flag = text[:i].rstrip("".join(map(chr, range(0xE0020, 0xE0080))))
        return flag.endswith("\U0001f3f4")
    after = text[i + 1 : i + 2]
    return text[i] in JOINERS and all(
        side and not side.isascii() and (side == EMOJI_STYLE or not _unseen(side)) for side in (before, after)
    )


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Split a text into signs as a terminal draws them, each with the columns that it takes."""
    sign, width = "", 0
    for char in text:
        own = _columns(char)
        if sign and (own == 0 or _continues(sign, char)):
            sign += char
            width = 2 if char == EMOJI_STYLE or _is_flag_half(char) else width
            continue
        if sign:
            yield sign, width
        sign, width = char, own
    if sign:
        yield sign, width


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    if combining(char) or (category(char) in ("Mn", "Me", "Cf") and char not in SEEN) or ("\u1160" <= char <= "\u11ff"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _continues(sign: str, char: str) -> bool:
    joined = sign[-1] == "\u200d" and not char.isalpha()
    skin = "\U0001f3fb" <= char <= "\U0001f3ff" and not sign.isascii()
    return joined or skin or (_is_flag_half(char) and len(sign) == 1 and _is_flag_half(sign))


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def cell_width(text: str) -> int:
    """Count the columns that a text takes on a terminal: 2 for 你, 0 for a combining accent."""
    return len(text) if text.isascii() else sum(width for _, width in clusters(text))


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut a text that is wider than ``width``, between two signs, and say so with an ellipsis."""
    if cell_width(text) <= width:
        return text
    room = width - cell_width(ellipsis)
    kept = ""
    for sign, columns in clusters(text):
        room -= columns
        if room < 0:
            break
        kept += sign
    return kept + ellipsis


def pad(text: str, width: int, align: str = "left") -> str:
    """Fill a text with spaces to ``width`` columns."""
    spaces = " " * (width - cell_width(text))
    return spaces + text if align == "right" else text + spaces


# ── one escape per target ────────────────────────────────────────────────────────────────────────────────

_MARKDOWN = {ord(sign): f"\\{sign}" for sign in r"\`*_[]{}|~$#"} | {
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord("&"): "&amp;",
}

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "-": "{-}",  # after \\ a [ or a * would be its argument; -- a dash
    "−": "$-$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$", "∞": r"$\infty$", "ᵀ": r"$^{\top}$",
    "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\neq$", "≈": r"$\approx$", "∈": r"$\in$", "Σ": r"$\Sigma$",
    "∑": r"$\sum$", "→": r"$\to$", "…": r"\dots{}", "⋮": r"$\vdots$", "✓": r"$\surd$", "✗": r"$\times$",
    "²": "$^2$", "±": r"$\pm$", "∂": r"$\partial$", "–": "--", "—": "---",
    "│": r"\textbar{}", "─": "{-}", "┼": "+", "•": r"\textbullet{}",
}  # fmt: skip


def escape_markdown(text: str, encoding: str = "utf-8") -> str:
    """Write a text so that GitHub's Markdown shows it as it is, in a table cell too."""
    return for_encoding(clean(text), encoding).translate(_MARKDOWN)


def escape_latex(text: str, encoding: str = "utf-8") -> str:
    """Write a text for LaTeX: its special characters, and the signs that need mathematics."""
    written = ""
    for char in clean(text):
        spelled = char if char in _LATEX else for_encoding(char, encoding)
        written += "".join(_LATEX.get(sign, sign) for sign in spelled)
    return re.sub(r"\{-\}(?!\{-\})", "-", written) if "{-}" in written else written


def escape_html(text: str) -> str:
    """Write a text for HTML and SVG, between tags or in a quoted attribute."""
    import html  # with all the entities of HTML

    return html.escape(clean(text))


def escape_field(text: str, encoding: str = "utf-8") -> str:
    r"""Write a text as one field between spaces: no space in it, not empty, no ``#`` in front."""
    field = for_encoding(clean(text), encoding)
    field = "".join(escape(char) if char.isspace() else char for char in field)
    return "\\x23" + field[1:] if field.startswith("#") else field or '""'
