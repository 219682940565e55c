"""The online softmax gives what the whole row gives, whatever the blocks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import assert_close, attend
from voices import ENGLISH

from attncalc.core.prepare import prepare
from attncalc.study.examples import TEXTBOOK
from attncalc.study.explain import explain
from attncalc.study.online import online

R = 1 / math.sqrt(2)
scores = st.lists(st.floats(-50, 50) | st.just(-math.inf), min_size=1, max_size=12)


def directly(row, values, sink):
    """Attention of one row with exact sums; zeros where nothing is seen."""
    logits = [*row, sink] if sink is not None else list(row)
    m = max(logits)
    if m == -math.inf:
        return -math.inf, [0.0] * len(values[0])
    e = [math.exp(score - m) for score in logits]
    total = math.fsum(e)
    output = [math.fsum(w * value[c] for w, value in zip(e, values, strict=False)) for c in range(len(values[0]))]
    return m + math.log(total), [number / total for number in output]


@given(scores, st.integers(1, 13), st.none() | st.floats(-20, 20))
def test_blocks_make_no_difference(row, size, sink):
    values = np.array([[j % 5 - 2.0, j * 0.25] for j in range(len(row))])
    found = online(np.array(row), values, size, sink)
    lse, output = directly(row, values.tolist(), sink)
    assert_close(found.lse, lse, rtol=1e-12, atol=1e-12)
    assert_close(found.output, output, rtol=1e-9, atol=1e-9)
    assert [block.first for block in found.blocks] == list(range(0, len(row), size))
    assert found.blocks[-1].last == len(row) - 1


def test_two_blocks_by_hand():
    found = online(np.array([0.0, R]), np.array([[10.0, 0.0], [0.0, 10.0]]), 1)
    first, second = found.blocks
    assert (first.maximum, first.total, first.output.tolist()) == (0, 1, [10, 0])
    shrink = math.exp(-R)
    assert_close([second.before, second.maximum, second.shrink, second.total], [0, R, shrink, shrink + 1])
    assert_close(second.output, [10 * shrink, 10])
    assert_close(found.output, [10 * shrink / (1 + shrink), 10 / (1 + shrink)])


def test_a_blocked_value_is_never_touched():
    found = online(np.array([1.0, -math.inf]), np.array([[2.0], [math.nan]]), 2)
    assert found.output.tolist() == [2]


def test_a_blocked_block_is_skipped():
    found = online(np.array([-math.inf, 3.0]), np.array([[1.0], [2.0]]), 1)
    assert [block.skipped for block in found.blocks] == [True, False]
    assert found.lse == 3


@pytest.mark.parametrize("block", [1, 2, 3, 4])
def test_the_step_gives_the_same_answer(block):
    problem = prepare(query=TEXTBOOK.query, key=TEXTBOOK.key, value=TEXTBOOK.value, causal=True)
    told = explain(problem, ENGLISH, query=2, online=True, block=block)
    step = next(step for step in told.steps if step.id == "online")
    expected = attend(TEXTBOOK.query, TEXTBOOK.key, TEXTBOOK.value, causal=True)["output"][2]
    assert_close(step.values["output"], expected)
    assert "The same output as with the whole row at once." in step.text
    assert told.holds


def test_the_step_shows_maximum_sum_and_rescaling():
    problem = prepare(query=TEXTBOOK.query, key=TEXTBOOK.key, value=TEXTBOOK.value, causal=True)
    text = next(step.text for step in explain(problem, ENGLISH, online=True).steps if step.id == "online")
    for line in (
        "m = max(0.0000, 0.7071) = 0.7071",
        "r = exp(0.0000 − 0.7071) = 0.4931",
        "l = 0.4931 × 1.0000 + 1.0000 = 1.4931",
        "o = 0.4931 × [10.0000, 0.0000] + 1.0000 × [0, 10] = [4.9307, 10.0000]",
        "Block 3, k2: everything is blocked, so it is skipped.",
        "o / l = [4.9307, 10.0000] / 1.4931 = [3.3024, 6.6976]",
    ):
        assert line in text
