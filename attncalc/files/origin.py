"""Where bytes come from: a path, a pipe, standard input, or the inside of a gzip file."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from attncalc.errors import FileError
from attncalc.files.limits import DEVICE, PIPE, read_all
from attncalc.suggest import did_you_mean

HEAD = 512  # bytes that tell a format
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


@dataclass(frozen=True)
class Origin:
    """The bytes of one source: in memory, or in a regular file, of which only what is needed is read."""

    source: str  # as the user wrote it
    content: bytes | None = None
    path: str | None = None  # a regular file

    def start(self, size: int = HEAD) -> bytes:
        """Return at most ``size`` first bytes."""
        return self.slice(0, size)

    def slice(self, begin: int, size: int) -> bytes:
        """Return at most ``size`` bytes from ``begin`` on."""
        if self.content is not None:
            return self.content[begin : begin + size]
        with _readable(self.source), open(self._path, "rb") as file:
            file.seek(begin)
            return file.read(size)

    def data(self) -> bytes:
        """Return all bytes."""
        if self.content is not None:
            return self.content
        with _readable(self.source):
            return Path(self._path).read_bytes()

    @property
    def size(self) -> int:
        """The number of bytes."""
        if self.content is not None:
            return len(self.content)
        with _readable(self.source):
            return os.path.getsize(self._path)

    @property
    def _path(self) -> str:
        assert self.path is not None
        return self.path


def open_source(source: str, stdin: BinaryIO | None = None) -> Origin:
    """Find the bytes of ``-`` or of a path; what is not a regular file is read once, to its end."""
    with _readable(source):
        if source == "-":
            return Origin(source, read_all(stdin or sys.stdin.buffer, source))
        kind = os.stat(source).st_mode
        if stat.S_ISDIR(kind):
            raise FileError(f"{source}: is a folder, not a file")
        with open(source, "rb") as file:
            if stat.S_ISREG(kind) and not source.startswith("/dev/") and os.fstat(file.fileno()).st_size:
                return Origin(source, path=source)
            most = DEVICE if stat.S_ISCHR(kind) and not file.isatty() else PIPE
            return Origin(source, read_all(file, source, most))


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Say what the system said against reading."""
    try:
        yield
    except FileError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(source) from None
    except PermissionError:
        raise FileError(f"{source}: may not be read (permission denied)") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{source}: cannot be read ({str(reason).lower()})") from None


def _missing(source: str) -> FileError:
    """Return the error about a file that is not there."""
    if ADDRESS.match(source):
        return FileError(
            f"{source}: is an address; files are read", hint="download it, or pipe it: curl … | attncalc … -"
        )
    if os.path.islink(source):
        return FileError(f"{source}: is a link to {os.readlink(source)}, which does not exist")
    return FileError(f"{source}: no such file", hint=_similar(source))


def _similar(source: str) -> str | None:
    """Suggest a file of the same folder with a similar name, or say that the folder does not exist."""
    folder, name = os.path.split(source)
    if folder and os.path.exists(folder) and not os.path.isdir(folder):
        return f"{folder} is a file, not a folder"
    if folder and not os.path.isdir(folder):
        return f"there is no folder {folder}"
    try:
        found = did_you_mean(name, os.listdir(folder or "."))
    except OSError:
        return None
    return found and found.replace("did you mean ", f"did you mean {os.path.join(folder, '')}", 1)
