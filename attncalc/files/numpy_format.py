"""npy and npz, read without pickle: a file of Python objects is an error, and nothing of it runs."""

import ast
import io
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from attncalc.errors import FileError, shape_text
from attncalc.files.entry import Entry, File, LazyEntries
from attncalc.files.limits import ARRAYS, unpacked_most, unpacked_too_large
from attncalc.files.origin import Origin
from attncalc.files.signatures import ADVICE, archive_kind

if TYPE_CHECKING:
    from zipfile import ZipFile

MAGIC = b"\x93NUMPY"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
LONGEST_HEADER = 1 << 16
LARGEST = sys.maxsize  # bytes of an array
MAPPED = 1 << 24  # bytes from which on an array is mapped into memory; a smaller file may change while it is in use
BLOCK_BYTES = 1 << 22  # what is written at a time


@dataclass(frozen=True)
class Header:
    """The first part of an npy file: what the bytes after it are."""

    dtype: np.dtype
    fortran: bool
    shape: tuple[int, ...]
    end: int  # where the data begin

    @property
    def size(self) -> int:
        """The number of bytes of data."""
        return math.prod(self.shape) * self.dtype.itemsize


def is_npy(head: bytes) -> bool:
    """Whether a file begins as npy does; its first bytes alone are enough, so that a torso is recognised."""
    return head.startswith(MAGIC) or (len(head) > 2 and MAGIC.startswith(head))


def is_npz(head: bytes) -> bool:
    """Whether a file begins as a zip archive does."""
    return head.startswith(ZIP)


def read_npy(origin: Origin) -> File:
    """Read one array; a large one of a regular file is mapped into memory.

    The others are not, for a file that somebody cuts off while it is mapped ends the process.
    """
    header = _header(origin.start(LONGEST_HEADER + 12), origin.source)
    notes = _check_size(header, origin.size, origin.source)
    if origin.path is not None and header.size >= MAPPED:
        order: str = "F" if header.fortran else "C"
        mapped = np.memmap(origin.path, header.dtype, "r", header.end, header.shape, order)  # type: ignore[call-overload]
        values = mapped.view(np.ndarray)
    else:
        values = _array(header, origin.slice(header.end, header.size), origin.source)
    return File(origin.source, "npy", {"": _entry(values, header, origin.source, notes)}, notes)


def read_npz(origin: Origin) -> File:
    """Open an archive; each array is read when it is looked up."""
    archive = _open(origin)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    arrays = {name.removesuffix(".npy"): name for name in names if name.endswith(".npy")}
    if not arrays:
        kind = archive_kind(names)
        raise FileError(f"{origin.source}: is {kind}", hint=ADVICE.get(kind, "save the arrays with numpy.savez"))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{origin.source}: the array {twice.removesuffix('.npy')} stands twice in the archive")
    if sum(archive.getinfo(name).file_size for name in names) > unpacked_most(origin.size, ARRAYS):
        hint = "save the arrays with numpy.savez, which does not pack them, if they are meant to be so large"
        raise unpacked_too_large(origin.source, origin.size, ARRAYS, hint)
    readers = {name: partial(_member, archive, member, origin) for name, member in arrays.items()}
    return File(origin.source, "npz", LazyEntries(readers))


def write_npy(file: BinaryIO, array: np.ndarray) -> None:
    """Write one array, in the order of its rows and in blocks; ``file`` may be a pipe."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, header | {"fortran_order": False})
    rows = array.reshape(-1) if array.flags.c_contiguous else array
    step = max(1, BLOCK_BYTES * len(rows) // max(1, rows.nbytes))
    for first in range(0, len(rows), step):
        file.write(rows[first : first + step].tobytes())


def write_npz(file: BinaryIO, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays into an archive, the same bytes for the same arrays."""
    import zipfile  # here and below: npz is rarer than npy, and it takes a while to load

    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=True) as member:
                write_npy(member, array)  # type: ignore[arg-type]


def _open(origin: Origin) -> "ZipFile":
    import zipfile

    try:
        return zipfile.ZipFile(io.BytesIO(origin.data()) if origin.path is None else origin.path)
    except MemoryError:
        raise
    except Exception:  # zipfile lets those of struct and others through
        raise FileError(f"{origin.source}: is a damaged or truncated zip archive (npz is one)") from None


def _member(archive: "ZipFile", member: str, origin: Origin) -> Entry:
    source = f"{origin.source}:{member.removesuffix('.npy')}"
    if archive.getinfo(member).flag_bits & 1:
        raise FileError(f"{source}: is encrypted")
    try:
        data = archive.read(member)
    except MemoryError:
        raise
    except Exception:  # of zipfile, and of the library that unpacks
        raise FileError(f"{source}: is damaged: the archive does not give it back") from None
    if not data.startswith(MAGIC):
        raise FileError(f"{source}: is not an array, although its name ends in .npy")
    header = _header(data, source)
    notes = _check_size(header, len(data), source)
    return _entry(_array(header, memoryview(data)[header.end :], source), header, source, notes)


def _header(start: bytes, source: str) -> Header:
    """Read what an npy file says about its data, in versions 1 to 3 of the format."""
    version = start[6] if len(start) > 6 else 0
    length_end = 10 if version == 1 else 12
    if len(start) < length_end:
        raise FileError(f"{source}: is truncated: the npy header is not complete")
    if version not in (1, 2, 3):
        raise FileError(f"{source}: has version {version} of the npy format; 1, 2 and 3 are read")
    length = int.from_bytes(start[8:length_end], "little")
    text = start[length_end : length_end + length]
    if length > LONGEST_HEADER:
        raise FileError(f"{source}: is damaged: its npy header claims {length} bytes")
    if len(text) < length:
        raise FileError(f"{source}: is truncated: the npy header has {len(text)} of {length} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = ast.literal_eval(text.decode("utf-8" if version == 3 else "latin-1").strip())
            dtype = np.lib.format.descr_to_dtype(said["descr"])
        shape, fortran = said["shape"], bool(said["fortran_order"])
    except Exception:  # whatever Python's parser and NumPy find in it; a MemoryError is the parser's own
        raise FileError(f"{source}: is damaged: its npy header cannot be read") from None
    if not isinstance(shape, tuple):
        raise FileError(f"{source}: is damaged: its npy header cannot be read")
    if len(shape) > 32 or not all(type(size) is int and 0 <= size <= LARGEST for size in shape):
        raise FileError(f"{source}: is damaged: its npy header claims the shape {shape_text(shape)[:60]}")
    _check_dtype(dtype, source)
    if 0 in shape and math.prod(filter(None, shape)) * dtype.itemsize > LARGEST:
        raise FileError(f"{source}: is damaged: its npy header claims the shape {shape_text(shape)[:60]}")
    return Header(dtype, fortran, shape, length_end + length)


def _check_dtype(dtype: np.dtype, source: str) -> None:
    """Refuse what is no plain number; texts pass, for tokens are texts."""
    if dtype.hasobject:
        raise FileError(
            f"{source}: holds Python objects, not plain numbers",
            hint="save numbers: numpy.save(name, numpy.asarray(a, dtype=float))",
        )
    if (dtype.kind in "biuf" and dtype.itemsize <= 8) or (
        dtype.kind == "U" and dtype.itemsize > 0
    ):  # NumPy 1 makes a negative size of a huge one
        return
    if dtype.names is not None:
        what = f"a structured type with the fields {', '.join(dtype.names)}"
    elif dtype == np.dtype("V2"):
        raise FileError(
            f"{source}: has the type V2, which is what NumPy writes for bfloat16",
            hint="save it as float32: numpy.save(name, a.astype(numpy.float32))",
        )
    else:
        what = f"the type {dtype.name}"
    raise FileError(f"{source}: has {what}; booleans, integers and floats up to 64 bits are read")


def _check_size(header: Header, size: int, source: str) -> tuple[str, ...]:
    """Compare what the header claims with what there is; bytes too many are worth a note."""
    got = size - header.end
    if got < header.size:
        raise FileError(
            f"{source}: is truncated: it has {got} of {header.size} bytes of data",
            facts=[("shape", shape_text(header.shape)), ("type", header.dtype.name)],
        )
    if got > header.size:
        return (f"{source}: {got - header.size} bytes follow the array; they are not read",)
    return ()


def _array(header: Header, data: bytes | memoryview, source: str) -> np.ndarray:
    if len(data) < header.size:
        raise FileError(f"{source}: was cut off while it was read: {len(data)} of {header.size} bytes are left")
    flat = np.frombuffer(data, header.dtype, math.prod(header.shape))
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _entry(values: np.ndarray, header: Header, source: str, notes: tuple[str, ...]) -> Entry:
    if header.dtype.kind == "U":
        if values.ndim != 1:
            raise FileError(f"{source}: holds texts in the shape {shape_text(values.shape)}, not numbers")
        try:
            return Entry(values.astype(object), source, "text", notes=notes)
        except (ValueError, SystemError):  # NumPy's, for code points beyond Unicode
            raise FileError(f"{source}: is damaged: it holds characters that do not exist") from None
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return Entry(values, source, values.dtype.name, notes=notes)
