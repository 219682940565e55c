"""Which query may attend to which key."""

from dataclasses import dataclass
from typing import Any

from .nested import broadcast, plain


@dataclass(frozen=True)
class Sizes:
    """B, H, T and S of a run, the number of past keys, and which of b and h the user's arrays have."""

    B: int
    H: int
    T: int
    S: int
    past: int
    outer: str

    @property
    def stage(self) -> tuple[int, ...]:
        """The shape of the stages in the user's axes."""
        return (*(getattr(self, letter.upper()) for letter in self.outer), self.T, self.S)

    def in_stage(self, b: int, h: int, *rest: int) -> tuple[int, ...]:
        """Give the place in a stage, in the user's axes, of something of sequence b and head h."""
        return (*({"b": b, "h": h}[letter] for letter in self.outer), *rest)


def length_of(lengths: Any, b: int) -> int | None:
    lengths = plain(lengths)
    if lengths is None or isinstance(lengths, int):
        return lengths
    return lengths[b if len(lengths) > 1 else 0]


def offset_of(sizes: Sizes, b: int, align: str | None, lengths: Any) -> int:
    """Give o: query i stands at the position i + o of the keys."""
    if sizes.past:
        return sizes.past
    if align == "lower-right":
        length = length_of(lengths, b)
        return (sizes.S if length is None else length) - sizes.T
    return 0


def allowed_of(
    sizes: Sizes,
    *,
    causal: bool,
    align: str | None,
    mask: Any,
    mask_true: str,
    padding: Any,
    lengths: Any,
    window_left: int | None,
    window_right: int | None,
    bias: Any,
) -> Any:
    """Give a function of b, h, i, j: may the query attend to the key?  Every rule in force must say yes."""
    true_allows = {"allowed": True, "blocked": False}[mask_true]
    mask_at = None if mask is None else broadcast(plain(mask), sizes.stage)
    bias_at = None if bias is None else broadcast(plain(bias), sizes.stage)
    padding = plain(padding)

    def allowed(b: int, h: int, i: int, j: int) -> bool:
        position = i + offset_of(sizes, b, align, lengths)
        place = sizes.in_stage(b, h, i, j)
        if causal and j > position:
            return False
        if window_left is not None and j < position - window_left:
            return False
        if window_right is not None and j > position + window_right:
            return False
        if mask_at is not None and bool(mask_at(*place)) is not true_allows:
            return False
        if padding is not None:
            row = padding[b] if isinstance(padding[0], list | tuple) else padding
            if bool(row[j]) is not true_allows:
                return False
        length = length_of(lengths, b)
        if length is not None and j >= length:
            return False
        return bias_at is None or bias_at(*place) != float("-inf")

    return allowed
