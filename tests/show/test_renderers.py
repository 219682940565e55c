"""Every renderer, on the same documents."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from documents import HOSTILE, labelled, lesson, textbook

from attncalc.show import RENDERERS, Document, Settings, render
from attncalc.show.document import Matrix
from attncalc.show.labels import cell_width, clean

GOLDEN = Path(__file__).parent / "golden"
ENCODINGS = ["utf-8", "cp1252", "cp437", "ascii"]


@pytest.mark.parametrize(
    ("name", "document", "format", "settings"),
    [
        ("textbook", textbook(), "table", Settings()),
        ("textbook-ascii", textbook(), "table", Settings(encoding="ascii")),
        ("textbook-2-digits", textbook(), "table", Settings(digits=2)),
        ("textbook", textbook(), "plain", Settings()),
        ("textbook", textbook(), "markdown", Settings()),
        ("textbook", textbook(), "latex", Settings()),
        ("lesson", lesson(), "table", Settings()),
        ("lesson-40", lesson(), "table", Settings(width=40)),
        ("lesson-cp437", lesson(), "table", Settings(encoding="cp437")),
        ("lesson", lesson(), "plain", Settings()),
        ("lesson", lesson(), "markdown", Settings()),
        ("lesson", lesson(), "latex", Settings()),
    ],
)
def test_golden_pages(name, document, format, settings):
    expected = (GOLDEN / f"{name}.{format}").read_text("utf-8")
    assert render(document, format, settings) == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("format", "width", "color"),
    [
        ("table", None, False),
        ("table", 40, False),
        ("table", 80, True),
        ("plain", None, False),
        ("markdown", None, False),
        ("latex", None, False),
    ],
)
def test_hostile_labels_are_data_in_every_encoding(format, width, color, encoding):
    settings = Settings(width=width, color=color, encoding=encoding)
    text = render(labelled(HOSTILE), format, settings)
    text.encode(encoding)
    if settings.color and format == "table":
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    for line in text.split("\n"):
        assert clean(line) == line
    assert text.endswith("\n")


@pytest.mark.parametrize("format", ["table", "plain"])
@pytest.mark.parametrize("label", [label for label in HOSTILE if " " not in label and label not in ("", "#")])
def test_labels_are_shown_as_they_are_or_escaped(format, label):
    assert clean(label) in render(labelled([label]), format, Settings())


def test_a_label_cannot_break_a_markdown_table():
    text = render(labelled(["a|b", "<script>", "a\nb"]), "markdown", Settings())
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {5, 7}
    assert "<script>" not in re.sub("```.*?```", "", text, flags=re.DOTALL)


def test_a_label_cannot_leave_a_markdown_code_block():
    from attncalc.show.document import Lines

    assert render(Document((Lines(("```", "x")),)), "markdown", Settings()) == "````\n```\nx\n````\n"


def test_latex_braces_and_dollars_are_balanced():
    text = render(labelled(HOSTILE), "latex", Settings())
    bare = re.sub(r"\\[\\{}$&#_%]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not re.search(r"\\\\\s*[\[*]", text), "a [ or * behind \\\\ would be its argument"


def wide(rows=60, columns=60):
    values = np.random.default_rng(0).normal(size=(rows, columns))
    return Document((Matrix("scores", values),))


def test_a_pipe_gets_all_of_a_wide_matrix():
    text = render(wide(3, 200), "table", Settings())
    lines = text.split("\n")
    assert "k100" in text
    assert "…" not in text
    assert len(lines[3].split()) == 202
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("width", [20, 40, 80, 100, 200])
def test_a_terminal_gets_what_fits_and_whole_numbers(width):
    document = wide()
    complete = set(render(document, "table", Settings()).split())
    text = render(document, "table", Settings(width=width, max_rows=20))
    assert max(map(cell_width, text.split("\n"))) <= width
    assert re.search(r"20 of 60 rows, \d+ of 60 columns shown", " ".join(text.split()))
    assert {word for word in text.split() if re.search(r"\.\d", word)} <= complete
    assert "k0" in text
    assert "k59" in text or width == 20


def test_one_column_is_shown_however_narrow_the_terminal_is():
    assert "0.1257" in render(wide(), "table", Settings(width=3))


def test_limits():
    text = render(wide(), "table", Settings(max_rows=6, max_cols=6))
    assert "60 × 60: 6 of 60 rows, 6 of 60 columns shown" in text
    assert "k59" in text
    assert "k30" not in text
    assert render(wide(), "table", Settings(width=80, max_cols=0)) == render(wide(), "table", Settings())
    for format in RENDERERS.keys() - {"heatmap"}:  # which averages instead
        assert "6 of 60 rows" in render(wide(), format, Settings(max_rows=6))


def test_long_labels_are_shortened_on_a_terminal_only():
    document = labelled(["a label of more than thirty characters"])
    assert "a label of more tha…  " in render(document, "table", Settings(width=80)).replace("│", " ")
    assert "a label of more than thirty characters │" in render(document, "table", Settings())


def test_plain_reads_back_number_for_number():
    values = np.random.default_rng(1).normal(size=(5, 4)) * 10.0 ** np.arange(-8, 12, 5)
    values[0, 0] = -np.inf
    text = render(Document((Matrix("scores", values, rows=("a b", "#", "", "你", "x")),)), "plain", Settings())
    rows = [line.split()[1:] for line in text.splitlines() if not line.startswith("#")]
    assert np.array_equal(np.array(rows, float), values)


def test_colour_is_the_same_text_with_escapes():
    for depth in ("16", "256", "truecolor"):
        for light in (False, True):
            coloured = render(textbook(), "table", Settings(color=True, depth=depth, light=light))
            assert "\x1b[" in coloured
            bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
            assert [line.rstrip() for line in bare.split("\n")] == render(textbook(), "table", Settings()).split("\n")


def test_stronger_cells_are_lighter_on_dark_and_darker_on_light():
    weights = np.linspace(0.05, 1, 12)[None]
    for light in (False, True):
        document = Document((Matrix("weights", weights, strength=weights),))
        text = render(document, "table", Settings(color=True, depth="truecolor", light=light))
        backgrounds = [sum(map(int, found)) for found in re.findall(r"48;2;(\d+);(\d+);(\d+)", text)]
        assert len(backgrounds) == 12
        assert backgrounds == sorted(backgrounds, reverse=light)


def test_blocked_cells_have_a_sign_without_colour_and_are_faint_with_it():
    assert "q0 │ 1.0000       ×       ×" in render(textbook(), "table", Settings())
    assert "q0 | 1.0000       x       x" in render(textbook(), "table", Settings(encoding="ascii"))
    assert "\x1b[2m     −∞      −∞ \x1b[0m" in render(textbook(), "table", Settings(color=True))


def test_a_blocked_cell_with_a_number_keeps_it():
    uniform = np.full((1, 2), 0.5)
    matrix = Matrix("weights", uniform, blocked=np.ones((1, 2), bool), strength=uniform)
    assert "0.5000  0.5000" in render(Document((matrix,)), "table", Settings())


def test_strength_out_of_range_or_nan_is_no_reason_to_fail():
    values = np.array([[np.nan, -1.0, 2.0]])
    assert "2.0" in render(Document((Matrix("w", values, strength=values),)), "table", Settings(color=True))


@pytest.mark.parametrize("color", [False, True])
def test_the_environment_changes_nothing(color):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from documents import textbook\n"
        "from attncalc.show import Settings, render\n"
        f"sys.stdout.buffer.write(render(textbook(), 'table', Settings(color={color})).encode())"
    )
    variables = {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "20", "TERM": "dumb", "COLORTERM": "truecolor"}
    for extra in ({}, variables, {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}):
        done = subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parent)],
            capture_output=True,
            env=os.environ | extra,
            check=True,
        )
        assert done.stdout.decode() == render(textbook(), "table", Settings(color=color))


def test_rich_is_loaded_for_colours_only():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from documents import lesson\n"
        "from attncalc.show import RENDERERS, Settings, render\n"
        "[render(lesson(), name, Settings(width=60)) for name in RENDERERS]\n"
        "sys.exit('rich' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent)], check=True)
