"""The page of an explanation: worked lines in columns, broken where they are long; any problem fits 80 columns."""

import numpy as np
import pytest

from attncalc.core.prepare import prepare
from attncalc.errors import AttnCalcError
from attncalc.show import Settings, render
from attncalc.show.digits import Signs, texts
from attncalc.show.document import Lines
from attncalc.show.labels import cell_width
from attncalc.show.pages.explain import page, pages
from attncalc.study.explain import explain
from attncalc.study.explanation.parts import Explanation, Step, Worked, Working
from attncalc.texts import Voice


def voice(lang):
    return Voice(lang, lambda row, fixed: texts(row[None], row[None], 4, fixed=fixed, signs=Signs())[0])


def worked(*lines, width=80):
    step = Step("raw", "title", "", "", (Working(lines),))
    told = page(Explanation("t", (), (step,), 0, 0, (0,), (0,)), width)
    return list(next(block for block in told.blocks if isinstance(block, Lines)).lines)


def test_lines_with_equally_many_terms_stand_in_columns():
    assert worked(Worked("a", ("0.3×10", "0.7×0"), "3"), Worked("bcd", ("0.3×0", "0.7×10"), "7")) == [
        "  a   = 0.3×10 + 0.7×0  = 3",
        "  bcd = 0.3×0  + 0.7×10 = 7",
    ]


def test_other_lines_are_not_pulled_apart():
    assert worked(Worked("m", ("max(1, 2)",), "2"), Worked("l", ("1", "2"), "3")) == [
        "  m = max(1, 2) = 2",
        "  l = 1 + 2 = 3",
    ]


@pytest.mark.parametrize(("lang", "word"), [("en", "blocked"), ("zh", "被屏蔽")])
def test_the_sign_of_a_blocked_cell_is_explained_in_the_language_of_the_page(lang, word):
    problem = prepare(query=[[1], [2]], key=[[1], [2]], value=[[1], [2]], causal=True)
    told = explain(problem, voice(lang))
    assert render(page(told), "table", Settings()).endswith(f"\n× {word}\n")
    softmax = next(part for part, step in zip(pages(told)[1:], told.steps, strict=True) if step.id == "softmax")
    assert render(softmax, "table", Settings()).endswith(f"\n× {word}\n")
    assert explain(problem, voice(lang), cell=(0, 1)).blocked == word


def test_a_long_line_is_broken_before_a_sign():
    assert worked(Worked("a", ("11×11", "22×22", "33×33"), "44"), width=24) == [
        "  a = 11×11 + 22×22",
        "    + 33×33 = 44",
    ]
    assert worked(Worked("a", ("11×11", "22×22"), "44444444"), width=24) == ["  a = 11×11 + 22×22", "    = 44444444"]


def test_what_is_left_out_has_a_sign():
    assert worked(Worked("a", ("1",), "1"), Worked("⋮"), Worked("z", ("2",), "2")) == [
        "  a = 1 = 1",
        "  ⋮",
        "  z = 2 = 2",
    ]


def test_chinese_labels_keep_their_columns():
    assert worked(Worked("和", ("1",), "1"), Worked("lse", ("2",), "2")) == ["  和  = 1 = 1", "  lse = 2 = 2"]


def test_one_document_for_the_title_and_one_for_each_step():
    told = explain(prepare(query=[[1]], key=[[1]], value=[[1]]), voice("en"))
    parts = pages(told)
    assert len(parts) == 1 + len(told.steps)
    assert len(page(told).blocks) == sum(len(part.blocks) for part in parts)


def random_problem(rng):
    """Make a problem with a handful of the rules that there are."""
    B, G, share = (int(n) for n in rng.integers(1, 3, 3))
    H, T, S = G * share, int(rng.integers(1, 16)), int(rng.integers(1, 20))
    d, d_v = int(rng.choice([1, 2, 3, 4, 10])), int(rng.choice([1, 2, 9]))
    options = {
        "causal": True,
        "window_left": int(rng.integers(0, 5)),
        "mask": rng.random((T, S)) < 0.6,
        "softcap": 3.0,
        "bias": rng.normal(size=(T, S)),
        "alibi": True,
        "sink": rng.normal(size=H),
        "scale": float(rng.normal()),
        "lengths": rng.integers(0, S + 1, B),
        "causal_align": "lower-right",
        "dtype": str(rng.choice(["float32", "float16", "bfloat16"])),
    }
    chosen = {name: value for name, value in options.items() if rng.random() < 0.3}
    arrays = {"query": (B, H, T, d), "key": (B, G, S, d), "value": (B, G, S, d_v)}
    inputs = {name: 3 * rng.normal(size=shape) for name, shape in arrays.items()}
    policy = str(rng.choice(["zero", "nan", "uniform"]))
    return prepare(**inputs, **chosen, empty_rows=policy), B, H, T, S


@pytest.mark.parametrize("seed", range(24))
def test_any_problem_is_told_rightly_in_80_columns(seed):
    rng = np.random.default_rng(seed)
    try:
        problem, B, H, T, S = random_problem(rng)
    except AttnCalcError:
        pytest.skip("these rules do not go together")
    focus = [{}, {"everything": True}, {"cell": (T - 1, S - 1)}, {"online": True, "block": 2}][seed % 4]
    lang = ("en", "zh")[seed // 4 % 2]
    told = explain(problem, voice(lang), batch=B - 1, head=H - 1, **focus)
    assert told.holds
    said = "".join(step.text for step in told.steps)
    assert "something else" not in said
    assert "做法不同" not in said
    text = render(page(told, 80), "table", Settings(width=80, max_rows=12))
    assert [line for line in text.splitlines() if cell_width(line) > 80] == []
    for format in ("plain", "markdown", "latex"):
        assert render(page(told), format, Settings(max_rows=12, max_cols=12)).endswith("\n")
