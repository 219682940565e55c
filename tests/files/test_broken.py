"""Every file of samples/broken with its exact message."""

from pathlib import Path

import pytest

from attncalc.errors import FileError
from attncalc.files import read

BROKEN = Path(__file__).parents[2] / "samples" / "broken"

MESSAGES = [
    ("bare-number.json", "bare-number.json: is a single number, not a list or a matrix"),
    (
        "bfloat16.npy",
        "bfloat16.npy: has the type V2, which is what NumPy writes for bfloat16",
        "  hint: save it as float32: numpy.save(name, a.astype(numpy.float32))",
    ),
    (
        "brackets.csv",
        "brackets.csv: line 1, column 2: “[2]” is not a number",
        "  hint: remove the brackets, one row a line, or write JSON: [[1, 2], [3, 4]]",
    ),
    (
        "checkpoint.npz",
        "checkpoint.npz: is a PyTorch file, which holds Python objects",
        "  hint: save the arrays with numpy.savez",
    ),
    ("comment.json", "comment.json: line 1, column 10: a comment, which JSON does not have"),
    ("comments-only.txt", "comments-only.txt: holds no numbers, only blank lines and comments"),
    ("complex.npy", "complex.npy: has the type complex128; booleans, integers and floats up to 64 bits are read"),
    (
        "decimal-mixture.csv",
        "decimal-mixture.csv: line 2, column 2: “4.5” has a decimal point, and other numbers have a decimal comma",
    ),
    ("deep.json", "deep.json: has lists or objects nested too deeply"),
    ("depth.json", "depth.json: [1] is a number, [0] is a list of 2"),
    ("duplicate.json", "duplicate.json: the name “q” stands twice in one object"),
    ("empty-cell.csv", "empty-cell.csv: line 1, column 2 is empty"),
    ("empty.csv", "empty.csv: is empty"),
    ("header-only.csv", "header-only.csv: line 1 is text, and no line of numbers follows it"),
    (
        "huge.npy",
        "huge.npy: is truncated: it has 48 of 48000000 bytes of data",
        "  shape  2 × 3000000",
        "  type   float64",
    ),
    (
        "index-order.csv",
        "index-order.csv: the columns head, query do not count every row once and in order",
        "  hint: sort the rows, or remove these columns",
    ),
    (
        "latin1.csv",
        "latin1.csv: line 2 is not UTF-8 (byte 0xE9)",
        "  hint: save the file as UTF-8; spreadsheets call it “CSV UTF-8”",
    ),
    (
        "matlab.json",
        "matlab.json: begins with a bracket and is not JSON",
        "  hint: write JSON, [[1, 2], [3, 4]], or one row a line without brackets",
    ),
    (
        "missing.csv",
        "missing.csv: line 2, column 1: “NA” is not a number",
        '  hint: if column 1 holds labels, quote it: "NA"',
    ),
    ("no-arrays.json", "no-arrays.json: is a JSON object without arrays"),
    ("nul.csv", "nul.csv: line 2 holds a NUL byte, which no text file does"),
    ("null.json", "null.json: [0][1] is null, not a number"),
    ("number.json", "number.json: is a single number, not a list or a matrix"),
    ("object.json", "object.json: [0][1] is an object, not a number"),
    (
        "objects.npy",
        "objects.npy: holds Python objects, not plain numbers",
        "  hint: save numbers: numpy.save(name, numpy.asarray(a, dtype=float))",
    ),
    ("open-quote.csv", "open-quote.csv: line 2 opens a double quote that is never closed"),
    ("overflow.csv", "overflow.csv: line 2, column 2: 1e400 is too large for a 64-bit float"),
    ("overflow.json", "overflow.json: [0][1] is 1e400, too large for a 64-bit float"),
    ("picture.csv", "picture.csv: is a PNG picture", "  hint: JSON, csv, tsv, text, npy, npz and safetensors are read"),
    (
        "pointer.npy",
        "pointer.npy: is a Git LFS pointer; the file itself was not downloaded",
        "  hint: run: git lfs pull",
    ),
    ("python-words.json", "python-words.json: line 1, column 6: “None” is not JSON"),
    ("ragged.csv", "ragged.csv: line 2 has 2 cells, line 1 has 3", "  separated by  commas"),
    ("ragged.json", "ragged.json: [1] has 1 entry, [0] has 2"),
    (
        "renamed.json",
        "renamed.json: line 2, column 2: “x” is not a number",
        "  read as  a table, for it does not begin as json does",
    ),
    ("shape.json", "shape.json: data has 4 numbers, its shape 3 × 2 needs 6"),
    ("single-quotes.json", "single-quotes.json: line 1, column 2: a single quote", "  hint: JSON has double quotes"),
    (
        "structured.npy",
        "structured.npy: has a structured type with the fields x, y; "
        "booleans, integers and floats up to 64 bits are read",
    ),
    ("text.csv", "text.csv: line 2, column 2: “n/a” is not a number"),
    ("text.json", "text.json: [0][1] is the text “2”, not a number", "  hint: write numbers without quotes"),
    ("texts.npy", "texts.npy: holds texts in the shape 1 × 2, not numbers"),
    (
        "thousands.csv",
        "thousands.csv: line 2, column 1: “1,000” is not a number",
        "  hint: write numbers without thousands separators",
    ),
    ("torso.safetensors", "torso.safetensors: is truncated: it has 5 bytes of a safetensors file"),
    ("trailing-comma.json", "trailing-comma.json: line 2, column 8: a comma too many"),
    ("truncated-header.npy", "truncated-header.npy: is truncated: the npy header has 30 of 118 bytes"),
    ("truncated.csv.gz", "truncated.csv.gz: is cut off: the gzip data end too early"),
    ("truncated.json", "truncated.json: line 2, column 7: the JSON ends too early; a bracket is not closed"),
    (
        "truncated.npy",
        "truncated.npy: is truncated: it has 39 of 48 bytes of data",
        "  shape  2 × 3",
        "  type   float64",
    ),
    ("truncated.npz", "truncated.npz: is a damaged or truncated zip archive (npz is one)"),
    ("truncated.safetensors", "truncated.safetensors: is truncated: it has 8 of 16 bytes of data"),
    (
        "two-documents.json",
        "two-documents.json: line 2, column 1: something follows the end of the JSON",
        "  hint: write one JSON document, not several",
    ),
    (
        "underscore.csv",
        "underscore.csv: line 1, column 1: “1_000” is not a number",
        "  hint: write numbers without thousands separators",
    ),
    ("vertical-tab.csv", "vertical-tab.csv: line 1, column 2: “2\x0b3” is not a number"),
    (
        "webpage.csv",
        "webpage.csv: is a web page or XML",
        "  hint: JSON, csv, tsv, text, npy, npz and safetensors are read",
    ),
    (
        "workbook.csv",
        "workbook.csv: is an Excel workbook",
        "  hint: save the sheet as csv; spreadsheets call it “CSV UTF-8”",
    ),
]


@pytest.mark.parametrize(("name", "lines"), [(name, lines) for name, *lines in MESSAGES])
def test_the_message_is_exactly_this(name, lines, monkeypatch):
    monkeypatch.chdir(BROKEN)
    if name.endswith(".safetensors"):
        pytest.importorskip("safetensors")
    with pytest.raises(FileError) as caught:
        list(read(name).entries.values())
    got = str(caught.value).split("\n")
    assert got == lines


def test_every_broken_file_is_in_the_list():
    assert sorted(path.name for path in BROKEN.iterdir()) == [name for name, *_ in MESSAGES]
