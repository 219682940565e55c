"""Bytes → text: gzip, byte-order marks, UTF-8 and UTF-16.  Line ends stay as they are."""

import codecs
import io

from attncalc.errors import FileError
from attncalc.files.limits import TEXT, unpacked_most, unpacked_too_large
from attncalc.files.signatures import refuse_binary

GZIP = b"\x1f\x8b"
UTF_32 = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"))
UTF_16 = ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"))


def decompress(data: bytes, source: str) -> bytes:
    """Return what a gzip file holds, or the bytes themselves when they are not gzip."""
    if not data.startswith(GZIP):
        return data
    import gzip
    import zlib

    most = unpacked_most(len(data), TEXT)
    try:
        with gzip.open(io.BytesIO(data)) as file:
            unpacked = file.read(most + 1)
    except EOFError:
        raise FileError(f"{source}: is cut off: the gzip data end too early") from None
    except (OSError, zlib.error):
        raise FileError(f"{source}: is damaged: the gzip data cannot be decompressed") from None
    if len(unpacked) > most:
        raise unpacked_too_large(source, len(data), TEXT, "gunzip it first, if it is meant to be so large")
    return unpacked


def decode(data: bytes, source: str) -> tuple[str, tuple[str, ...]]:
    """Return the text and the notes about its encoding."""
    for mark, name in (*UTF_32, *UTF_16):
        if data.startswith(mark):
            return _decode_as(data, name, source), (f"{source}: read as {name}",)
    for name in ("UTF-16-LE", "UTF-16-BE"):
        if _looks_like(data, name):
            return _decode_as(data, name, source), (f"{source}: read as {name}; it has no byte-order mark",)
    text = _decode_as(data, "UTF-8", source).removeprefix("\ufeff")
    if "\0" in text:
        line = _line_of(text.encode(), text.encode().index(0))
        raise FileError(f"{source}: line {line} holds a NUL byte, which no text file does")
    return text, ()


def _looks_like(data: bytes, name: str) -> bool:
    """Whether the first characters are ASCII in UTF-16: every second byte is zero, the others are not."""
    low, high = (0, 1) if name.endswith("LE") else (1, 0)
    start = data[:64]
    return len(start) >= 4 and not any(start[high::2]) and all(start[low::2])


def _decode_as(data: bytes, encoding: str, source: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "UTF-8":
            raise FileError(f"{source}: is cut off or damaged: it begins as {encoding} and does not go on so") from None
        refuse_binary(data, source)
        raise FileError(
            f"{source}: line {_line_of(data, error.start)} is not UTF-8 (byte 0x{data[error.start]:02X})",
            hint="save the file as UTF-8; spreadsheets call it “CSV UTF-8”",
        ) from None


def _line_of(data: bytes, position: int) -> int:
    before = data[:position].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1
