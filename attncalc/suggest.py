"""Did you mean: the nearest name to one that does not exist."""

from collections.abc import Iterable


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the one name that ``word`` is most likely a misspelling of, or None."""
    from difflib import get_close_matches  # only after a mistake

    folded = {name.casefold(): name for name in sorted(names, reverse=True)}
    found = get_close_matches(word.casefold(), sorted(folded), n=1, cutoff=0.7)
    return folded[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str]) -> str | None:
    """Return ``did you mean …?`` as the text of a hint, or None when no name is near."""
    name = nearest(word, names)
    return f"did you mean {name}?" if name else None
