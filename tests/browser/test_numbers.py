"""The numbers on the page are those of compute, for every stage, head, batch and run."""

import numpy as np
import pytest

import attncalc
from attncalc.show.digits import Signs, texts
from attncalc.show.pages.compute import WHOLE
from attncalc.study.examples import EXAMPLES, example

STAGES = ("query", "key", "value", "raw", "scaled", "scores", "weights", "output")


def told(name: str, values: np.ndarray, allowed: np.ndarray) -> list[list[str]]:
    """Write a stage as compute does."""
    rows = texts(values, values, 4, fixed=name not in WHOLE, signs=Signs())
    if name in ("scores", "weights"):
        for i, j in np.argwhere(~allowed & (values == 0)):
            rows[i][j] = Signs().blocked
    return rows


def check(browser, stages, take) -> None:
    """Compare every stage on the page with one head of a result."""
    if not take("allowed").all():
        assert browser.cells("allowed") == [["×✓"[cell] for cell in row] for row in take("allowed").astype(int)]
    for name in stages:
        assert browser.cells(name) == told(name, take(name), take("allowed")), name


@pytest.mark.parametrize("name", [each.name for each in EXAMPLES])
def test_every_stage_of_the_examples(browser, pages, name):
    given = example(name)
    result = attncalc.attention(
        given.query, given.key, given.value, stages=(*STAGES[:-1], "heads", "allowed", "lse"), **given.keywords
    )
    browser.open(pages("compute", "--example", name))
    heads = range(2) if given.options.get("heads") else [None]
    for head in heads:
        if head is not None:
            browser.js(
                "const s = document.getElementById('choose-head'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('change'))",
                str(head),
            )

        def take(stage, head=head):
            array = result.stages["heads" if stage == "output" else stage]
            return array if head is None else array[head]

        check(browser, STAGES, take)
        assert [row[0] for row in browser.cells("lse")] == [f"{value:.4f}" for value in take("lse")]


def test_many_heads_batches_and_rules(browser, pages, tmp_path):
    rng = np.random.default_rng(7)
    q, k, v = rng.normal(size=(2, 4, 3, 5)), rng.normal(size=(2, 2, 7, 5)), rng.normal(size=(2, 2, 7, 6))
    file = tmp_path / "in.npz"
    np.savez(file, q=q, k=k, v=v)
    options = {"softcap": 2.0, "alibi": True, "sink": [0.5, 1, 0, -1], "lengths": [7, 4], "window_left": 3}
    line = ("--softcap", "2", "--alibi", "--sink", "0.5,1,0,-1", "--lengths", "7,4", "--window-left", "3")
    stages = ("query", "key", "value", "raw", "scaled", "capped", "biased", "scores", "weights")
    result = attncalc.attention(q, k, v, stages=(*stages, "heads", "allowed"), **options)
    browser.open(pages("compute", str(file), *line))
    for batch, head in ((0, 0), (1, 3)):
        for name, place in (("batch", batch), ("head", head)):
            browser.js(
                "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
                "s.dispatchEvent(new Event('change'))",
                f"choose-{name}",
                str(place),
            )

        def take(stage, batch=batch, head=head):
            if stage == "output":
                return result.heads[batch, head]
            return result.stages[stage][batch, head // 2 if stage in ("key", "value") else head]

        check(browser, (*stages, "output"), take)


@pytest.mark.parametrize(
    "values",
    [
        [0.03125, 0.09375, -0.03125, 0.15625, 0.00005, -0.00004, 1.00005, 2.5],  # ties; a minus zero
        [1e7, 12345678.90625, 3.0, -1e22],
        [1e-5, 3.0517578125e-05, 9.5367431640625e-07],
        [9999999.99999, 0.5],
        [1.0, -2.0, 300.0],
    ],
)
def test_numbers_are_rounded_as_python_rounds_them(browser, tmp_path, values):
    from .conftest import make

    file, v = tmp_path / "in.npz", np.array([values])
    np.savez(file, q=[[1.0]], k=[[1.0]], v=v)
    browser.open(make(tmp_path, "compute", str(file)))
    assert browser.cells("value") == texts(v, v, 4)
    assert browser.cells("output") == texts(v, v, 4, fixed=True)


def test_causal_and_scale_change_to_what_attncalc_computes(browser, pages):
    given = example("causal-words")
    browser.open(pages("compute", "--example", "causal-words"))

    def compare(**options):
        result = attncalc.attention(given.query, given.key, given.value, stages=(*STAGES, "allowed"), **options)
        check(browser, STAGES, result.stages.get)

    compare(causal=True)
    browser.click("#causal")
    assert browser.one("#causal").get_attribute("aria-checked") == "false"
    compare(causal=False)
    browser.click('[data-scale="1"]')
    compare(causal=False, scale=1.0)
    browser.click("#causal")
    compare(causal=True, scale=1.0)
    assert "1" in browser.text("#rules")
    browser.click('[data-scale="0.5"]')
    compare(causal=True)


def test_a_run_that_cannot_be_computed_says_why(browser, tmp_path):
    from .conftest import make

    file = tmp_path / "in.npz"
    np.savez(file, q=np.eye(3), k=np.eye(3), v=np.eye(3), padding=[0, 1, 1])
    browser.open(make(tmp_path, "compute", str(file)))
    before = browser.cells("weights")
    browser.click("#causal")
    assert browser.cells("weights") == before
    assert browser.one("#causal").get_attribute("aria-disabled") == "true"
    assert browser.text("#said") == "query 0 may attend to no key"


def test_a_layer_shows_its_own_output(browser, tmp_path):
    from .conftest import make

    rng = np.random.default_rng(3)
    x, weights = rng.normal(size=(3, 4)), {name: rng.normal(size=(4, 4)) for name in ("wq", "wk", "wv", "wo")}
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "w.npz", **weights)
    result = attncalc.attention(x=x, weights=weights, heads=2)
    line = ("--x", str(tmp_path / "x.npy"), "--weights", str(tmp_path / "w.npz"), "--heads", "2")
    browser.open(make(tmp_path, "compute", *line))
    assert browser.cells("layer") == texts(result.output, result.output, 4, fixed=True)
    assert browser.cells("output") == texts(result.heads[0], result.heads[0], 4, fixed=True)
