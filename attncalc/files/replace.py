"""A file is replaced whole or not at all."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from attncalc.errors import FileError

DEVICES = ("/dev/", "/proc/")  # /dev/stdout may lead to a regular file, which the shell holds open


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Open ``path`` for writing bytes; what stood there is replaced when the block ends well.

    A link is followed to its target.  The mode of a file that exists is kept.  Devices and pipes cannot be
    replaced and are written to.  Opening may raise FileError; a full disk or a closed device is an OSError.
    """
    mode = _mode(path)
    target = os.path.realpath(path)
    if mode is not None and (not stat.S_ISREG(mode) or path.startswith(DEVICES)):
        with _opened(path, os.O_WRONLY) as file:
            yield file
        return
    temporary = os.path.join(os.path.dirname(target), f".attncalc-{os.urandom(8).hex()}")
    file = _opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, temporary, 0o666 if mode is None else 0o600)
    try:
        with file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(path: str) -> int | None:
    """Return the mode of what stands at a path, or None; raise what forbids to write there."""
    try:
        # The path itself, not its target: /dev/stdout leads to a pipe that has no name to be resolved.
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if not os.path.basename(path):
            raise FileError(f"{path}: cannot be written: it names no file") from None
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileError(
                f"{path}: cannot be written: there is no folder {os.path.dirname(path) or folder}"
            ) from None
        return None
    except (OSError, ValueError) as error:
        raise _refused(path, error) from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{path}: is a folder; a file is needed")
    if not os.access(path, os.W_OK):
        raise FileError(f"{path}: may not be written (permission denied)")
    return mode


def _opened(path: str, flags: int, name: str | None = None, mode: int = 0o666) -> BinaryIO:
    try:
        return os.fdopen(os.open(path if name is None else name, flags | getattr(os, "O_BINARY", 0), mode), "wb")
    except OSError as error:
        raise _refused(path, error) from None


def _refused(path: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or error
    return FileError(f"{path}: cannot be written ({str(reason).lower()})")
