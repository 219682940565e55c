"""A voice: one language, and one way to write numbers."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attncalc.errors import OptionError

LANGUAGES = ("en", "zh")
TOPICS = ("explain", "online", "probe", "scaling", "cost", "quiz", "mistakes", "catalogue", "page")
"""The files of a language; each holds ``TEXTS``, from key to text."""

Writer = Callable[[NDArray[np.float64], bool], list[str]]
"""Writes a row of numbers alike; True keeps the decimals when all of them are whole."""


def language(asked: str | None, environment: Mapping[str, str]) -> str:
    """Choose the language: the option, or ATTNCALC_LANG, or English.

    Raises:
        OptionError: a language that attncalc does not speak.
    """
    name, given_by = (asked, "--lang") if asked is not None else (environment.get("ATTNCALC_LANG"), "ATTNCALC_LANG")
    if not name:
        return LANGUAGES[0]
    if name not in LANGUAGES:
        raise OptionError(f"{given_by} must be one of {', '.join(LANGUAGES)}, not {name}")
    return name


@cache
def catalogue(lang: str) -> dict[str, str]:
    """Return all texts of a language by key."""
    texts: dict[str, str] = {}
    for topic in TOPICS:
        texts |= import_module(f"attncalc.texts.{lang}.{topic}").TEXTS
    return texts


class Voice:
    """Says texts of the catalogue, with numbers in their places.

    Args:
        lang: one of LANGUAGES.
        write: how numbers look.
    """

    def __init__(self, lang: str, write: Writer) -> None:
        self.lang = lang
        self._write = write
        self._texts = catalogue(lang)

    def __call__(self, key: str, **values: Any) -> str:
        """Return the text of a key; floats among the values are written as numbers.

        ``{Query}`` is ``{query}`` at the start of a sentence.
        """
        if query := values.get("query"):
            values["Query"] = query[:1].upper() + query[1:]
        return self._texts[key].format(**{name: self._shown(value) for name, value in values.items()})

    def count(self, key: str, n: int, **values: Any) -> str:
        """Return the text of ``key.one`` or ``key.many``, with ``{n}`` in it."""
        return self(f"{key}.{'one' if n == 1 else 'many'}", n=n, **values)

    def row(self, values: ArrayLike, fixed: bool = False) -> list[str]:
        """Write numbers that belong together, with the same decimals."""
        return self._write(np.asarray(values, dtype=np.float64).reshape(-1), fixed)

    def number(self, value: float, fixed: bool = True) -> str:
        """Write one number."""
        return self.row([value], fixed)[0]

    def listed(self, items: list[str]) -> str:
        """Join words as a sentence does: ``a, b and c``."""
        if len(items) < 2:
            return "".join(items)
        return self("list", front=self("list.comma").join(items[:-1]), last=items[-1])

    def _shown(self, value: Any) -> Any:
        return self.number(float(value)) if isinstance(value, float | np.floating) else value
