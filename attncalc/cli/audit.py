"""``attncalc audit``: say which mistakes a test on these inputs would let through."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.check import ToleranceOptions
from attncalc.cli.environment import Environment, ExitStatus
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head

if TYPE_CHECKING:
    from attncalc.study.audit import Audit


def audit(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    tolerance: ToleranceOptions,
    output: PageOptions,
    *,
    fail_on_missed: Annotated[
        bool, typer.Option("--fail-on-missed", help="Exit with 1 when a mistake would get through.")
    ] = False,
) -> int:
    """Say which known mistakes a test on these inputs would let through.

    The tolerance is that of the test; without one it is that of numpy.allclose, rtol 1e-5 and atol 1e-8.
    """
    from attncalc.show.pages.audit import page
    from attncalc.show.pages.rules import header
    from attncalc.study.audit import ATOL, RTOL
    from attncalc.study.audit import audit as audited

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    loaded = load(env, inputs, rules)
    problem = loaded.problem()
    notes = (*loaded.notes, *problem.notes)
    for note in notes:
        env.note(note)
    with loaded.naming_files():
        rtol = RTOL if tolerance.rtol is None else tolerance.rtol
        found = audited(problem, rtol, ATOL if tolerance.atol is None else tolerance.atol)
    deliver(env, output, lambda: page(found, header(problem)), lambda: head("audit", problem, notes) | _record(found))
    return ExitStatus.FOUND if fail_on_missed and found.missed else ExitStatus.DONE


def _record(found: "Audit") -> dict[str, Any]:
    return {
        "rtol": found.rtol,
        "atol": found.atol,
        "caught": list(found.caught),
        "missed": found.missed,
        "not_applicable": found.not_applicable,
        "vectors": [{"vector": each.vector, "closes": each.closes} for each in found.closing],
    }
