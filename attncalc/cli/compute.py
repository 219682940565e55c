"""``attncalc compute``: the stages of attention as tables or data."""

import io
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment, Writer
from attncalc.cli.inputs import InputOptions, load
from attncalc.cli.options import MaxMemory, RuleOptions
from attncalc.cli.output import OUTPUT, PAGES, PageOptions, send, text_of
from attncalc.cli.progress import progress
from attncalc.cli.record import head
from attncalc.cli.values import whole
from attncalc.cli.view import View, chosen
from attncalc.errors import OptionError
from attncalc.suggest import did_you_mean

if TYPE_CHECKING:
    from attncalc.cli.inputs import Loaded
    from attncalc.core.prepare import Problem
    from attncalc.core.tiled import Spread
    from attncalc.show.document import Document

TABLES = {"csv": ",", "tsv": "\t"}
"""Formats of one matrix in text, with what stands between the cells."""

ONE_MATRIX = (*TABLES, "npy")
PICTURES = ("png", "svg", "pdf")
DRAWINGS = ("heatmap", *PICTURES)
BINARY = ("npy", "npz", "png", "pdf")
FORMATS = (*PAGES, "json", *ONE_MATRIX, "npz", *PICTURES)
SHOWN = ("scores", "weights", "output")
DRAWN = ("weights",)
"""What a heat map or a picture shows unless --show says it; ``SHOWN`` is for the other formats."""


@dataclass(frozen=True)
class StageOptions:
    """Which stages are shown, and how much of them."""

    show: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Stages by name: raw scaled capped biased allowed scores lse weights heads output; query key value as "
            "they enter the product; shapes; all (scores,weights,output).",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    batch: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Show only this batch.", rich_help_panel=OUTPUT)
    ] = None
    head: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Show only this head.", rich_help_panel=OUTPUT)
    ] = None
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Spread the work over a dask.distributed cluster; output and lse only.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    max_memory: MaxMemory = None

    def stages(self, format: str) -> tuple[str, ...]:
        """Return the names in --show, checked; ``shapes`` may be among them."""
        from attncalc.core.shapes import INPUT_STAGES, STAGES

        names = [name.strip() for name in self.show.split(",")] if self.show is not None else []
        if self.show is None:
            names = (
                ["output"]
                if format in ONE_MATRIX or self.dask is not None
                else list(DRAWN if format in DRAWINGS else SHOWN)
            )
        known = ("shapes", *INPUT_STAGES, *STAGES, "all")
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known) or f"the stages are {', '.join(known)}"
                raise OptionError(f"there is no stage {name or 'without a name'}", hint=hint)
        names = ["shapes", *STAGES] if "all" in names else list(dict.fromkeys(names))
        if format in ONE_MATRIX and (len(names) != 1 or names == ["shapes"]):
            what = "shapes are no matrix" if names == ["shapes"] else f"--show names {len(names)}"
            raise OptionError(f"{format} holds one matrix, and {what}", hint="--show output")
        return tuple(names)


def compute(
    env: Environment, inputs: InputOptions, rules: RuleOptions, stages: StageOptions, output: PageOptions
) -> None:
    """Compute attention; print scores, weights and output.

    Q, K and V come from three files or one bundle; every rule is an option, and the head of the page says which
    rules were in force.
    """
    from attncalc.core.threads import hold_from_the_start

    hold_from_the_start()
    from attncalc.api import solve

    env = output.messages(env)
    format = output.chosen(FORMATS)
    shown = stages.stages(format)
    loaded = load(env, inputs, rules)
    problem = loaded.problem()
    if format == "html" and stages.show is None:
        _explorer(env, output, loaded, problem, stages)
        return
    pictured = stages.dask is None and format in (*PAGES, *PICTURES)
    extra = ("allowed",) if pictured and {"scores", "weights"} & set(shown) else ()
    wanted = {name for name in (*shown, *extra) if name != "shapes"}
    with loaded.naming_files(), place(stages.dask) as spread, progress(env) as tell:
        result = solve(problem, wanted, max_memory=stages.max_memory, spread=spread, progress=tell)
    notes = (*loaded.notes, *result.notes)
    for note in notes:
        env.note(note)
    view = View(result, stages.batch, stages.head)
    send(env, output, _written(env, output, format, view, shown, notes))


def place(address: str | None) -> "AbstractContextManager[Spread | None]":
    """Return where to compute: None is this machine."""
    if address is None:
        return nullcontext()
    from attncalc.cluster import connected

    return connected(address)


def _explorer(
    env: Environment, output: PageOptions, loaded: "Loaded", problem: "Problem", stages: StageOptions
) -> None:
    """Write the page on which every stage can be explored."""
    from attncalc.cli.webpage import Wish, web_page

    chosen(problem, stages.batch, stages.head)
    notes = (*loaded.notes, *problem.notes)
    for note in notes:
        env.note(note)
    with loaded.naming_files():
        page = web_page(env, output, problem, Wish(batch=stages.batch, head=stages.head, notes=notes))
    send(env, output, page)


def _written(
    env: Environment, output: PageOptions, format: str, view: View, shown: tuple[str, ...], notes: tuple[str, ...]
) -> "str | bytes | Writer":
    if format in TABLES:
        lines = _table(view, shown[0], TABLES[format])
        encoding = output.settings(env).encoding
        return lambda file: file.writelines(line.encode(encoding, "backslashreplace") for line in lines)
    if format in BINARY and output.out is None and env.width is not None:
        raise OptionError(f"{format} is no text and would upset the terminal", hint="-o FILE, or a pipe")
    if format in PICTURES:
        return _picture(env, output, format, _page(view, shown))
    if format in ("npy", "npz"):
        return _binary(view, shown, format)
    return text_of(env, output, format, lambda: _page(view, shown), lambda: _record(view, shown, notes))


def _picture(env: Environment, output: PageOptions, format: str, page: "Document") -> bytes:
    from attncalc.show.picture import picture

    drawn = picture(page, format, output.settings(env))
    if drawn.missing:
        env.note(f"no font is installed that has {drawn.missing}; such signs are boxes in the picture")
    return drawn.data


def _page(view: View, shown: tuple[str, ...]) -> "Document":
    from attncalc.show.pages.compute import Computed, page
    from attncalc.show.pages.rules import header

    problem = view.problem
    names = [name for name in shown if name != "shapes"]
    return page(
        Computed(
            stages={name: view.stage(name) for name in names},
            axes={name: view.axes(name) for name in names},
            allowed=view.stage("allowed") if "allowed" in view.result.stages else None,
            query_tokens=problem.query_tokens,
            key_tokens=problem.key_tokens,
            header=(*header(problem), *((name, str(n)) for name, n in view.chosen.items())),
            trail=_trail(view) if "shapes" in shown else (),
        )
    )


def _trail(view: View) -> tuple[tuple[str, str], ...]:
    from attncalc.core.trail import trail

    return tuple((mark.name, mark.text) for mark in trail(view.problem))


def _record(view: View, shown: tuple[str, ...], notes: tuple[str, ...]) -> Mapping[str, Any]:
    record = head("compute", view.problem, notes)
    if "shapes" in shown:
        from attncalc.core.trail import trail

        record["trail"] = [{"name": mark.name, "shape": mark.shape} for mark in trail(view.problem)]
    return record | view.chosen | {name: view.stage(name) for name in shown if name != "shapes"}


def _table(view: View, stage: str, separator: str) -> Iterator[str]:
    """Write one stage as csv or tsv: numbers alone where a matrix has no labels, else with a header."""
    from attncalc.files import csv_text
    from attncalc.show.labels import clean

    axes = [axis for axis in ("batch", "head", "query", "key", "column") if axis in view.axes(stage)]
    array = view.stage(stage).transpose([view.axes(stage).index(axis) for axis in axes])
    tokens = {
        axis: labels and tuple(map(clean, labels))  # no control codes, even where only a program reads
        for axis, labels in (("query", view.problem.query_tokens), ("key", view.problem.key_tokens))
    }
    index = axes if stage == "lse" else axes[:-1]
    rows = tokens.get(index[-1]) if len(index) == 1 else None
    columns = tokens.get(axes[-1]) if stage != "lse" else None
    if len(index) == 1 and rows is None and columns is None:
        return csv_text(array, separator=separator)
    if columns is None and axes[-1] == "key":
        columns = tuple(f"k{j}" for j in range(array.shape[-1]))
    names = ["query" if axis == "key" else axis for axis in index]  # rows are called query, also those of K and V
    return csv_text(array, separator=separator, index_names=names, columns=columns, row_labels=rows)


def _binary(view: View, shown: tuple[str, ...], format: str) -> bytes | Writer:
    from attncalc.files import write_npy, write_npz

    if format == "npy":
        return lambda file: write_npy(file, view.stage(shown[0]))
    buffer = io.BytesIO()  # an archive is written back and forth, which a pipe cannot be
    write_npz(buffer, {name: view.stage(name) for name in shown if name != "shapes"})
    return buffer.getvalue()
