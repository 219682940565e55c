"""Mutated files through every reader, in one process.

A file is read or refused with a FileError; nothing else may happen: no other exception, no warning, no hang, no flood
of memory.  By hand, a million files: ``PYTHONPATH=tests python -m fuzz.files --count 1000000``.
"""

import argparse
import io
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np

from attncalc import address_space
from attncalc.errors import FileError
from attncalc.files import Entry, json_format, read, read_entry, read_lines

from .mutate import mutate
from .seeds import seeds

SLOW = 10  # seconds: a hang
SPACE = 2 << 30  # bytes of memory, on top of what the process has at the start
ON_DISK = 0.03  # of the files are written and read by name, for regular files are read in another way
SUFFIXES = (".json", ".csv", ".tsv", ".npy", ".npz", ".safetensors", ".gz", "")


class Hang(BaseException):
    """Reading took longer than SLOW seconds."""


def one_parser(random: Random) -> ExitStack:
    """Have JSON read with one parser or the other, whatever its length is, and though memory is limited here."""
    stack = ExitStack()
    stack.enter_context(patch.object(json_format, "LARGE", random.choice((0, 2**62))))
    stack.enter_context(patch.object(address_space, "limit", lambda: None))
    return stack


def touch(data: bytes, random: Random, folder: Path) -> str:
    """Read a file and use everything that reading returns; say what came of it."""
    if random.random() < ON_DISK:
        path = folder / f"mutated{random.choice(SUFFIXES)}"
        path.write_bytes(data)
        source = str(path)
    else:
        source = "-"
    try:
        if random.random() < 0.02:
            assert all(isinstance(line, str) for line in read_lines(source, io.BytesIO(data)))
            return "lines"
        with one_parser(random):
            file = read(source, io.BytesIO(data))
        for entry in file.entries.values():
            use(entry)
        if random.random() < 0.02:
            use(read_entry(source, io.BytesIO(data)))
    except FileError as error:
        return checked(str(error), data)
    return file.format


def checked(told: str, data: bytes) -> str:
    """A message has some lines at most, and no line without end."""
    assert told
    assert len(told) < 2000 + len(data), told
    return "refused"


def use(entry: Entry) -> None:
    """Use everything that is known of an array."""
    values = entry.values
    assert values.dtype.isnative
    if values.dtype == object:
        assert entry.dtype == "text"
        assert all(isinstance(text, str) for text in values)
    else:
        assert values.dtype.kind in "biuf", values.dtype
        np.isfinite(values).all()
    assert entry.labels is None or len(entry.labels) == len(values)
    if values.size and values.ndim and values.dtype != object:  # a single number has no place in its file
        assert entry.place(tuple(size - 1 for size in values.shape))
        entry.written()


def watch(on: bool = True) -> None:
    """Raise Hang after SLOW seconds of work, or six times as many of waiting: the machine may be busy."""
    signal.setitimer(signal.ITIMER_PROF, SLOW if on else 0)
    signal.setitimer(signal.ITIMER_REAL, 6 * SLOW if on else 0)


@contextmanager
def limits(space: int = SPACE) -> Iterator[None]:
    """Make a hang, a flood of memory and a warning exceptions."""

    def stop(number: int, frame: object) -> None:
        raise Hang

    before = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGPROF)}
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + space, before[1]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        watch(False)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def failure() -> tuple[str, str]:
    """Say what was raised, and the innermost place in attncalc that it went through."""
    lines = traceback.format_exc().strip().splitlines()
    return lines[-1][:200], [line.strip() for line in lines if "attncalc/" in line or "fuzz/" in line][-1]


def run(
    count: int, first: int = 0, seconds: float = float("inf"), keep: Path | None = None
) -> tuple[Counter, list[str]]:
    """Read ``count`` mutated files; return how many ended how, and the failures."""
    outcomes: Counter = Counter()
    failures: dict[str, str] = {}  # where it failed → the first number that gave it
    files, until = seeds(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder, limits():
        for number in range(first, first + count):
            random = Random(number)
            data = mutate(random, random.choice(files), files)
            watch()
            try:
                outcomes[touch(data, random, Path(folder))] += 1
            except (Exception, Hang):
                outcomes["FAILED"] += 1
                what, where = failure()
                if where not in failures:
                    failures[where] = f"number {number}: {what}, {where}"
                    if keep is not None:
                        (keep / f"{number}.bin").write_bytes(data)
            if number % 1024 == 0 and time.monotonic() > until:
                break
    return outcomes, list(failures.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    options = parser.parse_args()
    start = time.monotonic()
    outcomes, failures = run(options.count, options.first, options.seconds, options.keep)
    total, spent = sum(outcomes.values()), time.monotonic() - start
    print(f"{total} files in {spent:.0f} s; {dict(outcomes.most_common())}")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    print("\n".join(failures) or "no failure")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
