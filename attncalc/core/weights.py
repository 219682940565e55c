"""The names under which libraries store the matrices of an attention layer, and their orientation.

    ours                  wq wk wv wo, bq bk bv bo: applied to rows as x @ w + b
    torch, one matrix     in_proj_weight (the rows of q, k and v on top of each other), in_proj_bias, out_proj.weight
    torch, own widths     q_proj_weight k_proj_weight v_proj_weight, in_proj_bias, out_proj.weight
    Hugging Face          q_proj.weight k_proj.weight v_proj.weight, o_proj.weight or out_proj.weight, ….bias

A module stores its matrices transposed, (out, in), and applies them as x @ w.T + b.  The names are those of
``torch.nn.MultiheadAttention`` (2.13) and of the attention classes of transformers (5.24).
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import fit
from attncalc.core.arrays import numbers
from attncalc.core.heads import Projection
from attncalc.core.shapes import Array
from attncalc.errors import AttnCalcError, OptionError, ShapeError

MODULE_NAMES = {
    "wq": ("q_proj.weight", "q_proj_weight"),
    "wk": ("k_proj.weight", "k_proj_weight"),
    "wv": ("v_proj.weight", "v_proj_weight"),
    "wo": ("out_proj.weight", "o_proj.weight"),
    "bq": ("q_proj.bias",),
    "bk": ("k_proj.bias",),
    "bv": ("v_proj.bias",),
    "bo": ("out_proj.bias", "o_proj.bias"),
}
"""Ours, and what modules call it; at most one of the names may be there."""

JOINED = {"in_proj_weight": ("wq", "wk", "wv"), "in_proj_bias": ("bq", "bk", "bv")}
"""One array that holds three on top of each other."""

MODULE_HINT = "in_proj_weight q_proj_weight q_proj.weight out_proj.weight o_proj.weight ….bias"

HARMLESS = ("rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached", "masked_bias")
"""Constants that some modules store and that are not learned: rotation is asked for by ``--rope``."""

NOT_APPLIED = {
    "bias_k": "add_bias_kv appends a learned key that no mask blocks",
    "bias_v": "add_bias_kv appends a learned value that no mask blocks",
    "q_norm.weight": "queries are normalised between projection and rotation",
    "k_norm.weight": "keys are normalised between projection and rotation",
    "sinks": "a learned logit for every head; give it as the sink",
}
"""Parts of a layer that attention, as it is defined here, does not have, and what they would do."""

Form = Literal["ours", "module"]


def projection(
    weights: Mapping[str, ArrayLike], prefix: str | None, x: Array, context: Array, context_name: str
) -> Projection:
    """Return the matrices of a layer, checked against the sequences that they project.

    Args:
        weights: arrays by name: ours, or a module's.
        prefix: what stands in front of the names, or None.
        x: the sequence, (…, E).
        context: the sequence that K and V are made from, (…, E').
        context_name: what messages call it.
    """
    ours = layer(weights, prefix)
    try:
        return fit.projection(ours, x, context, context_name)
    except AttnCalcError as error:
        raise _told(error, module_names(weights, prefix)) from error


def layer(weights: Mapping[str, ArrayLike], prefix: str | None = None) -> dict[str, ArrayLike]:
    """Return the matrices of one layer under our names, in our orientation.

    Args:
        weights: arrays by name: ours, or a module's.
        prefix: what stands in front of the names, such as ``model.layers.0.self_attn``, with or without its dot;
            everything else in ``weights`` is then left alone.

    Returns:
        ``wq wk wv`` and those of ``wo bq bk bv bo`` that there are: (E, F) and (F,).

    Raises:
        OptionError: names that belong to no layer, to two forms at once, or to a part that is not applied.
        ShapeError: a joined array that does not divide into three.
    """
    named = _below(weights, prefix)
    if form_of(named) == "ours":
        _check_ours(named)
        return {name: weights[stored] for name, stored in named.items()}
    _check_names(named)
    return {name: _turned(array) for name, array in _parts(weights, named).items()}


def form_of(names: Iterable[str]) -> Form:
    """Say whose names these are, or why they are no layer."""
    names = list(names)
    module = [name for name in names if name in JOINED or any(name in them for them in MODULE_NAMES.values())]
    ours = [name for name in names if name in fit.MATRICES]
    if module and ours:
        raise OptionError(
            f"weights has the names of two forms: {ours[0]} and {module[0]}",
            hint="wq wk wv wo are applied as x @ w; those of a module are stored transposed",
        )
    if module:
        return "module"
    if not ours and (found := prefixes(names)):
        raise OptionError(
            "weights holds a whole model, and one layer is needed",
            facts=[("layers", _listed(found))],
            hint=f"--weights-prefix {found[0]}",
        )
    return "ours"


def prefixes(names: Iterable[str]) -> list[str]:
    """Return what stands in front of the query matrix of each layer in a whole model's names."""
    queries = ("in_proj_weight", "wq", *MODULE_NAMES["wq"])
    found = {name[: -len(end) - 1] for name in names for end in queries if name.endswith(f".{end}")}
    return sorted(found, key=_by_number)


def module_names(weights: Mapping[str, ArrayLike], prefix: str | None = None) -> dict[str, str]:
    """Return, for each of our names, the name in the file that it came from."""
    named = _below(weights, prefix)
    found = {ours: name for ours, names in MODULE_NAMES.items() for name in names if name in named}
    for joined, parts in JOINED.items():
        found |= {part: joined for part in parts if joined in named}
    return found


def _below(weights: Iterable[str], prefix: str | None) -> dict[str, str]:
    """Return the names of a layer, each with the name that it is stored under.

    Only names: a model's file may hold many layers, and arrays that are not used are not read.
    """
    if prefix is None:
        return {name: name for name in weights}
    start = prefix if not prefix or prefix.endswith(".") else f"{prefix}."
    found = {name.removeprefix(start): name for name in weights if name.startswith(start)}
    if found:
        return found
    there = prefixes(weights)
    raise OptionError(
        f"no name in weights starts with {start}",
        facts=[("layers", _listed(there))] if there else [("names", _listed(list(weights)))],
        hint=f"--weights-prefix {there[0]}" if there else None,
    )


def _listed(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _check_ours(named: Iterable[str]) -> None:
    for name in named:
        if name not in fit.MATRICES:
            small = name.casefold()
            raise OptionError(
                f"weights has no place for {name}",
                hint=f"in small letters: {small}"
                if small in fit.MATRICES
                else f"the names are {' '.join(fit.MATRICES)}, or those of a module: {MODULE_HINT}",
            )


def _check_names(named: Iterable[str]) -> None:
    known = {name for names in MODULE_NAMES.values() for name in names} | set(JOINED)
    for name in named:
        if name in NOT_APPLIED:
            raise OptionError(f"weights holds {name}, which attncalc does not apply", facts=[(name, NOT_APPLIED[name])])
        if name not in known and name not in HARMLESS:
            raise OptionError(
                f"weights has no place for {name}",
                hint=f"the names of a module are {MODULE_HINT}",
            )


def _parts(weights: Mapping[str, ArrayLike], named: Mapping[str, str]) -> dict[str, Array]:
    """Return the arrays by our names, still in the module's orientation."""
    found: dict[str, Array] = {}
    origin: dict[str, str] = {}

    def put(ours: str, name: str, array: Array) -> None:
        if ours in found:
            raise OptionError(f"weights holds {origin[ours]} and {name}, which are the same part of a layer")
        found[ours], origin[ours] = array, name

    for name, stored in named.items():
        if name in HARMLESS:
            continue
        array = numbers(stored, weights[stored])
        if name in JOINED:
            if array.ndim == 0 or len(array) % 3:
                raise ShapeError(
                    f"{name} must hold three matrices of equal height",
                    arrays=[(name, array.shape)],
                    hint=f"{name} looks transposed" if array.ndim == 2 and array.shape[1] % 3 == 0 else None,
                )
            for ours, part in zip(JOINED[name], np.split(array, 3), strict=True):
                put(ours, name, part)
        for ours, names in MODULE_NAMES.items():
            if name in names:
                put(ours, name, array)
    return found


def _turned(array: Array) -> Array:
    return array.T if array.ndim == 2 else array


def _by_number(name: str) -> tuple[tuple[int, str], ...]:
    """Sort ``layers.2`` before ``layers.10``."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in name.split("."))


def _told(error: AttnCalcError, names: Mapping[str, str]) -> AttnCalcError:
    """Add to an error about our names what they are called in the file."""
    about = [name for name, _ in error.arrays] + ([error.cell[0]] if error.cell else [])
    facts = [
        (name, f"{names[name]}, transposed" if name.startswith("w") else names[name]) for name in about if name in names
    ]
    hint = error.hint
    for name in names.keys() & set(about):
        if hint == fit.TRANSPOSED.format(name=name, letter=name[1:]):  # of a module's it is the other way round
            hint = f"{names[name]} looks transposed: a matrix for x @ w has the name {name}"
    return type(error)(error.message, facts=(*error.facts, *facts), hint=hint, arrays=error.arrays, cell=error.cell)
