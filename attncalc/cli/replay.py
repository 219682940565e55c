"""``attncalc replay``: the whole sequence against the same tokens through a cache."""

from typing import Annotated

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head
from attncalc.cli.values import number, size, whole


def replay(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    output: PageOptions,
    *,
    chunk: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Tokens that are taken at a time (1).")
    ] = None,
    got: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Rows that your decoder made, shaped as the output: compared instead."),
    ] = None,
    rtol: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Relative tolerance (by --dtype).")
    ] = None,
    atol: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Absolute tolerance (by --dtype).")
    ] = None,
    max_memory: Annotated[
        int | None,
        typer.Option(
            parser=size, metavar="SIZE", help="Refuse to build T × S stages larger than this (half of the free memory)."
        ),
    ] = None,
) -> None:
    """Whole sequence against token by token through a cache.

    Keys and values of a token enter the cache when the token is taken; the rules that see no future give the same
    both ways, and for the others the page says why not.
    """
    from attncalc.show.pages.replay import page
    from attncalc.study.replay import replay as compare

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    loaded = load(env, inputs, rules, results={"got": (got, "output")})
    problem = loaded.problem()
    with loaded.naming_files():
        rows = loaded.entries["got"].values if got is not None else None
        found = compare(
            problem, chunk=1 if chunk is None else chunk, got=rows, rtol=rtol, atol=atol, max_memory=max_memory
        )
    notes = (*loaded.notes, *problem.notes)
    for note in notes:
        env.note(note)
    deliver(
        env,
        output,
        lambda: page(found, got=got),
        lambda: (
            head("replay", problem, (*notes, *found.reasons))
            | {
                "agrees": found.agrees,
                "max_abs_error": found.max_abs_error,
                "first_difference": found.first_difference,
                "chunk": found.chunk,
                "rtol": found.rtol,
                "atol": found.atol,
            }
        ),
    )
