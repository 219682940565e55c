"""Documents and explorations → one HTML file that needs nothing else: no network, no second file.

A page of words and tables is static.  A page to explore holds what attncalc computed as JSON, and the scripts in
``web/``, which show it; they know no attention.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from attncalc.show.document import Document, Heading, plain
from attncalc.show.hypertext import blocks_html
from attncalc.show.labels import clean, escape_html
from attncalc.show.settings import Settings

SCRIPTS = (
    "base", "numbers", "data", "grid", "stages", "working", "arithmetic", "tokens", "overview", "controls", "explore",
    "tabs", "start",
)  # fmt: skip
"""The files in web/ that make the script, in this order."""

STYLES = ("page", "explore", "numbers", "small")

ROWS = 30
"""Rows and columns of a matrix in a document before its middle is left out, unless the user says otherwise."""


@dataclass(frozen=True)
class Pages:
    """What a page to explore holds beside the numbers.

    Attributes:
        texts: what the page says, by language and key.
        explanation: steps as HTML, by run, language and number.
        answer: what is said about somebody's answer, as HTML, or nothing; by language.
    """

    texts: Mapping[str, Mapping[str, str]]
    explanation: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    answer: Mapping[str, str] = field(default_factory=dict)


def render(document: Document, settings: Settings) -> str:
    """Write a document as a page without scripts."""
    titles = [plain(block.text) for block in document.blocks if isinstance(block, Heading)]
    body = f'<main class="document">\n{blocks_html(document, settings)}\n</main>'
    return _file("document", title=escape_html(titles[0] if titles else "attncalc"), style=_style("page"), body=body)


def explorer(data: Mapping[str, Any], pages: Pages) -> str:
    """Write a page to explore."""
    lang = str(data["lang"])
    return _file(
        "explore",
        lang=escape_html(lang),
        title=escape_html(pages.texts[lang]["title"]),
        style="\n".join(map(_style, STYLES)),
        explanation="\n".join(_steps(pages)),
        answer="\n".join(f'<div lang="{lang}">{text}</div>' for lang, text in pages.answer.items()),
        data=json_in_html(data),
        texts=json_in_html(pages.texts),
        script="\n".join(_asset(f"{name}.js") for name in SCRIPTS),
    )


def _steps(pages: Pages) -> list[str]:
    return [
        f'<article class="step" lang="{lang}" data-run="{run}" data-step="{n}">\n{step}\n</article>'
        for run, languages in enumerate(pages.explanation)
        for lang, steps in languages.items()
        for n, step in enumerate(steps)
    ]


def json_in_html(value: Any) -> str:
    """Write JSON that may stand inside a script element, whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def labels(texts: tuple[str, ...] | None) -> list[str] | None:
    """Make users' labels harmless; None stays None."""
    return None if texts is None else [clean(text) for text in texts]


def _file(template: str, **parts: str) -> str:
    """Fill a template; what is filled in is not looked at again."""
    pieces = _asset(f"{template}.html").split("{{")
    text = pieces[0]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        text += parts[name] + rest
    return text


def _style(name: str) -> str:
    return _asset(f"{name}.css")


@cache
def _asset(name: str) -> str:
    return files("attncalc.show").joinpath("web", name).read_text("utf-8")
