"""safetensors, through the package of that name; it is imported when such a file is met."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attncalc.errors import FileError
from attncalc.files.entry import Entry, File, LazyEntries
from attncalc.files.origin import Origin

DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "BF16": "bfloat16",
}


LENGTH = 8  # bytes at the beginning, which hold the length of the header


def is_safetensors(head: bytes) -> bool:
    """Whether a file begins with eight bytes of length and an object of JSON, or ends within those bytes."""
    if len(head) <= LENGTH:
        return len(head) > 4 and any(head[:3]) and not any(head[3:])
    return head[8:9] == b"{" and head[5:8] == b"\0\0\0"


def read_safetensors(origin: Origin) -> File:
    """Read the names; each array is made when it is looked up, and read then where that is possible."""
    _check_size(origin)
    try:
        import safetensors

        package: Any = safetensors  # its functions have no types
    except ImportError:
        raise FileError(
            f"{origin.source}: reading it needs the package safetensors",
            hint="pip install 'attncalc[safetensors]'",
        ) from None
    readers: dict[str, Callable[[], Entry]] = {}
    try:
        if origin.path is None:
            for name, tensor in package.deserialize(origin.data()):
                readers[name] = partial(_entry, f"{origin.source}:{name}", tensor)
        else:
            handle = package.safe_open(origin.path, framework="numpy")
            for name in handle.keys():  # noqa: SIM118  (the handle is no mapping)
                readers[name] = partial(_lazy, origin, name, handle)
    except package.SafetensorError:
        raise _damaged(origin) from None
    if not readers:
        raise FileError(f"{origin.source}: holds no arrays")
    return File(origin.source, "safetensors", LazyEntries(readers))


def _check_size(origin: Origin) -> None:
    """Refuse a file that ends before its header does, or before the last array that the header tells of."""
    if origin.size <= LENGTH:
        raise FileError(f"{origin.source}: is truncated: it has {origin.size} bytes of a safetensors file")
    length = int.from_bytes(origin.start(LENGTH), "little")
    if origin.size < LENGTH + length:
        raise FileError(
            f"{origin.source}: is truncated: the safetensors header has {origin.size - LENGTH} of {length} bytes"
        )
    import json

    try:
        told = json.loads(origin.slice(LENGTH, length))
        size = max((tensor["data_offsets"][1] for name, tensor in told.items() if name != "__metadata__"), default=0)
        got = origin.size - LENGTH - length
        complete = bool(got >= size)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise _damaged(origin) from None
    if not complete:
        raise FileError(f"{origin.source}: is truncated: it has {got} of {size} bytes of data")


def _damaged(origin: Origin) -> FileError:
    return FileError(f"{origin.source}: is a damaged safetensors file", facts=[("size", f"{origin.size} bytes")])


def _lazy(origin: Origin, name: str, handle: Any) -> Entry:
    """Read one array of a file; NumPy has no bfloat16, so the package cannot hand that over by itself."""
    source = f"{origin.source}:{name}"
    dtype = handle.get_slice(name).get_dtype()
    if dtype in DTYPES and dtype != "BF16":
        return Entry(handle.get_tensor(name), source, DTYPES[dtype])
    return _entry(source, _stored(origin, name))


def _stored(origin: Origin, name: str) -> dict[str, Any]:
    """Return the type, shape and bytes of one array, from a file that the package has accepted."""
    length = int.from_bytes(origin.start(8), "little")
    import json

    told = json.loads(origin.start(8 + length)[8:])[name]
    begin, end = told["data_offsets"]
    return {**told, "data": origin.slice(8 + length + begin, end - begin)}


def _entry(source: str, tensor: Any) -> Entry:
    dtype, shape = tensor["dtype"], tensor["shape"]
    _refuse(dtype, source)
    if dtype == "BF16":  # the upper half of a float32
        wide = np.frombuffer(tensor["data"], "<u2").astype(np.uint32) << 16
        return Entry(wide.view(np.float32).reshape(shape), source, "bfloat16")
    name = DTYPES[dtype]
    values = np.frombuffer(tensor["data"], np.dtype(name).newbyteorder("<")).astype(name)
    return Entry(values.reshape(shape), source, name)


def _refuse(dtype: str, source: str) -> None:
    if dtype not in DTYPES:
        raise FileError(f"{source}: has the type {dtype}; {', '.join(DTYPES)} are read")
