"""``attncalc vectors``, ``verify`` and ``audit`` as users run them."""

import json
import sys
from pathlib import Path

import pytest

from attncalc import check
from attncalc.mistakes import CATALOGUE

GOOD = """
from attncalc import attention as right
def attention(q, k, v, **options):
    print("this goes to standard error")
    return right(q, k, v, **options).output
"""

PLAIN = """
import os, time
import numpy as np
def attention(q, k, v, causal=False):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool), 1), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
def crash(q, k, v):
    if q.shape == (5, 3):
        os._exit(3)
    return attention(q, k, v)
def slow(q, k, v):
    if q.shape == (5, 3):
        time.sleep(60)
    return attention(q, k, v)
def words(q, k, v):
    return "words"
"""


@pytest.fixture
def shell(attncalc):
    Path(attncalc.folder, "good_attention.py").write_text(GOOD)
    Path(attncalc.folder, "plain_attention.py").write_text(PLAIN)
    return attncalc


def results(record):
    return {each["vector"]: (kind, each) for kind in ("passed", "failed", "skipped") for each in record[kind]}


def test_vectors_are_written_and_read_back(attncalc):
    done = attncalc("vectors", "out")
    assert done.code == 0
    assert "31 vectors in out" in done.out
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert set(manifest["mistakes"]) == {mistake.id for mistake in CATALOGUE}
    for name in ("README.md", "test_attention.py"):
        assert Path("out", name).exists()
    for vector in manifest["vectors"]:
        assert Path("out", f"{vector['name']}.json").exists()
    compile(Path("out/test_attention.py").read_text(), "test_attention.py", "exec")
    assert "| causal | causal |" in Path("out/README.md").read_text()
    for suffix in ("npz", "json"):
        bundle = f"out/mask.{suffix}"
        assert attncalc("check", bundle, "--got", f"{bundle}:output").code == 0
        assert attncalc("check", bundle, "--scale", "2", "--got", f"{bundle}:output").code == 1


def test_a_right_implementation_passes(shell):
    done = shell("verify", "--python", "good_attention:attention", "--format", "json", "--skip", "projection")
    assert done.code == 0
    assert (len(done.json["passed"]), done.json["failed"], done.json["skipped"]) == (30, [], [])
    assert "1/30 plain: passed" in done.err
    assert "this goes" not in done.out


def test_a_wrong_implementation_is_named(shell):
    done = shell("verify", "--python", "plain_attention:attention", "--only", "causal,scale", "-q")
    assert done.code == 1
    assert done.err == ""
    assert "causal-one-ahead: the causal mask shows one key too many" in done.out
    assert "the function has no scale" in done.out


def test_a_crash_is_a_finding_and_not_the_end(shell):
    done = shell("verify", "--python", "plain_attention:crash", "--only", "scale", "--format", "json")
    assert done.code == 1
    found = results(done.json)
    assert found["square"] == (
        "failed",
        {"vector": "square", "mistakes": [], "reason": "the process ended with exit code 3"},
    )
    assert found["keys-as-wide"][0] == "passed"
    assert found["scale"][0] == "skipped"


def test_a_time_out_is_a_finding_and_not_the_end(shell):
    done = shell("verify", "--python", "plain_attention:slow", "--only", "scale", "--format", "json", "--timeout", "2")
    found = results(done.json)
    assert found["square"][1]["reason"] == "no answer within 2 seconds"
    assert found["keys-as-wide"][0] == "passed"


def test_words_are_no_answer(shell):
    done = shell("verify", "--python", "plain_attention:words", "--only", "scale", "--format", "json")
    assert "returns str, not an array of numbers" in results(done.json)["plain"][1]["reason"]


def test_a_command_is_run(shell):
    program = "import sys, numpy as np; d = np.load(sys.argv[1]); np.save(sys.argv[2], d['v'][: len(d['q'])])"
    done = shell(
        "verify", "--only", "scale", "--format", "json", "--", sys.executable, "-c", program, "{input}", "{output}"
    )
    assert done.code == 1
    assert results(done.json)["square"][0] == "failed"
    done = shell("verify", "--only", "scale", "--format", "json", "--", "false", "{input}", "{output}")
    assert results(done.json)["plain"][1]["reason"] == "it ended with exit code 1"


def test_misuse(shell):
    assert "hint: --python MODULE:FUNCTION" in shell.fails("verify")
    assert "there is no module" in shell.fails("verify", "--python", "nowhere:f")
    assert "has no function f" in shell.fails("verify", "--python", "plain_attention:f")
    assert "{input} {output}" in shell.fails("verify", "--", "true")
    assert "no such feature" in shell.fails("verify", "--python", "plain_attention:attention", "--only", "nothing")
    assert "cannot be run" in shell.fails("verify", "--", "./nothing", "{input}", "{output}")


def test_audit_tells_what_a_test_lets_through(attncalc):
    files = ("q.json", "k.json", "v.json")
    done = attncalc("audit", *files, "--causal", "--format", "json")
    assert done.code == 0
    assert "causal-ignored" in done.json["caught"]
    assert done.json["missed"] == ["softmax-unstable"]
    assert "gqa-tiled" in done.json["not_applicable"]
    assert attncalc("audit", *files, "--causal", "--fail-on-missed").code == 1
    page = attncalc("audit", *files, "--causal", "--rtol", "0", "--atol", "20").out
    assert "would catch 0 and let 20 through" in page
    assert "large-scores" in page


def test_the_written_test_file_runs(attncalc, monkeypatch):
    """Its own functions are called here as pytest would call them."""
    attncalc("vectors", "out")
    space: dict = {"__file__": str(Path("out/test_attention.py").resolve())}
    exec(compile(Path("out/test_attention.py").read_text(), "test_attention.py", "exec"), space)
    arrays, options, expected = space["load_vector"]("causal-lengths")
    assert check(expected, arrays.pop("q"), arrays.pop("k"), arrays.pop("v"), **arrays, **options)
    assert space["lacking"](lambda q, k, v: None, ["mask"]) == ["mask"]


def test_vectors_write_over_vectors_only(attncalc):
    folder = Path("project")
    folder.mkdir()
    assert attncalc("vectors", "project").code == 0  # an empty folder
    assert attncalc("vectors", "project").code == 0  # an earlier one of ours
    for text in ("{}", "[]", "no JSON", '{"schema": "another/1"}'):
        (folder / "manifest.json").write_text(text)
        (folder / "README.md").write_text("mine")
        said = attncalc.fails("vectors", "project")
        assert "project: holds files that are none of attncalc's vectors" in said
        assert "hint: a new folder: attncalc vectors project/vectors" in said
        assert (folder / "README.md").read_text() == "mine"
    assert "DIR is an empty name" in attncalc.fails("vectors", "")
    assert "no known mistake is called “”" in attncalc.fails("mistakes", "")
