"""The page to explore: what compute, explain and check write as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import TYPE_CHECKING, Any

from attncalc.cli.environment import Environment
from attncalc.cli.language import LanguageOptions
from attncalc.cli.output import PageOptions
from attncalc.errors import AttnCalcError

if TYPE_CHECKING:
    from attncalc.core.prepare import Problem
    from attncalc.show import Document, Settings
    from attncalc.study.explore import Exploration, Run
    from attncalc.texts import Voice

LARGEST = 4_900_000
"""A page with more bytes is made again with fewer numbers."""

ROWS = 12
"""Rows and columns of a matrix in the explanation before its middle is left out, unless the user says otherwise."""


@dataclass(frozen=True)
class Wish:
    """What a command wants of the page.

    Attributes:
        start: the view that it opens at: explore, explanation or answer.
        lang: the language that it opens in; ATTNCALC_LANG unless given.
        batch: only this sequence.
        head: only this head.
        focus: what is worked out in full: keywords for ``study.explain``.
        answer: what is said about somebody's answer.
        notes: remarks on the input.
    """

    start: str = "explore"
    lang: str | None = None
    batch: int | None = None
    head: int | None = None
    focus: Mapping[str, Any] = field(default_factory=dict)
    answer: "Document | None" = None
    notes: Sequence[str] = ()


def web_page(env: Environment, output: PageOptions, problem: "Problem", wish: Wish) -> bytes:
    """Compute everything that the page shows, and write it, as UTF-8; of a large input as much as fits."""
    from attncalc.study.fitting import NUMBERS

    most = NUMBERS
    while len(page := _page(env, output, problem, wish, most).encode()) > LARGEST and most > NUMBERS // 64:
        most = most * 3 // 4
    return page


def _page(env: Environment, output: PageOptions, problem: "Problem", wish: Wish, most: int) -> str:
    from attncalc.show.hypertext import blocks_html
    from attncalc.show.pages.explore import data
    from attncalc.show.webpage import Pages, explorer
    from attncalc.study.explore import explore
    from attncalc.texts import LANGUAGES, language
    from attncalc.texts.voice import catalogue

    settings = _settings(env, output)
    voices = {lang: LanguageOptions(lang).voice(env, settings) for lang in LANGUAGES}
    lang = language(wish.lang, env.variables)
    query = wish.focus["cell"][0] if wish.focus.get("cell") else wish.focus.get("query")
    exploration = explore(problem, voices[lang], batch=wish.batch, head=wish.head, query=query, most=most)
    page = data(exploration, start=wish.start, lang=lang, digits=settings.digits)
    texts = {
        name: {key.removeprefix("page."): text for key, text in catalogue(name).items() if key.startswith("page.")}
        for name in LANGUAGES
    }
    pages = Pages(
        texts=texts,
        explanation=tuple(_explanation(run, exploration, voices, wish, settings) for run in exploration.runs),
        answer={} if wish.answer is None else {"en": blocks_html(wish.answer, settings)},
    )
    return explorer({**page, "notes": list(wish.notes), "chosen": _chosen(wish)}, pages)


def _chosen(wish: Wish) -> list[str]:
    """Name what is left out because the user asked for it."""
    return [name for name, asked in (("batches", wish.batch), ("heads", wish.head)) if asked is not None]


def _settings(env: Environment, output: PageOptions) -> "Settings":
    rows, columns = (ROWS if asked is None else asked for asked in (output.max_rows, output.max_cols))
    return replaced(output.settings(env), max_rows=rows, max_cols=columns, width=None, encoding="utf-8")


def _explanation(
    run: "Run", exploration: "Exploration", voices: Mapping[str, "Voice"], wish: Wish, settings: "Settings"
) -> Mapping[str, tuple[str, ...]]:
    """Explain a run in every language; what is too large to be explained has no explanation."""
    from attncalc.show.hypertext import blocks_html
    from attncalc.show.pages.explain import pages
    from attncalc.study.explain import explain

    if run.fault:
        return {}
    kept = exploration.kept
    asked = {name: value for name, value in wish.focus.items() if value is not None}
    focus: dict[str, Any] = {"query": exploration.query, "batch": kept.batches[0], "head": kept.heads[0], **asked}
    told = {}
    for lang, voice in voices.items():
        try:
            title, first, *rest = pages(explain(run.problem, voice, **focus))
        except AttnCalcError:
            return {}
        heading, *blocks = first.blocks
        beginning = replaced(first, blocks=(heading, *title.blocks[1:], *blocks))
        told[lang] = tuple(blocks_html(step, settings) for step in (beginning, *rest))
    return told
