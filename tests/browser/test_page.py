"""What one can do with the page: point, press, walk with the keyboard, read it in two languages, print it."""

import numpy as np
import pytest

import attncalc
from attncalc.show.labels import clean
from attncalc.study.examples import example

from .conftest import DESK, PHONE, make

WORDS = ("compute", "--example", "causal-words")
HOSTILE = (
    "<script>window.hacked = 1</script>", "</script><script>window.hacked = 1</script>", "</style>",
    "<img src=x onerror='window.hacked = 1'>", '"', "'", "&lt;b&gt;", "]]>", "<!--", "\u202eevil", "{heading}",
    "${1}", "\u2028", "javascript:alert(1)", "a" * 300, "你好", "שלום", "",
)  # fmt: skip


@pytest.fixture
def words(browser, pages):
    return browser.open(pages(*WORDS))


def stages():
    given = example("causal-words")
    names = ("query", "key", "value", "raw", "scores", "weights", "output")
    return attncalc.attention(given.query, given.key, given.value, stages=names, **given.keywords)


# ── the arithmetic behind a cell ─────────────────────────────────────────────────────────────────────────


def test_a_product_is_told_term_by_term(words):
    words.point(words.cell("raw", 2, 1))
    assert words.text("#arithmetic h2") == "raw[2, 1] = 6"
    assert "q2 · k1 = 0 × 0 + 2 × 2 + 2 × 1 + 0 × 0 = 6" in words.inspector
    rows = [row.text.split() for row in words.all("#arithmetic tbody tr")]
    assert rows == [
        ["d0", "0", "0", "0.0000"],
        ["d1", "2", "2", "4.0000"],
        ["d2", "2", "1", "2.0000"],
        ["d3", "0", "0", "0.0000"],
    ]
    lit = words.js("return [...document.querySelectorAll('td.source')].map(c => c.closest('table').dataset.stage)")
    assert lit == ["query"] * 4 + ["key"] * 4


def test_a_weight_is_told_with_the_whole_row(words):
    result = stages()
    words.point(words.cell("weights", 2, 1))
    scores, weights = result.scores[2, :3], result.weights[2, :3]
    m, e = scores.max(), np.exp(scores - scores.max())
    assert f"m = max = {m:.4f}" in words.inspector
    assert f"exp({scores[1]:.4f} − {m:.4f}) / sum = {e[1]:.4f} / {e.sum():.4f} = {weights[1]:.4f}" in words.inspector
    rows = [row.text.split() for row in words.all("#arithmetic tbody tr")]
    for j in range(3):
        assert rows[j][2:] == [f"{scores[j]:.4f}", f"{e[j]:.4f}", f"{weights[j]:.4f}"]
    assert rows[3][2:] == ["−∞", "0.0000", "0.0000"]


def test_an_output_is_told_as_a_weighted_sum(words):
    words.point(words.cell("output", 1, 1))
    weights = stages().weights[1]
    assert f"output[1, 1] = {weights[0]:.4f} × 0 + {weights[1]:.4f} × 4 = {4 * weights[1]:.4f}" in words.inspector


def test_a_blocked_score_says_which_mask_blocks_it(words):
    words.point(words.cell("scores", 0, 3))
    assert "causal mask" in words.inspector
    assert "1.0000 → −∞" in words.inspector
    words.point(words.cell("allowed", 0, 3))
    assert words.text("#arithmetic h2") == "allowed[0, 3] = ×"
    assert "× causal mask" in words.inspector


def test_a_query_without_keys_gets_what_the_rule_says(browser, pages):
    browser.open(pages("compute", "--example", "textbook", "--lengths", "0", "--empty-rows", "uniform"))
    browser.click(browser.cell("output", 0, 0))
    assert "output[0, 0] = 0.3333 × 10 + 0.3333 × 0 + 0.3333 × 10 = 6.6667" in browser.inspector
    browser.click(browser.cell("weights", 0, 0))
    assert "may attend to no key" in browser.inspector
    assert "weights[0, 0] = 0.3333" in browser.inspector


def test_scaling_and_lse_are_told(words):
    words.point(words.cell("scaled", 3, 3))
    assert "6 × 0.5000 = 3.0000" in words.inspector
    words.point('#flow [data-stage=lse] td[data-i="0"]')
    assert "m + ln(sum) = 0.5000 + ln(1.0000) = 0.5000" in words.inspector


def test_pointing_is_a_glance_and_pressing_stays(words):
    words.js(f"document.querySelector('{words.cell('raw', 0, 0)}').click()")
    words.point(words.cell("raw", 2, 1))
    assert words.text("#arithmetic h2").startswith("raw[2, 1]")
    words.point("#rules")
    assert words.text("#arithmetic h2").startswith("raw[0, 0]")


@pytest.mark.parametrize("stage", ["query", "key", "value", "capped", "biased", "scores", "weights", "lse", "output"])
def test_every_kind_of_cell_has_its_arithmetic(browser, pages, stage):
    line = ("--softcap", "3", "--alibi-slopes", "0.5", "--sink", "0.25")
    browser.open(pages(*WORDS, *line))
    target = f"#flow [data-stage={stage}] tbody tr:nth-child(2) td"
    browser.click(target)
    assert browser.text(target).lstrip("-") in browser.inspector
    assert len(browser.inspector) > 40
    if stage == "weights":
        assert "sink" in browser.inspector


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_query_shows_what_it_attends_to(words):
    words.click(".map .query li:nth-child(3) .chip")
    weights = stages().weights[2]
    assert words.text("#arithmetic h2") == "q2 sat attends to"
    rows = [row.text.split() for row in words.all("#arithmetic tbody tr")]
    assert rows == [
        ["k1", "cat", f"{weights[1]:.4f}"],
        ["k2", "sat", f"{weights[2]:.4f}"],
        ["k0", "the", f"{weights[0]:.4f}"],
    ]
    assert "Blocked: k3 down." in words.inspector
    assert len(words.all(".map path.chosen")) == 3


def test_a_key_shows_who_attends_to_it(words):
    words.click("[data-stage=weights] thead th:nth-child(3) .chip")
    weights = stages().weights[:, 1]
    assert words.text("#arithmetic h2") == "k1 cat is attended to by"
    rows = [row.text.split() for row in words.all("#arithmetic tbody tr")]
    assert rows[0] == ["q2", "sat", f"{weights[2]:.4f}"]
    assert len(rows) == 3
    words.keys("\ue00c")  # Escape
    assert words.text("#arithmetic h2").startswith("weights[")


# ── keyboard ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_grid_is_one_stop_and_arrows_walk_in_it(words):
    for grid in words.all("[role=grid]"):
        assert len(words.js("return arguments[0].querySelectorAll('[tabindex=\"0\"]')", grid)) == 1
    words.focus(words.cell("raw", 0, 0))
    words.keys("\ue015", "\ue014", "\ue014")  # down, right, right
    assert words.text("#arithmetic h2") == "raw[1, 2] = 2"
    assert words.text("#said").startswith("raw[1, 2] = 2. q1 · k2 = ")
    words.keys("\ue011")  # Home: the label of the row
    assert "cat" in words.focused
    words.keys("\ue007")  # Enter
    assert words.text("#arithmetic h2") == "q1 cat attends to"


def test_the_focus_can_be_seen(words):
    words.keys("\ue004")  # Tab: the link that skips the head of the page
    assert words.focused == "Skip to the numbers"
    assert words.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_tabs_and_steps_follow_the_arrow_keys(words):
    words.focus("#tab-explore")
    words.keys("\ue014")
    assert words.focused == "Step by step"
    assert words.one("#explanation").is_displayed()
    words.keys("\ue004")
    words.js("document.activeElement.blur()")
    words.keys("\ue014", "\ue014")
    assert words.text(".step.current h2").startswith("3. Scale")
    words.keys("\ue012")
    assert words.text(".step.current h2").startswith("2. Compare")
    words.click("#next")
    assert words.text("#step-list [aria-current]") == "3"


def test_everything_that_can_be_pressed_has_a_name(words):
    nameless = words.js(
        "return [...document.querySelectorAll('button, select, a, [role=grid]')].filter(e =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []


# ── the three views ──────────────────────────────────────────────────────────────────────────────────────


def test_an_explanation_opens_at_the_explanation(browser, pages):
    browser.open(pages("explain", "--example", "causal-words", "--query", "2"))
    assert browser.one("#explanation").is_displayed()
    assert not browser.one("#explore").is_displayed()
    for _ in range(4):
        browser.click("#next")
    assert "weights[2, 1]" in browser.text(".step.current")
    browser.click("#causal")
    assert browser.text(".step.current h2").startswith("5. Softmax")
    assert "weights[2, 3]" in browser.text(".step.current"), "the explanation is that of the run without a mask"


def test_one_cell_is_explained_in_every_run(browser, pages):
    browser.open(pages("explain", "--example", "causal-words", "--cell", "1,2"))
    for _ in range(2):
        assert "row of Q" in browser.text(".step.current") or "Q[1]" in browser.text(".step.current")
        browser.click("#causal")
    browser.click("#tab-explore")
    assert browser.text("#arithmetic h2").startswith("weights[1, 0]")


def test_a_check_opens_at_the_difference(browser, tmp_path):
    given = example("textbook")
    wrong = attncalc.attention(given.query, given.key, given.value, scale=1.0)
    np.save(tmp_path / "got.npy", wrong.output)
    browser.open(make(tmp_path, "check", "--example", "textbook", "--got", str(tmp_path / "got.npy")))
    answer = browser.one("#answer")
    assert answer.is_displayed()
    assert "6 of 6 numbers are off" in answer.text
    assert "scale-missing" in answer.text
    captions = [caption.text for caption in browser.all("#answer caption")]
    assert captions == ["this answer", "right", "difference"]
    right = attncalc.attention(given.query, given.key, given.value).output
    shown = [cell.text for cell in browser.all("#answer table:nth-of-type(1) td.right")]
    assert shown == [f"{value:.4f}" for value in right.ravel()]
    browser.click("#tab-explore")
    assert browser.one("#explore").is_displayed()


# ── languages, colours, sizes, paper ─────────────────────────────────────────────────────────────────────


def test_chinese_and_back(words):
    words.click("#language")
    assert words.one("html").get_attribute("lang") == "zh"
    assert words.text("#tab-explore") == "数字"
    assert "每个" in words.text("#flow")
    words.click(words.cell("output", 1, 1))
    assert "加起来" in words.inspector or "相加" in words.inspector
    words.click("#tab-explanation")
    assert words.one(".step.current").get_attribute("lang") == "zh"
    words.click("#language")
    assert words.text("#tab-explore") == "Numbers"
    assert words.one(".step.current").get_attribute("lang") == "en"


def test_the_page_opens_in_the_language_of_the_command(browser, tmp_path):
    browser.open(make(tmp_path, "explain", "--lang", "zh"))
    assert browser.text("#tab-explanation") == "一步一步"
    browser.open(make(tmp_path, "compute", "--example", "textbook", ATTNCALC_LANG="zh"))
    assert browser.one("html").get_attribute("lang") == "zh"


CONTRAST = """
const light = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const paint = (...colors) => { canvas.clearRect(0, 0, 1, 1);
  for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
  const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
  return 0.2126 * light(r / 255) + 0.7152 * light(g / 255) + 0.0722 * light(b / 255); };
const card = getComputedStyle(document.querySelector('.panel')).backgroundColor;
return Math.min(...[...document.querySelectorAll(arguments[0])].map(cell => {
  const style = getComputedStyle(cell);
  const [a, b] = [paint(card, style.backgroundColor), paint(card, style.color)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_on_every_colour(browser, pages, scheme, tmp_path):
    np.savez(tmp_path / "in.npz", q=[[2.0, -2.0], [1.0, 0.0]], k=[[2.0, 1.0], [-2.0, 1.0]], v=np.eye(2))
    browser.open(make(tmp_path, "compute", str(tmp_path / "in.npz"), "--causal"), scheme=scheme)
    assert browser.js(CONTRAST, "td[role=gridcell]") >= 4.5
    assert browser.js(CONTRAST, ".what, .place, .faint, .index") >= 4.5


def test_light_and_dark_can_be_chosen(words):
    def paper():
        return words.js("return getComputedStyle(document.body).backgroundColor")

    light = paper()
    words.click("#theme")
    dark = paper()
    assert dark != light
    words.click("#theme")
    assert paper() == light
    words.media("dark")
    assert paper() == light, "what was chosen stays"


@pytest.mark.parametrize("tab", ["explore", "explanation"])
@pytest.mark.parametrize("size", [DESK, PHONE, (320, 640)])
def test_nothing_is_wider_than_the_window(browser, pages, size, tab):
    browser.open(pages(*WORDS), size)
    browser.click(f"#tab-{tab}")
    assert browser.js("return document.documentElement.scrollWidth") <= size[0]


def test_on_paper_everything_is_there_and_no_buttons(words):
    words.media(media="print")
    shown = words.js("return [...document.querySelectorAll('.step')].filter(s => s.offsetParent).length")
    assert shown == 7
    assert words.one("#explore").is_displayed()
    assert not words.one("#causal").is_displayed()
    assert not words.one("#theme").is_displayed()
    words.media()


# ── what is large, and what is hostile ───────────────────────────────────────────────────────────────────


def test_a_large_input_is_a_small_page_that_says_so(browser, tmp_path):
    rng = np.random.default_rng(5)
    file = tmp_path / "in.npz"
    np.savez(file, q=rng.normal(size=(2, 1000, 16)), k=rng.normal(size=(2, 900, 16)), v=rng.normal(size=(2, 900, 16)))
    page = make(tmp_path, "compute", str(file), "--causal")
    assert page.stat().st_size < 5_000_000
    browser.open(page)
    note = browser.text("#left-out")
    assert "of 1000 queries" in note
    assert "of 2 heads" in note
    assert len(browser.cells("weights")) == 24
    browser.click("#query-on")
    first = browser.text("[data-stage=weights] tbody th")
    assert first == "q24"
    result = attncalc.attention(*(np.load(file)[name] for name in "qkv"), causal=True)
    assert browser.cells("weights")[0][:24] == [f"{value:.4f}" for value in result.weights[0, 24, :24]]
    browser.js(
        "const sheet = document.querySelector('.sheet'), box = sheet.getBoundingClientRect();"
        "sheet.dispatchEvent(new MouseEvent('click', {clientX: box.left, clientY: box.bottom}))"
    )
    assert browser.text("[data-stage=weights] tbody tr:last-child th") == "q999"
    assert browser.text("[data-stage=weights] thead th") == "k0"
    assert not browser.one("#query-on").is_enabled()
    assert browser.cells("output")[-1] == [f"{value:.4f}" for value in result.output[0, 999]]


def test_hostile_labels_stay_text(browser, tmp_path):
    size = len(HOSTILE)
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "in.npz", q=rng.normal(size=(size, 3)), k=rng.normal(size=(size, 3)), v=np.eye(size))
    (tmp_path / "tokens.json").write_text(attncalc_json(HOSTILE), "utf-8")
    page = make(tmp_path, "explain", str(tmp_path / "in.npz"), "--tokens", str(tmp_path / "tokens.json"), "--all")
    browser.open(page)
    browser.click("#tab-explore")
    shown = browser.js(
        "return [...document.querySelectorAll('[data-stage=weights] thead bdi')].map(b => b.textContent)"
    )
    assert shown == [clean(label) for label in HOSTILE]
    for n in range(size):
        browser.click(f".map .query li:nth-child({n + 1}) .chip")
        assert clean(HOSTILE[n]) in browser.inspector
    assert browser.js("return window.hacked === undefined")
    assert len(browser.all("script")) == 3
    assert browser.all("img") == []
    browser.click("#tab-explanation")
    for n in range(len(browser.all("#step-list button"))):
        browser.click(f"#step-list li:nth-child({n + 1}) button")
        assert browser.one(".step.current").is_displayed()
    assert browser.js("return document.documentElement.scrollWidth") <= DESK[0]


def attncalc_json(labels):
    import json

    return json.dumps(list(labels))
