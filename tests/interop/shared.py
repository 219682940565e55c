"""Small inputs that the libraries and attncalc are asked about, all sizes different, and a query without any key."""

from collections.abc import Mapping

import numpy as np

from attncalc.study.dialects import compare

B, H, T, S, D = 2, 3, 4, 5, 6


class Inputs:
    """Q, K and V as (B, H, tokens, width) in float64, and masks for them."""

    def __init__(self) -> None:
        rng = np.random.default_rng(11)
        self.q, self.k, self.v = (rng.normal(size=(B, H, n, D)) for n in (T, S, S))
        self.mask = rng.random((B, 1, T, S)) > 0.3
        self.mask[..., 0] = True  # no row is empty
        self.empty = self.mask.copy()
        self.empty[0, 0, 1] = False
        self.zero_one = self.mask.astype(np.float64)
        self.minus_infinity = np.where(self.empty, 0.25, -np.inf)
        self.nan_value = self.v.copy()
        self.nan_value[1, :, 3] = np.nan
        self.nan_key = self.k.copy()
        self.nan_key[1, :, 3] = np.nan
        self.hides_it = self.mask.copy()
        self.hides_it[1, :, :, 3] = False


def answer(dialect: str, inputs: Inputs | None, **given: object) -> np.ndarray:
    """Give what ``attncalc dialects`` says that a library answers."""
    arrays: Mapping[str, object] = {"query": inputs.q, "key": inputs.k, "value": inputs.v} if inputs else {}
    found = {each.dialect.name: each for each in compare(**{**arrays, "like": dialect, **given}).answers}[dialect]
    assert found.output is not None, found.reason
    return found.output


def bthd(array: np.ndarray) -> np.ndarray:
    """Exchange the axes of heads and tokens, there and back."""
    return np.ascontiguousarray(array.transpose(0, 2, 1, 3))
