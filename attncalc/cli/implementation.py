"""Someone's implementation, in a process of its own: a Python function, or a command."""

import contextlib
import json
import os
import queue
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, Any

import attncalc
from attncalc.core.shapes import Array
from attncalc.errors import AttnCalcError, FileError, OptionError, shape_text
from attncalc.files.numpy_format import is_npy, is_npz, read_npy, read_npz
from attncalc.files.origin import open_source

STARTING = 120.0
"""Seconds within which a module must be imported."""

LONGEST_WORDS = 300
"""How many characters of an implementation's own words are repeated."""

LARGEST_ANSWER = 2**26
"""How many bytes an answer may have; right ones have some thousand."""


class Failed(Exception):  # noqa: N818  # a finding, no error of ours
    """The implementation gave no answer: its own words, or what became of it."""


class PythonFunction:
    """A function in a child process, which is started again after a crash or a time-out.

    Args:
        name: MODULE:FUNCTION; the current folder is first on the path.
        timeout: seconds for each call.
    """

    def __init__(self, name: str, timeout: float) -> None:
        self.name = name
        self.timeout = timeout
        self.parameters: list[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.Queue[str | None] = queue.Queue()
        self._start()

    def __call__(self, source: str, target: str) -> tuple[Array, str]:
        """Call it on an npz; return its answer and the type of that.

        Raises:
            Failed: no answer.
        """
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it may have died; the reply says so
            process.stdin.write(json.dumps({"input": source, "output": target}) + "\n")
            process.stdin.flush()
        reply = self._reply(self.timeout)
        if error := reply.get("error"):
            raise Failed(_cut(str(error)))
        return _load(target), str(reply["dtype"])

    def close(self) -> None:
        """End the child."""
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)

    def _start(self) -> None:
        replies: queue.Queue[str | None] = queue.Queue()
        self._replies = replies
        self._process = process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "attncalc.cli.worker",
                self.name,
            ],  # -P: no file of theirs hides a module of ours
            env=_finding_us(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

        def read(stream: IO[str]) -> None:
            for line in stream:
                replies.put(line)
            replies.put(None)

        assert process.stdout is not None
        threading.Thread(target=read, args=(process.stdout,), daemon=True).start()
        try:
            hello = self._reply(STARTING)
        except Failed as error:
            raise AttnCalcError(f"{self.name} cannot be imported: {error}") from error
        if refused := hello.get("refused"):
            self.close()
            raise OptionError(str(refused), hint=hello.get("hint"))
        self.parameters = hello["parameters"]

    def _reply(self, timeout: float) -> dict[str, Any]:
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise Failed(f"no answer within {timeout:g} seconds") from None
        if line is None:
            assert self._process is not None
            ending = _ending(self._process.wait())
            self.close()
            raise Failed(f"the process {ending}")
        reply: dict[str, Any] = json.loads(line)
        return reply


def _finding_us() -> dict[str, str]:
    """Return the environment in which a child finds this very attncalc."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(attncalc.__file__)))
    paths = [ours, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Command:
    """A command that reads an npz and writes an npy.

    Args:
        words: the command line, with {input} and {output} where the file names go.
        timeout: seconds for each call.
    """

    parameters = None

    def __init__(self, words: Sequence[str], timeout: float) -> None:
        if not any("{output}" in word for word in words) or not any("{input}" in word for word in words):
            raise OptionError(
                "the command must say where its files go", hint="attncalc verify -- ./my_attention {input} {output}"
            )
        self.words = tuple(words)
        self.timeout = timeout

    def __call__(self, source: str, target: str) -> tuple[Array, str]:
        """Run it on an npz; return what it writes and the type of that.

        Raises:
            Failed: no answer.
        """
        words = [word.replace("{input}", source).replace("{output}", target) for word in self.words]
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
                )
            except OSError as error:
                raise OptionError(f"{words[0]} cannot be run: {error.strerror}") from error
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                _kill(process)
                raise Failed(f"no answer within {self.timeout:g} seconds") from None
            except BaseException:
                _kill(process)
                raise
            if code:
                words_of_it = _last_words(said)
                raise Failed(f"it {_ending(code)}" + (f": {words_of_it}" if words_of_it else ""))
        answer = _load(target)
        return answer, answer.dtype.name

    def close(self) -> None:
        """Nothing is left to be ended."""


def _load(target: str) -> Array:
    """Read what was written, whatever it is: a regular npy file, or an npz with one array; nothing in it is run."""
    try:
        found = os.stat(target)
    except OSError:
        raise Failed("it wrote no answer") from None
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "something that is no regular file"
        raise Failed(f"it made {what} where the answer should be")
    if found.st_size == 0:
        raise Failed("it wrote an empty file")
    try:
        origin = open_source(target)
        head = origin.start()
        if is_npz(head):
            entries = read_npz(origin).entries
            if len(entries) != 1:
                raise Failed(f"it wrote an npz with {len(entries)} arrays, not an npy: {_cut(', '.join(entries))}")
            entry = entries[next(iter(entries))]
        elif is_npy(head):
            entry = read_npy(origin).entries[""]
        else:
            raise Failed("what it wrote is not an npy file: it does not begin as one")
    except FileError as error:
        said = error.message.removeprefix(f"{target}:")
        raise Failed(f"what it wrote cannot be read: {_cut(said.strip())}") from None
    except OSError as error:
        raise Failed(f"what it wrote cannot be read: {error.strerror}") from None
    if entry.values.dtype.kind not in "fiub":
        raise Failed(f"it wrote {entry.dtype}, not numbers")
    if entry.values.nbytes > LARGEST_ANSWER:
        raise Failed(f"it wrote an array of {shape_text(entry.values.shape)}, far larger than any answer here")
    return entry.values


def _last_words(said: IO[bytes]) -> str:
    """Return the last line that a command has written, or its end."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - 16 * LONGEST_WORDS))
    lines = said.read().decode(errors="replace").strip().splitlines()
    last = lines[-1].strip() if lines else ""
    return last if len(last) <= LONGEST_WORDS else f"…{last[-LONGEST_WORDS:]}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_WORDS else f"{text[:LONGEST_WORDS]}…"


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _kill(process: "subprocess.Popen[Any]") -> None:
    """End a process that was started here, and what it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _close(stream: IO[Any]) -> None:
    with contextlib.suppress(OSError):
        stream.close()
