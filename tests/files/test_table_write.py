"""Tables that attncalc writes, and that they read back to the same array and labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attncalc.errors import FileError
from attncalc.files import csv_text
from attncalc.files.table_format import read_table

INDEX = {1: ("query",), 2: ("head", "query"), 3: ("batch", "head", "query")}


def written(array, **options):
    return "".join(csv_text(np.asarray(array), **options))


def test_a_matrix_is_numbers_only():
    assert written([[1.5, np.nan], [np.inf, -np.inf]]) == "1.5,nan\ninf,-inf\n"
    assert written([[1, 2]], separator="\t") == "1\t2\n"
    assert written([[True, False]]) == "true,false\n"


def test_a_vector_is_one_number_a_line():
    assert written([1.5, 2]) == "1.5\n2.0\n"


def test_labels_stand_in_a_header_and_a_first_column():
    text = written([[1, 2], [3, 4]], row_labels=["the", "a,b"], columns=["x", '"'])
    assert text == 'query,x,""""\nthe,1,2\n"a,b",3,4\n'


def test_a_label_that_is_the_name_of_an_index_column_is_quoted():
    text = written([[1, 2]], row_labels=["query"], columns=["head", "x"])
    assert text == 'query,"head",x\n"query",1,2\n'
    assert read_table(text, "q.csv").labels == ("query",)


def test_a_label_that_a_spreadsheet_would_compute_is_marked_as_text_and_reads_back():
    labels = ["=HYPERLINK(1)", "+1", "-", "@a", "\tb", "'=", "''+", "'a", "a=b", "＝1"]
    text = written(np.ones((len(labels), 1)), row_labels=labels, columns=["=1+1"])
    starts = [line.rpartition(",")[0].strip('"') for line in text.splitlines()[1:]]
    assert starts == ["'=HYPERLINK(1)", "'+1", "'-", "'@a", "'\tb", "''=", "'''+", "'a", "a=b", "'＝1"]
    assert text.startswith("query,'=1+1\n")
    assert read_table(text, "q.csv").labels == tuple(labels)


def test_index_columns_stand_before_the_numbers():
    assert written([[[1, 2]], [[3, 4]]], index_names=("head", "query"), columns=["k0", "k1"]) == (
        "head,query,k0,k1\n0,0,1,2\n1,0,3,4\n"
    )
    assert written([[1, 2]], index_names=("head", "query")) == "head,query,lse\n0,0,1\n0,1,2\n"
    assert written([[1, 2]], columns=["a", "b"]) == "query,a,b\n0,1,2\n"
    assert written([[1, 2]], index_names=("query",)) == "query,d0,d1\n0,1,2\n"


def test_float32_is_written_as_the_number_it_is():
    assert written(np.array([[0.1]], np.float32)) == "0.10000000149011612\n"


def test_an_array_without_elements_is_refused():
    with pytest.raises(FileError, match=r"a table cannot hold an array without elements \(0 × 2\)"):
        written(np.zeros((0, 2)))


def test_axes_need_names():
    with pytest.raises(ValueError, match="0 index columns for an array of rank 3"):
        written(np.zeros((1, 1, 1)))


def same(got, expected):
    return got.shape == expected.shape and np.array_equal(got, expected, equal_nan=expected.dtype != bool)


SIDE = st.integers(1, 3)
ELEMENTS = st.one_of(st.floats(), st.sampled_from([5e-324, 1.7976931348623157e308, -0.0, 0.1]))


@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from([",", "\t", ";"]), st.sampled_from([float, bool]))
def test_every_rank_reads_back(data, separator, dtype):
    shape = tuple(data.draw(st.lists(SIDE, min_size=2, max_size=4)))
    array = data.draw(arrays(dtype, shape, elements=ELEMENTS if dtype is float else st.booleans()))
    index = INDEX[len(shape) - 1] if len(shape) > 2 else ()
    entry = read_table(written(array, separator=separator, index_names=index), "q.csv")
    assert same(entry.values, array)
    assert np.array_equal(np.signbit(entry.values), np.signbit(array)) or dtype is bool or np.isnan(array).any()


@settings(max_examples=50, deadline=None)
@given(arrays(float, st.lists(SIDE, min_size=1, max_size=3).map(tuple), elements=ELEMENTS))
def test_lse_reads_back(array):
    entry = read_table(written(array, index_names=INDEX[array.ndim]), "lse.csv")
    assert same(entry.values, array)


TEXT = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4),
    st.sampled_from(["query", "head", "1", "0", "", "#", "##ing", '"', ",", ";", " a", "a\r\n", "nan", "true", "lse"]),
)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from([",", "\t"]))
def test_labels_read_back_exactly(data, separator):
    rows, columns = data.draw(SIDE), data.draw(SIDE)
    labels = data.draw(st.lists(TEXT, min_size=rows, max_size=rows))
    names = data.draw(st.lists(TEXT, min_size=columns, max_size=columns))
    array = data.draw(arrays(float, (rows, columns), elements=ELEMENTS))
    text = written(array, separator=separator, row_labels=labels, columns=names)
    entry = read_table(text, "q.csv", prefer=separator)
    if labels == [str(i) for i in range(rows)]:
        assert entry.labels is None  # 0, 1, 2 count the rows, as they do without labels
        assert entry.values.size == array.size
    else:
        assert entry.labels == tuple(labels)
        assert same(entry.values, array)
