"""Fonts for a picture: matplotlib's own, and installed ones for signs that it lacks, such as Chinese."""

from collections.abc import Iterator

OWN = "DejaVu Sans"

WELL_KNOWN = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti TC", "Microsoft YaHei",
    "SimHei", "Yu Gothic", "Malgun Gothic", "Noto Sans", "Arial Unicode MS", "Noto Sans Arabic", "Noto Sans Hebrew",
    "Noto Sans Devanagari", "Noto Sans Thai", "Segoe UI Symbol", "Symbola",
)  # fmt: skip
"""Looked at before all others."""

NO_LETTERS = ("last resort", "lastresort", "emoji", "icons", "symbols2")
"""Parts of the names of fonts that draw boxes for everything, or coloured bitmaps, which matplotlib cannot draw."""


def fonts_for(text: str) -> tuple[list[str], str]:
    """Choose fonts that have the signs of a text.

    Returns:
        The names of the fonts, in the order in which they are to be tried, and the signs that none of them has.
    """
    fonts, missing = [OWN], _lacking(_own_file(), set(text))
    if missing:
        for name, file in _installed():
            rest = _lacking(file, missing)
            if rest != missing:
                fonts.append(name)
                missing = rest
            if not missing:
                break
    return fonts, "".join(sorted(missing))


def _own_file() -> str:
    from matplotlib.font_manager import FontProperties, findfont

    return str(findfont(FontProperties(family=[OWN])))


def _installed() -> Iterator[tuple[str, str]]:
    """Yield the names and files of upright fonts of normal weight, the well-known ones first."""
    from matplotlib.font_manager import fontManager

    files = {font.name: font.fname for font in fontManager.ttflist if _usable(font.name, font.style, font.weight)}
    names = [*(name for name in WELL_KNOWN if name in files), *sorted(files.keys() - set(WELL_KNOWN))]
    yield from ((name, files[name]) for name in names)


def _usable(name: str, style: str, weight: int | str) -> bool:
    """Say whether a font is for reading: upright, of normal weight, with letters of its own."""
    return style == "normal" and weight in (400, "normal") and not any(part in name.lower() for part in NO_LETTERS)


def _lacking(file: str, signs: set[str]) -> set[str]:
    """Return the signs that a font lacks; a file that cannot be read has none."""
    from matplotlib.ft2font import FT2Font

    try:
        known = FT2Font(file).get_charmap()
    except (OSError, RuntimeError, ValueError):
        return signs
    return {sign for sign in signs if ord(sign) not in known and not sign.isspace()}
