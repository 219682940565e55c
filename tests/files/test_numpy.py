"""npy and npz: types, orders, versions, damage."""

import io
import warnings
import zipfile

import numpy as np
import pytest

from attncalc.errors import FileError
from attncalc.files import read, read_entry, write_npy, write_npz

MATRIX = np.array([[1.5, 2, 3], [4, 5, 6.5]])


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), version=version, allow_pickle=True)
    return file.getvalue()


def entry(data):
    return read_entry("-", io.BytesIO(data))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", ">f4", ">i2", ">u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_and_order_from_file_and_stream(tmp_path, dtype, order):
    array = np.array([[1, 0, 3], [4, 5, 6]]).astype(dtype, order=order)
    path = tmp_path / "q.npy"
    np.save(path, array)
    for got in (read_entry(str(path)), entry(path.read_bytes())):
        assert np.array_equal(got.values, array)
        assert got.values.dtype.isnative
        assert got.dtype == array.dtype.newbyteorder("=").name
        assert got.written() is None
        assert got.place((1, 2)) == "[1][2]"


def test_a_very_large_file_is_mapped_read_only(tmp_path, monkeypatch):
    monkeypatch.setattr("attncalc.files.numpy_format.MAPPED", 1)
    path = tmp_path / "q.npy"
    np.save(path, MATRIX)
    values = read_entry(str(path)).values
    assert isinstance(values.base, np.memmap)
    assert not values.flags.writeable
    assert type(values) is np.ndarray


@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(version):
    assert np.array_equal(entry(npy(MATRIX, version)).values, MATRIX)


def test_no_rows_is_a_shape_too(tmp_path):
    np.save(tmp_path / "q.npy", np.zeros((0, 2)))
    assert read_entry(str(tmp_path / "q.npy")).values.shape == (0, 2)


def header(text, version=b"\x01\x00"):
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy(np.array([{}, 1])), "-: holds Python objects, not plain numbers"),
        (npy(np.array([1j])), "-: has the type complex128; booleans, integers and floats"),
        (npy(np.array(["2020-01-01"], "M8[D]")), r"-: has the type datetime64\[D\]"),
        (npy(np.zeros(2, "V2")), "-: has the type V2, which is what NumPy writes for bfloat16"),
        (npy(np.zeros(2, [("x", "f8")])), "-: has a structured type with the fields x"),
        (npy(np.array([["a"]])), "-: holds texts in the shape 1 × 1, not numbers"),
        (npy(np.array([b"ab"])), "-: has the type bytes16"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2)}") + bytes(16), "-: is damaged"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': [1, 2]}") + bytes(16), "-: is damaged"),
        (npy(5.0), "-: is a single number, not a list or a matrix"),
        (npy(MATRIX)[:-9], "-: is truncated: it has 39 of 48 bytes of data\n  shape  2 × 3\n  type   float64"),
        (npy(MATRIX)[:40], "-: is truncated: the npy header has 30 of 118 bytes"),
        (npy(MATRIX)[:8], "-: is truncated: the npy header is not complete"),
        (npy(MATRIX)[:4], "-: is truncated: the npy header is not complete"),
        (header("{}", b"\x09\x00"), "-: has version 9 of the npy format; 1, 2 and 3 are read"),
        (header("{'descr': "), "-: is damaged: its npy header cannot be read"),
        (header("[1]"), "-: is damaged: its npy header cannot be read"),
        (header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), "claims the shape -1"),
        (
            header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000000000)}"),
            "-: is truncated: it has 0 of 8000000000000000000000000 bytes",
        ),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "-: is damaged: its npy header claims 4294967295 bytes"),
    ],
)
def test_faults(data, message):
    with pytest.raises(FileError, match=message):
        entry(data)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no longer float here")
def test_long_floats_are_refused():
    with pytest.raises(FileError, match="-: has the type float"):
        entry(npy(np.zeros(1, np.longdouble)))


def test_bytes_after_the_array_have_a_note():
    assert entry(npy(MATRIX) + npy(MATRIX)).notes == ("-: 176 bytes follow the array; they are not read",)


def test_an_archive_is_read_by_name(tmp_path):
    path = str(tmp_path / "all.npz")
    np.savez_compressed(path, q=MATRIX, lengths=3, tokens=np.array(["a", "b"]), bad=np.array([{}]))
    file = read(path)
    assert file.format == "npz"
    assert list(file.entries) == ["q", "lengths", "tokens", "bad"]
    assert np.array_equal(file.entries["q"].values, MATRIX)
    assert file.entries["q"].source == f"{path}:q"
    assert file.entries["lengths"].values.shape == ()
    assert file.entries["tokens"].values.tolist() == ["a", "b"]
    assert file.entries["tokens"].dtype == "text"
    with pytest.raises(FileError, match=r"all\.npz:bad: holds Python objects"):
        file.entries["bad"]


def archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened, warnings.catch_warnings(action="ignore"):
        for name, data in members:
            opened.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (archive([]), "-: is an empty zip archive"),
        (archive([("a.txt", b"")]), "-: is a zip archive without arrays"),
        (archive([("archive/data.pkl", b"")]), "-: is a PyTorch file, which holds Python objects"),
        (archive([("[Content_Types].xml", b""), ("xl/a", b"")]), "-: is an Excel workbook"),
        (archive([("[Content_Types].xml", b""), ("word/a", b"")]), "-: is an Office document"),
        (archive([("q.npy", b"hello")]), "-:q: is not an array, although its name ends in .npy"),
        (archive([("q.npy", npy(MATRIX)), ("q.npy", npy(MATRIX))]), "-: the array q stands twice"),
        (archive([("q.npy", npy(MATRIX)[:-1])]), "-:q: is truncated: it has 47 of 48 bytes"),
        (archive([("q.npy", npy(MATRIX))])[:-30], "-: is a damaged or truncated zip archive"),
        (archive([("q.npy", npy(MATRIX))]).replace(MATRIX.tobytes(), bytes(48)), "-:q: is damaged"),
    ],
)
def test_faults_of_archives(data, message):
    with pytest.raises(FileError, match=message):
        entry(data)


def test_an_encrypted_archive():
    data = bytearray(archive([("q.npy", npy(MATRIX))]))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FileError, match="-:q: is encrypted"):
        entry(bytes(data))


@pytest.mark.parametrize(
    "array", [MATRIX, MATRIX.T, MATRIX[:, ::-1], np.zeros((0, 2)), np.array(3.5), MATRIX > 3, MATRIX.astype("f4")]
)
def test_what_is_written_is_read_by_numpy(array):
    file = io.BytesIO()
    write_npy(file, array)
    got = np.load(io.BytesIO(file.getvalue()))
    assert got.dtype == array.dtype
    assert np.array_equal(got, array)
    both = io.BytesIO()
    write_npz(both, {"file": array, "scores": MATRIX})
    loaded = np.load(io.BytesIO(both.getvalue()))
    assert np.array_equal(loaded["file"], array)
    assert np.array_equal(loaded["scores"], MATRIX)


def test_the_same_arrays_give_the_same_archive():
    first, second = io.BytesIO(), io.BytesIO()
    for file in (first, second):
        write_npz(file, {"q": MATRIX})
    assert first.getvalue() == second.getvalue()
