"""Tables and matrices with every part, worked out by hand."""

import numpy as np
import pytest

from attncalc.show import Document, Settings, render
from attncalc.show.document import Column, Facts, Heading, Matrix, Role, Span, Table
from attncalc.show.labels import cell_width


def shown(block, format="table", **settings):
    return render(Document((block,)), format, Settings(**settings))


def with_everything():
    return Matrix(
        "change",
        np.array([[0.5, 0.25], [-1.0, 2.0]]),
        rows=("the", "你好"),
        columns=("a long name", "b"),
        corner="i/j",
        marks={(0, 0): Role.WRONG, (1, 1): Role.STRONGEST},
        total=("sum", np.array([0.75, 1.0])),
    )


def test_marks_total_corner_and_wide_labels():
    assert (
        shown(with_everything())
        == """\
change
i/j  │ a long name        b │    sum
─────┼──────────────────────┼────────
the  │     !0.5000   0.2500 │ 0.7500
你好 │     -1.0000  *2.0000 │ 1.0000
"""
    )


def test_the_total_stands_in_every_format():
    assert "| **the** | !0.5000 | 0.2500 | 0.7500 |" in shown(with_everything(), "markdown")
    assert r"the & !0.5000 & 0.2500 & 0.7500 \\" in shown(with_everything(), "latex")
    assert r"你好 & $-1.0000$ & *2.0000 & 1.0000 \\" in shown(with_everything(), "latex")
    assert shown(with_everything(), "plain").endswith("你好              -1.0  2.0  1.0\n")


def test_the_total_is_kept_when_columns_are_left_out():
    values = np.ones((12, 30)) / 30
    matrix = Matrix("weights", values, strength=values, total=("sum", values.sum(1)))
    lines = shown(matrix, width=40, max_rows=3).split("\n")
    assert lines[1:] == [
        "    │     k0      k1  …     k29 │    sum",
        "────┼───────────────────────────┼───────",
        "q0  │ 0.0333  0.0333  …  0.0333 │ 1.0000",
        "q1  │ 0.0333  0.0333  …  0.0333 │ 1.0000",
        "⋮   │      ⋮       ⋮  …       ⋮ │      ⋮",
        "q11 │ 0.0333  0.0333  …  0.0333 │ 1.0000",
        "12 × 30: 3 of 12 rows, 3 of 30 columns",
        "shown",
        "",
    ]


def test_powers_of_ten_keep_a_matrix_narrow():
    text = shown(Matrix("gradient", np.array([[1e-300, -1e-305]])))
    assert "q0 │ 1.0000e-300  -1.0000e-305" in text
    assert r"$-1.0000 \cdot 10^{-305}$" in shown(Matrix("gradient", np.array([[1e-300, -1e-305]])), "latex")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_long_labels_leave_room_for_numbers(width):
    names = tuple(f"token number {i} of a long sentence" for i in range(9))
    text = shown(Matrix("weights", np.eye(9), rows=names, columns=names, fixed=True), width=width)
    assert max(map(cell_width, text.split("\n"))) <= width
    assert "1.0000" in text


TABLE = Table(
    (Column("tokens", "right"), Column("bytes", "right"), Column("growth", "right")),
    (("1024", "8388608", "1.0"), ("2048", Span("33554432", Role.STRONGEST), "4.0")),
)


def test_a_table_of_numbers_is_never_wrapped():
    assert (
        shown(TABLE, width=24)
        == """\
tokens     bytes  growth
──────  ────────  ──────
  1024   8388608     1.0
  2048  33554432     4.0
"""
    )


def test_a_table_that_does_not_fit_is_written_row_by_row():
    assert (
        shown(TABLE, width=23)
        == """\
tokens  1024
bytes   8388608
growth  1.0

tokens  2048
bytes   33554432
growth  4.0
"""
    )


def test_long_values_hang_under_the_first():
    facts = Facts((("scale", "1"), ("mask", "causal and a window of 3 to the left")))
    assert shown(facts, width=30) == "scale  1\nmask   causal and a window of\n       3 to the left\n"
    assert shown(facts) == "scale  1\nmask   causal and a window of 3 to the left\n"


def test_headings_are_told_apart_without_colour():
    assert shown(Heading("你好")) == "你好\n────\n"
    assert shown(Heading("Rows", 2)) == "Rows\n"


def test_an_empty_page_is_an_empty_line():
    assert render(Document(()), "table", Settings()) == "\n"


def test_faults_of_the_caller_are_refused():
    with pytest.raises(ValueError, match="one or two axes, not 3"):
        Matrix("x", np.zeros((1, 1, 1)))
    with pytest.raises(ValueError, match="strength is"):
        Matrix("x", np.zeros((2, 2)), strength=np.zeros(2))
    with pytest.raises(ValueError, match="1 column labels for 2 columns"):
        Matrix("x", np.zeros((2, 2)), columns=("a",))
