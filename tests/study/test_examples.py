"""The built-in examples are valid inputs, and the textbook's are the numbers that users are promised."""

import subprocess
import sys

import pytest

from attncalc import attention
from attncalc.errors import OptionError
from attncalc.study.examples import CROSS, EXAMPLES, PADDING, TEXTBOOK, TWO_HEADS, example


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.name)
def test_every_example_runs_as_it_is(one):
    result = attention(one.query, one.key, one.value, **one.keywords)
    assert result.output.shape[-2:] == (len(one.query), len(one.value[0]))
    assert result.weights.sum(axis=-1).round(12).min() == 1
    assert one.title


def test_names_differ_and_find_their_example():
    assert [example(one.name) for one in EXAMPLES] == list(EXAMPLES)
    assert len({one.name for one in EXAMPLES}) == len(EXAMPLES)


def test_the_textbook_example_is_the_promised_one():
    assert TEXTBOOK.query == TEXTBOOK.key == ((1, 0), (0, 1), (1, 1))
    assert TEXTBOOK.value == ((10, 0), (0, 10), (10, 10))
    assert TEXTBOOK.keywords == {"query_tokens": None, "key_tokens": None}


def test_each_example_shows_what_its_title_says():
    assert attention(TWO_HEADS.query, TWO_HEADS.key, TWO_HEADS.value, **TWO_HEADS.options).weights.shape == (2, 3, 3)
    assert attention(CROSS.query, CROSS.key, CROSS.value).weights.shape == (2, 4)
    weights = attention(PADDING.query, PADDING.key, PADDING.value, **PADDING.keywords).weights
    assert weights[:, 3].tolist() == [0, 0, 0, 0]


def test_an_unknown_example_lists_the_known_ones():
    with pytest.raises(OptionError, match="there is no example poem") as error:
        example("poem")
    assert error.value.hint == "the examples are textbook, causal-words, two-heads, padding, cross"


def test_a_misspelt_example_gets_a_suggestion():
    with pytest.raises(OptionError, match="there is no example texbook") as error:
        example("texbook")
    assert "textbook" in error.value.hint


def test_examples_load_no_numpy():
    code = "import sys, attncalc.study.examples; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
