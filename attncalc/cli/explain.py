"""``attncalc explain``: the arithmetic step by step."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.keys import wait_for_key
from attncalc.cli.language import LanguageOptions
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, send, text_of
from attncalc.cli.record import head
from attncalc.cli.values import Numbers, whole, whole_list
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.core.prepare import Problem
    from attncalc.core.steps import Steps
    from attncalc.study.explanation.parts import Explanation
    from attncalc.texts import Voice

EXPLAIN = "What is explained"
ROWS = 12
"""Rows and columns of a matrix before its middle is left out, unless the user says otherwise."""


@dataclass(frozen=True)
class FocusOptions:
    """Which numbers are worked out in full."""

    query: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="The query that is worked out in full (the first that a mask partly blocks, or 0).",
            rich_help_panel=EXPLAIN,
        ),
    ] = None
    cell: Annotated[
        Numbers | None,
        typer.Option(
            parser=whole_list,
            metavar="I,J",
            help="One score and one weight from the ground up: query I, key J.",
            rich_help_panel=EXPLAIN,
        ),
    ] = None
    everything: Annotated[
        bool, typer.Option("--all", help="Work out every query in full.", rich_help_panel=EXPLAIN)
    ] = False
    batch: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Which sequence (0).", rich_help_panel=EXPLAIN)
    ] = None
    head: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Which query head (0).", rich_help_panel=EXPLAIN)
    ] = None
    online: Annotated[
        bool,
        typer.Option(
            "--online",
            help="Show the softmax block by block too, as FlashAttention computes it.",
            rich_help_panel=EXPLAIN,
        ),
    ] = False
    block: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Keys in a block of --online (a quarter of them).", rich_help_panel=EXPLAIN
        ),
    ] = None
    mistake: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Explain a run with this known mistake in it, and say where it parts.",
            rich_help_panel=EXPLAIN,
        ),
    ] = None
    step: Annotated[
        bool, typer.Option("--step", help="Wait for a key between steps, on a terminal.", rich_help_panel=EXPLAIN)
    ] = False

    def keywords(self) -> dict[str, Any]:
        """Return the choice for ``study.explain``."""
        if self.cell is not None and len(self.cell) != 2:
            raise OptionError("--cell takes a query and a key", hint="--cell 1,0")
        if self.cell is not None and self.online:
            raise OptionError("--online tells a whole row, and --cell one cell", hint="--query N --online")
        if self.block is not None and not self.online:
            raise OptionError("--block belongs to --online")
        chosen = [name for name in ("query", "cell") if getattr(self, name) is not None] + ["all"] * self.everything
        if len(chosen) > 1:
            raise OptionError(f"--{chosen[0]} and --{chosen[1]} cannot be given together")
        cell = None if self.cell is None else (int(self.cell[0]), int(self.cell[1]))
        names = ("query", "everything", "online", "block")
        return {name: getattr(self, name) for name in names} | {
            "cell": cell,
            "batch": self.batch or 0,
            "head": self.head or 0,
        }

    def steps(self, problem: "Problem") -> "Steps":
        """Return the right steps, or those of the mistake in the first form that these inputs leave room for."""
        from attncalc.core.steps import RIGHT
        from attncalc.mistakes import combine, find

        if self.mistake is None:
            return RIGHT
        forms = find(self.mistake).open_forms(problem)
        if not forms:
            hint = f"attncalc mistakes {self.mistake} says when it can be made"
            raise OptionError(f"the mistake {self.mistake} does not apply to these inputs and rules", hint=hint)
        return combine(forms[0])

    def confession(self, say: "Voice") -> str:
        """Say which mistake is in the run."""
        from attncalc.mistakes import find

        assert self.mistake is not None
        return say("explain.mistake", id=self.mistake, title=find(self.mistake).words(say.lang).title)


def explain(
    env: Environment,
    inputs: InputOptions,
    focus: FocusOptions,
    rules: RuleOptions,
    language: LanguageOptions,
    output: PageOptions,
) -> None:
    """Walk through the arithmetic of attention, step by step.

    Without files it explains the textbook example: attncalc explain --causal.
    """
    from attncalc.show.pages import explain as pages
    from attncalc.study.explain import explain as told

    env = output.messages(env)
    format = output.chosen((*PAGES, "json"))
    output = replace(output, max_rows=_limit(output.max_rows), max_cols=_limit(output.max_cols, env.width))
    settings = output.settings(env)
    voice = language.voice(env, settings, format)
    loaded = load(env, inputs, rules, textbook=True)
    problem = loaded.problem()
    if focus.mistake is not None and format == "html":
        raise OptionError("--mistake is not told in html", hint="--format table, plain, markdown, latex or json")
    with loaded.naming_files():
        explanation = told(problem, voice, steps=focus.steps(problem), **focus.keywords())
    if focus.mistake is not None:
        explanation = replace(explanation, intro=(focus.confession(voice), *explanation.intro))
    notes = (*loaded.notes, *problem.notes, *explanation.notes)
    for note in notes:
        env.note(note)
    if format == "html":
        from attncalc.cli.webpage import Wish, web_page

        wish = Wish("explanation", voice.lang, focus.batch, focus.head, focus.keywords(), notes=notes)
        send(env, output, web_page(env, output, problem, wish))
        return
    if focus.step and format == "table" and output.out is None:
        _step_by_step(env, output, explanation)
        return
    text = text_of(
        env,
        output,
        format,
        lambda: pages.page(explanation, settings.width),
        lambda: _record(problem, explanation, voice.lang, notes),
    )
    send(env, output, text)


def _limit(asked: int | None, width: int | None = None) -> int | None:
    return asked if asked is not None or width is not None else ROWS


def _step_by_step(env: Environment, output: PageOptions, explanation: "Explanation") -> None:
    """Write one step after the other; between them a key is awaited, when somebody is there to press it."""
    from attncalc.show import render
    from attncalc.show.pages.explain import pages

    settings = output.settings(env)
    title, first, *rest = pages(explanation, settings.width)
    env.write(render(title, "table", settings) + "\n" + render(first, "table", settings))
    for n, document in enumerate(rest):
        wait_for_key(env, said=n > 0)
        env.write("\n" + render(document, "table", settings))


def _record(problem: "Problem", explanation: "Explanation", lang: str, notes: tuple[str, ...]) -> Mapping[str, Any]:
    from attncalc.show.pages.explain import steps_record

    return head("explain", problem, notes) | {
        "lang": lang,
        "batch": explanation.batch,
        "head": explanation.head,
        "queries": explanation.at_hand,
        "in_full": explanation.queries,
        "steps": steps_record(explanation),
    }
