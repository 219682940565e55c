import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncalc.show.charset import for_encoding
from attncalc.show.labels import (
    cell_width,
    clean,
    clusters,
    escape_field,
    escape_html,
    escape_latex,
    escape_markdown,
    pad,
    shorten,
)

anything = st.text(st.characters(exclude_categories=()))  # lone surrogates included


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[/INST]",
        "[bold]",
        ":smile:",
        "</s>",
        "你好",
        "👩‍👩‍👧",
        "🏳️‍🌈",
        "🏴\U000e0067\U000e0062\U000e007f",
        "e\u0301",
        "می‌خواهم",
    ],
)
def test_harmless_text_stays_as_it_is(text):
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b31m", r"\x9b31m"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\u202eevil", r"\u202eevil"),
        ("\u2066\u2069\u200e\u200f\u061c", r"\u2066\u2069\u200e\u200f\u061c"),
        ("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\xad"),
        ("a\u200db", r"a\u200db"),
        ("\u2028\u2029\x85", r"\u2028\u2029\x85"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("\x00\x7f", r"\x00\x7f"),
        ("\u3164", r"\u3164"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_made_visible(text, shown):
    assert clean(text) == shown


@given(anything)
def test_clean_text_can_be_written_and_is_clean(text):
    shown = clean(text)
    assert clean(shown) == shown
    shown.encode()
    assert all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in shown)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("你好", 4),
        ("e\u0301", 1),
        ("👩‍👩‍👧", 2),
        ("🇫🇷", 2),
        ("👍🏽", 2),
        ("❤️", 2),
        ("ｱ", 1),
        ("Ａ", 2),
        ("각", 2),
        ("−∞", 2),
        ("", 0),
    ],
)
def test_width_in_columns(text, width):
    assert cell_width(text) == width


@given(anything)
def test_clusters_split_without_loss(text):
    assert "".join(sign for sign, _ in clusters(clean(text))) == clean(text)


@given(anything, st.integers(1, 30))
def test_shortened_text_fits(text, width):
    assert cell_width(shorten(clean(text), width)) <= width


def test_a_sign_is_never_cut_in_two():
    assert shorten("👩‍👩‍👧👩‍👩‍👧", 3) == "👩‍👩‍👧…"
    assert shorten("你好吗", 4) == "你…"
    assert shorten("abcdef", 4, "...") == "a..."
    assert pad("你", 4) == "你  "
    assert pad("你", 4, "right") == "  你"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("[x](y)", r"\[x\](y)"),
        ("<script>&", "&lt;script&gt;&amp;"),
        ("*_`~#$\\", r"\*\_\`\~\#\$" + "\\\\"),
        ("a\nb", r"a\\nb"),
    ],
)
def test_markdown(text, shown):
    assert escape_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\_&%", r"\textbackslash{}\_\&\%"),
        ("{}$#^~", r"\{\}\$\#\textasciicircum{}\textasciitilde{}"),
        ("[/INST]", "{[}/INST{]}"),
        ("*", "{*}"),
        ("a-b--c", "a-b{-}-c"),
        ("√ −∞ ×", r"$\surd$ $-$$\infty$ $\times$"),
        ("<s>", r"\textless{}s\textgreater{}"),
        ("\x1b", r"\textbackslash{}x1b"),
    ],
)
def test_latex(text, shown):
    assert escape_latex(text) == shown


def test_html():
    assert escape_html("<script>\"'&\x1b") == r"&lt;script&gt;&quot;&#x27;&amp;\x1b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a b", r"a\x20b"), ("#", r"\x23"), ("", '""'), ("a\tb", r"a\tb"), ("\u3000", r"\u3000"), ("ok", "ok")],
)
def test_a_field_has_no_spaces_and_is_no_comment(text, shown):
    assert escape_field(text) == shown


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("Q Kᵀ / √d_k", "cp1252", "Q K^T / sqrt(d_k)"),
        ("1/√(2) · √2", "ascii", "1/sqrt(2) * sqrt(2)"),
        ("−∞ ≤ x", "cp437", "-∞ ≤ x"),
        ("Σ … × é", "cp1252", "sum … × é"),
        ("你😀", "ascii", r"\u4f60\U0001f600"),
        ("│─┼", "cp1252", "|-+"),
        ("│─┼√", "cp437", "│─┼√"),
        ("你", "utf-8", "你"),
        ("✓", "nonsense", "yes"),
    ],
)
def test_signs_that_an_encoding_lacks(text, encoding, shown):
    assert for_encoding(text, encoding) == shown


@given(anything, st.sampled_from(["ascii", "cp1252", "cp437", "utf-8", "latin-1", "gbk"]))
def test_every_text_can_be_written_in_every_encoding(text, encoding):
    for_encoding(clean(text), encoding).encode(encoding)
    for escape in (escape_markdown, escape_latex, escape_field):
        escape(text, encoding).encode(encoding)
    escape_html(text).encode()
