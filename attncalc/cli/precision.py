"""``attncalc precision``: what narrower types lose."""

from attncalc.cli.environment import Environment
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head


def precision(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    output: PageOptions,
    *,
    max_memory: MaxMemory = None,
) -> None:
    """What float32, float16 and bfloat16 lose, stage by stage.

    Every stage is compared with the float64 truth: largest absolute and relative error, and error in units of the
    last place (ULP).  --dtype NAME looks at one type only.
    """
    from dataclasses import asdict

    from attncalc.show.pages.precision import page
    from attncalc.study.precision import NARROWER
    from attncalc.study.precision import precision as measure

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    loaded = load(env, inputs, rules)
    keywords = dict(loaded.keywords)
    dtype = keywords.pop("dtype", None)
    with loaded.naming_files():
        found = measure(NARROWER if dtype is None else (dtype,), max_memory=max_memory, **keywords)
    notes = (*loaded.notes, *found.notes)
    for note in notes:
        env.note(note)
    rows = [asdict(row) for row in found.rows]
    deliver(
        env,
        output,
        lambda: page(found),
        lambda: head("precision", found.problem, notes) | {"rows": rows, "worst": found.worst},
    )
