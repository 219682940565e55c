"""The rules of libraries, where they differ from our defaults: what ``like`` sets.

``DIALECTS`` tells all.  What a library does that no rule can say (it lets NaN through, it blocks with a finite
number) stands there as a replaced step; only the comparison of ``study.dialects`` takes those, never ``like``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from attncalc.core import arrays, foreign
from attncalc.core.ruling import Options, lined_up
from attncalc.core.shapes import Layout, Sizes
from attncalc.core.softmax import EmptyRows
from attncalc.core.steps import Step
from attncalc.errors import OptionError
from attncalc.suggest import did_you_mean

Known = Literal["measured on", "read in the source of"]


@dataclass(frozen=True)
class Dialect:
    """How one library reads the same words.

    Attributes:
        name: what users type.
        call: the function, layer or operator.
        version: the library and its version.
        known: how we know.
        flag: the argument that the library's answer depends on, and the value that is meant here.
        empty_rows: what a query gets that may attend to no key.
        mask_true: what true means in a boolean mask.
        mask_numbers: whether a mask of numbers is a mask, or is added to the scores, 0 and 1 too.
        corner: where causal masks and windows start; "lengths" is lower-right with lengths and upper-left without.
        scale: the factor of the products; 1/√d when None.
        window_counts_itself: a window of n is n keys, the query's own position among them.
        window_both_sides: a window given on one side holds on the other too.
        short_mask: a mask with fewer columns than keys is filled up with "blocked".
        cache: causal masks know of past keys.
        lacks: options that it has no counterpart for.
        remark: what else one should know.
        steps: what it does that no rule says, by step.
    """

    name: str
    call: str
    version: str
    known: Known
    flag: str = ""
    empty_rows: EmptyRows = "zero"
    mask_true: Literal["allowed", "blocked"] = "allowed"
    mask_numbers: Literal["mask", "added"] = "mask"
    corner: Literal["upper-left", "lower-right", "lengths"] = "upper-left"
    scale: float | None = None
    window_counts_itself: bool = False
    window_both_sides: bool = False
    short_mask: bool = False
    cache: bool = True
    lacks: tuple[str, ...] = ()
    remark: str = ""
    steps: Mapping[str, Step] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def source(self) -> str:
        """How the rules are known: ``measured on torch 2.13.0``."""
        return f"{self.known} {self.version}"


ADDS = {"allow": foreign.add_infinity, "mix": foreign.multiply}

ONNX = Dialect(
    name="onnx-24",
    call="Attention, opset 24",
    version="onnx 1.23.2",
    known="measured on",
    mask_numbers="added",
    corner="lengths",
    short_mask=True,
    lacks=("sink",),
    remark="before 1.23 its reference gave NaN for a query without any key; integer masks are added too",
    steps=ADDS | {"scale": foreign.root_twice},
)

DIALECTS = (
    Dialect(
        name="torch-sdpa",
        call="torch.nn.functional.scaled_dot_product_attention",
        version="torch 2.13.0",
        known="measured on",
        mask_numbers="added",
        cache=False,
        lacks=("softcap", "sink"),
        remark="on a CPU; integer masks are an error; a mask together with is_causal is an error, or both, by kernel; "
        "the flash kernel with is_causal keeps out NaN in later keys, though not in later values",
        steps=ADDS,
    ),
    Dialect(
        name="torch-mha",
        call="torch.nn.MultiheadAttention",
        version="torch 2.13.0",
        known="measured on",
        flag="need_weights=True",
        empty_rows="nan",
        mask_true="blocked",
        mask_numbers="added",
        cache=False,
        lacks=("softcap", "sink", "grouped heads"),
        remark="is_causal is only a hint and needs attn_mask; weights are averaged over the heads unless "
        "average_attn_weights=False; a float key_padding_mask is added, too",
        steps=ADDS,
    ),
    replace(ONNX, name="onnx-23", call="Attention, opset 23", corner="upper-left"),
    ONNX,
    replace(ONNX, name="onnx-25", call="Attention, opset 25"),
    Dialect(
        name="jax",
        call="jax.nn.dot_product_attention",
        version="jax 0.10.2",
        known="measured on",
        empty_rows="uniform",
        cache=False,
        lacks=("softcap", "sink", "V of another width"),
        remark="masks must be boolean; a bias of −∞ is no mask: where nothing is left it gives NaN, or the masked keys "
        "win; the softmax is float32",
        steps={"allow": foreign.put_finite(0.7), "softmax": foreign.soften_whatever, "mix": foreign.multiply},
    ),
    Dialect(
        name="keras-mha",
        call="keras.layers.MultiHeadAttention",
        version="keras 3.15.1",
        known="measured on",
        flag="return_attention_scores=True",
        window_counts_itself=True,
        window_both_sides=True,
        cache=False,
        lacks=("softcap", "sink", "bias", "ALiBi", "grouped heads"),
        remark="without return_attention_scores a query without any key gets the mean of all values; numbers in a mask "
        "above 0.5 mean allowed",
        steps={"mix": foreign.multiply},
    ),
    Dialect(
        name="keras-attention",
        call="keras.layers.Attention",
        version="keras 3.15.1",
        known="measured on",
        flag="use_scale=False",
        empty_rows="uniform",
        scale=1.0,
        cache=False,
        lacks=("softcap", "sink", "mask", "window", "bias", "ALiBi"),
        remark="inputs come as [query, value, key]; masks are for keys and subtract 1e9, which swallows scores below "
        "32 in float32; float64, on the JAX back-end, keeps them all, and a query without any key attends to every key",
        steps={
            "allow": foreign.subtract_a_billion,
            "softmax": foreign.soften_whatever,
            "mix": foreign.multiply,
        },
    ),
    Dialect(
        name="flash-attention-2",
        call="flash_attn.flash_attn_func",
        version="flash-attention 2 (0251105)",
        known="read in the source of",
        corner="lower-right",
        lacks=("sink", "mask", "bias", "V of another width"),
        remark="before 2.1 causal started upper-left; lengths are those of the varlen call",
        steps={"mix": foreign.multiply},
    ),
    Dialect(
        name="hf-eager",
        call="transformers, attn_implementation='eager'",
        version="transformers 5.24.0",
        known="measured on",
        empty_rows="uniform",
        mask_numbers="added",
        corner="lower-right",
        window_counts_itself=True,
        remark="the scale is the model's; blocks by adding the most negative number of the type, which float16 scores "
        "of 16 and more survive",
        steps={"allow": foreign.add_lowest, "softmax": foreign.soften_whatever, "mix": foreign.multiply},
    ),
    Dialect(
        name="mlx",
        call="mlx.core.fast.scaled_dot_product_attention",
        version="mlx 0.32.4",
        known="measured on",
        empty_rows="uniform",
        mask_numbers="added",
        corner="lower-right",
        lacks=("softcap",),
        remark="on a CPU; scale is required there, 1/√d is only ours; a bias of −∞ is no mask: where nothing is left "
        "it gives NaN, or the masked keys win",
        steps={"allow": foreign.put_finite(1.0), "softmax": foreign.soften_whatever, "mix": foreign.multiply},
    ),
)
"""Every dialect, in the order in which they are listed."""

NAMES = tuple(dialect.name for dialect in DIALECTS)


def find(name: str) -> Dialect:
    """Return the dialect of this name."""
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    raise OptionError(
        f"there is no dialect {name}", hint=did_you_mean(name, NAMES) or f"the dialects are {', '.join(NAMES)}"
    )


@dataclass(frozen=True)
class Adopted:
    """What a dialect made of the options.

    Attributes:
        dialect: the library.
        options: the options with its rules.
        changed: what differs from our defaults by its doing: option and what became of it.
        lacks: options in use for which the library has no counterpart.
        notes: what users should know about it.
    """

    dialect: Dialect
    options: Options
    changed: Mapping[str, str]
    lacks: tuple[str, ...]
    notes: tuple[str, ...]


def adopt(name: str, asked: Options, explicit: set[str], sizes: Sizes, layout: Layout) -> Adopted:
    """Set a library's rules wherever users said nothing themselves.

    Args:
        name: of the dialect.
        asked: the options as users gave them.
        explicit: which of them users gave.
        sizes: all sizes, the past keys among the S.
        layout: the axes that users see.
    """
    dialect = find(name)
    ruled: dict[str, Any] = {}
    changed: dict[str, str] = {}
    of_masks = ("mask_true",) if asked.mask is not None or asked.padding is not None else ()
    for option in ("empty_rows", "scale", *of_masks):
        value = getattr(dialect, option)
        if option not in explicit and value is not None and value != getattr(asked, option):
            ruled[option], changed[option] = value, f"{value:g}" if isinstance(value, float) else value
    if asked.mask is not None and "mask_true" not in explicit:
        _read_mask(dialect, asked, sizes, layout, ruled, changed)
    _count_windows(dialect, asked, ruled, changed)
    if corner := _corner(dialect, asked, explicit, sizes):
        ruled["causal_align"] = corner
        if corner != "upper-left":
            changed["causal_align"] = corner
    lacks = tuple(feature for feature in dialect.lacks if _uses(feature, asked, sizes))
    return Adopted(
        dialect, replace(asked, **ruled), changed, lacks, tuple(_notes(dialect, asked, changed, lacks, sizes))
    )


def _read_mask(
    dialect: Dialect, asked: Options, sizes: Sizes, layout: Layout, ruled: dict[str, Any], changed: dict[str, str]
) -> None:
    """Read a mask as the library does: fill it up, or take its numbers for a bias."""
    mask = np.asarray(asked.mask)
    added = mask.dtype != bool and dialect.mask_numbers == "added"
    missing = sizes.S - mask.shape[-1] if mask.ndim and dialect.short_mask else 0
    if missing > 0:
        blocked: Any = -np.inf if added else dialect.mask_true == "blocked"
        width = [(0, 0)] * (mask.ndim - 1) + [(0, missing)]
        mask = np.pad(mask.astype(np.float64) if added else mask, width, constant_values=blocked)
        ruled["mask"], changed["mask"] = mask, f"filled up with {missing} blocked keys"
    if added:
        numbers = arrays.bias_numbers(mask, "mask")
        lined_up("mask", numbers, sizes, layout)
        if asked.bias is not None:
            bias = arrays.bias_numbers(asked.bias)
            lined_up("bias", bias, sizes, layout)
            numbers = numbers + bias
        ruled["mask"], ruled["bias"], changed["mask"] = None, numbers, "numbers, added to the scores"


def _count_windows(dialect: Dialect, asked: Options, ruled: dict[str, Any], changed: dict[str, str]) -> None:
    """Turn a window that counts the query's own position into one that does not."""
    if not dialect.window_counts_itself:
        return
    given = {side: getattr(asked, side) for side in ("window_left", "window_right")}
    sides = {side: n for side, n in given.items() if n is not None}
    if dialect.window_both_sides and len(sides) == 1:
        n = next(iter(sides.values()))
        sides = dict.fromkeys(given, n)
    for side, n in sides.items():
        ruled[side] = arrays.whole_number(f"{side} of {dialect.name}, which counts the query's own key,", n, 1) - 1
        changed[side] = f"{ruled[side]}: {n} with the query's own key"


def _corner(dialect: Dialect, asked: Options, explicit: set[str], sizes: Sizes) -> str | None:
    """Return where causal masks, windows and ALiBi start, or None where users or a cache decide that."""
    placed = (
        asked.causal
        or asked.alibi
        or any(value is not None for value in (asked.window_left, asked.window_right, asked.alibi_slopes))
    )
    if not placed or "causal_align" in explicit or isinstance(asked.causal, str) or sizes.P:
        return None
    if dialect.corner == "lengths":
        return "upper-left" if asked.lengths is None else "lower-right"
    return dialect.corner


def _uses(feature: str, asked: Options, sizes: Sizes) -> bool:
    """Say whether the options or the sizes ask for something that a library may lack."""
    used = {
        "softcap": asked.softcap is not None,
        "sink": asked.sink is not None,
        "mask": asked.mask is not None,
        "bias": asked.bias is not None,
        "ALiBi": asked.alibi or asked.alibi_slopes is not None,
        "window": asked.window_left is not None or asked.window_right is not None,
        "lengths": asked.lengths is not None,
        "grouped heads": sizes.G < sizes.H,
        "V of another width": sizes.d_v != sizes.d,
    }
    return used[feature]


def _notes(
    dialect: Dialect, asked: Options, changed: Mapping[str, str], lacks: tuple[str, ...], sizes: Sizes
) -> list[str]:
    name = dialect.name
    found = [f"{name} has no {feature}" for feature in lacks]
    if changed.get("mask", "").startswith("numbers"):
        found.append(
            f"the mask holds numbers, and {name} adds them to the scores; write true and false for a mask, or say "
            "--mask-true"
        )
    if sizes.P and asked.causal and not dialect.cache:
        found.append(f"{name} has no cache: its causal mask would start at the first key of all, past ones included")
    return found
