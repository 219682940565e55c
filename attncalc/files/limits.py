"""How much is read: of what has no end, and of what is packed much smaller than it is."""

import select
from io import RawIOBase
from typing import BinaryIO

from attncalc.errors import FileError

BLOCK = 1 << 20  # bytes that are read at a time
PIPE = 1 << 30  # bytes of a pipe; more than twice as much memory would be needed
DEVICE = 1 << 24  # bytes of a device, such as /dev/zero, which may never end
PACKED = 1 << 25  # bytes that any packed file may unpack to,
RATIO = 50  # and beyond that, how many times its own size


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


def unpacked_most(size: int) -> int:
    """Return how many bytes a packed file of ``size`` bytes may unpack to."""
    return max(PACKED, RATIO * size)


def unpacked_too_large(source: str, size: int, hint: str) -> FileError:
    """Return the error about a file that unpacks to more."""
    return FileError(
        f"{source}: unpacks to more than {unpacked_most(size) >> 20} MiB, which is suspicious for {size} bytes",
        hint=hint,
    )
