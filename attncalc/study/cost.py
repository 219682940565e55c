"""What attention costs, counted from sizes alone: elements, bytes, multiply-adds."""

from collections.abc import Sequence
from dataclasses import dataclass

from attncalc.core.dtypes import ARITHMETIC
from attncalc.errors import OptionError
from attncalc.suggest import did_you_mean

TOKENS = (128, 512, 2048, 8192)
TILE = 64
"""Queries and keys of a block, for attention block by block."""

BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
assert BYTES.keys() == ARITHMETIC.keys()


@dataclass(frozen=True)
class Sizes:
    """What the counts depend on, beside the number of tokens.

    Attributes:
        batch: B; ``heads`` H, ``kv_heads`` G, ``dim`` d, ``value_dim`` d_v.
        window: keys that a query may attend to, for windowed attention; None without it.
        dtype: type of all numbers.
        flops: floating-point operations a second, for times; None without times.
    """

    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    dim: int = 64
    value_dim: int = 64
    window: int | None = None
    dtype: str = "float64"
    flops: float | None = None


@dataclass(frozen=True)
class Row:
    """The counts for one number of tokens: T = S = tokens.

    Attributes:
        tokens: T and S.
        weights_elements: B·H·T·S, of the scores and again of the weights.
        weights_bytes: of one of the two.
        tiled_bytes: block by block instead: one tile of scores with m and l for its rows, for every head at once,
            and one lse a query.
        kv_cache_bytes: keys and values kept for later tokens, B·G·S·(d + d_v) numbers.
        multiply_adds: of Q Kᵀ and weights · V, B·H·T·S·(d + d_v).
        growth: weights_elements over those of the first row.
        window_elements: scores inside the window of each query; None without a window.
        window_multiply_adds: the work inside it.
        linear_bytes: the running d × d_v matrix (and d sums) a head of linear attention.
        linear_multiply_adds: its work, 2·B·H·T·d·d_v.
        seconds: 2 · multiply_adds / flops; None without a rate.
    """

    tokens: int
    weights_elements: int
    weights_bytes: int
    tiled_bytes: int
    kv_cache_bytes: int
    multiply_adds: int
    growth: float
    window_elements: int | None
    window_multiply_adds: int | None
    linear_bytes: int
    linear_multiply_adds: int
    seconds: float | None


def cost(tokens: Sequence[int] = TOKENS, sizes: Sizes | None = None) -> list[Row]:
    """Count for each number of tokens."""
    sizes = sizes or Sizes()
    _check(tokens, sizes)
    return [_row(n, tokens[0], sizes) for n in tokens]


def _row(n: int, first: int, sizes: Sizes) -> Row:
    size = BYTES[sizes.dtype]
    matrices = sizes.batch * sizes.heads
    elements = matrices * n * n
    widths = sizes.dim + sizes.value_dim
    tile = min(n, TILE)
    inside = None if sizes.window is None else matrices * window_elements(n, sizes.window)
    work = elements * widths
    return Row(
        tokens=n,
        weights_elements=elements,
        weights_bytes=elements * size,
        tiled_bytes=matrices * (tile * tile + 2 * tile + n) * size,
        kv_cache_bytes=sizes.batch * sizes.kv_heads * n * widths * size,
        multiply_adds=work,
        growth=n * n / (first * first),
        window_elements=inside,
        window_multiply_adds=None if inside is None else inside * widths,
        linear_bytes=matrices * (sizes.dim * sizes.value_dim + sizes.dim) * size,
        linear_multiply_adds=2 * matrices * n * sizes.dim * sizes.value_dim,
        seconds=None if sizes.flops is None else 2 * work / sizes.flops,
    )


def window_elements(tokens: int, window: int) -> int:
    """Count the scores when each query sees itself and the ``window`` − 1 keys before it, where there are so many."""
    full = min(tokens, window)
    return full * (full + 1) // 2 + (tokens - full) * full


def _check(tokens: Sequence[int], sizes: Sizes) -> None:
    counts = {"tokens": min(tokens, default=0)}
    counts |= {name: getattr(sizes, name) for name in ("batch", "heads", "kv_heads", "dim", "value_dim")}
    if sizes.window is not None:
        counts["window"] = sizes.window
    for name, count in counts.items():
        if count < 1:
            raise OptionError(f"{name} must be 1 or more, not {count}")
    if sizes.heads % sizes.kv_heads:
        raise OptionError(f"heads must be a multiple of kv_heads, and {sizes.heads} is none of {sizes.kv_heads}")
    if sizes.dtype not in BYTES:
        hint = did_you_mean(sizes.dtype, BYTES)
        raise OptionError(f"dtype must be one of {', '.join(BYTES)}, not {sizes.dtype}", hint=hint)
    if sizes.flops is not None and sizes.flops <= 0:
        raise OptionError(f"flops must be greater than 0, not {sizes.flops:g}")
