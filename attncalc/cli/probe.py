"""``attncalc probe``: change one position at a time; show which outputs move."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment, ExitStatus
from attncalc.cli.function import Function, accepted, load_function
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.language import LanguageOptions
from attncalc.cli.options import RuleOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.record import head
from attncalc.cli.values import whole
from attncalc.errors import AttnCalcError, OptionError, shape_text

if TYPE_CHECKING:
    import numpy as np

    from attncalc.core.prepare import Problem
    from attncalc.core.steps import Steps
    from attncalc.study.probe import Probed, Run
    from attncalc.study.shuffle import Shuffle

PROBE = "What is probed"
ARRAYS = ("query", "key", "value", "past_key", "past_value", "x", "weights", "weights_prefix", "context", "like")
LABELS = ("tokens", "query_tokens", "key_tokens")


def probe(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    language: LanguageOptions,
    output: PageOptions,
    *,
    change: Annotated[
        str,
        typer.Option(
            metavar="keys|values|queries|all",
            help="What is changed; all is keys and values together.",
            rich_help_panel=PROBE,
        ),
    ] = "all",
    expect_causal: Annotated[
        bool,
        typer.Option(
            "--expect-causal", help="Exit with 1 when a later position moves an output.", rich_help_panel=PROBE
        ),
    ] = False,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="Probe this function of q, k and v instead of attncalc's own.",
            rich_help_panel=PROBE,
        ),
    ] = None,
    shuffle: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="SEED", help="Also permute the positions and compare.", rich_help_panel=PROBE
        ),
    ] = None,
) -> int:
    """Change one position at a time and show which outputs move.

    Without files it probes the textbook example: attncalc probe --causal.
    """
    from attncalc.show.pages.probe import page
    from attncalc.study.probe import CHANGES
    from attncalc.study.probe import probe as probed_by
    from attncalc.study.shuffle import shuffle as shuffled_by

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    what = next((known for known in CHANGES if known == change), None)
    if what is None:
        raise OptionError(f"--change must be one of {', '.join(CHANGES)}, not {change}")
    if shuffle is not None and shuffle < 0:
        raise OptionError("--shuffle takes a seed, 0 or more")
    voice = language.voice(env, output.settings(env), output.chosen((*PAGES, "json")))
    loaded = load(env, inputs, rules, textbook=True)
    problem = loaded.problem()
    notes = (*loaded.notes, *problem.notes)
    for note in notes:
        env.note(note)
    run = None
    if python is not None:
        options = {name: value for name, value in loaded.keywords.items() if name not in (*ARRAYS, *LABELS)}
        run = _running(env, load_function(python), python, options)
    with loaded.naming_files():
        probed = probed_by(problem, what, run)
        shuffled = None if shuffle is None else shuffled_by(problem, shuffle)
    causal = expect_causal or problem.rules.causal
    deliver(
        env,
        output,
        lambda: page(
            probed,
            voice,
            causal=causal,
            function=python,
            query_tokens=problem.query_tokens,
            key_tokens=problem.key_tokens,
            shuffled=shuffled,
        ),
        lambda: _record(problem, probed, shuffled, notes),
    )
    return ExitStatus.FOUND if expect_causal and len(probed.leaks) else ExitStatus.DONE


def _running(env: Environment, function: Function, name: str, options: dict[str, Any]) -> "Run":
    """Make a run of the user's function; what it prints goes to standard error."""
    keywords = accepted(function, options)
    if left_out := [f"--{option.replace('_', '-')}" for option in options if option not in keywords]:
        env.note(f"{name} takes no {', '.join(left_out)}; it is called without")

    def run(problem: "Problem", steps: "Steps") -> "np.ndarray":
        import numpy as np

        from attncalc.study.probe import changed_arrays

        arrays = changed_arrays(problem, steps)
        past = {each: array for each, array in arrays.items() if each.startswith("past_")}
        try:
            with contextlib.redirect_stdout(env.stderr):
                got = function(arrays["query"], arrays["key"], arrays["value"], **past, **keywords)
                output = np.asarray(got, dtype=np.float64)
        except (Exception, SystemExit) as error:
            raise AttnCalcError(f"{name} failed: {type(error).__name__}: {error}") from error
        if output.shape != problem.output_shape:
            facts = [("returned", shape_text(output.shape)), ("expected", shape_text(problem.output_shape))]
            raise AttnCalcError(f"{name} returns an output of another shape", facts=facts)
        return problem.layout.canonical(output)

    return run


def _record(
    problem: "Problem", probed: "Probed", shuffled: "Shuffle | None", notes: tuple[str, ...]
) -> Mapping[str, Any]:
    record = head("probe", problem, notes) | {
        "changed": probed.what,
        "change": probed.change,
        "influence": probed.influence,
        "leaks": probed.leaks,
    }
    if shuffled is not None:
        rows = [
            {"rules": row.rules, "max_abs_difference": row.difference, "follows": row.follows} for row in shuffled.rows
        ]
        record["shuffle"] = {"permutation": shuffled.permutation, "queries": shuffled.queries, "rows": rows}
    return record
