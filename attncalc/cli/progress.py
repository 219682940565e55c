"""How far a long computation has come: one line on a terminal, which disappears at the end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attncalc.cli.environment import Environment

LONG = 2.0
"""Seconds from which on a computation is worth a line."""

EARLY = 0.5
"""Seconds after which there is enough to foresee the end from."""

PAUSE = 0.2
"""Seconds between two looks of the line."""

ERASE = "\r\x1b[K"


@contextmanager
def progress(env: Environment, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[float], None]]:
    """Yield what is to be told the share of the work that is done; it writes to standard error, if a terminal."""
    if env.quiet or not env.stderr.isatty() or env.variables.get("TERM") == "dumb":  # which erases no line
        yield lambda share: None
        return
    start = clock()
    shown = start - PAUSE
    visible = False

    def tell(share: float) -> None:
        nonlocal shown, visible
        now = clock()
        spent = now - start
        if share <= 0 or spent < EARLY or now - shown < PAUSE:
            return
        left = spent * (1 - share) / share
        if visible or spent + left > LONG:
            env.stderr.write(f"{ERASE}attncalc: {share:.0%}, {time_text(left)} left")
            env.stderr.flush()
            shown, visible = now, True

    try:
        yield tell
    finally:
        if visible:
            env.stderr.write(ERASE)
            env.stderr.flush()


def time_text(seconds: float) -> str:
    """Write a time as one would say it: ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
