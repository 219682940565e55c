"""Scaled dot-product attention over arrays of fractions, broadcast as (B, H, T, S)."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .functions import cos_sin, exp, log, power, sqrt, tanh

Array = np.ndarray
FULL = "bhtd"


def attend(q: Any, k: Any, v: Any, **options: Any) -> dict[str, Array]:
    """Return stages by name as float64, each number rounded once, in the axes of the user."""
    return _Run(np.asarray(q), np.asarray(k), np.asarray(v), options).stages()


def fractions(array: Array) -> Array:
    return _each(Fraction, np.asarray(array, dtype=float))


def _each(function: Any, array: Array) -> Array:
    out = np.empty(array.shape, dtype=object)
    out.reshape(-1)[:] = [function(x) for x in array.reshape(-1).tolist()]
    return out


class _Run:
    def __init__(self, q: Array, k: Array, v: Array, options: dict[str, Any]) -> None:
        self.options = options
        self.heads = options.get("heads")
        self.groups = options.get("kv_heads") or self.heads
        self.letters = options.get("layout") or {2: "td", 3: "btd" if self.heads else "htd", 4: "bhtd"}[k.ndim]
        self.q = self.canonical(q, self.heads)
        new_k, new_v = self.canonical(k, self.groups), self.canonical(v, self.groups)
        self.past = 0
        if options.get("past_key") is not None:
            past_k, past_v = self.past_of("past_key"), self.past_of("past_value")
            self.past = past_k.shape[2]
        if options.get("rope"):
            start = self.past if options.get("rope_offset") is None else options["rope_offset"]
            self.q, new_k = self.turned(self.q, start), self.turned(new_k, start)
        if self.past:
            new_k, new_v = np.concatenate([past_k, new_k], axis=2), np.concatenate([past_v, new_v], axis=2)
        share = self.q.shape[1] // new_k.shape[1]
        self.k, self.v = new_k.repeat(share, axis=1), new_v.repeat(share, axis=1)
        self.B, self.H, self.T, self.d = self.q.shape
        self.S = self.k.shape[2]
        self.outer = ("b" if "b" in self.letters else "") + ("h" if self.heads or "h" in self.letters else "")

    def canonical(self, array: Array, heads: int | None) -> Array:
        """Bring the axes of the user into the order b h t d, with an axis of one where there is none."""
        letters = self.letters
        if heads:
            array = array.reshape(*array.shape[:-1], heads, -1)
            letters = letters[:-1] + "hd"
        array = array.transpose([letters.index(letter) for letter in FULL if letter in letters])
        for axis, letter in enumerate(FULL):
            if letter not in letters:
                array = np.expand_dims(array, axis)
        return fractions(array)

    def past_of(self, name: str) -> Array:
        array = np.asarray(self.options[name])
        if self.heads and array.ndim > len(self.letters):  # (B, G, P, d) beside packed heads
            return fractions(array)
        return self.canonical(array, self.groups)

    def turned(self, rows: Array, start: int) -> Array:
        options = self.options
        dims = rows.shape[-1] if options.get("rope_dims") is None else options["rope_dims"]
        base, half = Fraction(options.get("rope_base", 10000)), dims // 2
        turns = [
            [cos_sin((start + t) * power(base, Fraction(-2 * j, dims))) for j in range(half)]
            for t in range(rows.shape[2])
        ]
        cosine = np.array([[turn[0] for turn in row] for row in turns], dtype=object).reshape(rows.shape[2], half)
        sine = np.array([[turn[1] for turn in row] for row in turns], dtype=object).reshape(rows.shape[2], half)
        first, second = (
            (slice(0, half), slice(half, dims)) if options["rope"] == "half" else (slice(0, dims, 2), slice(1, dims, 2))
        )
        out = rows.copy()
        out[..., first] = rows[..., first] * cosine - rows[..., second] * sine
        out[..., second] = rows[..., first] * sine + rows[..., second] * cosine
        return out

    def in_full(self, array: Any) -> Array:
        """Broadcast to the stages of the user, and from there to (B, H, T, S)."""
        axes = {"b": self.B, "h": self.H}
        stage = np.broadcast_to(np.asarray(array), (*(axes[letter] for letter in self.outer), self.T, self.S))
        return stage.reshape(self.B, self.H, self.T, self.S)

    def lengths(self) -> Array | None:
        lengths = self.options.get("lengths")
        return None if lengths is None else np.broadcast_to(np.asarray(lengths), (self.B,))

    def distance(self) -> Array:
        """How far each key lies behind its query: (B, T, S)."""
        causal, lengths = self.options.get("causal"), self.lengths()
        align = causal if causal in ("upper-left", "lower-right") else self.options.get("causal_align")
        offset = np.full(self.B, self.past)
        if not self.past and align == "lower-right":
            offset = (np.full(self.B, self.S) if lengths is None else lengths) - self.T
        return (np.arange(self.T)[:, None] - np.arange(self.S))[None] + offset[:, None, None]

    def allowed(self) -> Array:
        options, distance = self.options, self.distance()
        allowed = np.ones((self.B, self.H, self.T, self.S), dtype=bool)
        rules = []
        if options.get("causal"):
            rules.append(distance >= 0)
        if options.get("window_left") is not None:
            rules.append(distance <= options["window_left"])
        if options.get("window_right") is not None:
            rules.append(-distance <= options["window_right"])
        for rule in rules:
            allowed &= rule[:, None]
        turn_round = options.get("mask_true") == "blocked"
        if options.get("mask") is not None:
            allowed &= self.in_full(np.asarray(options["mask"]).astype(bool) ^ turn_round)
        if options.get("padding") is not None:
            real = np.broadcast_to(np.asarray(options["padding"]).astype(bool) ^ turn_round, (self.B, self.S))
            allowed &= real[:, None, None, :]
        if (lengths := self.lengths()) is not None:
            allowed &= (np.arange(self.S) < lengths[:, None])[:, None, None, :]
        if options.get("bias") is not None:
            allowed &= self.in_full(np.asarray(options["bias"])) != -np.inf
        return allowed

    def slopes(self) -> Array | None:
        if self.options.get("alibi_slopes") is not None:
            return fractions(np.asarray(self.options["alibi_slopes"]))
        if not self.options.get("alibi"):
            return None

        def geometric(count: int) -> list[Fraction]:
            return [power(Fraction(2), Fraction(-8 * n, count)) for n in range(1, count + 1)]

        whole = 1 << (self.H.bit_length() - 1)
        return np.array([*geometric(whole), *geometric(2 * whole)[::2]][: self.H], dtype=object)

    def biased(self) -> tuple[Array, Array]:
        options = self.options
        raw = (self.q[:, :, :, None, :] * self.k[:, :, None, :, :]).sum(axis=-1)
        scale = 1 / sqrt(Fraction(self.d)) if options.get("scale") is None else Fraction(options["scale"])
        scores = raw * scale
        if options.get("softcap") is not None:
            cap = Fraction(options["softcap"])
            scores = _each(lambda x: cap * tanh(x / cap), scores)
        if options.get("bias") is not None:
            bias = np.asarray(options["bias"], dtype=float)
            scores = scores + self.in_full(fractions(np.where(bias == -np.inf, 0, bias)))
        if (slopes := self.slopes()) is not None:
            scores = scores - slopes[None, :, None, None] * np.abs(self.distance())[:, None]
        return raw, scores

    def stages(self) -> dict[str, Array]:
        options, allowed = self.options, self.allowed()
        raw, scores = self.biased()
        terms = _each(exp, scores)
        terms[~allowed] = Fraction(0)
        total = terms.sum(axis=-1)
        if options.get("sink") is not None:
            total = total + _each(exp, fractions(np.asarray(options["sink"])))[None, :, None]
        empty = total == 0
        if empty.any() and options.get("empty_rows", "error") == "error":
            raise ValueError("a query may attend to no key")
        total[empty] = Fraction(1)
        weights = terms / total[..., None]
        if options.get("empty_rows") == "uniform":
            weights[empty] = Fraction(1, self.S)
        output = (weights[..., None] * self.v[:, :, None, :, :]).sum(axis=-2)
        lse = _each(lambda x: float(log(x)), total)
        lse[empty] = -math.inf
        stages = {"raw": raw, "weights": weights, "output": output, "lse": lse}
        stages["scores"] = np.where(allowed, scores, -math.inf)
        found = {name: array.astype(float) for name, array in stages.items()}
        if options.get("empty_rows") == "nan":
            found["weights"][empty] = found["output"][empty] = math.nan
        found["allowed"] = allowed
        return {name: self.users(name, array) for name, array in found.items()}

    def users(self, name: str, array: Array) -> Array:
        """Give a stage the axes of the user."""
        if name == "output":
            letters = self.letters
            if self.heads:
                array = array.transpose(0, 2, 1, 3)
                array = array.reshape(*array.shape[:2], -1)
                return array if "b" in letters else array[0]
            array = array[tuple(slice(None) if letter in letters else 0 for letter in FULL)]
            present = [letter for letter in FULL if letter in letters]
            return array.transpose([present.index(letter) for letter in letters])
        return array[tuple(slice(None) if letter in self.outer else 0 for letter in "bh")]
