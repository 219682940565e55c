"""Bytes ↔ named arrays: reading and writing of files, without knowing what the arrays mean."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from attncalc.errors import FileError
from attncalc.files.entry import Entry, File, Written
from attncalc.files.numpy_format import is_npy, is_npz, read_npy, read_npz, write_npy, write_npz
from attncalc.files.origin import Origin, open_source
from attncalc.files.replace import replacing
from attncalc.files.safetensors_format import is_safetensors, read_safetensors
from attncalc.files.signatures import refuse_foreign, refuse_text
from attncalc.files.text import GZIP, decode, decompress
from attncalc.suggest import nearest

if TYPE_CHECKING:
    from attncalc.files.table_write import csv_text

__all__ = [
    "FORMATS",
    "Entry",
    "File",
    "Written",
    "csv_text",
    "read",
    "read_entry",
    "read_lines",
    "replacing",
    "split_name",
    "write_npy",
    "write_npz",
]


@dataclass(frozen=True)
class Format:
    """One binary format: how it begins, and what reads it."""

    name: str
    begins: Callable[[bytes], bool]
    read: Callable[[Origin], File]


FORMATS = (
    Format("npy", is_npy, read_npy),
    Format("npz", is_npz, read_npz),
    Format("safetensors", is_safetensors, read_safetensors),
)  # what begins as none of these is text: JSON when it begins with a bracket, otherwise a table
SUFFIXES = (".npy", ".npz", ".safetensors", ".json")  # a name that says what the content may then not be


def __getattr__(name: str) -> Any:
    if name == "csv_text":
        from attncalc.files.table_write import csv_text

        return csv_text
    raise AttributeError(f"module {__name__} has no attribute {name}")


def read(source: str, stdin: BinaryIO | None = None, *, any_shape: bool = False) -> File:
    """Read a file; ``-`` is standard input.  The content decides what it is, whatever its name says.

    Args:
        source: the file.
        stdin: what ``-`` reads.
        any_shape: a single number, and a list of nothing, are arrays too; otherwise they are errors.
    """
    origin = _unpacked(source, stdin)
    if origin.size == 0:
        raise FileError(f"{source}: is empty")
    head = origin.start()
    for form in FORMATS:
        if form.begins(head):
            return form.read(origin) if any_shape else _not_single(form.read(origin))
    refuse_foreign(head, source)
    text, notes = _text(origin)
    from attncalc.files.json_format import (
        is_json,
        read_json,
        unusual_array,
    )  # the text formats are loaded when one is met

    if any_shape and (values := unusual_array(text)) is not None:
        return File(source, "json", {"": Entry(values, source, "float64", notes=notes)}, notes)
    if is_json(text):
        return _not_single(read_json(text, source, notes))
    from attncalc.files.table_format import read_table

    name = source.lower().removesuffix(".gz")
    if name.endswith(".json"):
        from attncalc.files.json_format import scalar_kind

        if kind := scalar_kind(text):
            raise FileError(f"{source}: is {kind}, not a list or a matrix")
    try:
        entry = read_table(text, source, notes, "\t" if name.endswith((".tsv", ".tab")) else None, origin.path)
    except FileError as error:
        suffix = os.path.splitext(name)[1]
        if suffix not in SUFFIXES:
            raise
        facts = [*error.facts, ("read as", f"a table, for it does not begin as {suffix[1:]} does")]
        raise FileError(error.message, facts=facts, hint=error.hint) from None
    return File(source, "table", {"": entry}, notes)


def read_entry(source: str, stdin: BinaryIO | None = None) -> Entry:
    """Read one array from ``FILE`` or ``FILE:NAME``; a container of one array needs no name."""
    path, name = split_name(source)
    file = read(path, stdin)
    names = list(file.entries)
    if name is None or (name == "" and file.bundle and "" not in names):
        return _only(file)
    if not file.bundle and name:
        raise FileError(f"{path}: is one array without a name, so it has no “{name}”", hint=path)
    if name not in file.entries:
        near = nearest(name, names)
        raise FileError(
            f"{path}: holds no array “{name}”",
            facts=[("it has", _listed(names))],
            hint=f"did you mean {path}:{near}?" if near else None,
        )
    return file.entries[name]


def read_lines(source: str, stdin: BinaryIO | None = None) -> list[str]:
    """Read texts, one a line, or a JSON list of texts: tokens, for example."""
    path, name = split_name(source)
    if name is not None:
        return read_entry(source, stdin).texts()
    origin = _unpacked(path, stdin)
    if origin.size == 0:
        raise FileError(f"{source}: is empty")
    for form in FORMATS:
        if form.begins(origin.start()):
            return _only(form.read(origin)).texts()
    text, _ = _text(origin)
    if text.lstrip()[:1] in ("[", "{"):
        from attncalc.files.json_format import read_texts

        if (found := read_texts(text, source)) is not None:
            return found
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def split_name(source: str) -> tuple[str, str | None]:
    """Split ``FILE:NAME``; an existing file whose name is all of it wins."""
    if ":" not in source or os.path.exists(source) or "://" in source:
        return source, None
    colons = [i for i, character in enumerate(source) if character == ":"]
    for colon in reversed(colons):
        if source[:colon] == "-" or (os.path.exists(source[:colon]) and not os.path.isdir(source[:colon])):
            return source[:colon], source[colon + 1 :]
    last = colons[-1]
    if last == 1 and source[2:3] in ("\\", "/"):  # a drive of Windows
        return source, None
    return source[:last], source[last + 1 :]


def _only(file: File) -> Entry:
    """Return the one array of a file, or say that there are several."""
    names = list(file.entries)
    if len(names) == 1:
        return file.entries[names[0]]
    raise FileError(
        f"{file.source}: holds {len(names)} arrays; say which",
        facts=[("it has", _listed(names))],
        hint=f"{file.source}:{names[0]}",
    )


def _unpacked(source: str, stdin: BinaryIO | None) -> Origin:
    origin = open_source(source, stdin)
    if origin.start(2) != GZIP:
        return origin
    return Origin(source, decompress(origin.data(), source))


def _text(origin: Origin) -> tuple[str, tuple[str, ...]]:
    text, notes = decode(origin.data(), origin.source)
    refuse_text(text, origin.source)
    return text, notes


def _not_single(file: File) -> File:
    if not file.bundle and file.entries[""].values.ndim == 0:
        raise FileError(f"{file.source}: is a single number, not a list or a matrix")
    return file


def _listed(names: list[str], limit: int = 20) -> str:
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")
