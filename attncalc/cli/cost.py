"""``attncalc cost``: operations and bytes, from sizes alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.language import LanguageOptions
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.cli.values import Numbers, number, whole, whole_list
from attncalc.errors import OptionError

if TYPE_CHECKING:
    from attncalc.study.cost import Row, Sizes

SIZES = "Sizes"


@dataclass(frozen=True)
class SizeOptions:
    """The sizes to count with."""

    tokens: Annotated[
        Numbers | None,
        typer.Option(
            parser=whole_list, metavar="LIST", help="Numbers of tokens (128,512,2048,8192).", rich_help_panel=SIZES
        ),
    ] = None
    batch: Annotated[
        int | None, typer.Option(parser=whole, metavar="B", help="Sequences (1).", rich_help_panel=SIZES)
    ] = None
    heads: Annotated[
        int | None, typer.Option(parser=whole, metavar="H", help="Query heads (1).", rich_help_panel=SIZES)
    ] = None
    kv_heads: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="G", help="Key/value heads (as many as query heads).", rich_help_panel=SIZES
        ),
    ] = None
    dim: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="D", help="Width of a query and a key (64).", rich_help_panel=SIZES),
    ] = None
    value_dim: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="D", help="Width of a value (that of a key).", rich_help_panel=SIZES),
    ] = None
    window: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="W", help="Count windowed attention too: W keys a query.", rich_help_panel=SIZES
        ),
    ] = None
    dtype: Annotated[
        str | None,
        typer.Option(
            metavar="float64|float32|float16|bfloat16", help="Type of the numbers (float64).", rich_help_panel=SIZES
        ),
    ] = None
    flops: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="X",
            help="Operations a second, such as 100e9: gives times.",
            rich_help_panel=SIZES,
        ),
    ] = None

    def sizes(self) -> "Sizes":
        """Return the sizes, with what is not given filled in."""
        from attncalc.study.cost import Sizes

        given = {
            "batch": self.batch,
            "heads": self.heads,
            "kv_heads": self.heads if self.kv_heads is None else self.kv_heads,
            "dim": self.dim,
            "value_dim": self.dim if self.value_dim is None else self.value_dim,
            "window": self.window,
            "dtype": self.dtype,
            "flops": self.flops,
        }
        return Sizes(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def cost(env: Environment, counted: SizeOptions, language: LanguageOptions, output: PageOptions) -> None:
    """Count operations and bytes of attention from sizes alone."""
    from attncalc.show.pages.cost import page
    from attncalc.study.cost import TOKENS
    from attncalc.study.cost import cost as counts

    env = output.messages(env)
    voice = language.voice(env, output.settings(env), output.chosen((*PAGES, "json")))
    sizes = counted.sizes()
    try:
        rows = counts(TOKENS if counted.tokens is None else tuple(map(int, counted.tokens)), sizes)
    except OptionError as error:
        error.message = _as_typed(error.message)
        raise
    deliver(env, output, lambda: page(rows, sizes, voice), lambda: _record(rows, sizes))


def _as_typed(message: str) -> str:
    """Put the options, as they are typed, in place of the names that they have in the library."""
    names = "|".join(entry.name for entry in fields(SizeOptions))
    return re.sub(rf"\b({names})\b", lambda found: f"--{found[0].replace('_', '-')}", message)


def _record(rows: "Sequence[Row]", sizes: "Sizes") -> Mapping[str, Any]:
    return {
        "schema": "attncalc.cost/1",
        "options": {"tokens": [row.tokens for row in rows], **asdict(sizes)},
        "notes": [],
        "rows": [asdict(row) for row in rows],
    }
