"""``attncalc mistakes``: the catalogue of known mistakes, and what each does to these numbers."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.language import LanguageOptions
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head

if TYPE_CHECKING:
    from attncalc.mistakes import Mistake
    from attncalc.show import Document
    from attncalc.study.mistakes import Effects


def mistakes(
    env: Environment, inputs: InputOptions, rules: RuleOptions, language: LanguageOptions, output: PageOptions
) -> None:
    """Tell known mistakes: all of them, or one by its id, and what they do to these numbers.

    Without anything it lists the catalogue. An id tells one, on the textbook example or on the files after it.
    Files, an example or rules without an id show what each mistake does to these numbers.
    """
    from attncalc.mistakes import CATALOGUE
    from attncalc.show.pages.mistakes import effects_page, list_page, one_page
    from attncalc.show.pages.rules import header
    from attncalc.study.mistakes import effects

    env = output.messages(env)
    format = output.chosen((*PAGES, "json"))
    say = language.voice(env, output.settings(env), format)
    one, inputs = _chosen(inputs)
    listing = one is None and inputs.nothing and rules == RuleOptions()
    if listing and format != "json":
        deliver(env, output, lambda: list_page(say), dict)
        return
    loaded = load(env, inputs, rules, textbook=True)
    problem = loaded.problem()
    notes = (*loaded.notes, *problem.notes)
    for note in notes:
        env.note(note)
    with loaded.naming_files():
        found = effects(problem, CATALOGUE if one is None else (one,))

    def page() -> "Document":
        if one is None:
            return effects_page(found, say, header(problem))
        axes, labels = problem.layout.stage_axes("output"), (problem.query_tokens, problem.key_tokens)
        return one_page(found.effects[0], found, say, header(problem), axes, *labels)

    deliver(env, output, page, lambda: head("mistakes", problem, notes) | _record(found, say.lang))


def _chosen(inputs: InputOptions) -> "tuple[Mistake | None, InputOptions]":
    """Take an id away from the front of the files; a lone word that is no file is meant as one."""
    from attncalc.mistakes import CATALOGUE, find

    files = inputs.files or []
    if not files or (len(files) == 3 and files[0] not in {mistake.id for mistake in CATALOGUE}):
        return None, inputs
    first = files[0]
    known = any(first == mistake.id for mistake in CATALOGUE)
    is_file = first == "-" or os.path.exists(first) or os.path.exists(first.partition(":")[0])
    if not known and (is_file or "." in first or "/" in first):
        return None, inputs
    return find(first), replace(inputs, files=files[1:] or None)


def _record(found: "Effects", lang: str) -> dict[str, Any]:
    from attncalc.study.mistakes import as_json

    return {
        "weights": found.weights,
        "output": found.output,
        "mistakes": [as_json(each, lang) for each in found.effects],
    }
