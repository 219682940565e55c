"""Where results go: --format, --out, --show, and the rule that csv, tsv and npy hold one matrix."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment, Writer
from attncalc.cli.values import whole
from attncalc.errors import OptionError
from attncalc.suggest import did_you_mean

if TYPE_CHECKING:
    from attncalc.show import Document, Settings

OUTPUT = "Output"

PAGES = ("table", "plain", "markdown", "latex", "html", "heatmap")
"""Formats that show a page to a reader."""

SUFFIXES = {
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".txt": "plain",
    ".png": "png",
    ".svg": "svg",
    ".pdf": "pdf",
    ".npy": "npy",
    ".npz": "npz",
}

FORMATS = "table plain json markdown latex html; heatmap csv tsv npy npz where the result is one of matrices (table)."
"""The help of --format."""

DIGITS = 4
ROWS_ON_A_TERMINAL = 20


@dataclass(frozen=True)
class PageOptions:
    """How a page looks, where it goes, and how notes are treated."""

    format: Annotated[str | None, typer.Option("--format", metavar="NAME", help=FORMATS, rich_help_panel=OUTPUT)] = None
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Write there instead; the suffix says the format unless --format does.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    digits: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Decimals in tables (4).", rich_help_panel=OUTPUT)
    ] = None
    max_rows: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="Leave out the middle of longer tables (20 on a terminal; 0: never).",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    max_cols: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="The same for columns (what fits on a terminal; 0: never).",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    color: Annotated[
        str,
        typer.Option(
            metavar="auto|always|never", help="Colour in tables (auto).", show_default=False, rich_help_panel=OUTPUT
        ),
    ] = "auto"
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes.", rich_help_panel=OUTPUT)] = False
    strict: Annotated[bool, typer.Option("--strict", help="Notes are errors.", rich_help_panel=OUTPUT)] = False

    def messages(self, env: Environment) -> Environment:
        """Return the environment with the notes treated as these options ask."""
        return env.with_manners(quiet=self.quiet, strict=self.strict)

    def chosen(self, formats: Iterable[str]) -> str:
        """Return the format that is asked for by name or by suffix, one of those that the command has."""
        formats = tuple(formats)
        if self.format is not None:
            if self.format not in formats:
                hint = did_you_mean(self.format, formats) or f"the formats are {', '.join(formats)}"
                raise OptionError(f"there is no format {self.format} here", hint=hint)
            return self.format
        if self.out in (None, "-") or self.out.startswith("/dev/"):
            return formats[0]
        if not self.out or os.path.isdir(self.out):
            raise OptionError(f"-o needs the name of a file, and “{self.out}” is {'a folder' if self.out else 'none'}")
        suffix = os.path.splitext(self.out)[1].lower()
        if SUFFIXES.get(suffix) not in formats:
            known = " ".join(each for each, name in SUFFIXES.items() if name in formats)
            what = f"the suffix {suffix}" if suffix else "a name without suffix"
            raise OptionError(f"{what} does not say how to write {self.out}", hint=f"--format NAME, or one of {known}")
        return SUFFIXES[suffix]

    def settings(self, env: Environment) -> "Settings":
        """Return what a renderer has to know about the screen, pipe or file."""
        from attncalc.show import Settings

        digits = DIGITS if self.digits is None else self.digits
        if not 0 <= digits <= 17:
            raise OptionError(f"digits must be from 0 to 17, not {digits}")
        for name in ("max_rows", "max_cols"):
            if (getattr(self, name) or 0) < 0:
                raise OptionError(f"{name} must be 0 or more")
        if self.color not in ("auto", "always", "never"):
            raise OptionError(f"color must be auto, always or never, not {self.color}")
        to_file = self.out not in (None, "-")
        width = None if to_file else env.width
        rows = self.max_rows if self.max_rows is not None or width is None else ROWS_ON_A_TERMINAL
        return Settings(
            digits=digits,
            width=width,
            max_rows=rows,
            max_cols=self.max_cols,
            color=self.color == "always" if to_file else env.colored(self.color),
            depth=_depth(env.variables),
            encoding="utf-8" if to_file else env.encoding,
        )


def _depth(variables: Mapping[str, str]) -> Any:
    if variables.get("COLORTERM") in ("truecolor", "24bit"):
        return "truecolor"
    term = variables.get("TERM", "")
    return "16" if term and "256" not in term and not term.startswith(("xterm", "tmux", "screen")) else "256"


def deliver(
    env: Environment,
    options: PageOptions,
    page: "Callable[[], Document]",
    record: Callable[[], Mapping[str, Any]],
) -> None:
    """Write the result of a command as a page for a reader, or as JSON for a program.

    Args:
        env: where it goes unless a file is named.
        options: format, file and looks.
        page: makes the page; called for the page formats only.
        record: makes the record; called for JSON only.
    """
    format = options.chosen((*PAGES, "json"))
    send(env, options, text_of(env, options, format, page, record))


def text_of(
    env: Environment,
    options: PageOptions,
    format: str,
    page: "Callable[[], Document]",
    record: Callable[[], Mapping[str, Any]],
) -> str | bytes:
    """Write a page or a record in a text format; HTML as UTF-8, whatever the encoding is, for that is what it says."""
    settings = options.settings(env)
    if format == "json":
        from attncalc.show.data import json_text

        return json_text(record(), settings.encoding)
    from attncalc.show import render

    text = render(page(), format, settings)
    return text.encode() if format == "html" else text


def send(env: Environment, options: PageOptions, result: str | bytes | Writer) -> None:
    """Write a result to the file that is named, whole or not at all, or else to standard output."""
    if options.out in (None, "-"):
        env.write(result)
        return
    from attncalc.files import replacing

    assert options.out is not None
    with env.writing(options.out), replacing(options.out) as file:
        if isinstance(result, str):
            result = result.encode("utf-8")
        if isinstance(result, bytes):
            file.write(result)
        else:
            result(file)
