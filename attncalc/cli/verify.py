"""``attncalc verify``: run an implementation on the vectors and name what it gets wrong."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment, ExitStatus
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.values import number
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.cli.implementation import Command, PythonFunction
    from attncalc.study.vectors import Vector
    from attncalc.study.verify import Outcome

VERIFY = "What is run"


def verify(
    env: Environment,
    output: PageOptions,
    *,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND {input} {output}",
            help="A command that reads an npz with q, k, v, further arrays and options, and writes an npy.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="A function, called with q, k, v and the options as keywords.",
            rich_help_panel=VERIFY,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(parser=number, metavar="SECONDS", help="For each vector (30).", rich_help_panel=VERIFY),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="FEATURES", help="Vectors that need nothing but these features.", rich_help_panel=VERIFY),
    ] = None,
    skip: Annotated[
        str | None, typer.Option(metavar="FEATURES", help="No vector that needs one of these.", rich_help_panel=VERIFY)
    ] = None,
) -> int:
    """Run an implementation on test vectors and name what it gets wrong.

    The exit code is 1 when a vector fails. A vector that needs a keyword which the function lacks is skipped.
    """
    from attncalc.cli.implementation import Command, PythonFunction
    from attncalc.show.pages.verify import page
    from attncalc.study.verify import as_json, chosen

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    vectors = chosen(only, skip)
    if (python is None) == (not command):
        raise OptionError(
            "verify runs a function or a command" + (", and both are given" if command else ""),
            hint="--python MODULE:FUNCTION, or -- COMMAND {input} {output}",
        )
    seconds = 30.0 if timeout is None else timeout
    if seconds <= 0:
        raise OptionError(f"--timeout must be greater than 0, not {seconds:g}")
    runner: PythonFunction | Command
    runner = PythonFunction(python, seconds) if python is not None else Command(command or (), seconds)
    try:
        outcomes = list(_outcomes(env, runner, vectors))
    finally:
        runner.close()
    name = python or shlex.join(command or ())
    deliver(
        env,
        output,
        lambda: page(outcomes, name),
        lambda: (
            {"schema": "attncalc.verify/1", "options": _options(name, seconds, only, skip), "notes": ()}
            | as_json(outcomes)
        ),
    )
    return ExitStatus.FOUND if any(each.result == "failed" for each in outcomes) else ExitStatus.DONE


def _options(name: str, timeout: float, only: str | None, skip: str | None) -> dict[str, Any]:
    return {"implementation": name, "timeout": timeout, "only": only, "skip": skip}


def _outcomes(
    env: Environment, runner: "PythonFunction | Command", vectors: "tuple[Vector, ...]"
) -> "Iterator[Outcome]":
    """Run one vector after another; tell on standard error how far it is."""
    with tempfile.TemporaryDirectory(prefix="attncalc-", ignore_cleanup_errors=True) as folder:
        for number, vector in enumerate(vectors, start=1):
            outcome = _outcome(runner, vector, folder)
            if not env.quiet:
                env.stderr.write(f"{number}/{len(vectors)} {vector.name}: {outcome.result}\n")
                env.stderr.flush()
            yield outcome


def _outcome(runner: "PythonFunction | Command", vector: "Vector", folder: str) -> "Outcome":
    from attncalc.cli.implementation import Failed
    from attncalc.cli.vectors import as_npz
    from attncalc.study.verify import Outcome, judge, lacking

    if reason := lacking(vector, runner.parameters):
        return Outcome(vector.name, "skipped", reason)
    source, target = os.path.join(folder, f"{vector.name}.npz"), os.path.join(folder, f"{vector.name}.npy")
    with open(source, "wb") as file:
        file.write(as_npz(vector))
    try:
        answer, dtype = runner(source, target)
    except Failed as error:
        return Outcome(vector.name, "failed", str(error))
    return judge(vector, answer, dtype)
