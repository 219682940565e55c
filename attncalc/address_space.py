"""How much memory this process may address: ``ulimit -v``, which clusters and containers set."""

import os


def limit() -> int | None:
    """Return how many bytes that is, or None where there is no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def room() -> int | None:
    """Return how many bytes of it are left, or None where there is no limit."""
    most = limit()
    if most is None:
        return None
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return most - int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
