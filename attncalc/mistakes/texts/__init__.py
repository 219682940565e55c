"""The words of the catalogue: the same entries in every language, and the code to write instead."""

from collections.abc import Mapping

from attncalc.mistakes.record import Language, Words
from attncalc.mistakes.texts import chinese, english
from attncalc.mistakes.texts.cures import CURES

__all__ = ["CURES", "HEADINGS", "WORDS"]

WORDS: Mapping[Language, Mapping[str, Words]] = {"en": english.WORDS, "zh": chinese.WORDS}
"""Language → id → texts."""

HEADINGS: Mapping[Language, Mapping[str, str]] = {"en": english.HEADINGS, "zh": chinese.HEADINGS}
"""Language → key → the headings and short sentences around them."""
