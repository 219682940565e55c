"""What may go wrong around a process, by doing it: disks, folders, signals, memory, closed and full streams."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
ATTNCALC = [sys.executable, "-m", "attncalc"]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONIOENCODING": "utf-8",
    "TERM": "dumb",
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",  # Python itself leaves half a file at a limit, and then cannot import it
}
EXAMPLE = ("compute", "--example", "textbook")

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for what it tests")
root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount or to become somebody else")


def attncalc(*arguments: str, **more) -> subprocess.CompletedProcess:
    more = {
        "capture_output": True,
        "stdin": subprocess.DEVNULL,
        "env": ENVIRONMENT,
        "timeout": 120,
        "text": True,
    } | more
    done = subprocess.run([*ATTNCALC, *arguments], check=False, **more)
    assert b"Traceback" not in (done.stderr if isinstance(done.stderr, bytes) else done.stderr.encode())
    return done


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def limited(kind: int, size: int):
    return lambda: resource.setrlimit(kind, (size, size))


# ── disks and folders ────────────────────────────────────────────────────────────────────────────────────


@linux
@pytest.mark.parametrize("name", ["out.npy", "out.json", "out.csv", "out.npz"])
def test_a_limit_on_the_size_of_files_leaves_the_old_file(tmp_path, name):
    np.save(tmp_path / "x.npy", np.ones((300, 2)))
    (tmp_path / name).write_text("old")
    done = attncalc("compute", "x.npy", "x.npy", "x.npy", "--show", "weights", "-o", name, cwd=tmp_path,
                    preexec_fn=limited(resource.RLIMIT_FSIZE, 20_000))  # fmt: skip
    assert done.returncode == 74
    assert done.stderr == f"attncalc: error: the result could not be written: {name}: File too large\n"
    assert (tmp_path / name).read_text() == "old"
    assert left_over(tmp_path) == sorted(["x.npy", name])


@linux
@root
def test_a_full_disk_leaves_the_old_file(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        np.save(tmp_path / "x.npy", np.ones((300, 2)))
        (disk / "out.npy").write_text("old")
        x = str(tmp_path / "x.npy")
        for format in ("npy", "html"):
            done = attncalc("compute", x, x, x, "--show", "weights", "--format", format, "-o", str(disk / "out.npy"))
            assert done.returncode == 74
            assert "No space left on device" in done.stderr
            assert done.stderr.count("\n") == 1
            assert (disk / "out.npy").read_text() == "old"
            assert left_over(disk) == ["out.npy"]
        done = attncalc("vectors", str(disk / "vectors"))
        assert done.returncode == 74, done
        assert done.stderr.count("\n") == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_does_not_exist(tmp_path):
    done = attncalc(*EXAMPLE, "-o", "no/such/out.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "attncalc: error: no/such/out.json: cannot be written: there is no folder no/such\n"


@linux
@root
@pytest.mark.parametrize("existing", [False, True])
def test_a_folder_that_may_not_be_written_to(tmp_path, existing):
    folder = tmp_path / "locked"
    folder.mkdir()
    if existing:
        (folder / "out.json").write_text("old")
    folder.chmod(0o555)
    done = powerless(*EXAMPLE, "-o", str(folder / "out.json"))
    assert done.returncode == 2, done
    assert "permission denied" in done.stderr
    assert done.stderr.count("\n") == 1
    assert left_over(folder) == ["out.json"] * existing


@linux
@root
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "q.json").write_text("[[1]]")
    (tmp_path / "q.json").chmod(0)
    done = powerless("compute", *3 * [str(tmp_path / "q.json")])
    assert done.returncode == 2
    assert done.stderr == f"attncalc: error: {tmp_path}/q.json: may not be read (permission denied)\n"


def powerless(*arguments: str) -> subprocess.CompletedProcess:
    """Run attncalc as a root that may not do what its files forbid."""
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    line = ["setpriv", "--bounding-set=-all", *ATTNCALC, *arguments]
    return subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False)


def test_files_that_are_written_have_the_mode_that_the_user_wants(tmp_path):
    """A new file has the user's own mode, and nobody can read a secret one while it is written."""
    attncalc(*EXAMPLE, "-o", "new.json", cwd=tmp_path, umask=0o077)
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "old.json").touch(0o640)
    (tmp_path / "old.json").chmod(0o640)
    attncalc(*EXAMPLE, "-o", "old.json", cwd=tmp_path, umask=0)
    assert (tmp_path / "old.json").stat().st_mode & 0o777 == 0o640


# ── signals ──────────────────────────────────────────────────────────────────────────────────────────────


WRITES = """
import sys, numpy
from attncalc.files import replacing, write_npy
array = numpy.full((1000, 500), 2.0)
print("ready", flush=True)
while True:
    with replacing(sys.argv[1]) as file:
        write_npy(file, array)
"""


def kill_writers(folder: Path, kills: int, number: int, seed: int = 0) -> None:
    """Kill a process that writes one file again and again, at random moments; the file is whole after each."""
    chance = random.Random(seed)
    path = folder / "out.npy"
    np.save(path, np.full((3, 4), 1.0))
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", WRITES, path], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(chance.random() * 0.05)
            process.send_signal(number)
            process.wait(60)
        array = np.load(path)
        assert array.shape in ((3, 4), (1000, 500))
        assert array.min() == array.max() == (1 if array.shape == (3, 4) else 2)
        for name in left_over(folder):
            assert name == "out.npy" or name.startswith(".attncalc-")
            if name != "out.npy":
                (folder / name).unlink()


@linux
def test_a_process_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path):
    kill_writers(tmp_path, int(os.environ.get("ATTNCALC_KILLS", "6")), signal.SIGKILL)


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_told_to_end_while_it_writes_leaves_nothing_else(tmp_path, number):
    os.mkfifo(tmp_path / "held")
    program = (
        "import sys, signal; from attncalc.__main__ import _terminated; signal.signal(signal.SIGTERM, _terminated)\n"
        "from attncalc.files import replacing\n"
        "with replacing('out.json') as file:\n    file.write(b'half'); file.flush(); print('ready', flush=True)\n"
        "    open('held').read()\n"
    )
    (tmp_path / "out.json").write_text("old")
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:  # fmt: skip
        assert process.stdout
        process.stdout.readline()
        assert len(left_over(tmp_path)) == 3
        process.send_signal(number)
        assert process.wait(60) in (143, -signal.SIGINT, 1)
    assert (tmp_path / "out.json").read_text() == "old"
    assert left_over(tmp_path) == ["held", "out.json"]


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────


@linux
@pytest.mark.parametrize("megabytes", [100, 155, 170, 260])
def test_little_memory_is_one_line(tmp_path, megabytes):
    np.save(tmp_path / "x.npy", np.ones((3000, 64)))
    done = attncalc("compute", "x.npy", "x.npy", "x.npy", "--show", "scores", "-o", "out.npy", cwd=tmp_path,
                    preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("attncalc: error: there is not enough memory")
    assert done.stderr.count("\n") == 1
    assert left_over(tmp_path) == ["x.npy"]


@linux
@pytest.mark.parametrize("megabytes", [170, 200, 280, 400, 700])
def test_with_some_memory_fewer_threads_compute(tmp_path, megabytes):
    np.save(tmp_path / "x.npy", np.ones((6000, 64)))
    done = attncalc("compute", "x.npy", "x.npy", "x.npy", "--show", "output", "-o", "out.npy", cwd=tmp_path,
                    preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert np.allclose(np.load(tmp_path / "out.npy"), 1, rtol=1e-14)


@linux
@pytest.mark.parametrize("megabytes", [150, 162, 168, 174, 300])
def test_large_json_with_little_memory(tmp_path, megabytes):
    rows = np.random.default_rng(5).standard_normal((2500, 30)).tolist()
    (tmp_path / "all.json").write_text(json.dumps({"q": rows, "k": rows, "v": rows}))
    done = attncalc("compute", "all.json", "--show", "output", "-o", "out.npy", cwd=tmp_path,
                    preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))  # fmt: skip
    assert done.returncode in (0, 2)
    assert done.stderr.count("\n") == (done.returncode == 2)


@linux
def test_an_endless_device_or_pipe_is_refused_soon():
    pipe = f"{sys.executable} -m attncalc compute - k.json v.json"
    for line in ([*ATTNCALC, "compute", *3 * ["/dev/zero"]], ["sh", "-c", f"{pipe} < /dev/zero"]):
        done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False,
                              preexec_fn=limited(resource.RLIMIT_AS, 2 << 30))  # fmt: skip
        assert done.returncode == 2
        assert "does not end after" in done.stderr


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────


@linux
@pytest.mark.parametrize("command", [EXAMPLE, ("cost",), ("--help",)])
def test_closed_and_full_standard_output(command):
    line = " ".join([*ATTNCALC, *command])
    for redirection, said in (">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device"):
        done = subprocess.run(["sh", "-c", f"{line} {redirection}"], capture_output=True, text=True, env=ENVIRONMENT,
                              timeout=120, check=False)  # fmt: skip
        assert done.returncode == 74
        assert "Traceback" not in done.stderr
        assert said in done.stderr or command[0].startswith("--")
        assert done.stderr.count("\n") <= 1


# ── encodings and terminals ──────────────────────────────────────────────────────────────────────────────


SURROUNDINGS = {
    "C": {"LC_ALL": "C"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
    "dumb": {"TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
    "no home": {"HOME": "/nonexistent", "PYTHONIOENCODING": "ascii"},
    "40 columns": {"COLUMNS": "40", "PYTHONIOENCODING": "cp437"},
}


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_every_surrounding_gets_what_it_can_show(name):
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **SURROUNDINGS[name]}
    codec = {"40 columns": "cp437", "no home": "ascii", "C": "utf-8", "dumb": "utf-8"}.get(name, name)
    done = attncalc("explain", "--causal", "--tokens", "a,你,√", env=env, text=False)
    assert done.returncode == 0
    text = done.stdout.decode(codec)
    assert ("√" if codec in ("utf-8", "cp437") else "sqrt(") in text
    spelled = "\\udce4" if name == "ascii" else "\\u4f60"  # Python takes such arguments byte by byte
    assert ("你" if codec == "utf-8" else spelled) in text
    assert done.stderr == b""
    wrong = attncalc("compute", "你.json", "k", "v", env=env, text=False)
    assert wrong.returncode == 2
    assert wrong.stderr.decode(codec).startswith("attncalc: error: ")


@linux
def test_pictures_need_no_home_and_leave_nothing_behind(tmp_path):
    pytest.importorskip("matplotlib")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": "/nonexistent", "TMPDIR": str(temporary)}
    done = attncalc(*EXAMPLE, "-o", "out.svg", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert left_over(tmp_path) == ["out.svg", "tmp"]
    assert left_over(temporary) == []


def test_windows_line_ends(tmp_path):
    (tmp_path / "q.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n")
    (tmp_path / "q.json").write_bytes(b"[[1,2],\r\n[3,4]]\r\n")
    (tmp_path / "tokens.txt").write_bytes(b"the\r\ncat\r\n")
    done = attncalc("compute", "q.csv", "q.json", "q.json", "--tokens", "tokens.txt", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["key_tokens"] == ["the", "cat"]


# ── what never happens ───────────────────────────────────────────────────────────────────────────────────


@linux
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_network_and_no_other_programs(tmp_path):
    trace = tmp_path / "trace"
    subprocess.run(["strace", "-f", "-e", "trace=network,execve", "-o", trace, *ATTNCALC, *EXAMPLE], check=True,
                   capture_output=True, env=ENVIRONMENT)  # fmt: skip
    calls = [line for line in trace.read_text().splitlines() if "(" in line]
    assert len([line for line in calls if "execve(" in line]) == 1
    assert not [line for line in calls if "AF_INET" in line]
