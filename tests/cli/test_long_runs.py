"""Long computations: the line that says how far they are, Ctrl-C, and threads without threadpoolctl."""

import io
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from attncalc.cli.environment import Environment
from attncalc.cli.progress import progress, time_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


def environment(stderr, **more):
    return Environment(io.BytesIO(), io.BytesIO(), stderr, "utf-8", None, {}, **more)


def told(env, *moments):
    """What is written when the clock stands at these seconds while these shares are told."""
    times = iter([0.0, *(second for second, _ in moments)])
    with progress(env, lambda: next(times)) as tell:
        for _, share in moments:
            tell(share)
        return env.stderr.getvalue()


def test_the_time_left_is_told_when_it_will_take_long():
    env = environment(Terminal())
    assert told(env, (0.1, 0.01), (1.0, 0.1), (1.1, 0.15), (2.0, 0.5)) == (
        "\r\x1b[Kattncalc: 10%, 9 s left\r\x1b[Kattncalc: 50%, 2 s left"
    )
    assert env.stderr.getvalue().endswith("left\r\x1b[K")


def test_nothing_is_told_about_two_seconds_or_where_nobody_looks():
    assert told(environment(Terminal()), (0.6, 0.5), (1.1, 0.9)) == ""
    assert told(environment(io.StringIO()), (5.0, 0.5)) == ""
    assert told(environment(Terminal(), quiet=True), (5.0, 0.5)) == ""


def test_times_as_one_says_them():
    assert [time_text(n) for n in (0.4, 59.4, 61, 3599, 7500)] == [
        "0 s",
        "59 s",
        "1 min 1 s",
        "59 min 59 s",
        "2 h 5 min",
    ]


@pytest.fixture
def long_run(tmp_path):
    """Give the command line of about a minute of work."""
    x = np.random.default_rng(0).normal(size=(2**16, 4))
    np.save(tmp_path / "x.npy", x)
    file = str(tmp_path / "x.npy")
    return [sys.executable, "-m", "attncalc", "compute", file, file, file, "-o", str(tmp_path / "out.npy")]


def test_control_c_leaves_nothing_behind(long_run, tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(long_run, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"left" not in seen:
        seen += os.read(ours, 1000)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.wait(timeout=30) == 130
    assert time.monotonic() - start < 5  # less than one, where nothing else runs
    assert os.listdir(tmp_path) == ["x.npy"]
    os.close(ours)


WITHOUT = """
import os, sys
sys.modules["threadpoolctl"] = None
import importlib.util
importlib.util.find_spec = lambda name: None
sys.argv = ["attncalc", *{arguments!r}]
from attncalc.cli.app import main
try:
    main()
finally:
    from attncalc.core import threads
    with threads.one_thread_each() as workers:
        print(workers, threads.cores(), os.environ["OPENBLAS_NUM_THREADS"], file=sys.stderr)
"""


def test_without_threadpoolctl_the_library_is_held_before_it_loads(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 32))
    np.save(tmp_path / "x.npy", x)
    arguments = ["compute", *[str(tmp_path / "x.npy")] * 3, "-o", str(tmp_path / "out.npy")]
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    program = WITHOUT.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], env=clean, capture_output=True, text=True, check=True)
    workers, cores, variable = done.stderr.split()
    assert (workers, variable) == (cores, "1")
    assert np.load(tmp_path / "out.npy").shape == (300, 32)
