"""Files that are not read, by their first bytes, so that a message can say what they are."""

import re
from collections.abc import Sequence

from attncalc.errors import FileError

READ = "JSON, csv, tsv, text, npy, npz and safetensors are read"

SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ\x90", "a Windows program"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (such as xls)"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file"),
    (b"GGUF", "a GGUF model"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x1f\x8b", "a gzip file inside a gzip file"),
)
SHEET = "save the sheet as csv; spreadsheets call it “CSV UTF-8”"
ADVICE = {
    "an HDF5 file": "save the arrays with numpy.savez",
    "a pickle": "save plain numbers with numpy.save",
    "a MATLAB file": "write the matrix as csv: writematrix(Q, 'q.csv')",
    "an old Office file (such as xls)": SHEET,
    "an Excel workbook": SHEET,
}
PICKLE = re.compile(rb"\x80[\x02-\x05](?:\x95|[\x00-\xff])")
HTML = re.compile(r"\s*<(?:!doctype html|html|\?xml|svg)", re.IGNORECASE)
LFS = "version https://git-lfs"


def refuse_foreign(head: bytes, source: str) -> None:
    """Raise an error that names a file which is of a known kind, and not one that is read."""
    for magic, kind in SIGNATURES:
        if head.startswith(magic):
            raise _foreign(source, kind)
    if PICKLE.match(head):
        raise _foreign(source, "a pickle")
    if head[257:262] == b"ustar":
        raise _foreign(source, "a tar archive")


def refuse_binary(data: bytes, source: str) -> None:
    """Raise an error when bytes are no text, in whatever encoding: control characters among the first."""
    if any(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in data[:512]):
        raise FileError(f"{source}: is neither text nor a file of a known kind", hint=READ)


def refuse_text(text: str, source: str) -> None:
    """Raise an error for text that is another document: a web page, a pointer of Git LFS."""
    if text.startswith(LFS):
        raise FileError(f"{source}: is a Git LFS pointer; the file itself was not downloaded", hint="run: git lfs pull")
    if HTML.match(text):
        raise _foreign(source, "a web page or XML")


def archive_kind(names: Sequence[str]) -> str:
    """Say what a zip archive without arrays is, from the names of its members."""
    if any(name.rpartition("/")[2] == "data.pkl" for name in names):
        return "a PyTorch file, which holds Python objects"
    if "[Content_Types].xml" in names:
        return "an Excel workbook" if any(name.startswith("xl/") for name in names) else "an Office document"
    if not names:
        return "an empty zip archive"
    return "a zip archive without arrays (members that end in .npy)"


def _foreign(source: str, kind: str) -> FileError:
    return FileError(f"{source}: is {kind}", hint=ADVICE.get(kind, READ))
