"""Inputs on which mistakes show: sizes that do not meet, but where a mistake needs that they do."""

import numpy as np


def arrays(seed, B=None, H=None, T=3, S=7, d=5, dv=2, G=None, size=1.0):
    """Random Q, K and V, with the axes B and H where they are given."""
    rng = np.random.default_rng(seed)
    outer = [n for n in (B, H) if n is not None]
    kv = [n for n in (B, G or H) if n is not None]
    return tuple(rng.normal(0, size, shape).round(6) for shape in ([*outer, T, d], [*kv, S, d], [*kv, S, dv]))


def packed(seed, B, H, T, S, d, dv, G=None):
    rng = np.random.default_rng(seed)
    shapes = ((B, T, H * d), (B, S, (G or H) * d), (B, S, (G or H) * dv))
    return tuple(rng.normal(size=shape).round(6) for shape in shapes)


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).round(6)


def coins(seed, *shape, p=0.6):
    mask = np.random.default_rng(seed).random(shape) < p
    mask[..., 0] = True
    return mask


def past(seed, B, G, P, d, dv):
    return {"past_key": random(seed, B, G, P, d), "past_value": random(seed + 1, B, G, P, dv)}


def with_nan(array, *place):
    array = array.copy()
    array[place] = np.nan
    return array


def blocked_value():
    q, k, v = arrays(40, T=4, S=5, d=3, dv=2)
    return q, k, with_nan(v, 4, 1)


def blocked_key():
    q, k, v = arrays(41, T=4, S=5, d=3, dv=2)
    return q, with_nan(k, 4, 2), v


WORLDS = {
    "cross": (arrays(1), {}),
    "square": (arrays(2, T=5, S=5, d=3), {}),
    "keys as wide": (arrays(3, T=3, S=5, d=5), {}),
    "values as wide": (arrays(4, d=5, dv=5), {"causal": True, "causal_align": "lower-right"}),
    "scale": (arrays(5), {"scale": 0.3}),
    "packed": (packed(6, B=2, H=3, T=4, S=7, d=5, dv=2), {"heads": 3}),
    "grouped": (arrays(7, B=2, H=6, G=3, T=4, S=7, d=5, dv=11), {"causal": True, "causal_align": "lower-right"}),
    "grouped packed": (packed(8, B=2, H=4, G=2, T=3, S=5, d=3, dv=2), {"heads": 4, "kv_heads": 2}),
    "causal": (arrays(9, T=5, S=5, d=3), {"causal": True}),
    "causal, more queries": (
        arrays(10, T=7, S=4, d=3),
        {"causal": True, "causal_align": "lower-right", "empty_rows": "zero"},
    ),
    "causal with lengths": (
        arrays(11, B=2, H=3, T=4, S=7),
        {"causal": True, "causal_align": "lower-right", "lengths": [7, 5]},
    ),
    "lengths": (arrays(12, B=2, H=3, T=4, S=7), {"lengths": [3, 6]}),
    "lengths and alibi": (
        arrays(13, B=2, H=4, T=3, S=7),
        {"lengths": [4, 6], "alibi": True, "causal_align": "lower-right"},
    ),
    "cache": (arrays(14, B=2, H=3, T=4, S=4, d=5), {"causal": True, **past(15, 2, 3, 3, 5, 2)}),
    "cache with window": (
        arrays(16, B=2, H=3, T=4, S=4, d=5),
        {"window_left": 2, "window_right": 1, "causal": True, **past(17, 2, 3, 3, 5, 2)},
    ),
    "rope": (arrays(18, H=3, T=4, S=7, d=6, dv=4), {"rope": "half"}),
    "rope in a cache": (
        arrays(19, B=2, H=3, T=3, S=5, d=6, dv=2),
        {"rope": "interleaved", "causal": True, **past(20, 2, 3, 2, 6, 2)},
    ),
    "window": (arrays(21, T=7, S=11, d=5), {"window_left": 2, "window_right": 1}),
    "window, lower right": (
        arrays(22, T=5, S=11, d=3),
        {"window_left": 3, "window_right": 2, "causal_align": "lower-right"},
    ),
    "mask": (arrays(23, H=3, T=4, S=7), {"mask": coins(24, 4, 7)}),
    "square mask": (arrays(25, T=5, S=5, d=3), {"mask": coins(26, 5, 5)}),
    "blocked is true": (arrays(27, T=4, S=7), {"mask": ~coins(28, 4, 7), "mask_true": "blocked"}),
    "mask of a batch": (arrays(29, B=3, H=2, T=4, S=7), {"mask": coins(30, 3, 1, 4, 7)}),
    "padding": (arrays(31, B=2, H=3, T=5, S=5, d=3), {"padding": [[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]]}),
    "causal padding": (
        arrays(32, B=2, H=3, T=5, S=5, d=3),
        {"padding": [[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]], "causal": True, "empty_rows": "zero"},
    ),
    "uniform rows": (arrays(33, T=5, S=5, d=3), {"mask": np.tril(np.ones((5, 5)), -1), "empty_rows": "uniform"}),
    "soft cap": (arrays(34, T=3, S=7, size=2.0), {"softcap": 1.5, "mask": coins(35, 3, 7)}),
    "bias": (arrays(36, H=3, T=4, S=7), {"bias": random(37, 3, 4, 7), "softcap": 2.0}),
    "blocking bias": (arrays(38, T=4, S=7), {"bias": np.where(coins(39, 4, 7), random(37, 4, 7), -np.inf)}),
    "alibi": (arrays(42, H=2, T=3, S=7), {"alibi": True, "causal": True, "causal_align": "lower-right"}),
    "sink": (arrays(43, H=3, T=4, S=7), {"sink": [0.4, -1.0, 1.2], "causal": True, "causal_align": "lower-right"}),
    "large scores": (arrays(44, T=3, S=7, size=40.0), {}),
    "low scores": (arrays(45, T=3, S=7), {"bias": np.full((3, 7), -120.0) + random(46, 3, 7)}),
    "blocked value": (blocked_value(), {"causal": True}),
    "blocked key": (blocked_key(), {"causal": True}),
    "transposed layout": (
        tuple(x.transpose(0, 2, 1, 3) for x in arrays(47, B=2, H=3, T=4, S=7)),
        {"layout": "bthd", "causal": True, "causal_align": "lower-right"},
    ),
}

HINTS = {"blocked value": {"bad": "value"}, "blocked key": {"bad": "key"}}
"""What only the plain formulas are told."""
