"""``attncalc dialects``: the rules of libraries, and what they make of one input."""

from typing import TYPE_CHECKING, Any

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.core.dialects import Dialect
    from attncalc.study.dialects import Answer


def dialects(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    output: PageOptions,
    *,
    max_memory: MaxMemory = None,
) -> None:
    """What PyTorch, ONNX, JAX, … would answer, and where they part.

    Without files: the dialects and their rules.  With files: the answer of each to the same input, and the queries
    on which it parts from the rules in force.  Options hold for every library; the rest is as each of them has it.
    """
    from attncalc.core.dialects import DIALECTS
    from attncalc.show.pages.dialects import listing, page

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    if inputs.nothing:
        if given := rules.given():
            raise OptionError(f"--{next(iter(given)).replace('_', '-')} needs Q, K and V", hint="--example textbook")
        record = {"schema": "attncalc.dialects/1", "options": {}, "notes": [], "rows": [*map(_described, DIALECTS)]}
        deliver(env, output, listing, lambda: record)
        return
    from attncalc.study.dialects import compare

    loaded = load(env, inputs, rules)
    with loaded.naming_files():
        found = compare(max_memory=max_memory, **loaded.keywords)
    notes = (*loaded.notes, *found.notes)
    for note in notes:
        env.note(note)
    deliver(
        env,
        output,
        lambda: page(found),
        lambda: (
            head("dialects", found.problem, notes)
            | {"output": found.output, "rows": [_answered(answer) for answer in found.answers]}
        ),
    )


def _answered(answer: "Answer") -> dict[str, Any]:
    return {
        "dialect": answer.dialect.name,
        "version": answer.dialect.version,
        "known": answer.dialect.known,
        "flag": answer.dialect.flag,
        "changed": answer.changed,
        "output": answer.output,
        "differs": answer.differs,
        "reason": answer.reason,
    }


def _described(dialect: "Dialect") -> dict[str, Any]:
    from attncalc.show.pages.dialects import rules_of

    return {
        "dialect": dialect.name,
        "version": dialect.version,
        "known": dialect.known,
        "call": dialect.call,
        "flag": dialect.flag,
        "rules": list(rules_of(dialect)),
        "remark": dialect.remark,
    }
