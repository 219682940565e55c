"""The page as a file: one file, no network, hostile text is text, every text is said, and the data is attncalc's."""

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from documents import HOSTILE, labelled, lesson, textbook

import attncalc
from attncalc.core.prepare import prepare
from attncalc.core.shapes import Sizes
from attncalc.show import Settings, render
from attncalc.show.labels import clean
from attncalc.show.pages.explore import data
from attncalc.show.webpage import SCRIPTS, STYLES, Pages, explorer, json_in_html
from attncalc.study.explore import explore, variants
from attncalc.study.fitting import NUMBERS, Stages, fitting
from attncalc.texts import LANGUAGES, Voice
from attncalc.texts.voice import catalogue

WEB = Path(attncalc.__file__).parent / "show" / "web"
PREFIX = "page."
TEXTS = {
    lang: {key.removeprefix(PREFIX): text for key, text in catalogue(lang).items() if key.startswith(PREFIX)}
    for lang in LANGUAGES
}


def voice():
    return Voice("en", lambda numbers, fixed: [f"{number:.4f}" for number in numbers])


def page(problem, **more):
    return data(explore(problem, voice(), **more), start="explore", lang="en", digits=4)


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    VOID = ("meta", "br", "img", "link")

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


# ── a page of words and tables ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("document", [textbook(), lesson(), labelled(HOSTILE)], ids=["textbook", "lesson", "hostile"])
def test_a_document_is_a_page_with_every_tag_closed(document):
    read = Reader(render(document, "html", Settings()))
    assert read.open == []
    assert set(read.tags) <= {
        "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "em", "strong", "span", "div", "dl",
        "dt", "dd", "pre", "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip


def test_hostile_labels_are_text_in_a_document():
    text = " ".join(Reader(render(labelled(HOSTILE), "html", Settings())).texts)
    for label in HOSTILE:
        assert clean(label) in text


def test_a_document_shows_numbers_weights_and_what_is_blocked():
    text = render(textbook(), "html", Settings())
    assert '<td class="number" style="--heat:0.67">0.6698</td>' in text
    assert '<td class="number blocked">×</td>' in text
    assert '<td class="number blocked">−∞</td>' in text


# ── a page to explore ────────────────────────────────────────────────────────────────────────────────────


def test_one_file_that_asks_for_nothing():
    text = explorer(page(prepare(np.eye(3), np.eye(3), np.eye(3))), Pages(TEXTS))
    addresses = set(re.findall(r"[a-z]+://[^\s\"'`<>]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}, "a name, not an address"
    assert "default-src 'none'" in text
    assert not re.search(r"<(link|img|iframe|object)\b|@import|\burl\(|\bsrc=|fetch\(|XMLHttpRequest|import\(", text)
    assert Reader(text).open == []
    assert "{{" not in text


def test_json_in_a_page_cannot_end_its_element():
    hostile = ["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "</style>"]
    written = json_in_html(hostile)
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == hostile
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_in_html(math.inf)


def test_what_is_filled_in_is_no_template():
    problem = prepare(np.eye(2), np.eye(2), np.eye(2), tokens=["{{data}}", "{{script}}"])
    text = explorer(page(problem), Pages(TEXTS))
    assert text.count("{{data}}") == 2, "once for the queries, once for the keys"


def test_every_text_of_the_page_is_said_and_there():
    """A key stands in a script or in the page, whole or as the front of ``front.${…}``."""
    code = "".join((WEB / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    code += (WEB / "explore.html").read_text("utf-8")
    said = set(re.findall(r'(?:say|prose)\(\s*(?:[^()"`]*\? )?"([\w. ]+)"', code))
    said |= set(re.findall(r'data-(?:text|label|title)="([\w. ]+)"', code))
    assert said <= TEXTS["en"].keys()
    strings = set(re.findall(r'"([\w. ]+)"', code))
    fronts = set(re.findall(r"`([\w.]+)\.\$\{", code))
    for key in TEXTS["en"]:
        assert key in strings or any(key.startswith(f"{front}.") for front in fronts), key


def test_all_scripts_and_styles_are_used():
    assert {path.stem for path in WEB.glob("*.js")} == set(SCRIPTS)
    assert {path.stem for path in WEB.glob("*.css")} == set(STYLES)


def test_the_data_is_what_attncalc_computes():
    rng = np.random.default_rng(2)
    q, k, v = rng.normal(size=(3, 5)), rng.normal(size=(4, 5)), rng.normal(size=(4, 2))
    record = json.loads(json_in_html(page(prepare(q, k, v))))
    assert [(run["causal"], run["scale"]) for run in record["runs"]] == [
        (False, 1 / math.sqrt(5)), (False, 1.0), (True, 1 / math.sqrt(5)), (True, 1.0),
    ]  # fmt: skip
    for run in record["runs"]:
        result = attncalc.attention(q, k, v, causal=run["causal"], scale=run["scale"])
        places = run["parts"]["0,0"]["stages"]
        for name in ("raw", "scaled", "weights", "lse", "output"):
            assert record["arrays"][places[name]]["values"] == result.stages[name].tolist(), name
        allowed = ["".join("01"[cell] for cell in row) for row in result.allowed.astype(int).tolist()]
        assert record["arrays"][places["allowed"]]["values"] == allowed


def test_arrays_that_runs_share_are_written_once():
    record = page(prepare(np.eye(3), np.eye(3), np.eye(3)))
    raw = {run["parts"]["0,0"]["stages"]["raw"] for run in record["runs"]}
    assert len(raw) == 1


def test_infinity_and_nan_have_names():
    problem = prepare(np.eye(2), np.eye(2), np.eye(2), mask=[[1, 0], [0, 0]], empty_rows="nan")
    record = json.loads(json_in_html(page(problem)))
    places = record["runs"][0]["parts"]["0,0"]["stages"]
    assert record["arrays"][places["scores"]]["values"][1] == ["-inf", "-inf"]
    assert record["arrays"][places["weights"]]["values"][1] == ["nan", "nan"]
    assert record["arrays"][places["lse"]]["values"][1] == "-inf"


def test_a_variant_that_cannot_be_computed_has_a_fault():
    problem = prepare(np.eye(2), np.eye(2), np.eye(2), padding=[0, 1])
    faults = [(run["causal"], run["fault"]) for run in page(problem)["runs"]]
    assert faults[:2] == [(False, "")] * 2
    assert faults[2:] == [(True, "query 0 may attend to no key")] * 2


def test_a_scale_of_ones_own_can_be_compared_with_the_usual_one():
    problem = prepare(np.eye(4), np.eye(4), np.eye(4), scale=0.3)
    scales = {run.rules.scale for run in variants(problem)}
    assert scales == {0.3, 0.5, 1.0}


# ── what fits ────────────────────────────────────────────────────────────────────────────────────────────


def sizes(**more):
    return Sizes(**({"B": 1, "H": 1, "G": 1, "T": 4, "S": 4, "d": 4, "d_v": 4} | more))


COUNT = Stages(one=5, every=15)


def test_what_is_small_is_kept_whole():
    kept = fitting(sizes(B=2, H=3, T=20, S=30), COUNT)
    assert (len(kept.batches), len(kept.heads), len(kept.queries), len(kept.keys)) == (2, 3, 20, 30)
    assert kept.variants


def test_other_runs_go_first_then_batches_then_heads_then_the_middle():
    assert not fitting(sizes(T=150, S=150), COUNT).variants
    some = fitting(sizes(B=8, H=4, T=64, S=64), COUNT)
    assert len(some.heads) == 4
    assert 1 < len(some.batches) < 8
    fewer = fitting(sizes(B=8, H=64, T=64, S=64), COUNT)
    assert len(fewer.batches) == 1
    assert 1 < len(fewer.heads) < 64
    long = fitting(sizes(T=5000, S=4000), COUNT)
    assert long.queries[0] == long.keys[0] == 0
    assert (long.queries[-1], long.keys[-1]) == (4999, 3999)
    assert long.numbers(COUNT) <= NUMBERS


def test_one_batch_and_head_can_be_chosen():
    kept = fitting(sizes(B=8, H=64, T=64, S=64), COUNT, batch=5, head=40)
    assert (kept.batches, kept.heads) == ((5,), (40,))


def test_the_least_is_kept_however_large_the_input():
    kept = fitting(sizes(T=10**6, S=10**6, d=10**4, d_v=10**4), COUNT, most=1)
    assert (len(kept.queries), len(kept.keys), len(kept.columns)) == (16, 16, 128)
