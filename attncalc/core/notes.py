"""What users should know about how their input was understood: notes, and the error about empty queries."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attncalc.core import finite
from attncalc.core.rules import Rules
from attncalc.core.ruling import Options
from attncalc.core.shapes import Array, Sizes
from attncalc.errors import AttnCalcError, EmptyRowError

if TYPE_CHECKING:
    from attncalc.core.dialects import Adopted

FILLED = {"zero": "zeros", "nan": "NaN", "uniform": "the mean of all values"}


def of(asked: Options, rules: Rules, sizes: Sizes, empty: Array) -> tuple[str, ...]:
    """Return the notes on a problem.

    Args:
        asked: the options as given.
        rules: what became of them.
        sizes: all sizes.
        empty: queries that may attend to no key, (B or 1, H or 1, T).
    """
    found = []
    chosen = asked.causal_align is not None or isinstance(asked.causal, str)
    if rules.causal and not chosen and rules.align == "upper-left" and sizes.T != sizes.S:
        found.append(
            f"causal with {_count(sizes.T, 'query', 'queries')} and {_count(sizes.S, 'key', 'keys')} is read as "
            "upper-left: query i sees keys 0 to i (--causal-align lower-right puts the last query level with the "
            "last key)"
        )
    window = rules.window_left is not None or rules.window_right is not None
    if asked.causal_align is not None and not (rules.causal or window or rules.alibi_slopes is not None):
        found.append("causal_align places nothing: there is no causal mask, window or ALiBi")
    if rules.padding_tokens is not None and rules.padding_tokens.all():
        found.append(f"no key is the pad token {asked.pad_token}")
    if empty.any():
        gets = "gets" if empty.sum() == 1 else "get"
        found.append(f"{queries_text(empty, None)} may attend to no key and {gets} {FILLED[rules.empty_rows]}")
    return tuple(found)


def of_dialect(adopted: "Adopted | None", value: Array) -> tuple[str, ...]:
    """Return the notes on the rules of a library; ``value`` may hold NaN or infinity where it is blocked."""
    if adopted is None:
        return ()
    if np.isfinite(value).all() or "mix" not in adopted.dialect.steps:
        return adopted.notes
    through = (
        f"{adopted.dialect.name} lets NaN and infinity in a blocked value through (0 · NaN is NaN); attncalc does not"
    )
    return (*adopted.notes, through)


def empty_error(empty: Array, rules: Rules, sizes: Sizes, tokens: tuple[str, ...] | None) -> AttnCalcError:
    """Return the error that names every query that may attend to no key, by index and by token."""
    hint = "say what such a query gets: --empty-rows zero, nan or uniform"
    if rules.mask is not None and not finite.empty_queries(replace(rules, mask=~rules.mask), sizes).any():
        hint = "does true mean blocked in this mask? --mask-true blocked"
    return EmptyRowError(f"{queries_text(empty, tokens)} may attend to no key", hint=hint)


def queries_text(empty: Array, tokens: tuple[str, ...] | None) -> str:
    """Name queries: ``queries 1 and 4 of batch 0``; batches and heads only where they differ.

    Args:
        empty: which queries, (B or 1, H or 1, T).
        tokens: labels of the queries, or None.
    """
    if (empty == empty[:, :1]).all():
        empty = empty[:, :1]
    if (empty == empty[:1]).all():
        empty = empty[:1]
    phrases = []
    for b, h in np.argwhere(empty.any(axis=-1)):
        names = [f"{i} ({tokens[i]})" if tokens else str(i) for i in np.flatnonzero(empty[b, h])]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        where = [f"batch {b}"] * (len(empty) > 1) + [f"head {h}"] * (empty.shape[1] > 1)
        of_which = f" of {', '.join(where)}" if where else ""
        phrases.append(f"{'query' if len(names) == 1 else 'queries'} {listed}{of_which}")
    return "; ".join(phrases)


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
