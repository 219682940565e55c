"""Which rows and columns of a large matrix are shown: both ends, the middle left out."""

from collections.abc import Iterator, Sequence

GAP = -1  # stands where something is left out


def ends(count: int) -> Iterator[int]:
    """Count from both ends to the middle: 0, n − 1, 1, n − 2, …"""
    for step in range(count):
        yield step // 2 if step % 2 == 0 else count - 1 - step // 2


def at_most(count: int, limit: int | None) -> list[int]:
    """Keep ``limit`` of ``count``, from both ends; None and 0 keep all."""
    if not limit or limit >= count:
        return list(range(count))
    return _with_gap(sorted(index for index, _ in zip(ends(count), range(limit), strict=False)), count - 1)


def that_fit(kept: Sequence[int], widths: Sequence[int], room: int, gap: int) -> list[int]:
    """Keep as many of the columns in ``kept`` as fit into ``room``, from both ends, and one at least.

    Args:
        kept: columns that may be shown, with a GAP where some are left out already.
        widths: the room that each of them needs.
        room: the room that there is.
        gap: the room that the sign for what is left out needs.
    """
    if sum(widths) <= room:
        return list(kept)
    room -= gap
    fitting: list[int] = []
    for position in ends(len(kept)):
        if kept[position] == GAP:
            continue
        room -= widths[position]
        if room < 0 and fitting:
            break
        fitting.append(position)
    return _with_gap([kept[position] for position in sorted(fitting)], kept[-1])


def _with_gap(kept: list[int], end: int) -> list[int]:
    """Put a GAP where the numbers jump, or behind them when they stop before ``end``."""
    shown: list[int] = []
    for index in kept:
        if shown and index != shown[-1] + 1:
            shown.append(GAP)
        shown.append(index)
    if shown[-1] != end:
        shown.append(GAP)
    return shown


def left_out(shape: tuple[int, ...], rows: Sequence[int], columns: Sequence[int]) -> str:
    """Say what is not shown, or nothing: ``60 × 60: 20 of 60 rows, 14 of 60 columns shown``."""
    parts = []
    for count, kept, name in zip(shape, (rows, columns), ("rows", "columns"), strict=False):
        shown = sum(index != GAP for index in kept)
        if shown < count:
            parts.append(f"{shown} of {count} {name}")
    return f"{' × '.join(map(str, shape))}: {', '.join(parts)} shown" if parts else ""
