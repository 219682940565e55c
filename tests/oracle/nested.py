"""Arrays as nested lists."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any


def plain(array: Any) -> Any:
    """Take nested lists as they are, and anything that has ``tolist`` (numpy arrays) as nested lists."""
    return array.tolist() if hasattr(array, "tolist") else array


def shape_of(array: Any) -> tuple[int, ...]:
    sizes = []
    while isinstance(array, list | tuple):
        sizes.append(len(array))
        array = array[0]
    return tuple(sizes)


def pick(array: Any, index: tuple[int, ...]) -> Any:
    for i in index:
        array = array[i]
    return array


def build(sizes: tuple[int, ...], element: Callable[..., Any]) -> Any:
    """Make the nested lists of that shape whose element at ``i, j, …`` is ``element(i, j, …)``."""
    if not sizes:
        return element()
    return [build(sizes[1:], lambda *rest, i=i: element(i, *rest)) for i in range(sizes[0])]


def indexes(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, sizes))


def broadcast(array: Any, sizes: tuple[int, ...]) -> Callable[..., Any]:
    """Read ``array`` as if it had that shape: axes are matched from the right, an axis of size 1 repeats."""
    own = shape_of(array)
    fits = len(own) <= len(sizes) and all(
        mine in (1, full) for mine, full in zip(reversed(own), reversed(sizes), strict=False)
    )
    if not fits:
        raise ValueError(f"shape {own} does not broadcast to {sizes}")

    def element(*index: int) -> Any:
        last = index[len(index) - len(own) :]
        return pick(array, tuple(0 if size == 1 else i for i, size in zip(last, own, strict=True)))

    return element
