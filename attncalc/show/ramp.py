"""Colours for how strong a number is: a single hue that grows in lightness, so that it reads the same to every eye.

Numbers below zero have another hue, orange beside blue, which every kind of eye tells apart.
"""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
Color = tuple[float, ...]

# From weak to strong on a dark background, backwards on a light one.  The colours of 256 are chosen: the nearest ones
# are green.
RAMP = ((14, 27, 56), (23, 55, 104), (30, 92, 150), (56, 139, 192), (116, 186, 220), (190, 226, 240))
RAMP_256 = (17, 18, 25, 32, 74, 117, 195)

NEGATIVE = ((48, 26, 10), (89, 47, 14), (140, 76, 20), (196, 116, 40), (231, 164, 92), (250, 217, 176))
NEGATIVE_256 = (52, 94, 130, 172, 208, 215, 223)


def step(ramp: Sequence[T], share: float) -> T:
    """Take the colour of a ramp without colours between."""
    return ramp[min(int(share * len(ramp)), len(ramp) - 1)]


def mixed(share: float, ramp: Sequence[Color] = RAMP) -> list[float]:
    """Mix the two neighbours in a ramp."""
    place = share * (len(ramp) - 1)
    i = min(int(place), len(ramp) - 2)
    return [a + (b - a) * (place - i) for a, b in zip(ramp[i], ramp[i + 1], strict=True)]
