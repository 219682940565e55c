"""``attncalc scaling``: why scores are divided by √d, shown by experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.language import LanguageOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.values import Numbers, whole, whole_list

if TYPE_CHECKING:
    from attncalc.study.scaling import Row

EXPERIMENT = "Experiment"


def scaling(
    env: Environment,
    language: LanguageOptions,
    output: PageOptions,
    *,
    dims: Annotated[
        Numbers | None,
        typer.Option(parser=whole_list, metavar="LIST", help="Widths d (4, 8, 16 … 4096).", rich_help_panel=EXPERIMENT),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Queries at each width (500).", rich_help_panel=EXPERIMENT),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Seed of the random numbers (0).", rich_help_panel=EXPERIMENT),
    ] = None,
) -> None:
    """Show by experiment why scores are divided by √d.

    Random queries and keys at growing widths: variance of the products, entropy and largest weight of the softmax,
    size of its gradient, without and with the scale.
    """
    from attncalc.show.pages.scaling import page
    from attncalc.study.scaling import DIMS, SAMPLES
    from attncalc.study.scaling import scaling as measured

    env = output.messages(env)
    voice = language.voice(env, output.settings(env), output.chosen((*PAGES, "json")))
    widths = DIMS if dims is None else tuple(map(int, dims))
    count, start = SAMPLES if samples is None else samples, seed or 0
    rows = measured(widths, count, start)
    options = {"dims": widths, "samples": count, "seed": start}
    deliver(env, output, lambda: page(rows, voice, count, start), lambda: _record(rows, options))


def _record(rows: "Sequence[Row]", options: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "schema": "attncalc.scaling/1",
        "options": options,
        "notes": [],
        "rows": [asdict(row) for row in rows],
    }
