"""Every language says the same things: same files, keys and placeholders, and nothing that nobody says."""

import re
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

import attncalc
from attncalc.errors import OptionError
from attncalc.texts import LANGUAGES, Voice, language
from attncalc.texts.voice import TOPICS, catalogue

FOLDER = Path(attncalc.__file__).parent / "texts"
OTHERS = LANGUAGES[1:]


def placeholders(text):
    return {name.lower() for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_language_has_the_same_files():
    for lang in LANGUAGES:
        assert sorted(path.stem for path in (FOLDER / lang).glob("*.py")) == sorted((*TOPICS, "__init__"))


@pytest.mark.parametrize("lang", OTHERS)
@pytest.mark.parametrize("topic", TOPICS)
def test_every_language_has_the_same_keys_in_the_same_order(lang, topic):
    ours = import_module(f"attncalc.texts.en.{topic}").TEXTS
    theirs = import_module(f"attncalc.texts.{lang}.{topic}").TEXTS
    assert list(theirs) == list(ours)


@pytest.mark.parametrize("lang", OTHERS)
def test_every_text_has_the_same_placeholders(lang):
    ours, theirs = catalogue("en"), catalogue(lang)
    for key, text in ours.items():
        assert placeholders(theirs[key]) == placeholders(text), key


def test_no_key_stands_in_two_files():
    for lang in LANGUAGES:
        parts = [import_module(f"attncalc.texts.{lang}.{topic}").TEXTS for topic in TOPICS]
        assert len(catalogue(lang)) == sum(map(len, parts))


def test_texts_are_not_empty_and_not_left_in_english():
    for key, text in catalogue("zh").items():
        assert text.strip()
        english = catalogue("en")[key]
        if text == english:
            assert not re.search("[A-Za-z]{4}", text.replace("RoPE", "").replace("ALiBi", "")), key


def test_the_terms_of_the_field_are_used():
    everything = "".join(catalogue("zh").values())
    for term in ("查询", "键", "值", "注意力权重", "缩放点积", "因果掩码", "填充掩码"):
        assert term in everything


def test_every_key_is_said_somewhere():
    """A text whose key, or the front of it, stands nowhere in the code is forgotten."""
    folders = ("study", "show", "cli")
    code = "".join(path.read_text("utf-8") for name in folders for path in FOLDER.parent.joinpath(name).rglob("*.py"))
    code = code.replace("'", '"')
    for key in (key for key in catalogue("en") if not key.startswith("page.")):  # tests/show/test_webpage.py
        topic, *rest = key.split(".")
        fronts = [f'"{topic}.{".".join(rest[:n])}' for n in range(len(rest) - 1, len(rest) + 1) if n]
        backs = [f'"{".".join(rest)}"', f'"{rest[0]}"', f'"{rest[-1]}"'] if rest else []
        assert any(part in code for part in (f'"{key}"', *fronts, *backs)), key


def plainly(values, fixed):
    return [f"{value:.2f}" if fixed else f"{value:g}" for value in values]


def test_a_voice_writes_numbers_and_counts():
    say = Voice("en", plainly)
    assert say("scale.given", factor=0.5, d=4, usual=0.5).startswith("The scale is given as 0.50;")
    assert say.count("online.size", 1) == "Here a block is 1 key."
    assert say.count("online.size", 3) == "Here a block is 3 keys."
    assert say.row([1, 2.5]) == ["1", "2.5"]
    assert say.listed(["a"]) == "a"
    assert say.listed(["a", "b", "c"]) == "a, b and c"
    assert Voice("zh", plainly).listed(["甲", "乙", "丙"]) == "甲、乙 和 丙"


def test_a_sentence_starts_with_a_capital():
    say = Voice("en", plainly)
    assert say("mask.empty", query="query 1 (cat)") == "Query 1 (cat) may attend to no key at all."


def test_what_a_user_typed_is_never_a_template():
    say = Voice("en", plainly)
    assert say("query.token", i=0, token="{i}{0}%s") == "query 0 ({i}{0}%s)"


def test_the_option_beats_the_environment():
    assert language(None, {}) == "en"
    assert language(None, {"ATTNCALC_LANG": ""}) == "en"
    assert language(None, {"ATTNCALC_LANG": "zh"}) == "zh"
    assert language("en", {"ATTNCALC_LANG": "zh"}) == "en"


@pytest.mark.parametrize(
    ("asked", "variables", "name"), [("de", {}, "--lang"), (None, {"ATTNCALC_LANG": "de"}, "ATTN")]
)
def test_an_unknown_language_is_an_error(asked, variables, name):
    with pytest.raises(OptionError, match=f"{name}.* must be one of en, zh, not de"):
        language(asked, variables)
