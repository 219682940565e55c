"""``attncalc check``: say whether an answer is right and, if not, which mistake explains it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment, ExitStatus
from attncalc.cli.inputs import InputOptions, Loaded, load
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver, send
from attncalc.cli.record import head
from attncalc.cli.values import number
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.core.shapes import Array
    from attncalc.study.check import Verdict

CHECK = "The answer"


@dataclass(frozen=True)
class ToleranceOptions:
    """How far an answer may be off."""

    rtol: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="X",
            help="Relative tolerance (by the type of the answer).",
            rich_help_panel=CHECK,
        ),
    ] = None
    atol: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Absolute tolerance.", rich_help_panel=CHECK)
    ] = None


def check(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    tolerance: ToleranceOptions,
    output: PageOptions,
    *,
    got: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The answer to be checked; - is standard input.", rich_help_panel=CHECK),
    ] = None,
    stage: Annotated[
        str, typer.Option(metavar="NAME", help="Which stage it is (output).", rich_help_panel=CHECK)
    ] = "output",
) -> int:
    """Say whether an answer is right and, if not, which mistake explains it.

    The exit code is 0 when it agrees and 1 when it does not; -q prints nothing else.
    """
    from attncalc.api import solve
    from attncalc.show.pages.check import page
    from attncalc.show.pages.rules import header
    from attncalc.study.check import check_problem, check_stage

    env = output.messages(env)
    format = output.chosen((*PAGES, "json"))
    check_stage(stage)
    if got is None:
        raise OptionError("check needs the answer that it is to check", hint="--got FILE")
    loaded = load(env, inputs, rules, results={"got": (got, stage)})
    problem = loaded.problem()
    with loaded.naming_files():
        result = solve(problem, (stage,))
        right = result.stages[stage]
        answer = _answer(loaded, right.shape)
    entry = loaded.entries["got"]
    verdict = check_problem(
        problem,
        right,
        answer,
        stage=stage,
        dtype=entry.dtype,
        spelling=entry.written(),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        notes=(*loaded.notes, *result.notes),
    )
    for note in verdict.notes:
        env.note(note)
    if not output.quiet and format == "html":
        from attncalc.cli.webpage import Wish, web_page
        from attncalc.show.pages.answer import answer as answer_page

        wish = Wish("answer", answer=answer_page(verdict, header(problem)), notes=verdict.notes)
        send(env, output, web_page(env, output, problem, wish))
    elif not output.quiet:
        deliver(env, output, lambda: page(verdict, header(problem)), lambda: _record(verdict))
    return ExitStatus.DONE if verdict.agrees else ExitStatus.FOUND


def _answer(loaded: Loaded, shape: tuple[int, ...]) -> "Array":
    """Return the answer as numbers; a list may stand for the one row, and a column of a table for a list."""
    from attncalc.core.arrays import numbers

    answer = numbers("got", loaded.entries["got"].values)
    if answer.ndim == 1 and shape == (1, *answer.shape):
        return answer.reshape(shape)
    return answer[..., 0] if answer.shape == (*shape, 1) else answer


def _record(verdict: "Verdict") -> dict[str, Any]:
    from attncalc.study.check import as_json

    return head("check", verdict.problem, verdict.notes) | as_json(verdict)
