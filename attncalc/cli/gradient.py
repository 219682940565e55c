"""``attncalc gradient``: how a loss moves with Q, K and V."""

import io
from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver, send
from attncalc.cli.record import head
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.study.gradient import Gradients


def gradient(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    output: PageOptions,
    *,
    grad: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Gradient of the loss with respect to the output, in its shape (ones unless given)."
        ),
    ] = None,
    max_memory: MaxMemory = None,
) -> None:
    """Gradients of a loss with respect to Q, K and V.

    By formula, from the stages of the run, under every mask and option.
    """
    from attncalc.show.pages.gradient import page
    from attncalc.study.gradient import differentiate

    env = output.messages(env)
    format = output.chosen((*PAGES, "json", "npz"))
    loaded = load(env, inputs, rules, results={"grad": (grad, "grad")})
    problem = loaded.problem()
    with loaded.naming_files():
        given = loaded.entries["grad"].values if grad is not None else None
        found = differentiate(problem, given, max_memory=max_memory)
    notes = (*loaded.notes, *found.notes)
    for note in notes:
        env.note(note)
    if format == "npz":
        send(env, output, _npz(env, output, found))
        return
    deliver(
        env,
        output,
        lambda: page(found, given=grad is not None),
        lambda: head("gradient", problem, notes) | dict(found.arrays),
    )


def _npz(env: Environment, output: PageOptions, found: "Gradients") -> bytes:
    from attncalc.files import write_npz

    if output.out is None and env.width is not None:
        raise OptionError("npz is no text and would upset the terminal", hint="-o FILE, or a pipe")
    buffer = io.BytesIO()
    write_npz(buffer, found.arrays)
    return buffer.getvalue()
