"""The quiz: answers worked out a second time, and what counts as right."""

import ast
import math
import re

import pytest
from oracle import attend
from voices import CHINESE, ENGLISH

from attncalc.errors import OptionError
from attncalc.study.quiz import CHOICES, NUMERIC, Question, questions

SEEDS = range(12)


def asked(name, seed=0, say=ENGLISH):
    return next(question for question in questions(say, seed) if question.id == name)


def matrices(question):
    return [ast.literal_eval(text) for text in re.findall(r"\[\[.*?\]\]|\[[^\[]*?\]", question.text)]


def test_there_are_twenty_of_the_textbook_and_more_with_numbers():
    assert len(CHOICES) >= 20
    assert len(NUMERIC) >= 6
    assert len(questions(ENGLISH)) == len(CHOICES) + len(NUMERIC)


def test_a_seed_gives_the_same_questions():
    assert questions(ENGLISH, 5) == questions(ENGLISH, 5)
    assert [q.id for q in questions(ENGLISH, 5)] != [q.id for q in questions(ENGLISH, 6)]
    assert questions(ENGLISH, 5, 3) == questions(ENGLISH, 5)[:3]


def test_both_languages_ask_the_same():
    for ours, theirs in zip(questions(ENGLISH, 2), questions(CHINESE, 2), strict=True):
        assert (ours.id, ours.answer, ours.number) == (theirs.id, theirs.answer, theirs.number)
        assert len(ours.choices) == len(theirs.choices)


def test_every_question_is_complete():
    for question in questions(ENGLISH):
        assert question.text.endswith("?")
        assert question.explanation.endswith(".")
        assert len(set(question.choices)) == len(question.choices)
        assert (question.number is None) == bool(question.choices)


def test_the_right_letters_are_spread():
    letters = [answer for _, _, answer in CHOICES]
    assert all(letters.count(letter) >= 6 for letter in "abc")


# ── numbers, a second time ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", SEEDS)
def test_scores(seed):
    q, k = matrices(asked("n-score", seed))
    assert asked("n-score", seed).number == sum(a * b for a, b in zip(q, k, strict=True))
    q, k = matrices(asked("n-scaled", seed))
    assert asked("n-scaled", seed).number == sum(a * b for a, b in zip(q, k, strict=True)) / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_and_outputs(seed):
    question = asked("n-weight", seed)
    q, k = matrices(question)
    j = int(re.search(r"key (\d) get", question.text)[1])
    assert question.number == pytest.approx(attend([q], k, [[0], [0]])["weights"][0][j], rel=1e-12)
    question = asked("n-output", seed)
    q, k, v = matrices(question)
    assert question.number == pytest.approx(attend([q], k, v)["output"][0][0], rel=1e-12)
    question = asked("n-causal", seed)
    q, k = matrices(question)
    expected = attend(q, k, [[0]] * 3, causal=True)["weights"][1][0]
    assert question.number == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_counts(seed):
    def numbers(name):
        question = asked(name, seed)
        return question.number, [int(n) for n in re.findall(r"\b\d+\b", question.text)]

    count, (tokens, heads) = numbers("n-elements")
    assert count == tokens * tokens * heads
    growth, (first, last) = numbers("n-growth")
    assert growth == (last / first) ** 2
    size, (tokens, groups, width, bytes_each) = numbers("n-cache")
    assert bytes_each == 2
    assert size == 2 * groups * tokens * width * 2


# ── facts, a second time ─────────────────────────────────────────────────────────────────────────────────


def right(name):
    question = asked(name)
    return question.choices["abcd".index(question.answer)]


def test_right_answers_are_what_attention_does():
    q, k, v = [[1, 0], [0.5, 2]], [[1, 1], [0, 3]], [[2, 0], [-1, 4]]
    plain = attend(q, k, v)
    doubled = attend(q, k, [[2 * x for x in row] for row in v])
    assert doubled["weights"] == plain["weights"]
    assert right("double-values") == "the output doubles, the weights stay"
    causal = attend(q, k, v, causal=True)
    assert causal["output"][0] == v[0]
    assert right("causal-first") == "the first value itself"
    assert causal["output"][1] == plain["output"][1]
    assert causal["output"][0] != plain["output"][0]
    assert right("remove-mask") == "the last"
    turned = attend(q, k[::-1], v[::-1])
    assert all(math.isclose(a, b) for a, b in zip(turned["output"][0], plain["output"][0], strict=True))
    assert right("permute-keys") == "no output changes"
    sharper = attend([[2 * x for x in row] for row in q], k, v)
    assert max(sharper["weights"][1]) > max(plain["weights"][1])
    assert right("double-queries") == "large ones get larger, small ones smaller"
    assert attend([[0, 0]], k, v)["output"][0] == [0.5, 2]
    assert right("equal-scores") == "the mean of the values it may see"


def test_shapes_and_rules_of_the_textbook():
    assert right("output-shape") == "5 × 16"
    assert right("weights-shape") == "5 × 7"
    assert right("four-times") == "16 times"
    assert right("zero-score") == "some"
    assert right("causal-self") == "yes"
    assert right("mixed") == "of the values"
    assert right("groups") == "0"
    assert right("widths") == "Q and K"
    assert right("padding") == "the columns of the padding"
    assert right("empty-row") == "nothing that is defined: 0/0"


# ── what counts as right ─────────────────────────────────────────────────────────────────────────────────


def number(answer):
    return Question("n", "?", (), str(answer), ".", answer)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("0.6698", True), ("0.67", True), ("0,67", True), ("0.669", True), (".67", True), (" 0.670 ", True),
        ("0.6697615493266569", True), ("0.68", False), ("0.7", False), ("1", False), ("0.66", True), ("0.6702", False),
        ("-0.67", False), ("−0.67", False), ("2/3", False), ("two thirds", None), ("", None), ("nan", None),
        ("1e-1", None), ("1/0", None), ("0_67", None), ("٣", None),
    ],
)  # fmt: skip
def test_answers_within_their_rounding_are_right(given, verdict):
    assert number(0.6697615493266569).judge(given) is verdict


@pytest.mark.parametrize(
    ("given", "verdict"), [("16", True), ("16.0", True), ("15", False), ("17", False), ("32/2", True)]
)
def test_whole_numbers_are_exact(given, verdict):
    assert number(16.0).judge(given) is verdict


def test_a_fraction_is_exact():
    assert number(1 / 3).judge("1/3") is True
    assert number(1 / 3).judge("0.33") is True


@pytest.mark.parametrize(
    ("given", "verdict"),
    [("b", True), ("B", True), ("b)", True), (" b. ", True), ("green", True), ("a", False), ("red", False), ("d", None),
     ("ab", None), ("1", None), ("", None)],
)  # fmt: skip
def test_letters_and_words_are_answers(given, verdict):
    assert Question("c", "?", ("red", "Green", "blue"), "b", ".").judge(given) is verdict


@pytest.mark.parametrize("count", [0, 1000])
def test_more_questions_than_there_are_cannot_be_asked(count):
    with pytest.raises(
        OptionError, match=f"there are {len(CHOICES) + len(NUMERIC)} questions; {count} cannot be asked"
    ):
        questions(ENGLISH, 0, count)


def test_a_negative_seed_is_refused():
    with pytest.raises(OptionError, match="a seed must be 0 or more, not -1"):
        questions(ENGLISH, -1)
