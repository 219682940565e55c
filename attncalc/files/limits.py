"""How much is read: of what has no end, and of what is packed much smaller than it is."""

import select
from io import RawIOBase
from typing import BinaryIO

from attncalc.errors import FileError

BLOCK = 1 << 20  # bytes that are read at a time
PIPE = 1 << 30  # bytes of a pipe; more than twice as much memory would be needed
DEVICE = 1 << 24  # bytes of a device, such as /dev/zero, which may never end
TEXT = (1 << 22, 20)  # bytes that any packed file may unpack to, and how many times its own size if that is more:
ARRAYS = (1 << 26, 50)  # more for arrays, which take no more memory than they have bytes, and hardly any time


def read_all(stream: BinaryIO | RawIOBase, source: str, most: int = PIPE) -> bytes:
    """Read a pipe or a device to its end, which has to come."""
    data = bytearray()
    while len(data) <= most:
        block = stream.read(BLOCK)
        if block is None:  # nothing yet, from a pipe that somebody made non-blocking
            select.select([stream], [], [])
        elif not block:
            return bytes(data)
        else:
            data += block
    raise FileError(
        f"{source}: does not end after {most >> 20} MiB", hint="save it as a file, if it is meant to be so large"
    )


def unpacked_most(size: int, kind: tuple[int, int]) -> int:
    """Return how many bytes a packed file of ``size`` bytes may unpack to."""
    return max(kind[0], kind[1] * size)


def unpacked_too_large(source: str, size: int, kind: tuple[int, int], hint: str) -> FileError:
    """Return the error about a file that unpacks to more."""
    return FileError(
        f"{source}: unpacks to more than {unpacked_most(size, kind) >> 20} MiB, which is suspicious for {size} bytes",
        hint=hint,
    )
