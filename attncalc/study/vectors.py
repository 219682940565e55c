"""Small inputs with right answers, on which every known mistake gives a visibly different answer.

Sizes are different primes wherever a mistake does not need two of them to be equal (or heads that divide evenly), so
that an axis taken for another one cannot pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from attncalc.core.prepare import Problem, prepare
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, run
from attncalc.mistakes import CATALOGUE
from attncalc.study.bench import shown
from attncalc.study.mistakes import least_difference

VISIBLE = 1e-3
"""A mistake is exposed when it changes the output by more than this; a rounding softmax by a hundredth of it."""

FINE = {"softmax-low-precision": 1e-5}
"""Mistakes that are smaller by their nature."""


@dataclass(frozen=True, eq=False)
class Vector:
    """Inputs, options and the right answer.

    Attributes:
        name: of its files, in words with - between them.
        features: what an implementation must know, as words for --only and --skip; none for plain attention.
        arrays: q, k and v, or x with the matrices of a layer, and further arrays, by library keyword.
        options: the other arguments, by library keyword.
    """

    name: str
    features: tuple[str, ...]
    arrays: Mapping[str, Array]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keywords(self) -> dict[str, Any]:
        """All arguments of ``attention`` by keyword."""
        matrices = {name: array for name, array in self.arrays.items() if name in MATRICES}
        others = {ALIASES.get(name, name): array for name, array in self.arrays.items() if name not in matrices}
        return {**others, **({"weights": matrices} if matrices else {}), **self.options}

    @property
    def problem(self) -> Problem:
        """The problem that it poses."""
        return prepare(**self.keywords)

    @property
    def output(self) -> Array:
        """The right answer."""
        problem = self.problem
        output = shown(problem, "output", run(RIGHT, problem.inputs, problem.rules))
        assert output is not None
        return output


ALIASES = {"q": "query", "k": "key", "v": "value"}
MATRICES = ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")


def _normal(seed: int, *shape: int) -> Array:
    """Draw numbers of three decimals, which are short in every text."""
    return np.random.default_rng(seed).normal(size=shape).round(3)


def _qkv(seed: int, query: tuple[int, ...], key: tuple[int, ...], width: int) -> dict[str, Array]:
    """Draw Q, K and V: the shapes of Q and K, and the width of V."""
    return {"q": _normal(seed, *query), "k": _normal(seed + 1, *key), "v": _normal(seed + 2, *key[:-1], width)}


def _coins(seed: int, *shape: int) -> Array:
    """Draw a mask in which every row has a key."""
    mask = np.random.default_rng(seed).random(shape) < 0.6
    mask[..., 1] = True
    return mask


def _layer(seed: int, *names: str, size: int) -> dict[str, Array]:
    """Draw matrices, small enough to keep scores small, and biases."""
    shapes = {name: (size, size) if name.startswith("w") else (size,) for name in names}
    return {name: (_normal(seed + n, *shape) / 2).round(3) for n, (name, shape) in enumerate(shapes.items())}


def _spoilt(arrays: dict[str, Array], name: str, place: tuple[int, ...]) -> dict[str, Array]:
    """Put NaN into an array, where a mask hides it."""
    array = arrays[name].copy()
    array[place] = np.nan
    return {**arrays, name: array}


LOWER = {"causal": True, "causal_align": "lower-right"}

VECTORS: tuple[Vector, ...] = (
    Vector("plain", (), _qkv(100, (3, 5), (7, 5), 2)),
    Vector("square", (), _qkv(110, (5, 3), (5, 3), 7)),
    Vector("keys-as-wide", (), _qkv(120, (3, 5), (5, 5), 7)),
    Vector("values-as-wide", (), _qkv(130, (3, 5), (7, 5), 5)),
    Vector("batch-of-heads", (), _qkv(140, (2, 3, 5, 7), (2, 3, 11, 7), 13)),
    Vector(
        "large-scores", (), {n: (a * 60).round(2) if n != "v" else a for n, a in _qkv(150, (3, 5), (7, 5), 2).items()}
    ),
    Vector("scale", ("scale",), _qkv(160, (3, 5), (7, 5), 2), {"scale": 0.3}),
    Vector("packed-heads", ("heads",), _qkv(170, (2, 5, 21), (2, 11, 21), 39), {"heads": 3}),
    Vector("grouped-heads", ("grouped",), _qkv(180, (5, 6, 4, 7), (5, 3, 11, 7), 2)),
    Vector("causal", ("causal",), _qkv(190, (7, 3), (7, 3), 5), {"causal": True}),
    Vector("causal-lower-right", ("causal", "lower-right"), _qkv(200, (5, 3), (11, 3), 7), LOWER),
    Vector(
        "causal-lengths",
        ("causal", "lower-right", "lengths"),
        _qkv(210, (2, 3, 5, 7), (2, 3, 11, 7), 13),
        {**LOWER, "lengths": [11, 7]},
    ),
    Vector(
        "window",
        ("window", "lower-right"),
        _qkv(220, (5, 3), (13, 3), 7),
        {"window_left": 3, "window_right": 2, "causal_align": "lower-right"},
    ),
    Vector("causal-window", ("causal", "window"), _qkv(230, (11, 3), (11, 3), 5), {"causal": True, "window_left": 2}),
    Vector("mask", ("mask",), {**_qkv(240, (5, 3), (7, 3), 2), "mask": _coins(243, 5, 7)}),
    Vector("square-mask", ("mask",), {**_qkv(250, (7, 3), (7, 3), 5), "mask": _coins(253, 7, 7)}),
    Vector(
        "mask-of-a-batch", ("mask",), {**_qkv(260, (3, 2, 5, 7), (3, 2, 11, 7), 13), "mask": _coins(263, 3, 1, 5, 11)}
    ),
    Vector(
        "empty-row",
        ("mask", "empty-rows"),
        {**_qkv(270, (5, 3), (7, 3), 2), "mask": _coins(273, 5, 7) & (np.arange(5) != 2)[:, np.newaxis]},
        {"empty_rows": "zero"},
    ),
    Vector(
        "padding",
        ("padding",),
        {
            **_qkv(280, (2, 3, 5, 7), (2, 3, 5, 7), 11),
            "padding": np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], dtype=bool),
        },
    ),
    Vector("lengths", ("lengths",), _qkv(290, (2, 3, 5, 7), (2, 3, 11, 7), 13), {"lengths": [3, 7]}),
    Vector(
        "causal-padding",
        ("causal", "padding"),
        {**_qkv(300, (7, 3), (7, 3), 5), "padding": np.array([1, 0, 1, 1, 0, 1, 0], dtype=bool)},
        {"causal": True},
    ),
    Vector(
        "soft-cap",
        ("softcap", "mask"),
        {**_qkv(310, (5, 3), (7, 3), 2), "mask": _coins(313, 5, 7)},
        {"softcap": 1.5},
    ),
    Vector("bias", ("bias",), {**_qkv(320, (3, 5, 7), (3, 11, 7), 2), "bias": _normal(323, 3, 5, 11)}),
    Vector("alibi", ("alibi", "causal"), _qkv(330, (2, 11, 3), (2, 11, 3), 5), {"alibi": True, "causal": True}),
    Vector("sink", ("sink",), {**_qkv(340, (3, 5, 7), (3, 11, 7), 2), "sink": np.array([0.5, -1.0, 1.25])}),
    Vector("rope", ("rope",), _qkv(350, (3, 5, 6), (3, 7, 6), 4), {"rope": "half"}),
    Vector(
        "cache",
        ("cache", "causal"),
        {
            **_qkv(360, (3, 2, 5, 7), (3, 2, 5, 7), 11),
            "past_key": _normal(363, 3, 2, 13, 7),
            "past_value": _normal(364, 3, 2, 13, 11),
        },
        {"causal": True},
    ),
    Vector(
        "rope-in-a-cache",
        ("rope", "cache", "causal"),
        {
            **_qkv(370, (3, 5, 4), (3, 5, 4), 11),
            "past_key": _normal(373, 3, 13, 4),
            "past_value": _normal(374, 3, 13, 11),
        },
        {"causal": True, "rope": "interleaved"},
    ),
    Vector(
        "projected",
        ("projection", "heads"),
        {"x": _normal(380, 5, 6), **_layer(381, *MATRICES, size=6)},
        {"heads": 3},
    ),
    Vector(
        "nan-in-a-blocked-value",
        ("mask", "nan"),
        {
            **_spoilt(_qkv(390, (5, 3), (7, 3), 2), "v", (4, 1)),
            "mask": _coins(393, 5, 7) & (np.arange(7) != 4),
        },
    ),
    Vector(
        "nan-in-a-blocked-key",
        ("mask", "nan"),
        {
            **_spoilt(_qkv(400, (5, 3), (7, 3), 2), "k", (4, 1)),
            "mask": _coins(403, 5, 7) & (np.arange(7) != 4),
        },
    ),
)
"""Every vector, the plainest first."""

FEATURES = tuple(dict.fromkeys(feature for vector in VECTORS for feature in vector.features))
"""Every word that --only and --skip know."""


@cache
def exposed(vector: Vector) -> tuple[str, ...]:
    """Return the mistakes that a vector exposes: a way of making them shows in the output, however rows are filled."""
    problem, right = vector.problem, vector.output
    found = []
    for mistake in CATALOGUE:
        sizes = [float(least_difference(problem, form, right).max()) for form in mistake.open_forms(problem)]
        if sizes and max(sizes) > FINE.get(mistake.id, VISIBLE):
            found.append(mistake.id)
    return tuple(found)


def exposing() -> dict[str, tuple[str, ...]]:
    """Return for each known mistake the names of the vectors that expose it, the plainest first."""
    return {mistake.id: tuple(v.name for v in VECTORS if mistake.id in exposed(v)) for mistake in CATALOGUE}
