"""``attncalc probe``, ``scaling``, ``cost`` and ``quiz`` as users call them."""

import re
import shutil
import subprocess

import pytest

from attncalc.show.labels import cell_width

# ── probe ────────────────────────────────────────────────────────────────────────────────────────────────


def test_probe_works_at_once_and_shows_what_stays(attncalc):
    done = attncalc("probe", "--causal")
    assert (done.code, done.err) == (0, "")
    assert "When position 2 changes, q0 and q1 stay the same to the last bit." in done.out
    assert "q0 │  ✓   ×   ×" in done.out
    assert "No output depends on a later position: this is causal." in done.out


def test_probe_json_is_that_of_the_contract(attncalc):
    record = attncalc("probe", "--causal", "--format", "json").json
    assert record["schema"] == "attncalc.probe/1"
    assert record["influence"] == [[True, False, False], [True, True, False], [True, True, True]]
    assert [row[2] for row in record["change"][:2]] == [0, 0]
    assert record["leaks"] == []
    assert record["options"]["causal"] == "upper-left"
    open_record = attncalc("probe", "--format", "json").json
    assert open_record["leaks"] == [[0, 1], [0, 2], [1, 2]]


def test_expect_causal_is_the_exit_code(attncalc):
    assert attncalc("probe", "--causal", "--expect-causal").code == 0
    leaking = attncalc("probe", "--expect-causal")
    assert leaking.code == 1
    assert "3 outputs depend on a later position: query 0 on position 1," in leaking.out
    assert attncalc("probe", "--window-left", "1", "--expect-causal").code == 1
    assert attncalc("probe").code == 0


IMPLEMENTATION = """
import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def good(q, k, v, causal=False):
    print("hello from the implementation")
    scores = q @ k.T / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape), scores, -np.inf)
    return softmax(scores) @ v

def off_by_one(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    return softmax(np.where(np.tri(*scores.shape, k=1), scores, -np.inf)) @ v

def wrong_shape(q, k, v):
    return v[0]

def broken(q, k, v):
    return 1 / 0
"""


def test_an_implementation_of_ones_own(attncalc, tmp_path):
    (tmp_path / "mine_for_probe.py").write_text(IMPLEMENTATION)
    good = attncalc("probe", "--causal", "--expect-causal", "--python", "mine_for_probe:good")
    assert good.code == 0
    assert "hello" not in good.out
    assert "hello" in good.err
    wrong = attncalc("probe", "--expect-causal", "--python", "mine_for_probe:off_by_one", "--format", "json")
    assert wrong.code == 1
    assert wrong.json["leaks"] == [[0, 1], [1, 2]]
    noted = attncalc("probe", "--causal", "--python", "mine_for_probe:off_by_one")
    assert "takes no --causal; it is called without" in noted.err
    message = attncalc.fails("probe", "--python", "mine_for_probe:wrong_shape")
    assert "mine_for_probe:wrong_shape returns an output of another shape\n  returned  2\n  expected  3 × 2" in message
    assert "broken failed: ZeroDivisionError" in attncalc.fails("probe", "--python", "mine_for_probe:broken")
    assert "has no function none" in attncalc.fails("probe", "--python", "mine_for_probe:none")
    assert "there is no module nowhere_at_all" in attncalc.fails("probe", "--python", "nowhere_at_all:f")
    assert "takes MODULE:FUNCTION, not alone" in attncalc.fails("probe", "--python", "alone")


def test_shuffle(attncalc):
    done = attncalc("probe", "--causal", "--shuffle", "1")
    assert re.search(r"no mask, no positions +\S+ +only change places", done.out)
    assert re.search(r"causal mask +\S+ +are other numbers", done.out)
    record = attncalc("probe", "--shuffle", "1", "--format", "json").json["shuffle"]
    assert sorted(record["permutation"]) == [0, 1, 2]
    assert [row["follows"] for row in record["rows"] if row["rules"] in ("plain", "given")] == [True, True]


@pytest.mark.parametrize("change", ["keys", "values", "queries", "all"])
def test_each_change(attncalc, change):
    record = attncalc("probe", "--causal", "--change", change, "--format", "json").json
    assert record["changed"] == change
    assert all(record["influence"][i][i] for i in range(1, 3))


def test_probe_refuses(attncalc):
    assert "--change must be one of all, keys, values, queries, not rows" in attncalc.fails("probe", "--change", "rows")
    assert "--shuffle takes a seed, 0 or more" in attncalc.fails("probe", "--shuffle", "-1")


# ── scaling and cost ─────────────────────────────────────────────────────────────────────────────────────


def test_scaling_shows_table_and_curves(attncalc):
    done = attncalc("scaling", "--dims", "4,64,1024", "--samples", "50", width=80)
    assert done.code == 0
    assert "Top weight over d" in done.out
    assert re.search(r"^1024 +\d{3,4}\.\d +[01]\.\d{3} ", done.out, re.MULTILINE)


def test_scaling_json_is_that_of_the_contract(attncalc):
    record = attncalc("scaling", "--dims", "4,16", "--samples", "40", "--seed", "3", "--format", "json").json
    assert record["schema"] == "attncalc.scaling/1"
    assert record["options"] == {"dims": [4, 16], "samples": 40, "seed": 3}
    names = ["variance", "entropy", "max_weight", "gradient"]
    for d, row in zip((4, 16), record["rows"], strict=True):
        assert row["d"] == d
        assert set(row) == {"d", *names, *(f"{name}_scaled" for name in names)}
    again = attncalc("scaling", "--dims", "4,16", "--samples", "40", "--seed", "3", "--format", "json").json
    assert again == record


def test_cost_json_is_that_of_the_contract(attncalc):
    record = attncalc("cost", "--tokens", "128,512", "--format", "json").json
    assert record["schema"] == "attncalc.cost/1"
    first, second = record["rows"]
    assert {
        "tokens",
        "weights_elements",
        "weights_bytes",
        "tiled_bytes",
        "kv_cache_bytes",
        "multiply_adds",
        "growth",
    } <= (first.keys())
    assert (first["weights_elements"], second["weights_elements"]) == (16384, 262144)
    assert (first["growth"], second["growth"]) == (1, 16)


def test_cost_counts_with_every_size(attncalc):
    sizes = ["--batch", "2", "--heads", "8", "--kv-heads", "2", "--dim", "64", "--value-dim", "32", "--window", "4"]
    arguments = ("cost", "--tokens", "10", *sizes, "--dtype", "float16", "--flops", "1e9")
    row = attncalc(*arguments, "--format", "json").json["rows"][0]
    assert (row["multiply_adds"], row["kv_cache_bytes"], row["window_elements"]) == (153600, 7680, 544)
    assert "307 µs" in attncalc(*arguments).out


def test_cost_is_readable(attncalc):
    out = attncalc("cost", "--tokens", "128,512", "--color", "never", width=80).out
    assert re.search(r"^ +512 +262 144 +2 MiB +16× ", out, re.MULTILINE)
    assert "128 → 512 tokens is 4 times the tokens and 16 times the elements" in " ".join(out.split())


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["scaling", "--samples", "20"],
        ["cost", "--window", "256", "--flops", "100e9", "--heads", "32", "--kv-heads", "8"],
        ["probe", "--causal", "--shuffle", "1"],
        ["quiz", "--answers"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_80_columns_are_enough(attncalc, arguments, lang):
    done = attncalc(*arguments, "--lang", lang, "--color", "never", width=80)
    assert done.code == 0
    assert [line for line in done.out.splitlines() if cell_width(line) > 80] == []


@pytest.mark.parametrize("format", ["plain", "markdown", "latex"])
@pytest.mark.parametrize("command", ["probe", "scaling", "cost", "quiz"])
def test_page_formats(attncalc, command, format):
    extra = ["--samples", "20", "--dims", "4,8"] if command == "scaling" else []
    done = attncalc(command, *extra, "--format", format, encoding="ascii" if format == "plain" else "utf-8")
    assert done.code == 0
    assert not re.search(r"\\u[0-9a-f]{4}", done.out)
    assert done.out.endswith("\n")


# ── quiz ─────────────────────────────────────────────────────────────────────────────────────────────────


def answers(attncalc, *arguments):
    return attncalc("quiz", "--answers", "--format", "json", *arguments).json["questions"]


def test_a_pipe_that_knows_everything_gets_everything_right(attncalc):
    known = answers(attncalc, "--seed", "4")
    lines = "".join(f"{question['answer']}\n" for question in known)
    done = attncalc("quiz", "--seed", "4", "--questions", str(len(known)), stdin=lines.encode())
    assert done.code == 0
    assert done.out.count("✓ Right.") == len(known)
    assert f"{len(known)} of {len(known)} right." in done.out


def test_a_wrong_answer_is_explained_at_once(attncalc):
    known = answers(attncalc, "--seed", "0")
    first = known[0]
    done = attncalc("quiz", "--seed", "0", stdin=b"zebra\n")
    assert f"The answer is {first['answer']}" in done.out
    assert first["explanation"][:30] in done.out
    assert "0 of 1 right." in done.out


def test_an_empty_line_skips_and_the_end_of_input_ends(attncalc):
    done = attncalc("quiz", stdin=b"\n\n")
    assert done.code == 0
    assert "0 of 2 right." in done.out
    assert done.out.count("Question ") == 3
    assert attncalc("quiz", stdin=b"").code == 0


def test_bytes_that_are_no_text_are_no_answer(attncalc):
    assert "0 of 1 right." in attncalc("quiz", stdin=b"\xff\xfe\n").out


def test_the_list_has_no_answers_and_the_answers_do(attncalc):
    listed = attncalc("quiz", "--list").out
    assert "Answer:" not in listed
    assert listed.count("\n  a) ") >= 20
    told = attncalc("quiz", "--answers").out
    assert told.count("Answer:") >= 26
    record = attncalc("quiz", "--list", "--format", "json").json
    assert record["schema"] == "attncalc.quiz/1"
    assert len(record["questions"]) >= 26
    assert all("answer" not in question for question in record["questions"])


def test_numeric_answers_are_taken_rounded(attncalc):
    known = answers(attncalc, "--seed", "1")
    weights = [n for n, question in enumerate(known) if question["id"] == "n-weight"]
    lines = ["\n"] * len(known)
    for n in weights:
        lines[n] = f"{known[n]['answer']:.2f}\n"
    done = attncalc("quiz", "--seed", "1", "--questions", str(len(known)), stdin="".join(lines).encode())
    assert f"1 of {len(known)} right." in done.out


def test_the_quiz_speaks_chinese(attncalc):
    assert attncalc("quiz", "--list", ATTNCALC_LANG="zh").out.startswith("关于注意力的问题\n")


def test_the_number_of_questions(attncalc):
    assert len(answers(attncalc, "--questions", "3")) == 3
    assert "questions; 99 cannot be asked" in attncalc.fails("quiz", "--list", "--questions", "99")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("command", ["probe --causal --shuffle 1", "scaling --samples 20", "cost", "quiz --answers"])
def test_latex_compiles(attncalc, tmp_path, command):
    attncalc(*command.split(), "-o", "page.tex")
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{amsmath}\usepackage{booktabs}\begin{document}"
    (tmp_path / "whole.tex").write_text(head + r"\input{page}\end{document}")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "whole.tex"], cwd=tmp_path, capture_output=True
    )
    assert run.returncode == 0, run.stdout.decode("latin-1")[-2000:]


# ── what is said is so ───────────────────────────────────────────────────────────────────────────────────


def test_a_query_with_a_single_key_is_not_said_to_move(attncalc):
    out = attncalc("probe", "--causal", "--change", "queries", "--color", "never").out
    assert "Every query moves its own, but for q0: where a query sees a single key," in out
    assert "Every query moves its own output and no other" not in out
    zh = attncalc("probe", "--causal", "--change", "queries", "--lang", "zh").out
    assert "除 q0 外，每个查询都影响自己的输出" in zh
    assert "Every query moves its own output and no other" in attncalc("probe", "--change", "queries").out


def test_no_query_moves_where_each_sees_one_key(attncalc):
    attncalc.write(one=[[1, 2]])
    out = attncalc("probe", "one.json", "one.json", "one.json", "--change", "queries").out
    assert "No query moves any output, not even its own" in out


def test_a_change_that_is_small_is_not_shown_as_none(attncalc):
    attncalc.write(q=[[1], [1], [1]], k=[[0], [0], [0]], v=[[1e-13], [2e-13], [5]])
    arguments = ("probe", "q.json", "k.json", "v.json", "--causal", "--change", "keys", "--color", "never")
    out = attncalc(*arguments).out
    assert re.search(r"^q0 │ +0\.0000 +0\.0000 +0\.0000$", out, re.MULTILINE)
    assert re.search(r"^q1 │ +5\.0e-14 +5\.0e-14 +0\.0000$", out, re.MULTILINE)  # from a mean of 1.5e-13
    assert "4.9999999999" in attncalc(*arguments, "--format", "plain").out


QUITTERS = """
import sys

def leaves(q, k, v):
    sys.exit(3)

def politely(q, k, v):
    raise SystemExit

def interrupted(q, k, v):
    raise KeyboardInterrupt
"""


def test_a_function_that_ends_the_program_has_failed(attncalc, tmp_path):
    (tmp_path / "quitters_for_probe.py").write_text(QUITTERS)
    (tmp_path / "quits_at_once_for_probe.py").write_text("raise SystemExit(1)")
    assert "leaves failed: SystemExit: 3" in attncalc.fails("probe", "--python", "quitters_for_probe:leaves")
    assert "politely failed: SystemExit" in attncalc.fails("probe", "--python", "quitters_for_probe:politely")
    message = attncalc.fails("probe", "--python", "quits_at_once_for_probe:f")
    assert "quits_at_once_for_probe cannot be imported: SystemExit: 1" in message
    assert attncalc("probe", "--python", "quitters_for_probe:interrupted").code == 130


def test_messages_speak_of_what_was_typed(attncalc):
    assert "--heads must be a multiple of --kv-heads, and 3 is none of 2" in attncalc.fails(
        "cost", "--heads", "3", "--kv-heads", "2"
    )
    assert "--value-dim must be 1 or more, not 0" in attncalc.fails("cost", "--value-dim", "0")
    message = attncalc.fails("compute", "--context", "q.json")
    assert message.startswith("attncalc: error: --context without a sequence: give --x as well\n")
    assert "--weights without a sequence" in attncalc.fails("explain", "--weights", "q.json")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_two_columns_of_scaling_have_one_name(attncalc, lang):
    out = attncalc("scaling", "--dims", "4", "--samples", "20", "--format", "markdown", "--lang", lang).out
    head = next(line for line in out.splitlines() if line.startswith("|"))
    names = [cell.strip() for cell in head.strip("|").split("|")]
    assert len(names) == len(set(names)) == 9


def test_an_answer_that_is_none_is_not_called_wrong(attncalc):
    known = answers(attncalc, "--seed", "0")
    numbers = [n for n, question in enumerate(known) if not question["choices"]]
    lines = ["zebra\n"] * (numbers[0] + 1)
    out = attncalc("quiz", "--seed", "0", "--questions", str(len(known)), stdin="".join(lines).encode()).out
    assert out.count("That is none of the letters; it counts as not answered.") == numbers[0]
    assert out.count("That is no number; it counts as not answered.") == 1
    assert "Not quite" not in out
    assert f"Not answered: {len(lines)}." in out
    assert "没有回答：1 题。" in attncalc("quiz", "--lang", "zh", stdin=b"zebra\n").out


def test_answers_end_in_the_full_stop_of_the_language(attncalc):
    told = [line for line in attncalc("quiz", "--answers", "--lang", "zh").out.splitlines() if line.startswith("答案")]
    assert len(told) > 20
    assert all("。" in line and ". " not in line and "。 " not in line for line in told)
    assert "Answer: b) some. " in attncalc("quiz", "--answers").out


def test_the_question_about_the_order_is_not_about_exchanging_keys_and_values(attncalc):
    en = " ".join(attncalc("quiz", "--list").out.split())
    assert "The key/value pairs come in another order, each key still with its own value" in en
    assert "Keys and values change places" not in en + attncalc("probe", "--shuffle", "1").out
    assert "键和值一起换位置" not in attncalc("quiz", "--list", "--lang", "zh").out
    assert all("1 key/value heads" not in attncalc("quiz", "--list", "--seed", str(seed)).out for seed in range(6))
