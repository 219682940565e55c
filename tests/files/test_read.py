"""Finding a file, its format and one array of it."""

import gzip
import io
import os
import threading

import numpy as np
import pytest

from attncalc.errors import FileError
from attncalc.files import read, read_entry, read_lines, split_name

JSON = b"[[1, 2], [3, 4]]"
BUNDLE = b'{"query": [[1, 2]], "key": [[3, 4]]}'


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def put(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def npy():
    file = io.BytesIO()
    np.save(file, np.array([[1.0, 2], [3, 4]]))
    return file.getvalue()


@pytest.mark.parametrize("name", ["q.csv", "q.json", "q.npy", "q.npz", "q.txt", "q.gz", "q", "q.safetensors"])
@pytest.mark.parametrize(("data", "form"), [(JSON, "json"), (b"1,2\n3,4\n", "table"), (npy(), "npy")])
def test_the_content_decides(name, data, form):
    for content in (data, gzip.compress(data)):
        file = read(put(name, content))
        assert file.format == form
        assert not file.bundle
        assert file.source == name
        assert file.entries[""].source == name
        assert file.entries[""].values.tolist() == [[1, 2], [3, 4]]


def test_standard_input_is_read_when_asked_for():
    assert read_entry("-", io.BytesIO(JSON)).source == "-"
    assert read_entry("-:key", io.BytesIO(BUNDLE)).values.tolist() == [[3, 4]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("data", [JSON, npy(), b"1 2\n3 4\n"])
def test_pipes_are_read_once_to_the_end(data):
    os.mkfifo("pipe")
    writer = threading.Thread(target=put, args=("pipe", data))
    writer.start()
    try:
        assert read_entry("pipe").values.tolist() == [[1, 2], [3, 4]]
    finally:
        writer.join()


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd")
def test_dev_fd():
    reading, writing = os.pipe()
    os.write(writing, npy())
    os.close(writing)
    try:
        assert read_entry(f"/dev/fd/{reading}").values.tolist() == [[1, 2], [3, 4]]
    finally:
        os.close(reading)


def test_one_array_of_a_container():
    put("all.json", BUNDLE)
    put("one.json", b'{"q": [[5]]}')
    put("all.json:key", b"7\n")
    assert read_entry("all.json:query").values.tolist() == [[1, 2]]
    assert read_entry("all.json:query").source == "all.json:query"
    assert read_entry("one.json").values.tolist() == [[5]]
    assert read_entry("all.json:key").values.tolist() == [[7]]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("all.json", "all.json: holds 2 arrays; say which\n  it has  query, key\n  hint: all.json:query$"),
        (
            "all.json:quer",
            "all.json: holds no array “quer”\n  it has  query, key\n  hint: did you mean all.json:query\\?$",
        ),
        ("all.json:x", "all.json: holds no array “x”\n  it has  query, key$"),
        ("q.csv:x", "q.csv: is one array without a name, so it has no “x”\n  hint: q.csv$"),
        ("al.json:query", "al.json: no such file\n  hint: did you mean all.json\\?$"),
        ("Q.CSV.", "Q.CSV.: no such file\n  hint: did you mean q.csv\\?$"),
        ("data/q.cvs", "data/q.cvs: no such file\n  hint: did you mean data/q.csv\\?$"),
        ("date/q.csv", "date/q.csv: no such file\n  hint: there is no folder date$"),
        ("q.csv/x", "q.csv/x: no such file\n  hint: q.csv is a file, not a folder$"),
        ("dangling", "dangling: is a link to nowhere.csv, which does not exist$"),
        ("http://x/q.json", "http://x/q.json: is an address; files are read\n  hint: download it"),
        ("all.json:", "all.json: holds 2 arrays; say which"),
        ("zzz", "zzz: no such file$"),
        ("data", "data: is a folder, not a file$"),
        ("", ": no such file"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_what_cannot_be_found(source, message):
    put("all.json", BUNDLE)
    put("q.csv", b"1\n")
    os.mkdir("data")
    put("data/q.csv", b"1\n")
    os.symlink("nowhere.csv", "dangling")
    with pytest.raises(FileError, match=message):
        read_entry(source)


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read():
    os.chmod(put("q.csv", b"1\n"), 0)
    with pytest.raises(FileError, match=r"q\.csv: may not be read"):
        read("q.csv")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("q.json", ("q.json", None)),
        ("all.npz:q", ("all.npz", "q")),
        ("-:q", ("-", "q")),
        ("missing.npz:q", ("missing.npz", "q")),
        ("all.npz:a:b", ("all.npz", "a:b")),
        ("missing:a:b", ("missing:a", "b")),
        ("C:\\data\\q.npy", ("C:\\data\\q.npy", None)),
        ("https://x/q.npy", ("https://x/q.npy", None)),
    ],
)
def test_split_name(source, expected):
    put("all.npz", b"")
    assert split_name(source) == expected


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
        (b"%PDF-1.4\n", "a PDF document"),
        (b"\x7fELF\x02", r"a program \(ELF\)"),
        (b"\x80\x04\x95\x10", "a pickle\n  hint: save plain numbers with numpy.save"),
        (b"\x80\x02]q\0.", "a pickle"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file\n  hint: save the arrays with numpy.savez"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
        (b"PAR1\x15", "a Parquet file"),
        (b"  <html>", "a web page or XML"),
        (b"<?xml version='1.0'?>", "a web page or XML"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer; the file itself was not downloaded"),
        (b"\0" * 257 + b"ustar\0", "a tar archive"),
    ],
)
def test_other_files_are_named(data, kind):
    with pytest.raises(FileError, match="q.npy: is " + kind):
        read(put("q.npy", data))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"5", "a single number"),
        (b" 1e3\n", "a single number"),
        (b"true\n", "a single number"),
        (b'"5"', "a single text"),
        (b"null", "null"),
    ],
)
def test_one_value_is_a_table_unless_the_name_says_json(text, kind):
    for name, data in (("q.json", text), ("q.json.gz", gzip.compress(text))):
        with pytest.raises(FileError, match=f"{name}: is {kind}, not a list or a matrix"):
            read(put(name, data))
    assert read(put("q.csv", b"5")).entries[""].values.tolist() == [[5]]
    assert read(put("q.json", b"5\n6\n")).entries[""].values.tolist() == [[5], [6]]


def test_an_array_without_a_name_beside_others():
    np.savez("all.npz", **{"": np.array([1.0]), "a": np.array([2.0]), "a:b": np.array([3.0])})
    assert read("all.npz").bundle
    assert read_entry("all.npz:").values.tolist() == [1]
    assert read_entry("all.npz:a").values.tolist() == [2]
    assert read_entry("all.npz:a:b").values.tolist() == [3]


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd")
def test_an_array_whose_name_has_a_colon_in_a_pipe():
    reading, writing = os.pipe()
    os.write(writing, b'{"a:b": [5], "b": [6]}')
    os.close(writing)
    try:
        assert read_entry(f"/dev/fd/{reading}:a:b").values.tolist() == [5]
    finally:
        os.close(reading)


def test_a_renamed_table_with_a_fault_says_how_it_was_read():
    with pytest.raises(FileError, match="“x” is not a number\n  read as  a table, for it does not begin as npy"):
        read(put("q.npy", b"1,x\n"))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"the\ncat\n", ["the", "cat"]),
        (b"the\r\n\r\n cat", ["the", "", " cat"]),
        (b'["the", "cat"]', ["the", "cat"]),
        (b"[CLS]\nthe\n", ["[CLS]", "the"]),
        (b"[1, 2.50]\n", ["1", "2.50"]),
        (b'["\nthe\n', ['["', "the"]),
        (b"[unused0]\n[PAD]\n", ["[unused0]", "[PAD]"]),
        (b"{\n}\n:\n", ["{", "}", ":"]),
        (gzip.compress("\u00e9\n".encode(), mtime=0), ["\u00e9"]),
    ],
)
def test_lines(data, lines):
    assert read_lines(put("tokens", data)) == lines


def test_lines_of_containers():
    np.save("t.npy", np.array(["the", "cat"]))
    assert read_lines("t.npy") == ["the", "cat"]
    put("all.json", b'{"tokens": ["a", "b"], "ids": [7, 8.50], "m": [[1]]}')
    assert read_lines("all.json:tokens") == ["a", "b"]
    assert read_lines("all.json:ids") == ["7", "8.50"]
    with pytest.raises(FileError, match=r"all.json:m: is 1 × 1, not a list of texts"):
        read_lines("all.json:m")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.json", b'["a", null]', r"t.json: \[1\] is null, not a text$"),
        ("t.txt", b'["a", true]', r"t.txt: \[1\] is true, not a text$"),
        ("t.json", b"[[1, 2]]", r"t.json: \[0\] is a list, not a text$"),
        ("t.json", b"[]", "t.json: is an empty list$"),
        ("t.json", b"[CLS]\n", "t.json: line 1, column 2: “CLS” is not JSON"),
        ("t.txt", b'["a","b"', "t.txt: line 1, column 9: the JSON ends too early; a bracket is not closed$"),
        (
            "t.json",
            b'{"q": [[1]], "tokens": ["a"]}',
            "t.json: is a JSON object, not a list of texts\n  hint: t.json:tokens$",
        ),
        ("t.json", b'{"q": [[1]]}', "t.json: is a JSON object, not a list of texts$"),
        ("t.txt", b"", "t.txt: is empty$"),
    ],
)
def test_lists_of_texts_with_a_fault(name, data, message):
    with pytest.raises(FileError, match=message):
        read_lines(put(name, data))
