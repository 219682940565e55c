"""What only a real process shows: pipes, devices, signals, exit codes."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ATTNCALC = [sys.executable, "-m", "attncalc"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color"}


def start(*arguments: str, **more) -> subprocess.Popen:
    more = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "stdin": subprocess.DEVNULL,
        "env": ENVIRONMENT,
    } | more
    return subprocess.Popen([*ATTNCALC, *arguments], **more)


def large(folder: Path) -> str:
    import numpy as np

    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(400, 2)))
    return str(folder / "x.npy")


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_a_closed_pipe_ends_quietly_with_141(tmp_path, format):
    x = large(tmp_path)
    process = start("compute", x, x, x, "--show", "weights", "--format", format)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_help_into_a_closed_pipe_is_quiet_too():
    read, write = os.pipe()
    os.close(read)
    process = start("--help", stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "gbk", "ascii", "koi8-r"])
@pytest.mark.parametrize("command", [(), ("compute",), ("check",), ("scaling",)])
def test_help_in_every_encoding(command, encoding):
    process = start(*command, "--help", stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": encoding})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert "Usage: attncalc" in out.decode(encoding)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("more", [(), ("-o", "/dev/full", "--format", "json")])
def test_a_full_disk_is_74(more):
    with open("/dev/full", "wb") as full:
        process = start("compute", "--example", "textbook", *more, stdout=full)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 74
    assert err.startswith(b"attncalc: error: the result could not be written")
    assert err.count(b"\n") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_with_their_code_and_leave_no_file(tmp_path, number, code):
    os.mkfifo(tmp_path / "q")  # nobody writes: attncalc waits
    process = start("compute", str(tmp_path / "q"), "k.json", "v.json", "-o", str(tmp_path / "out.json"))
    time.sleep(1.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["q"]


def test_a_pipe_is_read_like_a_file():
    command = (
        f"{sys.executable} -m attncalc compute <(echo '[[1,0]]') <(echo '1,0') <(echo 7) --show output --format csv"
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, env=ENVIRONMENT, timeout=30, text=True, check=True
    )
    assert float(done.stdout) == 7


def test_a_terminal_gets_colour_and_its_own_width():
    source, sink = pty.openpty()
    process = start("compute", "--example", "textbook", "--causal", stdout=sink)
    os.close(sink)
    process.wait(30)
    process.stderr.close()
    text = os.read(source, 65536).decode()
    os.close(source)
    assert "\x1b[" in text
    assert "0.3302" in text


def test_a_fault_of_our_own_is_70_and_a_traceback_on_request(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import attncalc.core.prepare as module\n"
        "def broken(**given):\n    raise ZeroDivisionError('surprise')\n"
        "module.prepare = broken\n"
    )
    env = ENVIRONMENT | {"PYTHONPATH": str(tmp_path)}
    process = start("compute", "--example", "textbook", env=env)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 70
    assert err.startswith(b"attncalc: error: a fault of attncalc itself (ZeroDivisionError: surprise)")
    assert b"ATTNCALC_DEBUG=1" in err
    process = start("compute", "--example", "textbook", env=env | {"ATTNCALC_DEBUG": "1"})
    _, err = process.communicate(timeout=30)
    assert b"Traceback" in err
    assert process.returncode == 70
