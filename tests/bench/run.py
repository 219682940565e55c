"""Measure what attncalc promises about speed: ``python tests/bench/run.py [NAME…]`` prints a table of ratios.

Each row compares attncalc with something that every machine has, both run in turn in the same minutes, and gives the
ratio of the medians beside its target.  Nothing fails on a clock.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

SAMPLES = Path(__file__).parent.parent.parent / "samples"
NUMBERS = 1000  # a matrix of 1000 × 1000


class Row(NamedTuple):
    """One comparison."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    target: float
    rounds: int = 9


def process(*command: str) -> Callable[[], object]:
    """Return a call that runs a command to its end."""
    return lambda: subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def rows(folder: Path) -> list[Row]:
    """Return every comparison; files are made in the folder."""
    from attncalc.files import read_entry

    matrix = np.random.default_rng(0).normal(size=(NUMBERS, NUMBERS))
    as_json, as_csv = str(folder / "x.json"), str(folder / "x.csv")
    Path(as_json).write_text(json.dumps(matrix.tolist()))
    np.savetxt(as_csv, matrix, delimiter=",", fmt="%.17g")

    def json_and_numpy() -> object:
        with open(as_json, encoding="utf-8") as file:
            return np.array(json.load(file))

    textbook = [str(SAMPLES / f"{name}.json") for name in "qkv"]
    return [
        Row("version", process("-m", "attncalc", "--version"), process("-c", "import typer"), 1.5),
        Row(
            "compute",
            process("-m", "attncalc", "compute", *textbook),
            process("-c", "import numpy, typer, rich.console, rich.table"),
            1.3,
        ),
        Row("read-json", lambda: read_entry(as_json), json_and_numpy, 1.3, 5),
        Row("read-csv", lambda: read_entry(as_csv), lambda: np.loadtxt(as_csv, delimiter=","), 1.3, 5),
    ]


def seconds(call: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    chosen = sys.argv[1:]
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, numpy {np.__version__}")
    print(f"{'':<12} {'attncalc':>10} {'other':>10} {'ratio':>7} {'target':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            if chosen and row.name not in chosen:
                continue
            pairs = [(seconds(row.ours), seconds(row.theirs)) for _ in range(row.rounds + 1)][1:]  # the first warms up
            ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
            print(f"{row.name:<12} {ours:>9.3f}s {theirs:>9.3f}s {ours / theirs:>7.2f} {row.target:>7.2f}")


if __name__ == "__main__":
    main()
