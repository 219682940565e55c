"""Where batch, heads, tokens and width stand: from the user's order to [b][h][t][c] and back."""

from typing import Any

from .nested import build, pick, shape_of


def letters_of(rank: int, layout: str | None, packed: bool) -> str:
    """Name the axes; the last one, d, holds all heads side by side when they are packed."""
    if layout is not None:
        return layout
    return {2: "td", 3: "btd" if packed else "htd", 4: "bhtd"}[rank]


def split(array: Any, letters: str, heads: int | None) -> Any:
    """Bring an array into the order [b][h][t][c]; an axis that it does not have gets size 1."""
    sizes = dict(zip(letters, shape_of(array), strict=True))
    width = sizes["d"] // (heads or 1)

    def element(b: int, h: int, t: int, c: int) -> Any:
        place = {"b": b, "h": h, "t": t, "d": h * width + c if heads else c}
        return pick(array, tuple(place[letter] for letter in letters))

    return build((sizes.get("b", 1), heads or sizes.get("h", 1), sizes["t"], width), element)


def in_order(array: Any, letters: str) -> Any:
    """Bring [b][h][t][c] into the order of ``letters``, dropping the axes that are not among them."""
    sizes = dict(zip("bhtd", shape_of(array), strict=True))

    def element(*index: int) -> Any:
        place = dict(zip(letters, index, strict=True))
        return pick(array, tuple(place.get(letter, 0) for letter in "bhtd"))

    return build(tuple(sizes[letter] for letter in letters), element)


def merge_packed(array: Any, letters: str) -> Any:
    """Bring [b][h][t][c] into ``btd`` or ``td`` with the heads of a token side by side in d."""
    B, H, T, width = shape_of(array)
    packed = build((B, T, H * width), lambda b, t, c: array[b][c // width][t][c % width])
    return packed if "b" in letters else packed[0]
