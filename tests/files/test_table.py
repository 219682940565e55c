"""Tables: what is read, from texts whose matrix can be seen."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncalc.errors import FileError
from attncalc.files import read_entry
from attncalc.files.table_cells import find_separator, first_records
from attncalc.files.table_format import _exact, _fast, read_table
from attncalc.files.table_sheet import read_sheet


def separator_of(text, prefer=None):
    return find_separator(text, first_records(text, "q.csv"), prefer)


def read(text, prefer=None):
    return read_table(text, "q.csv", (), prefer)


@pytest.mark.parametrize(
    "text",
    [
        "1.5,2\n3,-4\n",
        "1.5,2\n3,-4",
        "1.5,2\r\n3,-4\r\n",
        "1.5,2\r3,-4\r",
        "1.5;2\n3;-4\n",
        "1,5;2\n3;-4\n",
        "1,5;2,0\n3,0;-4,0\n",
        "1.5\t2\n3\t-4\n",
        "1,5\t2\n3\t-4\n",
        "1.5 2\n3 -4\n",
        "  1.5   2 \n 3\t-4\n",
        "1,5 2\n3 -4\n",
        "1.5, 2\n3, -4\n",
        '"1.5","2"\n"3","-4"\n',
        '"1.5" "2"\n"3" "-4"\n',
        '"1,5";"2"\n"3";"-4"\n',
        '1.5, "2"\n3, "-4"\n',
        "1.5,2,\n3,-4,\n",
        "a,b,\n1.5,2,\n3,-4,\n",
        "a,b\n1.5,2,\n3,-4,\n",
        "1.5;2;\n3;-4;\n",
        "# q\n1.5,2\n  # and\n\n3,-4\n   \n",
        "\n\n1.5,2\n3,-4\n",
        "a,b\n1.5,2\n3,-4\n",
        "\na b,c d\n1.5,2\n3,-4\n",
        "sep=;\n1.5;2\n3;-4\n",
        "sep=|\n1.5|2\n3|-4\n",
        '"sep=,"\n1.5,2\n3,-4\n',
        "15e-1,2\n3D+00,\u22124\n",
        "1.5d0,2.\n+3,-4E0\n",
        "head,query,k0,k1\n0,0,1.5,2\n0,1,3,-4\n",
        "query,k0,k1\n0,1.5,2\n1,3,-4\n",
        '"head","query","k0","k1"\n"0","0","1.5","2"\n"0","1","3","-4"\n',
    ],
)
def test_many_ways_to_write_one_matrix(text):
    values = read(text).values
    assert values.reshape(2, 2).tolist() == [[1.5, 2], [3, -4]]
    assert values.dtype == np.float64


def test_comma_between_numbers_is_the_separator():
    assert read("1,5\n2,5\n").values.tolist() == [[1, 5], [2, 5]]


@pytest.mark.parametrize(("text", "rows"), [("1.5\n2\n3\n", 3), ("x\n1\n2\n", 2), ("5", 1), ('"1"\n"2"\n', 2)])
def test_one_column_stays_a_column(text, rows):
    assert read(text).values.shape == (rows, 1)


def test_nan_and_infinity():
    expected = [[np.nan, np.inf], [-np.inf, 1]]
    assert np.array_equal(read("nan,inf\n-inf,1\n").values, expected, equal_nan=True)
    assert np.array_equal(read("NaN,+Infinity\n\u2212INF,1\n").values, expected, equal_nan=True)


def test_true_and_false():
    entry = read("True,False\nfalse,TRUE\n")
    assert entry.dtype == "bool"
    assert entry.values.tolist() == [[True, False], [False, True]]


def test_truth_among_numbers_is_a_number():
    entry = read("1,False\nfalse,true\n")
    assert entry.dtype == "float64"
    assert entry.values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("the,1,2\ncat,3,4\n", ("the", "cat")),
        ("token,a,b\nthe,1,2\ncat,3,4\n", ("the", "cat")),
        (",a,b\nthe,1,2\ncat,3,4\n", ("the", "cat")),
        (",0,1\nthe,1,2\ncat,3,4\n", ("the", "cat")),
        ("the;1,0;2,5\ncat;3,5;4,5\n", ("the", "cat")),
        ("the;1,5\ncat;2,5\n", ("the", "cat")),
        ("the 1 2\ncat 3 4\n", ("the", "cat")),
        (";,1,2\n-,3,4\n", (";", "-")),
        ('","\t1\t2\na\t3\t4\n', (",", "a")),
        ('"a ""b""",1,2\n" c",3,4\n', ('a "b"', " c")),
        ('"two\nlines",1,2\n"",3,4\n', ("two\nlines", "")),
        ("nan,1,2\nthe,3,4\n", ("nan", "the")),
        ("2nd,1,2\n3,3,4\n", ("2nd", "3")),
        ("a b\nx 1 2\ny 3 4\n", ("x", "y")),
        ("query,1,2\n7,1,2\n8,3,4\n", ("7", "8")),
        ("query,0\n00,1\n", ("00",)),
        ("[PAD],1,2\n</s>,3,4\n", ("[PAD]", "</s>")),
    ],
)
def test_a_first_column_of_labels(text, labels):
    entry = read(text)
    assert entry.labels == labels
    assert entry.values.shape[0] == len(labels)


@pytest.mark.parametrize(
    "text",
    [
        ",a,b\n0,1.5,2\n1,3,-4\n",
        ",a,b\n5,1.5,2\n7,3,-4\n",
        ",a,b\n0.0,1.5,2\n1.0,3,-4\n",
        ",a,b\n0,1.5,2\n0,3,-4\n",
        ",0,1\n0,1.5,2\n1,3,-4\n",
        ",0,1\n5,1.5,2\n7,3,-4\n",
        ",0,1\n2,1.5,2\n1,3,-4\n",
        ",0,1,\n0,1.5,2,\n1,3,-4,\n",
        ";0;1\n0;1,5;2\n1;3;-4\n",
        "\t0\t1\n0\t1.5\t2\n1\t3\t-4\n",
        "Unnamed: 0,a,b\n0,1.5,2\n1,3,-4\n",
        '"","0","1"\n"0","1.5","2"\n"1","3","-4"\n',
        '"";"0";"1"\n"0";"1,5";"2"\n"1";"3";"-4"\n',
        '"",0,1\n0,1.5,2.0\n1,3.0,-4.0\n',
        "index,0,1\n0,1.5,2\n1,3,-4\n",
        '"index","0","1"\n"0","1.5","2"\n"1","3","-4"\n',
        '"","V1","V2"\n"1",1.5,2\n"2",3,-4\n',
        "V1 V2\n1 1.5 2\n2 3 -4\n",
    ],
)
def test_an_index_column_is_left_out_with_a_note(text):
    entry = read(text)
    assert entry.values.tolist() == [[1.5, 2], [3, -4]]
    assert entry.labels is None
    commas = ("q.csv: read with decimal commas",) if "1,5" in text and ";" in text else ()
    assert entry.notes == (
        *commas,
        "q.csv: the first line is read as a header and the first column as an index, which is left out",
    )


def test_an_index_that_was_saved_twice_is_left_out_twice():
    entry = read(",Unnamed: 0,a\n0,0,5\n1,1,6\n")
    assert entry.values.tolist() == [[5], [6]]
    assert entry.notes == (
        "q.csv: the first line is read as a header and the first 2 columns as an index, which is left out",
    )


@pytest.mark.parametrize(
    ("text", "labels", "values"),
    [
        (",0,1\nthe,1,2\ncat,3,4\n", ("the", "cat"), [[1, 2], [3, 4]]),
        ('"","0","1"\n"the",1,2\n"cat",3,4\n', ("the", "cat"), [[1, 2], [3, 4]]),
        ("token,d0,d1\nthe,1,0\ncat,0,1\n", ("the", "cat"), [[1, 0], [0, 1]]),
    ],
)
def test_a_header_and_labels_have_one_note(text, labels, values):
    entry = read(text)
    assert entry.labels == labels
    assert entry.values.tolist() == values
    assert entry.notes == ("q.csv: the first line is read as a header and the first column as labels",)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\n1,2\n", "the first line is read as a header"),
        ('"a","b"\n1,2\n', "the first line is read as a header"),
        ("# q\n\na,b\n1,2\n", "line 3 is read as a header"),
        ('# q\n\n"a",b\n1,2\n', "line 3 is read as a header"),
        ("the,1\ncat,2\n", "the first column is read as labels"),
        ("the,2,1\nNA,3,4\n", "the first column is read as labels"),
        (
            ",a,b\n0.5,1,2\n1,3,4\n",
            "the first line is read as a header, without a name for column 1, which is read as numbers",
        ),
        (
            "token,0,1\nthe,1,2\n",
            "the first column is read as labels, and the first line, which counts 0, 1 …, as numbers",
        ),
    ],
)
def test_what_was_recognised_is_said(text, note):
    assert read(text).notes == (f"q.csv: {note}",)


@pytest.mark.parametrize(
    "text", ["1,2\n3,4\n", "query,k0\n0,1\n", "query,the,cat\nthe,1,2\ncat,3,4\n", "head,query,lse\n0,0,1\n"]
)
def test_numbers_alone_and_tables_of_attncalc_have_no_note(text):
    assert read(text).notes == ()


@pytest.mark.parametrize("cell", ["x3", "1/3", "$5", '"1"x', '"NA"'])
def test_a_lone_word_among_numbers_makes_labels_and_the_note_says_which(cell):
    entry = read(f"1,2\n{cell},4\n5,6\n")
    assert entry.values.tolist() == [[2], [4], [6]]
    shown = "NA" if cell == '"NA"' else cell
    assert entry.notes == (f"q.csv: the first column is read as labels, for “{shown}” in line 2 is no number",)


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("NA", '\n  hint: if column 1 holds labels, quote it: "NA"'),
        ("null", '\n  hint: if column 1 holds labels, quote it: "null"'),
        ("N/A", '\n  hint: if column 1 holds labels, quote it: "N/A"'),
        ("\u20131", ""),
        ("#N/A", '\n  hint: if column 1 holds labels, quote it: "#N/A"'),
        ("#DIV/0!", '\n  hint: if column 1 holds labels, quote it: "#DIV/0!"'),
        ("1.0+105", ""),
        ("1+2j", ""),
        ("1.2.3", ""),
        ("1_000", "\n  hint: write numbers without thousands separators"),
        ("1'000", "\n  hint: write numbers without thousands separators"),
        ('"1,000"', "\n  hint: write numbers without thousands separators"),
        ('"1,5"', "\n  hint: write a decimal point: 1.5"),
    ],
)
def test_a_broken_number_makes_no_labels(cell, hint):
    with pytest.raises(FileError) as caught:
        read(f"1,2\n{cell},4\n")
    shown = cell.strip('"')
    assert str(caught.value) == f"q.csv: line 2, column 1: “{shown}” is not a number{hint}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,1 .5\n", "q.csv: line 2, column 2: “1 .5” is not a number"),
        ("1,2\x0b3,4\n", "q.csv: line 1, column 2: “2\x0b3” is not a number"),
        ("1\x0b2\n", "q.csv: line 1, column 1: “1\x0b2” is not a number"),
        (
            "1\u00a0000 2\n",
            "q.csv: line 1, column 1: “1\u00a0000” is not a number\n  hint: write numbers without thousands separators",
        ),
        (
            "1 000\t2\n3 000\t4\n",
            "q.csv: line 1, column 1: “1 000” is not a number\n  hint: write numbers without thousands separators",
        ),
        ("1\t\t3\n4\t5\t6\n", "q.csv: line 1, column 2 is empty"),
        ("1\t2\n\t3\n", "q.csv: line 2, column 1 is empty"),
        ("1,,3\n", "q.csv: line 1, column 2 is empty"),
        (",0\n5,1\n7,2\n", "q.csv: line 1, column 1 is empty\n  hint: if this line is a header, remove it"),
    ],
)
def test_faults_and_nothing_but_true_hints(text, message):
    with pytest.raises(FileError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("\t0\t1\n0\t1\t2\n", "\t"),
        ("a\t1\t2\n\t3\t4\n", "\t"),
        ('"a b"\t1\n"c\td"\t2\n', "\t"),
        ("\t1\t2\n\t3\t4\n", " "),
        ("1 2\t3 4\n5 6\t7 8\n", " "),
        ("1\t2\n3 4\n", " "),
        ("1\t\t2\n-3.25\t4\n", " "),
    ],
)
def test_tabs_in_every_row_beat_spaces(text, separator):
    assert separator_of(text) == separator


def test_decimal_commas_have_a_note():
    assert read("1,5;2\n").notes == ("q.csv: read with decimal commas",)
    header = "q.csv: the first line is read as a header"
    assert read("a;b\n1,5;2\n").notes == ("q.csv: read with decimal commas", header)
    assert read("a,b;c\n1.5;2\n").notes == (header,)


def test_a_comment_that_could_be_a_label_has_a_note():
    entry = read("walk,1,2\n##ing,3,4\nhome,5,6\n")
    assert entry.labels == ("walk", "home")
    assert entry.notes == (
        "q.csv: the first column is read as labels",
        "q.csv: line 2 is skipped as a comment; quote “##ing” if it is a label",
    )
    assert read('walk,1,2\n"##ing",3,4\n').labels == ("walk", "##ing")


def test_a_tie_goes_to_the_separator_of_the_name():
    assert separator_of("1,5\t2,5\n", "\t") == "\t"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n\n# c\n3\n", r"q.csv: line 4 has 1 cell, line 1 has 2\n  separated by  commas$"),
        ("a,b\n1,2,3\n", r"q.csv: line 2 has 3 cells, line 1 has 2"),
        ('"a\nb",1,2\nc,3\n', r"q.csv: line 3 has 2 cells, line 1 has 3"),
        ("1,2\n3,n/a\n", r"q.csv: line 2, column 2: “n/a” is not a number"),
        ('"a\nb",1\nc,x\n', r"q.csv: line 3, column 2: “x” is not a number"),
        ("True,maybe\n", r"q.csv: line 1, column 2: “maybe” is not a number"),
        ("1,,3\n4,5,6\n", r"q.csv: line 1, column 2 is empty"),
        ("1,2\n,3\n", r"q.csv: line 2, column 1 is empty"),
        ("1,2,\n3,4,5\n", r"q.csv: line 1, column 3 is empty"),
        ("1_000,2\n", r"q.csv: line 1, column 1: “1_000” is not a number"),
        ("1,2\n3,1__0\n", r"q.csv: line 2, column 2: “1__0” is not a number"),
        ('"1,000",2\n3,4\n', r"q.csv: line 1, column 1: “1,000” is not a number"),
        ("1;2\n1,000,000;2\n", r"q.csv: line 2, column 1: “1,000,000” is not a number"),
        ("1,2;22,3\n1.234,56;7\n", r"q.csv: line 2, column 1: “1.234,56” is not a number"),
        ("1,5;2.5;3,5\n", r"q.csv: line 1, column 2: “2.5” has a decimal point"),
        ("1.5;2.5;3,5\n", r"q.csv: line 1, column 3: “3,5” is not a number"),
        ("1,2\n3,0x10\n", r"q.csv: line 2, column 2: “0x10” is not a number"),
        ("1,2\n3,\u0663\n", r"q.csv: line 2, column 2: “\u0663” is not a number"),
        ("1,2\n3,1e400\n", r"q.csv: line 2, column 2: 1e400 is too large for a 64-bit float"),
        ("1,2\n3,-1D400\n", r"q.csv: line 2, column 2: -1D400 is too large"),
        ("1,2\n3,1 2\n", r"q.csv: line 2, column 2: “1 2” is not a number"),
        ("1,2\n3,nan(1)\n", r"q.csv: line 2, column 2: “nan\(1\)” is not a number"),
        ("1,2\n3," + "x" * 90 + "\n", r"q.csv: line 2, column 2: “x{39}…” is not a number"),
        ("1,2\n3,[4]\n", r"hint: remove the brackets"),
        ("1 2 # c\n3 4\n", r"q.csv: line 2 has 2 cells, line 1 has 4"),
        ("a,b\n5,1,2\n6,3,4\n", r"q.csv: line 2 has 3 cells, line 1 has 2"),
        ("a,b\n# 1,2\n", r"q.csv: line 1 is text, and no line of numbers follows it"),
        ("a,b\n", r"q.csv: line 1 is text, and no line of numbers follows it"),
        ("# a\n\n", r"q.csv: holds no numbers, only blank lines and comments"),
        ("sep=;\n", r"q.csv: holds no numbers"),
        (",,\n1,2,3\n", r"q.csv: line 1, column 1 is empty"),
        (",0,1\n0.5,1,2\n7,3,4\n", r"q.csv: line 1, column 1 is empty"),
        ('1,2\n"3,4\n', r"q.csv: line 2 opens a double quote that is never closed"),
        ("head,query,k0\n0,0,1\n0,0,2\n", r"q.csv: the columns head, query do not count every row once"),
        ("head,query,k0\n0,0,1\n0,2,2\n", r"q.csv: the columns head, query do not count"),
        ("head,query,k0\n0,0.5,1\n", r"q.csv: the columns head, query do not count"),
        ("head,query,k0\n0,x,1\n", r"q.csv: line 2, column 2: “x” is not a number"),
    ],
)
def test_faults_name_line_and_column(text, message):
    with pytest.raises(FileError, match=message):
        read(text)


@pytest.mark.parametrize("text", ["a,1\n1_000,2\n", "a,1\n,2\n"])
def test_what_would_be_a_fault_may_be_a_label_among_labels(text):
    assert read(text).values.tolist() == [[1], [2]]


def test_place_counts_lines_of_the_file_and_cells_of_the_line():
    entry = read("# c\n,a,b\nthe,1,2\n\ncat,3,4\n")
    assert entry.place((0, 0)) == "line 3, column 2"
    assert entry.place((1, 1)) == "line 5, column 3"
    assert read("1,2\n3,4\n").place((1, 0)) == "line 2, column 1"
    grid = read("head,query,k0,k1\n0,0,1,2\n0,1,3,4\n1,0,5,6\n1,1,7,8\n")
    assert grid.values.shape == (2, 2, 2)
    assert grid.place((1, 0, 1)) == "line 4, column 4"
    lse = read("head,query,lse\n0,0,1\n0,1,3\n")
    assert lse.values.tolist() == [[1, 3]]
    assert lse.place((0, 1)) == "line 3, column 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2\n3,4\n", (1, 0, True)),
        ("1.50,2\n", (3, 2, False)),
        ("the,0.001,12.5\n", (3, 3, False)),
        ("a,b\n1.5e-3,2\n", (2, 4, False)),
        ("1.5e3,2\n", (2, 0, False)),
        ("1,5;2,25\n", (3, 2, False)),
        ("true,false\n", (0, 0, True)),
        ("nan,-inf,100\n", (3, 0, True)),
        (",a\n0,1.25\n1,3\n", (3, 2, False)),
        ("1.5D-3,\u22122\n", (2, 4, False)),
    ],
)
def test_written(text, expected):
    written = read(text).written()
    assert (written.significant, written.decimals, written.integers) == expected


CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        [
            "1_0",
            "1e400",
            "-1e400",
            "nan",
            "inf",
            "Infinity",
            "1D5",
            "1.",
            ".5",
            ".",
            "",
            " 2",
            "2 ",
            "0x1",
            "true",
            "\u0663",
            "\u22121",
            "1e",
            "e5",
            "+1",
            "--1",
            "1 2",
            "#",
            "a",
            "nan(1)",
            "1\x0c",
            "1\x1f",
            "-0",
            "1,5",
            "1,",
            "1\t",
        ],
    ),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=3),
    st.sampled_from([",", ";", "\t", " "]),
    st.booleans(),
)
def test_the_fast_way_and_the_exact_way_agree(rows, separator, header):
    text = "".join(separator.join(row) + "\n" for row in [["a", "b"], *rows] if header or row != ["a", "b"])
    try:
        fast = _fast(text, "q.csv", separator, first_records(text, "q.csv"))
    except FileError:
        return
    if fast is not None:
        exact = _exact(read_sheet(text, "q.csv", separator), text)
        assert exact.values.tobytes() == fast.values.tobytes() or np.array_equal(
            exact.values, fast.values, equal_nan=True
        )
        assert exact.values.dtype == fast.values.dtype
        assert (exact.header, exact.labels, exact.notes) == (fast.header, fast.labels, fast.notes)


def test_the_fast_way_is_taken_by_plain_tables():
    for text in ("1,2\n3,4\n", "a,b\n1,2\n", "# c\n1 2\n", "1;2,5\n", "1.5\n\n2\n"):
        assert _fast(text, "q.csv", separator_of(text), first_records(text, "q.csv")) is not None


def test_a_table_of_many_rows_reads_a_late_fault():
    text = "1,2\n" * 5000 + "3,x\n"
    with pytest.raises(FileError, match="line 5001, column 2: “x”"):
        read(text)


def test_a_table_from_standard_input():
    assert read_entry("-", io.BytesIO(b"1;0\n0;2\n")).values.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("name", ["q.csv", "q.gz", "q.bz2", "\u00e9.csv"])
@pytest.mark.parametrize(
    "text",
    [
        "1.5,2\n3,-4\n",
        "\n# 1.5,2\n1.5,2\r\n3,-4\n",
        "# c\n\na,b\n1.5,2\n3,-4",
        "\u00e4,b\n1.5,2\n3,-4\n",
        "\ufeff1.5,2\n3,-4\n",
        "1.5,2\n# c\n3,-4\n",
        "1.5 2\r3 -4\r",
        "1,5;2\n3;-4\n",
    ],
)
def test_a_file_reads_as_its_text_does(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert read_entry(str(path)).values.tolist() == [[1.5, 2], [3, -4]]
    assert read_entry("-", io.BytesIO(text.encode())).values.tolist() == [[1.5, 2], [3, -4]]
