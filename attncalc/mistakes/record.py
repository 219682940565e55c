"""What a known mistake is: the right computation with some of its steps replaced, and the words that tell it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from attncalc.core.prepare import Problem
from attncalc.core.steps import Step
from attncalc.mistakes.cures import CURES, Cure
from attncalc.texts.voice import catalogue


def always(problem: Problem) -> bool:
    """Say that it applies to every problem."""
    return True


@dataclass(frozen=True)
class Form:
    """One way of making a mistake.

    Attributes:
        changes: which steps are replaced, by field name of ``Steps``, and by what.
        applies: whether this way is open; asked only where the mistake itself applies.
        rows_apart: no query knows of another, so that a few rows of the answer can be worked out alone.
        own_rows: what becomes of queries without any key is part of the formula.
        keeps_rows: though it replaces the softmax, queries without any key stay as the softmax leaves them.
    """

    changes: Mapping[str, Step]
    applies: Callable[[Problem], bool] = always
    rows_apart: bool = True
    own_rows: bool = False
    keeps_rows: bool = False


@dataclass(frozen=True)
class Words:
    """A mistake in words of one language: four sentences or so."""

    title: str
    what: str
    why: str
    shows: str


@dataclass(frozen=True)
class Mistake:
    """An entry of the catalogue.

    Attributes:
        id: its name, which never changes.
        stage: where it is made: input raw scaled capped biased scores weights output.
        needs: what inputs and rules must have for it, whatever its form.
        forms: the ways of making it; any of them is this mistake.
        source: where it was made in public: repository#issue, or a remark.
    """

    id: str
    stage: str
    needs: Callable[[Problem], bool]
    forms: tuple[Form, ...]
    source: tuple[str, ...]

    def words(self, language: str = "en") -> Words:
        """Return the texts in a language."""
        texts = catalogue(language)
        return Words(*(texts[f"{self.id}.{field.name}"] for field in fields(Words)))

    @property
    def title(self) -> str:
        """The mistake in a few words of English."""
        return self.words().title

    @property
    def instead(self) -> Cure:
        """What to write instead."""
        return CURES[self.id]

    def open_forms(self, problem: Problem) -> tuple[Form, ...]:
        """Return the forms that these inputs leave room for."""
        return tuple(form for form in self.forms if form.applies(problem)) if self.needs(problem) else ()

    def applies(self, problem: Problem) -> bool:
        """Say whether these inputs and rules leave room for it."""
        return bool(self.open_forms(problem))
