"""Pictures through matplotlib: they are what their suffix says, show every label, and come out the same each time."""

import builtins
import io
import re
import zlib

import numpy as np
import pytest
from documents import labelled

from attncalc.errors import AttnCalcError
from attncalc.show import Document, Settings
from attncalc.show.document import Matrix

pytest.importorskip("matplotlib", reason="the extra plot is not installed")

from attncalc.show.picture import FORMATS, picture
from attncalc.show.picture_fonts import fonts_for

BEGINS = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}


def weights(labels=("a", "b", "c")):
    allowed = np.tri(3, dtype=bool)
    values = np.array([[1, 0, 0], [0.25, 0.75, 0], [0.2, 0.3, 0.5]])
    return Matrix("weights", values, rows=labels, columns=labels, blocked=~allowed, strength=values)


def drawn(*matrices, format="svg"):
    return picture(Document(matrices), format, Settings())


def comments(svg):
    """What matplotlib writes beside the outlines of each text."""
    return re.findall(r"<!-- (.*?) -->", svg.decode())


@pytest.mark.parametrize("format", FORMATS)
def test_a_picture_is_what_it_says_and_the_same_every_time(format):
    first = drawn(weights(), format=format)
    assert first.data.startswith(BEGINS[format])
    assert first.missing == ""
    assert drawn(weights(), format=format).data == first.data


def test_labels_titles_and_numbers_stand_in_it():
    told = comments(drawn(weights(("the", "cat", "sat"))).data)
    for text in ("the", "cat", "sat", "weights", "query", "key", "0.2500", "1.0000"):
        assert text in told
    assert "0.0000" not in told, "blocked cells hold no number"


def test_blocked_cells_are_hatched():
    assert b"<pattern" in drawn(weights()).data


def test_panels_of_one_stage_share_a_colour_bar():
    one = Matrix("weights · head 0", np.full((2, 2), 0.5), strength=np.full((2, 2), 0.5))
    two = Matrix("weights · head 1", np.full((2, 2), 0.1), strength=np.full((2, 2), 0.1))
    both = drawn(one, two).data
    assert both.count(b'id="axes_') == 3
    assert drawn(one, Matrix("raw", np.eye(2))).data.count(b'id="axes_') == 4


def test_users_text_is_neither_mathematics_nor_markup():
    labels = ("$x^2$", "</svg><script>", "--><b>")
    svg = drawn(weights(labels)).data
    assert b"<script" not in svg
    assert b"<b>" not in svg
    assert "$x^2$" in comments(svg)
    everything = picture(labelled(["<script>", "$x$", "a&b", "\x1b[2J"]), "svg", Settings())
    assert b"<script" not in everything.data


def test_chinese_labels_are_drawn_with_a_font_that_has_them():
    fonts, missing = fonts_for("weights 注意力")
    found = drawn(weights(("我", "们", "a")), format="png")
    if missing:
        assert set(missing) == set("注意力")
        assert set(found.missing) == {"我", "们"}
    else:
        assert len(fonts) > 1
        assert found.missing == ""


def test_signs_without_a_font_are_told():
    sign = "\U0010fffd"  # of private use: no font has it
    assert fonts_for(f"a{sign}")[1] == sign
    assert drawn(weights(("a", "b", sign))).missing == sign


def test_a_large_matrix_has_few_labels_and_no_numbers():
    rng = np.random.default_rng(0)
    values = rng.random((80, 80)) / 1000
    values[0, 0] = 1.0
    told = comments(drawn(Matrix("weights", values, strength=values)).data)
    assert len([text for text in told if re.fullmatch(r"q\d+", text)]) <= 40
    assert "1.0000" not in told
    largest = max(float(text) for text in told if re.fullmatch(r"0\.\d+", text))
    assert largest < 0.01, "one outlier does not take the colours from all the others"


def test_a_pdf_holds_its_letters():
    pdf = drawn(weights(("我", "b", "c")), format="pdf").data
    streams = [zlib.decompress(raw) for raw in re.findall(rb"stream\r?\n(x\x9c.*?)\r?\nendstream", pdf, re.S)]
    assert streams
    assert b"/Type3" in pdf.replace(b" ", b"")
    assert b"CreationDate" not in pdf


def test_a_missing_package_is_said_with_the_remedy(monkeypatch):
    def without(name, *arguments, real=builtins.__import__):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(AttnCalcError, match="matplotlib, which is not installed") as caught:
        drawn(weights())
    assert caught.value.hint == "pip install 'attncalc[plot]'"


def test_a_png_has_the_colours_of_the_numbers():
    from matplotlib.image import imread

    values = np.array([[0.0, 1.0]])
    image = imread(io.BytesIO(drawn(Matrix("weights", values, strength=values), format="png").data))
    blue = image[..., 2] - image[..., 0]
    assert blue.max() > 0.3, "the strong cell is deep blue"
    assert image[..., :3].max() == 1.0
