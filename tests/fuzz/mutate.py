"""Small damages to bytes: what a torn download, a careless script or somebody hostile would do to a file."""

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from random import Random

NUMBER = re.compile(rb"[+-]?\d[\d.]*(?:[eE][+-]?\d+)?")
NUMBERS = (
    b"0", b"-0", b"-1", b"1", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967296", b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551616", b"1" * 400, b"1" * 4301, b"1e400", b"-1e400", b"1e-400", b"NaN",
    b"Infinity", b"-Infinity", b"nan", b"-inf", b"1.", b".5", b"1_0", b"0x10", b"1e", b"1d5", b"true", b"null", b"None",
)  # fmt: skip
TOKENS = (
    b"[", b"]", b"{", b"}", b"[[", b"]]", b",", b";", b"\t", b" ", b":", b'"', b'""', b"'", b"\\", b"\\u0000",
    b"\\ud800", b"\n", b"\r", b"\r\n", b"\0", b"\x1b[2J", b"\x0b", b"\x0c", b"\x1c", b"\xff", b"\xfe\xff",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x88\x92", b"\xd9\xa3", b"\xc2\xa0", b"\xe2\x80\xa8", b"#", b"//", b"%",
    b"sep=,", b"sep=;", b"query,", b"batch,", b"head,", b"lse", b"Unnamed: 0,", b'"shape": [', b'"data": ',
    b'"schema": "attncalc.compute/1",', b"[]", b"{}", b"[null]", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06",
    b"\x93NUMPY\x01\x00", b"\x1f\x8b\x08", b"\x80\x04\x95", b".npy", b"'descr': '<U0'", b"'descr': '|V0'",
    b"'descr': '<M8[ns]'", b"'descr': '|O'", b"'descr': [('a', '<f8')]", b"'<f8'", b"'fortran_order': True",
    b"'shape': (-1,)", b"'shape': (2**9,)", b"'shape': ()", b"'shape': (0, 3)", b"(3, 2)", b'"dtype":"BF16"',
    b'"dtype":"F64"', b'"data_offsets":[0,8]', b"[" * 600, b"(" * 300, b"-" * 2000, b"," * 300,
)  # fmt: skip

Mutation = Callable[[Random, bytearray], None]


def _place(random: Random, data: bytearray) -> int:
    return random.randrange(len(data) + 1)


def flip_bit(random: Random, data: bytearray) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def set_byte(random: Random, data: bytearray) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice((*b'\0\1\t\n\r ",;\x7f\x80\xff', random.randrange(256)))


def delete(random: Random, data: bytearray) -> None:
    at = _place(random, data)
    del data[at : at + random.choice((1, 2, 8, 64))]


def truncate(random: Random, data: bytearray) -> None:
    del data[_place(random, data) :]


def repeat(random: Random, data: bytearray) -> None:
    at = _place(random, data)
    data[at:at] = bytes(data[at : at + random.choice((1, 4, 16, 256))]) * random.choice((1, 1, 2, 40))


def insert_token(random: Random, data: bytearray) -> None:
    at = _place(random, data)
    data[at:at] = random.choice(TOKENS)


def overwrite_token(random: Random, data: bytearray) -> None:
    at, token = _place(random, data), random.choice(TOKENS)
    data[at : at + len(token)] = token


def change_number(random: Random, data: bytearray) -> None:
    found = list(NUMBER.finditer(data[:LOOKED_AT]))
    if found:
        start, end = random.choice(found).span()
        data[start:end] = random.choice(NUMBERS)


def change_length(random: Random, data: bytearray) -> None:
    """Overwrite four or eight bytes with a number: lengths and offsets of binary formats."""
    size = random.choice((2, 4, 8))
    number = random.choice((0, 1, 7, 255, 65535, 2**31 - 1, 2**31, 2**63 - 1, 2**64 - 1))
    at = random.choice((0, 8, _place(random, data)))
    data[at : at + size] = (number % 256**size).to_bytes(size, "little")


LOOKED_AT = 1500
MUTATIONS: tuple[Mutation, ...] = (
    flip_bit,
    set_byte,
    delete,
    truncate,
    repeat,
    insert_token,
    overwrite_token,
    change_number,
    change_number,
    change_length,
)


def mutate(random: Random, seed: bytes, others: tuple[bytes, ...]) -> bytes:
    """Return a damaged copy.  What is packed is unpacked first as often as not, so that the damage gets inside."""
    if seed.startswith(b"\x1f\x8b") and random.random() < 0.5:
        try:
            inside = gzip.decompress(seed)
        except (OSError, EOFError):
            inside = seed
        return gzip.compress(_damaged(random, inside, others), 1, mtime=0)
    if seed.startswith(b"PK\x03\x04") and random.random() < 0.6:
        packed = _damaged_member(random, seed, others)
        if packed is not None:
            return packed
    return _damaged(random, seed, others)


def _damaged(random: Random, seed: bytes, others: tuple[bytes, ...]) -> bytes:
    data = bytearray(seed)
    if random.random() < 0.05:
        other = random.choice(others)
        data[_place(random, data) :] = other[random.randrange(len(other) + 1) :]
    if seed.startswith(b"\x93NUMPY") and random.random() < 0.6:
        return _damaged_header(random, bytes(data))
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        random.choice(MUTATIONS)(random, data)
    return bytes(data)


def _damaged_header(random: Random, data: bytes) -> bytes:
    """Damage the dictionary of an npy file and keep its length right, so that it is read at all."""
    end = 10 + int.from_bytes(data[8:10], "little") if data[6:7] == b"\1" else 12 + int.from_bytes(data[8:12], "little")
    start = 10 if data[6:7] == b"\1" else 12
    said = bytearray(data[start:end].rstrip())
    for _ in range(random.choice((1, 1, 2))):
        random.choice(MUTATIONS)(random, said)
    return data[:8] + min(len(said), 65535).to_bytes(start - 8, "little") + bytes(said) + data[end:]


def _damaged_member(random: Random, seed: bytes, others: tuple[bytes, ...]) -> bytes | None:
    """Damage one array of an archive and pack it again, with a check sum that is right."""
    try:
        with zipfile.ZipFile(io.BytesIO(seed)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError):
        return None
    if not members:
        return None
    chosen = random.choice(list(members))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), _damaged(random, content, others) if name == chosen else content)
    return file.getvalue()
