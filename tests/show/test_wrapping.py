from hypothesis import given
from hypothesis import strategies as st

from attncalc.show.document import Role, Span
from attncalc.show.labels import cell_width, clean
from attncalc.show.wrapping import wrap


def lines(text, width):
    return ["".join(piece for piece, _ in line) for line in wrap([Span(text)], width)]


def test_words_are_kept_whole_and_long_ones_broken():
    assert lines("one two three", 7) == ["one two", "three"]
    assert lines("abcdefghij k", 4) == ["abcd", "efgh", "ij k"]
    assert lines("", 10) == [""]


def test_chinese_breaks_between_signs_but_not_before_a_comma():
    assert lines("注意力机制，好", 10) == ["注意力机", "制，好"]


def test_roles_stay_with_their_words():
    line = wrap([Span("a "), Span("dot product", Role.TERM), Span(", b")], 6)
    assert line == [
        [("a ", Role.NORMAL), ("dot", Role.TERM)],
        [("produc", Role.TERM)],
        [("t", Role.TERM), (", b", Role.NORMAL)],
    ]


@given(st.lists(st.text(), max_size=4), st.integers(2, 30))
def test_no_line_is_too_wide_and_no_sign_is_lost(texts, width):
    pieces = [Span(clean(text)) for text in texts]
    wrapped = ["".join(piece for piece, _ in line) for line in wrap(pieces, width)]
    assert all(cell_width(line) <= width for line in wrapped)
    assert "".join(wrapped).replace(" ", "") == "".join(piece.text for piece in pieces).replace(" ", "")
