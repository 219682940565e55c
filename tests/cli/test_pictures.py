"""Heat maps, pictures and pages from the command line."""

import pytest


def test_a_heat_map_shows_the_weights(attncalc):
    done = attncalc("compute", "q.json", "k.json", "v.json", "--causal", "--format", "heatmap")
    assert done.code == 0
    assert "\nweights\n" in done.out
    assert "scores" not in done.out
    assert "█" in done.out
    assert "×" in done.out
    both = attncalc("compute", "q.json", "k.json", "v.json", "--format", "heatmap", "--show", "raw,output")
    assert "\nraw\n" in both.out
    assert "\noutput\n" in both.out


def test_a_terminal_gets_the_colours_that_it_has(attncalc):
    line = ("compute", "q.json", "k.json", "v.json", "--format", "heatmap")
    assert "\x1b[48;2;" in attncalc(*line, width=80, COLORTERM="truecolor").out
    assert "\x1b[48;5;" in attncalc(*line, width=80).out
    assert "\x1b" not in attncalc(*line, width=80, NO_COLOR="1").out
    assert "\x1b" not in attncalc(*line).out


@pytest.mark.parametrize(("name", "start"), [("w.png", b"\x89PNG"), ("w.svg", b"<?xml"), ("w.pdf", b"%PDF")])
def test_the_suffix_says_the_picture(attncalc, name, start):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    done = attncalc("compute", "q.json", "k.json", "v.json", "-o", name)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (attncalc.folder / name).read_bytes().startswith(start)


def test_signs_that_no_font_has_are_told(attncalc):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    done = attncalc("compute", "q.json", "k.json", "v.json", "--tokens", "a,b,\U0010fffd", "-o", "w.png")
    assert done.code == 0
    assert "no font is installed" in done.err


def test_a_picture_is_not_written_to_a_terminal(attncalc):
    message = attncalc.fails("compute", "q.json", "k.json", "v.json", "--format", "png", width=80)
    assert "would upset the terminal" in message


def test_commands_without_a_matrix_write_pages_too(attncalc):
    done = attncalc("cost", "--tokens", "1000", "--format", "html")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    assert "<table>" in done.out
    assert "<script" not in done.out


def test_named_stages_make_a_page_without_scripts(attncalc):
    done = attncalc("compute", "q.json", "k.json", "v.json", "--show", "weights", "-o", "w.html")
    assert done.code == 0
    page = (attncalc.folder / "w.html").read_text("utf-8")
    assert "<caption>weights</caption>" in page
    assert "<script" not in page
    assert "--heat:" in page
