"""How much memory the T × S stages take, and whether there is as much."""

import os
from collections.abc import Collection

from attncalc.core.prepare import Problem
from attncalc.core.shapes import QUADRATIC
from attncalc.errors import AttnCalcError

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def check_memory(problem: Problem, wanted: Collection[str], limit: int | None) -> None:
    """Raise an error when the T × S stages that are wanted are larger than the limit.

    Args:
        problem: the sizes and the type of the numbers.
        wanted: names of stages; only those of QUADRATIC count.
        limit: bytes; half of the free memory when None.
    """
    sizes = problem.sizes
    cells = sizes.B * sizes.H * sizes.T * sizes.S
    number = problem.rules.arithmetic.working().nbytes
    stages = [name for name in QUADRATIC if name in wanted]
    needed = sum(cells * (1 if name == "allowed" else number) for name in stages)
    free = free_memory()
    allowed = limit if limit is not None else free // 2 if free is not None else None
    if allowed is None or needed <= allowed:
        return
    said = "--max-memory" if limit is not None else "half of the free memory"
    raise AttnCalcError(
        f"{', '.join(stages)} would take {size_text(needed)}, more than {size_text(allowed)} ({said})",
        facts=[("T × S", f"{sizes.T} × {sizes.S}, {sizes.B * sizes.H} times")],
        hint="--show output never builds them; --max-memory SIZE allows more",
    )


def free_memory() -> int | None:
    """Return how many bytes programs could still get, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def size_text(size: float) -> str:
    """Write a number of bytes with a unit: ``34.4 GB``."""
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
