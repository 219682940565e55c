"""``attncalc replay``: the whole sequence against the same tokens through a cache."""

from typing import TYPE_CHECKING, Annotated

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head
from attncalc.cli.values import number, whole

if TYPE_CHECKING:
    from attncalc.files import Entry
    from attncalc.study.tolerance import Tolerance


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
        float | None,
        typer.Option(parser=number, metavar="X", help="Relative tolerance (by the type, or the digits of FILE)."),
    ] = None,
    atol: Annotated[
        float | None,
        typer.Option(parser=number, metavar="X", help="Absolute tolerance (by the type, or the digits of FILE)."),
    ] = None,
    max_memory: MaxMemory = None,
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
        entry = loaded.entries["got"] if got is not None else None
        tolerance = _tolerance(entry, problem.rules.arithmetic.name, rtol, atol)
        rows = None if entry is None else entry.values
        found = compare(
            problem, chunk=1 if chunk is None else chunk, got=rows, tolerance=tolerance, max_memory=max_memory
        )
    notes = (*loaded.notes, *problem.notes, *found.notes, *([tolerance.note] if tolerance.note else []))
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
                "rtol": tolerance.rtol,
                "atol": tolerance.atol,
            }
        ),
    )


def _tolerance(got: "Entry | None", dtype: str, rtol: float | None, atol: float | None) -> "Tolerance":
    """Follow the digits or the type of the decoder's rows; for a replay, the type of the arithmetic."""
    from attncalc.core.arrays import numbers
    from attncalc.study.tolerance import BY_TYPE, Tolerance, tolerance_for

    if got is not None:
        return tolerance_for(numbers("got", got.values), got.dtype, got.written(), rtol, atol)
    usual = BY_TYPE[dtype]
    return Tolerance(usual[0] if rtol is None else rtol, usual[1] if atol is None else atol, dtype)
