"""safetensors, written here byte by byte so that nothing but the format is trusted."""

import io
import json
import struct
import sys

import numpy as np
import pytest

from attncalc.errors import FileError
from attncalc.files import read, read_entry


def safetensors(**tensors):
    """Write tensors given as (type, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


# 1, -2 and 0.0999755859375 as the upper halves of their float32
BRAIN = ("BF16", [3], bytes.fromhex("803f00c0cd3d"))
FLOATS = ("F32", [2, 1], struct.pack("<2f", 1.5, -2))


@pytest.fixture(params=["file", "stream"])
def opened(request, tmp_path):
    pytest.importorskip("safetensors")

    def open_it(data, name=None):
        if request.param == "stream":
            return read("-", io.BytesIO(data))
        path = tmp_path / "w.safetensors"
        path.write_bytes(data)
        return read(str(path))

    return open_it


def test_bfloat16_is_the_upper_half_of_a_float32(opened):
    entry = opened(safetensors(a=FLOATS, q=BRAIN, z=FLOATS)).entries["q"]
    assert entry.dtype == "bfloat16"
    assert entry.values.dtype == np.float32
    assert entry.values.tolist() == [1, -2, 0.10009765625]


@pytest.mark.parametrize(
    ("name", "code", "numbers"),
    [
        ("float64", "d", [1.5, -2]),
        ("float32", "f", [1.5, -2]),
        ("float16", "e", [1.5, -2]),
        ("int64", "q", [1, -2]),
        ("int32", "i", [1, -2]),
        ("int16", "h", [1, -2]),
        ("int8", "b", [1, -2]),
        ("uint8", "B", [1, 200]),
        ("bool", "?", [True, False]),
    ],
)
def test_types(opened, name, code, numbers):
    short = {"bool": "BOOL", "uint8": "U8"}.get(name, name[0].upper() + name.lstrip("floatin"))
    file = opened(safetensors(q=(short, [1, 2], struct.pack(f"<2{code}", *numbers))))
    assert file.format == "safetensors"
    assert file.entries["q"].values.tolist() == [numbers]
    assert file.entries["q"].values.dtype == name
    assert file.entries["q"].dtype == name
    assert file.entries["q"].written() is None


def test_a_type_that_is_not_read_is_in_the_way_only_of_itself(opened):
    file = opened(safetensors(q=("F8_E4M3", [2], b"8\xb8"), k=FLOATS))
    assert file.entries["k"].values.tolist() == [[1.5], [-2]]
    with pytest.raises(FileError, match=":q: has the type F8_E4M3; BOOL, U8"):
        file.entries["q"]


def test_no_arrays(opened):
    with pytest.raises(FileError, match="holds no arrays"):
        opened(safetensors())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x40\x01\0\0\0", "is truncated: it has 5 bytes of a safetensors file$"),
        (b"\x40\0\0\0\0\0\0\0", "is truncated: it has 8 bytes of a safetensors file$"),
        (b"\x40\0\0\0\0\0\0\0{}", "is truncated: the safetensors header has 2 of 64 bytes$"),
        (b"\x08\0\0\0\0\0\0\0{'q': 1}", "is a damaged safetensors file\n  size  16 bytes$"),
        (b'\x08\0\0\0\0\0\0\0{"q": 1}', "is a damaged safetensors file\n  size  16 bytes$"),
        (safetensors(q=FLOATS)[:-5], "is truncated: it has 3 of 8 bytes of data$"),
        (safetensors(q=FLOATS) + b"\0", "is a damaged safetensors file\n  size  "),
    ],
)
def test_truncated_and_damaged(opened, data, message):
    with pytest.raises(FileError, match=message):
        opened(data)


def test_without_the_package(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors(q=FLOATS))
    with pytest.raises(FileError, match=r"needs the package safetensors\n  hint: pip install 'attncalc\[safe"):
        read_entry(str(path))
