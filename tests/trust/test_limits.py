"""What is read has limits, and a message for each: depth, size, packed size, claims, devices, changes while read."""

import gzip
import io
import json
import os
import struct
import time
import zipfile

import numpy as np
import pytest

from attncalc.errors import FileError
from attncalc.files import read, read_entry
from attncalc.files.limits import TEXT, read_all, unpacked_most
from attncalc.files.origin import Origin

ZEROS = 80 << 20  # bytes, which pack to a thousandth


def refused(data: bytes) -> str:
    """Read what has to be refused, arrays included; return the message."""
    with pytest.raises(FileError) as caught:
        list(read("-", io.BytesIO(data)).entries.values())
    return str(caught.value)


def npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode("latin-1") + data


def claim(descr: str, shape: str, data: bytes = b"") -> bytes:
    return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}", data)


def npz(name: str, data: bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytearray:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr(name, data)
    return bytearray(file.getvalue())


@pytest.mark.parametrize("depth", [40, 500, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"q":[', '{"a":'])
def test_json_that_is_nested_without_end(opening, depth):
    assert "-: " in refused(opening.encode() * depth)
    closing = "".join({"[": "]", "{": "}"}.get(sign, "") for sign in reversed(opening))
    assert "-: " in refused((opening * depth + "1" + closing * depth).encode())


@pytest.mark.parametrize("number", ["1" * 400, "-" + "9" * 5000, "1e999999999", "1" * 100_000])
def test_absurd_numbers(number):
    assert "too large for a 64-bit float" in refused(f"[[1, {number}]]".encode())
    assert "too large for a 64-bit float" in refused(f"1,{number}\n".encode())


def test_a_gzip_bomb_is_not_unpacked():
    bomb = gzip.compress(b"0," * (ZEROS // 2), 1)
    most = unpacked_most(len(bomb), TEXT) >> 20
    assert refused(bomb).splitlines() == [
        f"-: unpacks to more than {most} MiB, which is suspicious for {len(bomb)} bytes",
        "  hint: gunzip it first, if it is meant to be so large",
    ]


def test_what_packs_well_and_is_small_is_read():
    mask = np.tri(1400, dtype=np.uint8)
    text = "\n".join(",".join(map(str, row)) for row in mask.tolist())
    assert len(text) < TEXT[0]
    assert np.array_equal(read_entry("-", io.BytesIO(gzip.compress(text.encode(), 9))).values, mask)
    file = io.BytesIO()
    np.savez_compressed(file, mask=np.tri(4096, dtype=bool))
    file.seek(0)
    assert read_entry("-", file).values.shape == (4096, 4096)


def test_an_npz_bomb_is_not_unpacked():
    bomb = bytes(npz("q.npy", claim("|u1", f"({ZEROS},)", bytes(ZEROS))))
    assert "-: unpacks to more than 64 MiB, which is suspicious" in refused(bomb)


def test_an_archive_that_lies_about_the_size_of_a_member():
    """The size is what is unpacked at most; the check sum then tells."""
    lying = npz("q.npy", claim("|u1", "(100000,)", bytes(100_000)))
    place = lying.rindex(b"PK\x01\x02")
    lying[place + 24 : place + 28] = (200).to_bytes(4, "little")
    assert refused(bytes(lying)) == "-:q: is damaged: the archive does not give it back"


@pytest.mark.parametrize(("at", "value"), [(6, 255), (10, 99), (42, 0xFFF0)])
def test_an_archive_whose_directory_is_wrong(at, value):
    archive = npz("q.npy", claim("<f8", "(1,)", bytes(8)))
    place = archive.rindex(b"PK\x01\x02")
    archive[place + at : place + at + 2] = value.to_bytes(2, "little")
    assert "damaged" in refused(bytes(archive))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            claim("<f8", "(3000000000000, 3000000000000)", bytes(8)),
            "is truncated: it has 8 of 72000000000000000000000000 bytes",
        ),
        (claim("<f8", f"({'9' * 1000}, 2)"), "its npy header claims the shape … × 2"),
        (claim("<f8", f"(3, 0x{'1' * 4300})"), "its npy header claims the shape 3 × …"),
        (claim("<f8", f"({'9' * 4000},) * 3"), "its npy header cannot be read"),
        (claim("<f8", "(0, 9223372036854775807, 9)"), "its npy header claims the shape 0 × 9223372036854775807 × 9"),
        (claim("<f8", "(-1, 2)"), "its npy header claims the shape -1 × 2"),
        (claim("<f8", "(" + "1," * 33 + ")", bytes(8)), "its npy header claims the shape 1 × 1"),
        (claim("<U0", "(3,)"), "has the type str"),
        (claim("|V0", "(3,)"), "has the type void"),
        (claim("<U1", "(1,)", b"\xff\xff\xff\xff"), "it holds characters that do not exist"),
        (npy("(" * 60_000), "its npy header cannot be read"),
        (npy("-" * 60_000 + "1"), "its npy header cannot be read"),
        (npy("{'descr': __import__('os').system('true')}"), "its npy header cannot be read"),
        (npy(" " * 70_000, version=2), "its npy header claims 70000 bytes"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_an_npy_header_that_lies(data, message):
    told = refused(data)
    assert message in told
    assert len(told) < 300


def test_a_safetensors_header_that_lies():
    pytest.importorskip("safetensors")
    for size, offsets in (([3, 2], [0, 8]), ([2**62, 2**62], [0, 8]), ([-1], [0, 8]), ([1], [0, 2**64]), ([1], [8, 0])):
        header = json.dumps({"q": {"dtype": "F64", "shape": size, "data_offsets": offsets}}).encode()
        assert refused(len(header).to_bytes(8, "little") + header + bytes(8)).startswith("-: is ")
    assert refused((2**30).to_bytes(8, "little") + b"{" + b" " * 100).startswith("-: is ")


@pytest.mark.parametrize(
    "text",
    [
        "1" * 300_000 + "x",
        "1" + "\u00a0" * 50_000 + "x",
        '"' * 300_001,
        "1e5" * 100_000,
        '"1 ' * 100_000,
        "," * 300_000,
    ],
)
def test_no_text_takes_long(text):
    start = time.process_time()
    assert refused(text.encode())
    assert time.process_time() - start < 5


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends(device):
    if not os.path.exists(device):
        pytest.skip("the system has no such device")
    with pytest.raises(FileError, match=f"{device}: does not end after 16 MiB"):
        read(device)


def test_a_pipe_that_never_ends():
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"y\n" * (size // 2)

    with pytest.raises(FileError, match=r"-: does not end after 4 MiB"):
        read_all(Endless(), "-", 4 << 20)


def test_a_pipe_that_does_not_block_is_read_to_its_end():
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    child = os.fork()
    if child == 0:
        for part in (b"[[1,", b" 2]]"):
            time.sleep(0.2)
            os.write(write_end, part)
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        assert read_entry("-", pipe).values.tolist() == [[1, 2]]
    os.waitpid(child, 0)


def test_what_shrinks_while_it_is_read(tmp_path, monkeypatch):
    """The size is asked for first: a file that is shorter by the time of reading is an error, not a crash."""
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    np.save(tmp_path / "q.npy", np.ones((100, 3)))
    save_file({"q": np.ones((100, 3))}, tmp_path / "q.safetensors")
    np.savez(tmp_path / "q.npz", q=np.ones((100, 3)))
    real = Origin.size
    for name in ("q.npy", "q.npz", "q.safetensors"):
        path = tmp_path / name

        def shrinking(self, path=path):
            size = real.fget(self)
            os.truncate(path, 600)
            return size

        monkeypatch.setattr(Origin, "size", property(shrinking))
        with pytest.raises(FileError, match=r"cut off|truncated|damaged"):
            read_entry(str(path))


def test_what_disappears_while_it_is_read(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("1,2\n")
    origin = Origin(str(path), path=str(path))
    path.unlink()
    with pytest.raises(FileError, match="no such file"):
        origin.data()


def test_links_that_lead_nowhere_folders_and_impossible_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("a", "b")
    os.symlink("b", "a")
    os.symlink("nowhere", "dangling")
    for name, message in (
        ("a", "a: cannot be read (too many levels of symbolic links)"),
        ("dangling", "dangling: is a link to nowhere, which does not exist"),
        (".", ".: is a folder, not a file"),
        ("x" * 300, "file name too long"),
        ("q\0.json", "embedded null byte"),
        ("/proc/self/mem", "/proc/self/mem: cannot be read (input/output error)"),
    ):
        with pytest.raises(FileError) as caught:
            read(name)
        assert message in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system has no /proc")
def test_a_file_that_the_system_makes_up_has_no_size_and_is_read():
    assert read_entry("/proc/self/statm").values.shape == (1, 7)
