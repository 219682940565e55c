"""``attncalc explain`` as users call it: every format, languages, widths, and numbers equal to compute's."""

import io
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from attncalc.show.labels import cell_width

ALWAYS = ["shapes", "raw", "scale", "mask", "softmax", "output", "check"]


def test_it_works_at_once_without_files(attncalc):
    done = attncalc("explain", "--causal")
    assert (done.code, done.err) == (0, "")
    assert "  q1 · k1 = 0×0 + 1×1 = 1\n" in done.out
    assert "k1   0.7071   0.0000  1.0000  0.6698\n" in done.out
    assert "k2   0.7071  no: causal      −∞               0.4011          0\n" in done.out


def test_json_is_that_of_the_contract(attncalc):
    record = attncalc("explain", "q.json", "k.json", "v.json", "--causal", "--format", "json").json
    assert record["schema"] == "attncalc.explain/1"
    assert record["options"]["causal"] == "upper-left"
    assert record["notes"] == []
    assert [step["id"] for step in record["steps"]] == ALWAYS
    for step in record["steps"]:
        assert {"id", "title", "formula", "values", "text"} <= step.keys()
        assert isinstance(step["values"], dict)
    assert record["steps"][3]["values"]["scores"][0][1:] == [None, None]


@pytest.mark.parametrize("options", [["--causal"], ["--softcap", "2"], ["--sink", "0.5"], ["--window-left", "0"]])
def test_values_are_computes_number_for_number(attncalc, options):
    computed = attncalc("compute", "q.json", "k.json", "v.json", "--show", "all", "--format", "json", *options).json
    told = attncalc("explain", "q.json", "k.json", "v.json", "--format", "json", *options).json
    values = {name: array for step in told["steps"] for name, array in step["values"].items() if step["id"] != "shapes"}
    for stage in ("raw", "scaled", "scores", "allowed", "lse", "weights", "output"):
        assert values[stage] == computed[stage], stage


@pytest.mark.parametrize("format", ["table", "plain", "markdown", "latex"])
def test_matrices_are_computes_to_the_last_digit_shown(attncalc, format):
    arguments = ("q.json", "k.json", "v.json", "--causal", "--format", format)
    computed = attncalc("compute", *arguments, "--show", "raw,scaled,scores,weights,output").out
    told = attncalc("explain", *arguments).out
    rows = [line for line in computed.splitlines() if re.match(r"(\| \*\*)?q\d", line)]
    assert len(rows) == 15
    for row in rows:
        assert row in told


@pytest.mark.parametrize("digits", ["2", "9"])
def test_worked_lines_have_the_digits_asked_for(attncalc, digits):
    out = attncalc("explain", "--causal", "--digits", digits).out
    assert f"weights[1, 0] = {0.49306869139523984:.{digits}f} / {1.4930686913952398:.{digits}f}" in out


def test_plain_has_full_digits(attncalc):
    out = attncalc("explain", "--causal", "--format", "plain").out
    assert "# weights[1, 0] = 0.49306869139523984 / 1.49306869139523" in out.replace("#   ", "# ")


LONG = [[0.1234567, -0.2345678, 1.3456789, 0.4567891, -0.5678912, 0.678912, 1.0, 2.25, -3.125] for _ in range(15)]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "options", [[], ["--online"], ["--cell", "3,2"], ["--all"], ["--rope-dims", "4", "--rope", "half"]]
)
def test_80_columns_are_enough(attncalc, options, lang):
    values = np.array(LONG) * np.linspace(-1, 2, 15)[:, None]
    attncalc.write(q=values, k=values[::-1], v=values * 10)
    arguments = ("q.json", "k.json", "v.json", "--causal", "--softcap", "3", "--alibi", "--lang", lang)
    done = attncalc("explain", *arguments, *options, "--color", "never", width=80)
    assert done.code == 0
    assert [line for line in done.out.splitlines() if cell_width(line) > 80] == []


def test_prose_and_tables_fit_40_columns(attncalc):
    done = attncalc("explain", "--causal", "--online", "--color", "never", width=40)
    assert [line for line in done.out.splitlines() if cell_width(line) > 40] == []


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "latin-1"])
def test_old_encodings_are_enough(attncalc, encoding):
    done = attncalc("explain", "--causal", "--online", "--rope", "half", encoding=encoding)
    assert done.code == 0
    text = done.data.decode(encoding)
    assert "\\u" not in text
    assert "oftmax" in text


def test_chinese_by_option_and_by_environment(attncalc):
    by_option = attncalc("explain", "--causal", "--lang", "zh").out
    assert by_option == attncalc("explain", "--causal", ATTNCALC_LANG="zh").out
    assert "因果掩码" in by_option
    assert (
        attncalc("explain", "--causal", "--lang", "en", ATTNCALC_LANG="zh").out == attncalc("explain", "--causal").out
    )
    assert "--lang must be one of en, zh, not fr" in attncalc.fails("explain", "--lang", "fr")


def test_chinese_tables_stand_in_columns(attncalc):
    out = attncalc("explain", "--causal", "--lang", "zh").out
    start = out.index("键    之前")
    table = out[start:].split("\n\n")[0].splitlines()
    rule = table[1]
    assert all(cell_width(line) <= len(rule) for line in table)
    assert len({cell_width(line) for line in table}) == 1


def test_a_cell(attncalc):
    out = attncalc("explain", "--causal", "--cell", "2,1").out
    assert out.startswith("One weight from the ground up: query 2, key 1\n")
    assert "weights[2, 1] = 0.4931 / 1.9861 = 0.2483" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query", "7"], "--query: there is no query 7; they are numbered 0 to 2"),
        (["--cell", "1"], "--cell takes a query and a key"),
        (["--cell", "1,2", "--all"], "--cell and --all cannot be given together"),
        (["--query", "1", "--all"], "--query and --all cannot be given together"),
        (["--cell", "1,2", "--online"], "--online tells a whole row, and --cell one cell"),
        (["--block", "2"], "--block belongs to --online"),
        (["--format", "csv"], "there is no format csv here"),
        (["missing.json", "k.json", "v.json"], "missing.json"),
    ],
)
def test_what_cannot_be_is_refused(attncalc, arguments, message):
    assert message in attncalc.fails("explain", *arguments)


def test_labels_are_data(attncalc):
    out = attncalc("explain", "--causal", "--tokens", "[red],\x1b[2J,{i}").out
    assert "Query 1 (\\x1b[2J) may attend to k0 and k1, and not to k2:" in out
    assert "\x1b" not in out
    latex = attncalc("explain", "--causal", "--tokens", "_a,$b,%c", "--format", "latex").out
    assert "\\_a" in latex


def test_a_large_input_answers_about_one_query(attncalc, tmp_path):
    rng = np.random.default_rng(0)
    for name in "qkv":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(4096, 8)))
    done = attncalc("explain", "q.npy", "k.npy", "v.npy", "--causal", "--query", "4000")
    assert done.code == 0
    assert "Query 4000 may attend to k0 to k4000, and not to k4001 to k4095:" in done.out
    assert len(done.out.splitlines()) < 300
    assert "⋮" in done.out


def test_a_note_goes_to_standard_error(attncalc):
    attncalc.write(q=[[1, 0], [0, 1]])
    done = attncalc("explain", "q.json", "k.json", "v.json", "--causal")
    assert done.err.startswith("attncalc: note: causal with 2 queries and 3 keys is read as upper-left")


def test_a_mistake_is_told_where_it_is_made(attncalc):
    out = attncalc("explain", "--causal", "--mistake", "scale-missing").out
    assert "it has the mistake scale-missing in it: " in out
    assert "This run does something else here: scaled of key 1 would be 0.7071, and the run has" in " ".join(
        out.split()
    )
    assert "attncalc mistakes rope-ignored says when" in attncalc.fails("explain", "--mistake", "rope-ignored")
    assert "did you mean scale-missing?" in attncalc.fails("explain", "--mistake", "scale-mising")


def test_step_does_not_wait_for_a_pipe(attncalc):
    stepped = attncalc("explain", "--causal", "--step").out
    assert "7. Check" in stepped
    assert (
        stepped.replace("× blocked\n", "").split()
        == attncalc("explain", "--causal").out.replace("× blocked\n", "").split()
    )


def test_step_waits_for_a_key_on_a_terminal():
    keyboard, terminal = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "attncalc", "explain", "--step"], stdin=terminal, stdout=terminal, close_fds=True
    )
    os.close(terminal)
    seen = b""

    def read_until(text):
        nonlocal seen
        deadline = time.monotonic() + 20
        while text not in seen and time.monotonic() < deadline:
            ready, _, _ = select.select([keyboard], [], [], 1)
            seen += os.read(keyboard, 65536) if ready else b""
        assert text in seen

    read_until(b"1. What goes in")
    time.sleep(0.3)
    assert b"2. Compare" not in seen
    os.write(keyboard, b" ")
    read_until(b"2. Compare")
    for title in (b"3. Scale", b"4. Mask", b"5. Softmax", b"6. Mix", b"7. Check"):
        os.write(keyboard, b"x")
        read_until(title)
    assert run.wait(timeout=20) == 0
    os.close(keyboard)


def test_to_a_file_by_suffix(attncalc, tmp_path):
    assert attncalc("explain", "--causal", "-o", "steps.md").code == 0
    text = (tmp_path / "steps.md").read_text("utf-8")
    assert text.startswith("# Attention, step by step\n")
    assert "$$\\mathrm{raw} = Q K^{\\top}" in text
    assert attncalc("explain", "--causal", "-o", "steps.json").code == 0
    assert json.loads((tmp_path / "steps.json").read_text("utf-8"))["schema"] == "attncalc.explain/1"


def test_latex_braces_are_balanced(attncalc):
    latex = attncalc("explain", "--causal", "--online", "--format", "latex").out
    bare = re.sub(r"\\[{}]", "", latex)
    assert bare.count("{") == bare.count("}")
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") > 5


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("options", [["--causal", "--online"], ["--example", "two-heads"], ["--cell", "1,2"]])
def test_latex_compiles(attncalc, tmp_path, options):
    attncalc("explain", *options, "-o", "steps.tex")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{amsmath}\usepackage{booktabs}\begin{document}"
    (tmp_path / "page.tex").write_text(head + r"\input{steps}\end{document}")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True
    )
    assert run.returncode == 0, run.stdout.decode("latin-1")[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 1000


def test_every_example_can_be_explained(attncalc):
    from attncalc.study.examples import EXAMPLES

    for example in EXAMPLES:
        done = attncalc("explain", "--example", example.name, "--all", "--online", "--lang", "zh")
        assert done.code == 0
        assert "✗" not in done.out
        assert "做法不同" not in done.out
    assert io.StringIO(done.out).readline()
