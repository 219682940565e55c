"""The rules of attention as options: names and meanings; each is written here once, in the order of the contract."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from attncalc.cli.values import Numbers, number, number_list, size, whole, whole_list

MASKS = "Masks"
NUMBERS = "Numbers"
LAYOUT = "Heads and axes"
RESULT = "Output"

MaxMemory = Annotated[
    int | None,
    typer.Option(
        parser=size,
        metavar="SIZE",
        help="Refuse to build T × S stages larger than this (half of the free memory).",
        rich_help_panel=RESULT,
    ),
]
"""--max-memory, for every command that builds T × S stages."""


@dataclass(frozen=True)
class RuleOptions:
    """What decides how scores, weights and outputs follow from Q, K and V; None: not given."""

    causal: Annotated[
        bool,
        typer.Option("--causal", help="Query i may attend to key j when j ≤ i + offset.", rich_help_panel=MASKS),
    ] = False
    causal_align: Annotated[
        str | None,
        typer.Option(
            metavar="upper-left|lower-right",
            help="Offset 0 (the default), or S − T: the last query is level with the last key (with --lengths, with "
            "the last real key).",
            rich_help_panel=MASKS,
        ),
    ] = None
    mask: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Booleans or 0/1, broadcast from the right to the shape of the scores.",
            rich_help_panel=MASKS,
        ),
    ] = None
    mask_true: Annotated[
        str | None,
        typer.Option(
            metavar="allowed|blocked",
            help="What true and 1 mean in --mask and --padding (allowed).",
            rich_help_panel=MASKS,
        ),
    ] = None
    padding: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|LIST",
            help="Which keys are real: S, or B × S, of 1/0; a list is written 1,1,0.",
            rich_help_panel=MASKS,
        ),
    ] = None
    lengths: Annotated[
        Numbers | None,
        typer.Option(
            parser=whole_list,
            metavar="N[,N…]",
            help="The number of real keys, one for all or one for each of the batch.",
            rich_help_panel=MASKS,
        ),
    ] = None
    pad_token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Keys whose token is TEXT are padding.", rich_help_panel=MASKS),
    ] = None
    window_left: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="At most N keys before the query's own position, which is always inside.",
            rich_help_panel=MASKS,
        ),
    ] = None
    window_right: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="At most N keys after it.", rich_help_panel=MASKS),
    ] = None
    empty_rows: Annotated[
        str | None,
        typer.Option(
            metavar="error|zero|nan|uniform",
            help="What a query gets that may attend to no key (error).",
            rich_help_panel=MASKS,
        ),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(parser=number, metavar="X", help="Factor of the products (1/√d).", rich_help_panel=NUMBERS),
    ] = None
    softcap: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="X", help="Keep scores within ±X: X · tanh(score / X).", rich_help_panel=NUMBERS
        ),
    ] = None
    bias: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Added to the scores, broadcast as masks are; -Infinity blocks.",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    alibi: Annotated[
        bool,
        typer.Option("--alibi", help="Bias −slope·|distance|, with ALiBi's own slopes.", rich_help_panel=NUMBERS),
    ] = False
    alibi_slopes: Annotated[
        Numbers | None,
        typer.Option(
            parser=number_list, metavar="LIST", help="The same with these slopes, one a head.", rich_help_panel=NUMBERS
        ),
    ] = None
    sink: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|FILE",
            help="One logit a head, in the denominator of the softmax only.",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    rope: Annotated[
        str | None,
        typer.Option(
            metavar="half|interleaved",
            help="Rotate queries and keys by their position (RoPE).",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    rope_base: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Base of RoPE (10000).", rich_help_panel=NUMBERS)
    ] = None
    rope_dims: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Rotate the first N columns (all).", rich_help_panel=NUMBERS),
    ] = None
    rope_offset: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="Position of the first query and the first new key (the number of past keys).",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    past_key: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keys of a cache, in front of K.", rich_help_panel=NUMBERS),
    ] = None
    past_value: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Values of a cache, in front of V.", rich_help_panel=NUMBERS),
    ] = None
    dtype: Annotated[
        str | None,
        typer.Option(
            metavar="float64|float32|float16|bfloat16",
            help="Type of the arithmetic (float64).",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    like: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A library's rules where no option says otherwise: torch-sdpa, onnx-24, jax, …; attncalc dialects "
            "lists them.",
            rich_help_panel=NUMBERS,
        ),
    ] = None
    heads: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="The last axis of Q holds N heads beside each other.",
            rich_help_panel=LAYOUT,
        ),
    ] = None
    kv_heads: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="The last axis of K and V holds N heads (as many as Q).",
            rich_help_panel=LAYOUT,
        ),
    ] = None
    layout: Annotated[
        str | None,
        typer.Option(
            metavar="td|htd|btd|bhtd|thd|bthd",
            help="Order of the axes: b batch, h heads, t positions, d width (td, htd, bhtd; btd with --heads).",
            rich_help_panel=LAYOUT,
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by library keyword."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in values.items() if value is not None and value is not False}
