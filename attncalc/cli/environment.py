"""What a command runs in: streams, width, colour, and how messages and results leave it."""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import BinaryIO, TextIO

from attncalc.cli.streams import hold_closed_descriptors, standard_input, standard_output
from attncalc.errors import AttnCalcError, aligned


class ExitStatus(IntEnum):
    """What the exit code says."""

    DONE = 0  # also: the answer agrees, the implementation passed
    FOUND = 1  # check, verify, audit or probe found what they look for
    MISUSED = 2  # wrong use, or input that cannot be used
    FAULT = 70  # a fault of attncalc itself (EX_SOFTWARE)
    NOT_WRITTEN = 74  # the result could not be written (EX_IOERR)
    INTERRUPTED = 130  # 128 + SIGINT
    CLOSED_PIPE = 141  # 128 + SIGPIPE
    TERMINATED = 143  # 128 + SIGTERM


class ClosedPipe(Exception):  # noqa: N818  # not an error: whoever read our output has seen enough
    """Nobody reads standard output any more."""


class NotWritten(Exception):  # noqa: N818
    """Standard output does not take the result: a full disk, a closed device."""


Writer = Callable[[BinaryIO], None]
"""Writes a result, perhaps a long one, into an open file or pipe."""


@dataclass(frozen=True)
class Environment:
    """Streams and habits of the surroundings; tests hand in their own.

    Attributes:
        stdin: standard input, as bytes.
        stdout: standard output, as bytes.
        stderr: standard error.
        encoding: of text on standard output.
        width: columns of the terminal that standard output is, or None where it is none.
        variables: environment variables.
        quiet: no notes.
        strict: notes are errors.
        seen: notes that have been written, so that none is written twice.
    """

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: TextIO
    encoding: str
    width: int | None
    variables: Mapping[str, str]
    quiet: bool = False
    strict: bool = False
    seen: set[str] = field(default_factory=set)

    @classmethod
    def of_process(cls) -> "Environment":
        """Return the environment of this process."""
        hold_closed_descriptors()
        terminal = sys.stdout.isatty()
        return cls(
            stdin=standard_input(),
            stdout=standard_output(),
            stderr=io.StringIO() if sys.stderr is None else sys.stderr,
            encoding=sys.stdout.encoding or "ascii",
            width=shutil.get_terminal_size().columns if terminal else None,
            variables=os.environ,
        )

    def with_manners(self, *, quiet: bool, strict: bool) -> "Environment":
        """Return the same environment for a command that was told how to treat notes."""
        return replace(self, quiet=quiet, strict=strict)

    def colored(self, choice: str) -> bool:
        """Decide whether a table is coloured: NO_COLOR wins over FORCE_COLOR, and the option beats both.

        Args:
            choice: ``auto``, ``always`` or ``never``.
        """
        if choice != "auto":
            return choice == "always"
        if self.variables.get("NO_COLOR"):
            return False
        if self.variables.get("FORCE_COLOR", "0") not in ("", "0"):
            return True
        return self.width is not None and self.variables.get("TERM", "unknown") not in ("", "dumb")

    def note(self, text: str) -> None:
        """Tell the user something worth knowing; under --strict that is an error."""
        if self.strict:
            raise AttnCalcError(text, hint="without --strict this is a note")
        if not self.quiet and text not in self.seen:
            self.seen.add(text)
            self.message("note", text)

    def error(self, error: AttnCalcError) -> None:
        """Write an error: the fact, what shows it, and the remedy."""
        lines = aligned(error.facts)
        if error.hint:
            lines.append(f"  hint: {error.hint}")
        self.message("error", error.message, lines)

    def message(self, kind: str, text: str, lines: list[str] | None = None) -> None:
        """Write ``attncalc: KIND: TEXT`` and the lines below it to standard error."""
        from attncalc.show.charset import for_encoding  # the layer loads numpy
        from attncalc.show.labels import clean

        written = "\n".join(clean(line) for line in (f"attncalc: {kind}: {text}", *(lines or ())))
        encoding = getattr(self.stderr, "encoding", None) or "ascii"
        with suppress(OSError):  # where nobody can be told, the exit code has to do
            self.stderr.write(for_encoding(written, encoding) + "\n")
            self.stderr.flush()

    def write(self, result: str | bytes | Writer) -> None:
        """Write a result to standard output.

        Raises:
            ClosedPipe: the reader has gone.
            NotWritten: the device does not take it.
        """
        if isinstance(result, str):
            result = result.encode(self.encoding, "backslashreplace")
        try:
            if isinstance(result, bytes):
                self.stdout.write(result)
            else:
                result(self.stdout)
            self.stdout.flush()
        except BrokenPipeError:
            raise ClosedPipe from None
        except OSError as error:
            raise NotWritten(error.strerror or str(error)) from error

    @contextmanager
    def writing(self, path: str) -> Iterator[None]:
        """Tell a device that does not take the result from a file that cannot be opened, which is misuse.

        Raises:
            NotWritten: the disk is full, or the device is closed.
        """
        try:
            yield
        except BrokenPipeError:
            raise ClosedPipe from None
        except OSError as error:
            raise NotWritten(f"{path}: {error.strerror or error}") from error
