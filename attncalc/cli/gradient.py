"""``attncalc gradient``: how a loss moves with Q, K and V."""

from typing import Annotated

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head


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
    output.chosen((*PAGES, "json"))
    loaded = load(env, inputs, rules, results={"grad": (grad, "grad")})
    problem = loaded.problem()
    with loaded.naming_files():
        given = loaded.entries["grad"].values if grad is not None else None
        found = differentiate(problem, given, max_memory=max_memory)
    notes = (*loaded.notes, *found.notes)
    for note in notes:
        env.note(note)
    deliver(
        env,
        output,
        lambda: page(found, given=grad is not None),
        lambda: head("gradient", problem, notes) | dict(found.arrays),
    )
