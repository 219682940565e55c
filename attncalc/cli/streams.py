"""Standard streams as they really are: perhaps closed, full, or a pipe that takes a little at a time."""

import errno
import io
import os
import select
import sys
from typing import BinaryIO


class Output(io.RawIOBase):
    """A file descriptor that takes all bytes or raises an OSError; Python's own takes what fits, when unbuffered."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write all of it."""
        rest = memoryview(data).cast("B")
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:  # a pipe that somebody made non-blocking is full
                select.select([], [self._descriptor], [])
        return memoryview(data).nbytes


class Closed(io.RawIOBase):
    """Standard output that whoever started us has closed: it takes nothing, and says so."""

    def writable(self) -> bool:
        """Say yes, so that writing fails as on a closed descriptor."""
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Raise the error of a closed descriptor."""
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def hold_closed_descriptors() -> None:
    """Give standard streams that are closed a place, so that no file that is opened later is taken for them."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(Closed(), encoding="utf-8", write_through=True)


def standard_input() -> BinaryIO:
    """Return standard input as bytes; one that is closed is empty."""
    return io.BytesIO() if sys.stdin is None else sys.stdin.buffer


def standard_output() -> BinaryIO:
    """Return standard output as bytes."""
    try:
        return Output(sys.stdout.fileno())  # type: ignore[return-value]
    except OSError:
        return Closed()  # type: ignore[return-value]
