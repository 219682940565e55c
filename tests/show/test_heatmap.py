"""Heat maps in a terminal: what is strong is strong, what is blocked has a sign, and nothing is wider than it may."""

import re

import numpy as np
import pytest
from documents import HOSTILE, labelled, textbook

from attncalc.show import Document, Settings, render
from attncalc.show.document import Matrix
from attncalc.show.labels import cell_width

SGR = re.compile(r"\x1b\[[0-9;]*m")


def drawn(*matrices, **settings):
    return render(Document(matrices), "heatmap", Settings(**settings))


def weights(size=3):
    allowed = np.tri(size, dtype=bool)
    values = np.where(allowed, 1.0, 0.0)
    values /= values.sum(1, keepdims=True)
    return Matrix("weights", values, blocked=~allowed, strength=values)


def plain(text):
    return SGR.sub("", text).splitlines()


def test_without_colours_shades_say_how_strong():
    values = np.array([[1.0, 0.0], [0.5, 0.5]])
    text = drawn(Matrix("weights", values, rows=("a", "b"), columns=("x", "y"), strength=values))
    assert text.splitlines() == [
        "weights",
        "  x   y",
        "a ███",
        "b ▓▓▓ ▓▓▓",
        "",
        "0 [ ░░░░░▒▒▒▒▒▒▓▓▓▓▓▓██████] 1",
    ]


def test_ascii_has_signs_that_grow_darker():
    text = drawn(weights(), encoding="ascii")
    assert text.isascii()
    assert text.splitlines()[2:5] == ["q0 @@@  x   x", "q1 +++ +++  x", "q2 === === ==="]
    assert text.splitlines()[-1].endswith("] 1   x blocked")


def test_blocked_cells_have_a_sign_beside_the_colour():
    lines = plain(drawn(weights(), color=True, depth="truecolor"))
    assert [line.count("×") for line in lines[2:5]] == [2, 1, 0]
    assert lines[-1].endswith("× blocked")


@pytest.mark.parametrize("depth", ["truecolor", "256"])
def test_the_strongest_cell_has_the_strongest_colour(depth):
    values = np.array([[0.0, 0.25, 1.0]])
    row = drawn(Matrix("weights", values, strength=values), color=True, depth=depth).splitlines()[2]
    colors = re.findall(r"\x1b\[48;([0-9;]+)m", row)
    weakest, strongest = {"truecolor": ("2;14;27;56", "2;190;226;240"), "256": ("5;17", "5;195")}[depth]
    assert (colors[0], colors[-1]) == (weakest, strongest)
    light = render(Document((Matrix("w", values),)), "heatmap", Settings(color=True, depth=depth, light=True))
    assert re.findall(r"\x1b\[48;([0-9;]+)m", light.splitlines()[2])[0] == strongest


def test_numbers_below_zero_have_another_hue():
    text = drawn(Matrix("scores", np.array([[-2.0, 2.0]])), color=True, depth="truecolor")
    left, right = re.findall(r"\x1b\[48;2;(\d+);(\d+);(\d+)m {4}", text)
    assert int(left[0]) > int(left[2]), "orange: more red than blue"
    assert int(right[2]) > int(right[0]), "blue"
    assert "-2 [" in text


def test_sixteen_colours_are_too_few():
    text = drawn(weights(), color=True, depth="16")
    assert "48;" not in text
    assert "███" in text


def test_many_rows_are_drawn_two_in_a_line():
    lines = plain(drawn(weights(40), color=True))
    body = lines[2:-2]
    assert len(body) == 20
    assert body[0].startswith("q0 ")
    assert body[1].startswith("q2 ")
    assert body[0].count("·") == 38, "the first two rows see one and two keys"


def test_what_is_beyond_the_window_is_averaged():
    values = np.kron(np.eye(4), np.ones((100, 100)))
    text = drawn(Matrix("weights", values, strength=values), max_rows=4, max_cols=4)
    assert "400 × 400, averaged to 4 × 4" in text
    assert [line[5:] for line in text.splitlines()[2:6]] == ["█", " █", "  █", "   █"]


def test_a_block_is_blocked_when_all_of_it_is():
    text = drawn(weights(8), max_rows=4, max_cols=4)
    assert [line.count("·") for line in text.splitlines()[2:6]] == [3, 2, 1, 0]


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("size", [1, 5, 30, 300])
def test_no_line_is_wider_than_the_terminal(width, size):
    for settings in (Settings(width=width), Settings(width=width, color=True)):
        text = render(Document((weights(size),)), "heatmap", settings)
        assert max(cell_width(line) for line in plain(text)[:-2] if "averaged" not in line) <= width


def test_heads_share_one_scale_and_one_legend():
    strong, weak = np.full((1, 1), 1.0), np.full((1, 1), 0.5)
    text = drawn(Matrix("weights · head 0", strong), Matrix("weights · head 1", weak))
    assert text.count("[ ░") == 1
    assert [line for line in text.splitlines() if line.startswith("q0")] == ["q0 ███", "q0 ▓▓▓"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp437", "latin-1", "ascii"])
@pytest.mark.parametrize("color", [True, False])
def test_hostile_labels_are_data(encoding, color):
    text = render(labelled(HOSTILE), "heatmap", Settings(color=color, encoding=encoding, width=80))
    text.encode(encoding)
    rest = SGR.sub("", text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066]", rest)


def test_every_kind_of_matrix_can_be_drawn():
    text = render(textbook(), "heatmap", Settings())
    for stage in ("raw", "scores", "weights", "output", "lse", "allowed"):
        assert f"\n{stage}\n" in text
    odd = np.array([[np.nan, np.inf], [-np.inf, 3.0]])
    lines = drawn(Matrix("odd", odd)).splitlines()
    assert lines[2:4] == ["q0  ?  ███", "q1     ███"], "infinity is as far as the scale goes"
    assert lines[-1].endswith("3   ? NaN")
    assert "?" in drawn(Matrix("odd", odd), color=True)
    assert "?" not in drawn(Matrix("odd", np.tile(odd, (40, 1))), color=True).splitlines()[3]
    assert drawn(Matrix("nothing", np.zeros((0, 2)))).startswith("nothing")
    assert drawn(Matrix("zero", np.zeros((2, 2))), color=True)
