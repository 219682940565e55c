"""Users' text is data in every format: nothing that a terminal, a browser, TeX or a spreadsheet would obey."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attncalc.cli.app import run
from attncalc.cli.environment import Environment
from attncalc.show.labels import clean

LABELS = [
    "\x1b[2J\x1b]0;title\x07",
    "\u202e\u009b31m",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
]
LABELS += [
    "=HYPERLINK(1)",
    "[/INST][red]:smile:",
    "$\\frac{1}{0}$ \\input{x}",
    "| `x` [a](javascript:b) <b>",
    "a\r\nb",
    "&#x1b;",
]
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PAGES = ("table", "plain", "markdown", "latex", "html", "heatmap", "json")
COMMANDS = {
    "compute": (),
    "gradient": (),
    "explain": ("--all",),
    "probe": ("--shuffle", "1"),
    "check": ("--got", "v.json"),
    "mistakes": (),
    "audit": (),
    "dialects": (),
    "precision": (),
    "replay": ("--causal",),
}


@pytest.fixture
def hostile(attncalc):
    """The shell, in a folder with ten positions whose labels are hostile."""
    rows = [[float(i == j) for j in range(3)] for i in range(len(LABELS))]
    attncalc.write(q=rows, k=rows, v=rows)
    Path("tokens.json").write_text(json.dumps(LABELS), encoding="utf-8")
    return attncalc


@pytest.mark.parametrize(
    ("command", "format"),
    [
        (c, f)
        for c in COMMANDS
        for f in PAGES
        if f in ("table", "html") or c in ("compute", "explain", "check", "probe")
    ],
)
def test_no_page_holds_what_a_terminal_obeys(hostile, command, format):
    if format == "heatmap" and command != "compute":
        pytest.skip("no matrices")
    for width in (None, 60) if format == "table" else (None,):
        done = hostile(command, "q.json", "k.json", "v.json", "--tokens", "tokens.json", "--format", format,
                       "--color", "never", *COMMANDS[command], width=width)  # fmt: skip
        assert done.code in (0, 1), done.err
        assert not CONTROLS.search(done.out.replace("\n", "")), command
        assert not CONTROLS.search(done.err.replace("\n", ""))


def test_a_coloured_table_holds_colours_and_no_other_control_codes(hostile):
    for format in ("table", "heatmap"):
        out = hostile("compute", "q.json", "k.json", "v.json", "--tokens", "tokens.json", "--format", format,
                      "--color", "always").out  # fmt: skip
        assert "\x1b[" in out
        assert not CONTROLS.search(COLOURS.sub("", out).replace("\n", ""))


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_tables_of_numbers_hold_labels_for_programs_and_no_formulas(hostile, format):
    out = hostile("compute", "q.json", "k.json", "v.json", "--tokens", "tokens.json", "--format", format).out
    assert "'=HYPERLINK(1)" in out
    assert not re.search(r"(^|[,\t\"])=HYPER", out, re.MULTILINE)
    Path("out.csv").write_bytes(out.encode())
    labels = json.loads(hostile("compute", "out.csv", "k.json", "v.json", "--format", "json", "--show", "output").out)
    assert labels["query_tokens"] == list(map(clean, LABELS))


class Tags(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.addresses += [str(value) for name, value in attrs if name in ("src", "href", "action")]


def tags_of(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    return found


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in ("mistakes", "audit", "dialects", "precision")]
)
def test_a_web_page_has_the_same_elements_whatever_the_labels(hostile, command):
    harmless = json.dumps([f"t{i}" for i in range(len(LABELS))])
    line = (command, "q.json", "k.json", "v.json", "--tokens", "tokens.json", "--format", "html", *COMMANDS[command])
    bad = tags_of(hostile(*line).out)
    Path("tokens.json").write_text(harmless, encoding="utf-8")
    good = tags_of(hostile(*line).out)
    assert bad.tags.count("script") == good.tags.count("script")
    assert "img" not in bad.tags
    assert not bad.handlers
    assert bad.tags == good.tags
    assert not [address for address in bad.addresses if not address.startswith(("#", "data:"))], "nothing is fetched"


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_pictures_take_labels_as_text(hostile, suffix):
    pytest.importorskip("matplotlib")
    done = hostile("compute", "q.json", "k.json", "v.json", "--tokens", "tokens.json", "-o", f"out.{suffix}")
    assert done.code == 0, done.err
    if suffix == "svg":
        page = Path("out.svg").read_text(encoding="utf-8")
        assert "<script" not in page
        assert "<img" not in page


@pytest.mark.parametrize(
    "arguments",
    [
        ("\x1b[2J",),
        ("compute", "--\x1b[2J"),
        ("compute", "\x1b[2J.json", "a\nb", "\u202e"),
        ("compute", "--example", "\x1b[2J"),
        ("compute", "--example", "textbook", "--scale", "\x1b[2J"),
        ("compute", "--example", "textbook", "--show", "\x1b[2J"),
        ("compute", "--example", "textbook", "--format", "\x1b[2J"),
        ("compute", "--example", "textbook", "-o", "no\x1b[2J/x.json"),
        ("compute", "--example", "textbook", "--like", "\x1b[2J"),
        ("compute", "--example", "textbook", "--dask", "\x1b[2J"),
        ("compute", "q.json", "k.json", "hostile.json"),
        ("compute", "q.json", "k.json", "hostile.csv"),
        ("compute", "hostile.npz"),
        ("mistakes", "\x1b[2J"),
        ("check", "--example", "textbook", "--got", "v.json", "--stage", "\x1b[2J"),
        ("probe", "--python", "\x1b[2J:f"),
        ("probe", "--python", "hostile_module:f"),
        ("verify", "--python", "\x1b[2J:f"),
    ],
)
def test_no_message_holds_what_a_terminal_obeys(attncalc, arguments, monkeypatch):
    import numpy as np

    Path("hostile.json").write_text('[["\\u001b[2J\\u009b", 1]]')
    Path("hostile.csv").write_text("1,\x1b[2J\u202e\n2,3\n", encoding="utf-8")
    np.savez("hostile.npz", **{"\x1b[2J": np.ones(2)})
    Path("hostile_module.py").write_text("def f(q, k, v): raise ValueError('\\x1b[2J')\n")
    monkeypatch.syspath_prepend(".")
    done = attncalc(*arguments)
    assert done.code == 2, done
    assert done.err.startswith("attncalc: error: ")
    assert not CONTROLS.search(done.err.replace("\n", "")), done.err
    assert done.err.count("\n") < 8


def test_the_traceback_of_a_fault_holds_nothing_that_a_terminal_obeys(monkeypatch):
    def broken(**given):
        raise ZeroDivisionError("\x1b[2J")

    monkeypatch.setattr("attncalc.core.prepare.prepare", broken)
    out, err = io.BytesIO(), io.StringIO()
    env = Environment(io.BytesIO(), out, err, "utf-8", None, {"ATTNCALC_DEBUG": "1"})
    assert run(["compute", "--example", "textbook"], env) == 70
    assert "Traceback" in err.getvalue()
    assert not CONTROLS.search(err.getvalue().replace("\n", ""))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
@pytest.mark.parametrize(
    "line",
    [
        ("compute", "--format", "html"),
        ("compute", "--show", "weights", "--format", "html"),
        ("explain", "--format", "html", "--lang", "zh"),
        ("precision", "--format", "html"),
        ("compute", "--format", "json"),
        ("quiz", "--format", "json", "--lang", "zh"),
        ("compute", "--format", "svg"),
    ],
)
def test_what_says_that_it_is_utf_8_is_utf_8_in_every_terminal(attncalc, line, encoding):
    where = [] if line[0] == "quiz" else ["--example", "textbook", "--tokens", "é,×,\udcff"]
    done = attncalc(line[0], *where, *line[1:], encoding=encoding)
    assert done.code == 0
    assert done.data.decode("utf-8")
