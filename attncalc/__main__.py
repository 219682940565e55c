"""The process: ``attncalc`` and ``python -m attncalc`` begin and end here.

Signals are met before anything else is imported, for the imports take longer than a small computation.
"""

import signal
import sys

INTERRUPTED, TERMINATED = 130, 143


def _terminated(number: int, frame: object) -> None:
    sys.exit(TERMINATED)


def main() -> None:
    """Run the command line of this process; never return."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        from attncalc.cli.app import main as run_process

        status = run_process()
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
