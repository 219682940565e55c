"""Bytes → text: gzip, byte-order marks, encodings."""

import gzip
import io

import pytest

from attncalc.errors import FileError
from attncalc.files import read_entry
from attncalc.files.text import decode, decompress


def entry(data):
    return read_entry("-", io.BytesIO(data))


@pytest.mark.parametrize(
    ("encoding", "notes"),
    [
        ("utf-8", ()),
        ("utf-8-sig", ()),
        ("utf-16", ("q: read as UTF-16",)),
        ("utf-32", ("q: read as UTF-32",)),
        ("utf-16-le", ("q: read as UTF-16-LE; it has no byte-order mark",)),
        ("utf-16-be", ("q: read as UTF-16-BE; it has no byte-order mark",)),
    ],
)
@pytest.mark.parametrize("text", ["1.5,2\r\n3,-4\r\n", "[[1.5, 2], [3, -4]]"])
def test_encodings(encoding, notes, text):
    data = text.encode(encoding)
    assert decode(data, "q") == (text, notes)
    assert entry(data).values.tolist() == [[1.5, 2], [3, -4]]
    assert entry(gzip.compress(data, mtime=0)).values.tolist() == [[1.5, 2], [3, -4]]


def test_the_other_byte_order():
    assert decode(b"\xfe\xff\x001\x00\n", "q") == ("1\n", ("q: read as UTF-16",))


def test_gzip_in_several_members():
    assert decompress(gzip.compress(b"1,2\n", mtime=0) + gzip.compress(b"3,4\n"), "q") == b"1,2\n3,4\n"


WHOLE = gzip.compress(b"1,2\n" * 100, mtime=0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (WHOLE[:-12], "-: is cut off: the gzip data end too early"),
        (WHOLE[:5], "-: is cut off: the gzip data end too early"),
        (WHOLE[:15] + b"\xff\xff\xff" + WHOLE[18:], "-: is damaged: the gzip data cannot be decompressed"),
        (WHOLE[:-8] + b"\0" * 8, "-: is damaged: the gzip data cannot be decompressed"),
        (gzip.compress(WHOLE, mtime=0), "-: is a gzip file inside a gzip file"),
        (gzip.compress(b"", mtime=0), "-: is empty"),
        ("café,1\n".encode("latin-1"), r"-: line 1 is not UTF-8 \(byte 0xE9\)\n  hint: save the file as UTF-8"),
        ("a,1\r\nb,2\r\nn\u00ba,1\n".encode("latin-1"), r"-: line 3 is not UTF-8 \(byte 0xBA\)"),
        ("a\rb\ré".encode("latin-1"), r"-: line 3 is not UTF-8"),
        (b"1,2\n3,\0\n", "-: line 2 holds a NUL byte, which no text file does"),
        (b"\xff\xfe1\0,", "-: is cut off or damaged: it begins as UTF-16 and does not go on so"),
        (bytes(range(128, 140)) + b"\x01\x02", "-: is neither text nor a file of a known kind"),
    ],
)
def test_faults(data, message):
    with pytest.raises(FileError, match=message):
        entry(data)


@pytest.mark.parametrize("zero", ["0e" + "1" * 5000, "0e-99999", "7e-" + "9" * 4301, "0D" + "1" * 10_000])
def test_a_zero_with_an_absurd_exponent_measures_nothing(zero):
    text = f"{zero},0.25\n1.5,2\n"
    assert read_entry("-", io.BytesIO(text.encode())).written().decimals == 2
