"""From the options that users give to the rules in force; every check of an option on its own stands here."""

import math
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays
from attncalc.core.dtypes import ARITHMETIC
from attncalc.core.positions import Pairing, Rope, alibi_slopes
from attncalc.core.rules import Align, MaskTrue, Rules
from attncalc.core.shapes import Array, Layout, Sizes
from attncalc.core.softmax import EmptyRows
from attncalc.errors import OptionError, ShapeError, shape_text
from attncalc.suggest import did_you_mean

ALIGNS = ("upper-left", "lower-right")


@dataclass(frozen=True)
class Options:
    """The options of attention by their keywords, as users give them; the contract tells each one's meaning."""

    scale: float | None = None
    softcap: float | None = None
    causal: bool | str | None = None
    causal_align: str | None = None
    window_left: int | None = None
    window_right: int | None = None
    mask: ArrayLike | None = None
    mask_true: str = "allowed"
    padding: ArrayLike | None = None
    pad_token: str | None = None
    lengths: ArrayLike | None = None
    empty_rows: str = "error"
    bias: ArrayLike | None = None
    alibi: bool = False
    alibi_slopes: ArrayLike | None = None
    sink: ArrayLike | None = None
    rope: str | None = None
    rope_base: float | None = None
    rope_dims: int | None = None
    rope_offset: int | None = None
    dtype: str = "float64"


def options_from(keywords: dict[str, Any]) -> Options:
    """Return the options, or say which keyword there is not; None is as good as not given."""
    known = [field.name for field in fields(Options)]
    for name in keywords:
        if name not in known:
            raise OptionError(f"attention has no option {name}", hint=did_you_mean(name, known))
    return Options(**{name: value for name, value in keywords.items() if value is not None})


def rules_from(given: Options, sizes: Sizes, layout: Layout, key_tokens: tuple[str, ...] | None) -> Rules:
    """Check the options against the sizes and return the rules in force.

    Args:
        given: the options.
        sizes: all sizes, the past keys among the S.
        layout: the axes that users see, with which masks and biases are lined up.
        key_tokens: labels of the keys, for the pad token.
    """
    causal, align = alignment(given, sizes.P)
    softcap = None if given.softcap is None else arrays.real_number("softcap", given.softcap)
    if softcap is not None and softcap <= 0:
        raise OptionError(f"softcap must be greater than 0, not {softcap:g}", hint="leave it out for no soft cap")
    arrays.choice("dtype", given.dtype, ARITHMETIC)
    arithmetic = ARITHMETIC[given.dtype]

    def exact(array: Array | None) -> Array | None:
        return None if array is None else arithmetic.round(array)

    return Rules(
        scale=1 / math.sqrt(sizes.d) if given.scale is None else arrays.real_number("scale", given.scale),
        softcap=softcap,
        causal=causal,
        align=align,
        window_left=_window("window_left", given.window_left),
        window_right=_window("window_right", given.window_right),
        mask=_mask(given, sizes, layout),
        mask_true=cast(MaskTrue, arrays.choice("mask_true", given.mask_true, ("allowed", "blocked"))),
        padding=_padding(given, sizes, layout),
        padding_tokens=_pad_token(given.pad_token, key_tokens),
        lengths=_lengths(given, sizes, layout),
        empty_rows=cast(EmptyRows, arrays.choice("empty_rows", given.empty_rows, ("error", "zero", "nan", "uniform"))),
        bias=exact(_bias(given, sizes, layout)),
        alibi_slopes=exact(_slopes(given, sizes)),
        alibi_standard=given.alibi,
        sink=exact(_per_head("sink", given.sink, sizes)),
        rope=_rope(given, sizes),
        arithmetic=arithmetic,
    )


def alignment(given: Options, P: int) -> tuple[bool, Align]:
    """Return whether the mask is causal, and where the queries stand among the keys.

    ``causal`` is true, or says the corner itself: upper-left, lower-right, or past with a cache.
    """
    corner = given.causal_align
    if corner is not None:
        arrays.choice("causal_align", corner, ALIGNS)
    if isinstance(given.causal, str):
        arrays.choice("causal", given.causal, (*ALIGNS, "past"))
        if corner is not None and corner != given.causal:
            raise OptionError(f"causal is {given.causal}, but causal_align is {corner}")
        if (given.causal == "past") != (P > 0):
            raise OptionError(f"causal is {given.causal}, but there are {'' if P else 'no '}past keys")
        return True, cast(Align, given.causal)
    if P:
        if corner is not None:
            raise OptionError(
                "with a cache the past keys say where the queries stand; causal_align cannot be given as well",
                hint="leave out --causal-align",
            )
        return bool(given.causal), "past"
    return bool(given.causal), cast(Align, corner or "upper-left")


def _window(name: str, given: int | None) -> int | None:
    return None if given is None else arrays.whole_number(name, given, 0)


def lined_up(name: str, array: Array, sizes: Sizes, layout: Layout) -> Array:
    """Line up an array with scores, from the right, or say that it does not fit."""
    visible = layout.visible(sizes)
    fits = array.ndim <= len(visible) and all(
        n in (1, m) for n, m in zip(array.shape[::-1], visible[::-1], strict=False)
    )
    if not fits:
        turned = array.shape[::-1] == visible[-2:]
        raise ShapeError(
            f"{name} does not fit the scores",
            arrays=[(name, array.shape)],
            facts=[("scores", shape_text(visible))],
            hint=f"{name} looks transposed: it needs a row for each query" if turned else None,
        )
    return layout.broadcast(array)


def _mask(given: Options, sizes: Sizes, layout: Layout) -> Array | None:
    if given.mask is None:
        return None
    mask = lined_up("mask", arrays.booleans("mask", given.mask), sizes, layout)
    return mask if given.mask_true == "allowed" else ~mask


def _bias(given: Options, sizes: Sizes, layout: Layout) -> Array | None:
    if given.bias is None:
        return None
    return lined_up("bias", arrays.bias_numbers(given.bias), sizes, layout)


def _per_sequence(name: str, count: int, sizes: Sizes, layout: Layout) -> None:
    """Check that an option with one entry for each sequence of the batch has as many."""
    if count == 1 or (layout.has_batch and count == sizes.B):
        return
    hint = None
    if not layout.has_batch and layout.axes == "htd" and count == sizes.H:
        hint = "if the first axis is the batch, say --layout btd"
    sequences = f"a batch of {sizes.B}" if layout.has_batch else "inputs without a batch axis"
    raise ShapeError(f"{name} has entries for {count} sequences, for {sequences}", hint=hint)


def _padding(given: Options, sizes: Sizes, layout: Layout) -> Array | None:
    if given.padding is None:
        return None
    real = arrays.booleans("padding", given.padding)
    if real.shape == (sizes.S, 1) and sizes.S > 1:
        real = real[:, 0]  # a column of a text file
    if real.ndim not in (1, 2) or real.shape[-1] != sizes.S:
        raise ShapeError(
            f"padding needs one entry for each of the {sizes.S} keys",
            arrays=[("padding", real.shape)],
            facts=[("keys", str(sizes.S))],
        )
    real = np.atleast_2d(real)
    _per_sequence("padding", len(real), sizes, layout)
    return real if given.mask_true == "allowed" else ~real


def _pad_token(token: str | None, key_tokens: tuple[str, ...] | None) -> Array | None:
    if token is None:
        return None
    if key_tokens is None:
        raise OptionError("pad_token needs to know the tokens of the keys", hint="--tokens or --key-tokens")
    return np.array([[each != token for each in key_tokens]])


def _lengths(given: Options, sizes: Sizes, layout: Layout) -> Array | None:
    if given.lengths is None:
        return None
    lengths = arrays.whole_numbers("lengths", cast(Any, given.lengths))
    _per_sequence("lengths", len(lengths), sizes, layout)
    for length in lengths:
        if not 0 <= length <= sizes.S:
            raise OptionError(f"lengths must be from 0 to the number of keys, {sizes.S}, not {length}")
    return lengths


def _per_head(name: str, given: ArrayLike | None, sizes: Sizes) -> Array | None:
    """Return one finite number for each query head; a single one holds for all."""
    if given is None:
        return None
    array = arrays.numbers(name, given).reshape(-1)
    if len(array) not in (1, sizes.H):
        raise ShapeError(f"{name} needs one number for each of the {sizes.H} heads, not {len(array)}")
    if not np.isfinite(array).all():
        raise OptionError(f"{name} must be made of finite numbers")
    return np.broadcast_to(array, (sizes.H,)).astype(np.float64)


def _slopes(given: Options, sizes: Sizes) -> Array | None:
    if given.alibi and given.alibi_slopes is not None:
        raise OptionError("alibi makes its own slopes; alibi_slopes cannot be given as well")
    return alibi_slopes(sizes.H) if given.alibi else _per_head("alibi_slopes", given.alibi_slopes, sizes)


def _rope(given: Options, sizes: Sizes) -> Rope | None:
    if given.rope is None:
        for name in ("rope_base", "rope_dims", "rope_offset"):
            if getattr(given, name) is not None:
                raise OptionError(f"{name} needs rope", hint="--rope half or --rope interleaved")
        return None
    base = 10000.0 if given.rope_base is None else arrays.real_number("rope_base", given.rope_base)
    if base <= 0:
        raise OptionError(f"rope_base must be greater than 0, not {base:g}")
    dims = sizes.d if given.rope_dims is None else arrays.whole_number("rope_dims", given.rope_dims, 2)
    if dims % 2 or dims > sizes.d:
        raise OptionError(
            f"rope turns pairs of columns: rope_dims must be even and {sizes.d} at the most, not {dims}",
            hint=f"--rope-dims {sizes.d - sizes.d % 2}" if sizes.d > 2 else None,
        )
    start = sizes.P if given.rope_offset is None else arrays.whole_number("rope_offset", given.rope_offset, 0)
    return Rope(cast(Pairing, arrays.choice("rope", given.rope, ("half", "interleaved"))), base, dims, start)


def in_force(rules: Rules, asked: Options, key_tokens: tuple[str, ...] | None) -> dict[str, Any]:
    """Return every rule by library keyword; what was not asked for is None, or the default.

    Args:
        rules: the rules in force.
        asked: the options that they came from; masks and biases go out as they came in.
        key_tokens: labels of the keys, which a pad token needs when the run is repeated.
    """

    def array(given: ArrayLike | None) -> Array | None:
        return None if given is None else np.asarray(given)

    rope = rules.rope
    options: dict[str, Any] = {
        "scale": rules.scale,
        "softcap": rules.softcap,
        "causal": rules.align if rules.causal else None,
        "causal_align": None if rules.align == "past" else rules.align,
        "window_left": rules.window_left,
        "window_right": rules.window_right,
        "mask": array(asked.mask),
        "mask_true": rules.mask_true,
        "padding": array(asked.padding),
        "pad_token": asked.pad_token,
        "lengths": None if rules.lengths is None else rules.lengths.tolist(),
        "empty_rows": rules.empty_rows,
        "bias": array(asked.bias),
        "alibi": bool(asked.alibi),
        "alibi_slopes": array(asked.alibi_slopes),
        "sink": array(asked.sink),
        "rope": rope.pairing if rope else None,
        "rope_base": rope.base if rope else None,
        "rope_dims": rope.dims if rope else None,
        "rope_offset": rope.start if rope else None,
        "dtype": rules.arithmetic.name,
    }
    if asked.pad_token is not None:
        options["key_tokens"] = key_tokens
    return options
