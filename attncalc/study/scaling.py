"""The experiment behind 1/√d: what the width of queries and keys does to products, softmax and its gradient.

"Attention Is All You Need", section 3.2.1 and footnote 4 (arXiv:1706.03762): the product of two rows of d independent
numbers with mean 0 and variance 1 has mean 0 and variance d.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attncalc.core import scores, softmax
from attncalc.core.shapes import Array
from attncalc.errors import OptionError

DIMS = tuple(2**n for n in range(2, 13))
"""4 to 4096."""

SAMPLES = 500
KEYS = 16
"""Keys that each query is compared with."""

AT_ONCE = 2**22
"""Random numbers that are held together."""


@dataclass(frozen=True)
class Row:
    """What was measured at one width, without and with the scale; means over all samples.

    Attributes:
        d: the width.
        variance: of the products q·k; ``variance_scaled`` of q·k/√d.
        entropy: of the weights, in nats; ln(KEYS) when all keys get the same.
        max_weight: the largest weight of a query.
        gradient: size of the softmax's derivative: the root of the sum of squares of diag(w) − w wᵀ.
    """

    d: int
    variance: float
    variance_scaled: float
    entropy: float
    entropy_scaled: float
    max_weight: float
    max_weight_scaled: float
    gradient: float
    gradient_scaled: float


def scaling(dims: Sequence[int] = DIMS, samples: int = SAMPLES, seed: int = 0) -> list[Row]:
    """Measure each width with random queries and keys.

    Args:
        dims: widths.
        samples: queries at each width, each with KEYS keys of its own.
        seed: of the random numbers; each width has its own stream, whatever the other widths are.
    """
    for d in dims:
        if d < 1:
            raise OptionError(f"a width must be 1 or more, not {d}")
    if samples < 2:
        raise OptionError(f"an experiment needs 2 samples or more, not {samples}")
    if seed < 0:
        raise OptionError(f"a seed must be 0 or more, not {seed}")
    return [_measure(d, products(d, samples, np.random.default_rng((seed, d)))) for d in dims]


def products(d: int, samples: int, rng: np.random.Generator) -> Array:
    """Return the products of random queries with random keys, (samples, KEYS), never holding them all."""
    rows = max(1, AT_ONCE // (d * (KEYS + 1)))
    parts = []
    for first in range(0, samples, rows):
        n = min(rows, samples - first)
        query = rng.standard_normal((1, n, 1, d))
        key = rng.standard_normal((1, n, KEYS, d))
        parts.append(scores.raw(query, key)[0, :, 0])  # each query has a head, and keys, of its own
    return np.concatenate(parts)


def _measure(d: int, raw: Array) -> Row:
    scaled = scores.scale(raw, 1 / float(np.sqrt(d)))
    plain, shrunk = _statistics(raw), _statistics(scaled)
    return Row(d, *(number for pair in zip(plain, shrunk, strict=True) for number in pair))


def _statistics(logits: Array) -> tuple[float, float, float, float]:
    """Return variance, entropy, largest weight and size of the gradient: (samples, KEYS) -> four means."""
    _, weights = softmax.softmax(logits)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -(weights * logs).sum(axis=-1)
    squares = (weights**2).sum(axis=-1)
    # ‖diag(w) − w wᵀ‖² = Σ w² − 2 Σ w³ + (Σ w²)²
    jacobian = np.sqrt(np.maximum(squares - 2 * (weights**3).sum(axis=-1) + squares**2, 0))
    return float(logits.var()), float(entropy.mean()), float(weights.max(axis=-1).mean()), float(jacobian.mean())
