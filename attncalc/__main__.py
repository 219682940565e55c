"""The process: ``attncalc`` and ``python -m attncalc`` begin and end here.

Signals are met before anything else is imported, for the imports take longer than a small computation.
"""

import os
import signal
import sys

from attncalc import address_space

MISUSED, INTERRUPTED, TERMINATED = 2, 130, 143
LEAST = 160 << 20  # bytes of address space; with less, the libraries under NumPy end the process in their own ways


def _terminated(number: int, frame: object) -> None:
    sys.exit(TERMINATED)


def _no_memory() -> int:
    """Say that memory is short in a way that needs none."""
    os.write(2, b"attncalc: error: there is not enough memory\n")
    return MISUSED


def main() -> None:
    """Run the command line of this process; never return."""
    signal.signal(signal.SIGTERM, _terminated)
    limit = address_space.limit()
    if limit is not None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads reserves memory from the start
    try:
        if limit is not None and limit < LEAST:
            raise MemoryError
        from attncalc.cli.app import main as run_process

        status = run_process()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except MemoryError:
        status = _no_memory()
    sys.exit(status)


if __name__ == "__main__":
    main()
