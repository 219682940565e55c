"""What depends on where a token stands: rotary embeddings and ALiBi."""

from typing import Any

from .numbers import Numbers


def rotate(row: list[Any], position: int, kind: str, base: Any, dims: int, n: Numbers) -> list[Any]:
    """Turn the pairs of the first ``dims`` columns of one row, each by its own angle."""
    turned = list(row)
    for pair in range(dims // 2):
        first, second = {
            "half": (pair, pair + dims // 2),
            "interleaved": (2 * pair, 2 * pair + 1),
        }[kind]
        angle = position * n.make(base) ** (n.make(-2 * pair) / dims)
        x, y = row[first], row[second]
        turned[first] = x * n.cos(angle) - y * n.sin(angle)
        turned[second] = y * n.cos(angle) + x * n.sin(angle)
    return turned


def alibi_slopes(heads: int, n: Numbers) -> list[Any]:
    """Give the slopes of the ALiBi paper; unless H is a power of two, those of its authors' code."""
    power = 1
    while power * 2 <= heads:
        power *= 2

    def of_power_of_two(count: int) -> list[Any]:
        return [n.make(2) ** (n.make(-8 * (h + 1)) / count) for h in range(count)]

    return of_power_of_two(power) + of_power_of_two(2 * power)[0::2][: heads - power]
