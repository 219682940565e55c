"""Attention that was worked out by hand."""

import math

import numpy as np
import pytest
from oracle import assert_close

from attncalc import attention

Q = K = [[1, 0], [0, 1], [1, 1]]
V = [[10, 0], [0, 10], [10, 10]]
R = 1 / math.sqrt(2)


def test_textbook_without_a_mask():
    result = attention(Q, K, V)
    assert_close(result.raw, [[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    assert_close(result.scaled, [[R, 0, R], [0, R, R], [R, R, 2 * R]])
    assert result.allowed.all()
    assert result.weights.round(4).tolist() == [
        [0.4011, 0.1978, 0.4011],
        [0.1978, 0.4011, 0.4011],
        [0.2483, 0.2483, 0.5035],
    ]
    assert result.output.round(4).tolist() == [[8.0222, 5.9889], [5.9889, 8.0222], [7.5174, 7.5174]]


def test_textbook_without_a_mask_in_closed_form():
    e = math.exp(R)
    result = attention(Q, K, V)
    assert_close(result.lse, [math.log(1 + 2 * e), math.log(1 + 2 * e), math.log(2 * e + e * e)])
    assert_close(result.weights[0], [e / (1 + 2 * e), 1 / (1 + 2 * e), e / (1 + 2 * e)])
    assert_close(result.weights[2], [1 / (2 + e), 1 / (2 + e), e / (2 + e)])
    assert_close(result.output[0], [20 * e / (1 + 2 * e), 10 * (1 + e) / (1 + 2 * e)])


def test_textbook_causal():
    result = attention(Q, K, V, causal=True)
    assert result.allowed.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert_close(result.scores, [[R, -math.inf, -math.inf], [0, R, -math.inf], [R, R, 2 * R]])
    assert result.weights.round(4).tolist() == [[1, 0, 0], [0.3302, 0.6698, 0], [0.2483, 0.2483, 0.5035]]
    assert result.output.round(4).tolist() == [[10, 0], [3.3024, 6.6976], [7.5174, 7.5174]]


@pytest.mark.parametrize("query", [[1, 0], [[1, 0]]])
def test_one_query_gives_the_row_of_the_first(query):
    result = attention(query, K, V)
    assert result.weights.round(4).tolist() == [[0.4011, 0.1978, 0.4011]]
    assert result.output.round(4).tolist() == [[8.0222, 5.9889]]


def test_equal_scores_give_the_mean():
    values = np.arange(15).reshape(5, 3)
    result = attention(np.zeros((2, 7)), np.ones((5, 7)), values)
    assert_close(result.weights, [[0.2] * 5] * 2)
    assert_close(result.lse, [math.log(5)] * 2)
    assert_close(result.output, [[6, 7, 8]] * 2)


def test_equal_scores_under_a_causal_mask_give_running_means():
    values = [[0.0], [2.0], [4.0], [6.0]]
    result = attention(np.zeros((4, 3)), np.zeros((4, 3)), values, causal=True)
    assert_close(result.output, [[0], [1], [2], [3]])
    assert_close(result.lse, [math.log(n) for n in (1, 2, 3, 4)])


def test_one_key_takes_all():
    result = attention([[3, 4], [-5, 6]], [[100, 200]], [[7, 8, 9]])
    assert result.weights.tolist() == [[1], [1]]
    assert result.output.tolist() == [[7, 8, 9], [7, 8, 9]]


def test_a_given_scale_stands_in_place_of_the_root():
    result = attention([[math.log(3)]], [[0], [1]], [[0], [4]], scale=2)
    assert_close(result.scaled, [[0, 2 * math.log(3)]])
    assert_close(result.weights, [[0.1, 0.9]])
    assert_close(result.output, [[3.6]])


def test_a_negative_scale_prefers_the_other_key():
    result = attention([[math.log(3)]], [[0], [1]], [[0], [4]], scale=-1)
    assert_close(result.weights, [[0.75, 0.25]])


def test_softcap():
    result = attention([[1]], [[0], [1]], [[0], [1]], softcap=0.5)
    assert_close(result.capped, [[0, 0.5 * math.tanh(2)]])
    assert_close(result.scaled, [[0, 1]])


def test_softcap_then_bias_then_mask():
    result = attention([[1]], [[0], [1], [2]], [[0], [1], [2]], softcap=0.5, bias=[[3, 4, 5]], mask=[[1, 1, 0]])
    assert_close(result.capped, [[0, 0.5 * math.tanh(2), 0.5 * math.tanh(4)]])
    assert_close(result.biased, [[3, 4 + 0.5 * math.tanh(2), 5 + 0.5 * math.tanh(4)]])
    assert_close(result.scores, [[3, 4 + 0.5 * math.tanh(2), -math.inf]])


def test_alibi_falls_with_the_distance():
    zeros = np.zeros((2, 3, 1))
    result = attention(zeros, zeros, zeros, alibi=True)
    far = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert_close(result.biased, np.stack([-(2**-4) * far, -(2**-8) * far]))


def test_alibi_counts_from_the_position_of_the_query():
    zeros = np.zeros((1, 1))
    lower_right = attention(zeros, np.zeros((3, 1)), np.zeros((3, 1)), alibi_slopes=[1], causal="lower-right")
    assert_close(lower_right.biased, [[-2, -1, 0]])
    cached = attention(zeros, zeros, zeros, alibi_slopes=[1], past_key=np.zeros((2, 1)), past_value=np.zeros((2, 1)))
    assert_close(cached.biased, [[-2, -1, 0]])


def test_a_sink_of_zero_adds_one_to_the_denominator():
    result = attention([[0.0]], [[1], [2]], [[3], [6]], sink=[0])
    assert_close(result.weights, [[1 / 3, 1 / 3]])
    assert_close(result.lse, [math.log(3)])
    assert_close(result.output, [[3]])


def test_each_head_has_its_own_sink():
    zeros = np.zeros((2, 1, 1))
    result = attention(zeros, zeros, np.ones((2, 1, 1)), sink=[0, math.log(3)])
    assert_close(result.output, [[[1 / 2]], [[1 / 4]]])


def test_rope_depends_on_the_distance_alone():
    q, k = [[1.0, 2.0, 3.0, 4.0]] * 5, [[2.0, -1.0, 0.0, 1.0]] * 5
    raw = attention(q, k, k, rope="half", rope_offset=11).raw
    for distance in range(-4, 5):
        diagonal = np.diagonal(raw, distance)
        assert_close(diagonal, [diagonal[0]] * len(diagonal))
    assert raw[0, 1] != pytest.approx(raw[1, 0])


def test_rope_of_two_columns_is_a_turn_by_one_radian_a_position():
    ones = [[1, 0], [1, 0], [1, 0]]
    result = attention(ones, ones, ones, rope="interleaved", scale=1)
    assert_close(result.raw, [[math.cos(i - j) for j in range(3)] for i in range(3)])


def test_rope_with_fewer_dims_leaves_the_other_columns():
    result = attention([[0, 0, 5, 7]] * 2, [[0, 0, 1, 1]] * 2, [[1]] * 2, rope="half", rope_dims=2, scale=1)
    assert_close(result.raw, [[12, 12], [12, 12]])
    result = attention([[1, 0, 0, 0]] * 2, [[1, 0, 0, 0]] * 2, [[1]] * 2, rope="half", rope_dims=2, scale=1)
    assert_close(result.raw, [[1, math.cos(1)], [math.cos(1), 1]])


def test_rope_base_sets_the_slow_pairs():
    q = [[0, 1, 0, 0]] * 2  # the second of two pairs turns by base ** (-1/2) a position
    result = attention(q, q, q, rope="half", rope_base=100, scale=1)
    assert_close(result.raw, [[1, math.cos(0.1)], [math.cos(0.1), 1]])


def test_past_keys_come_first_and_are_not_turned_again():
    result = attention(
        [[1, 0]],
        [[1, 0]],
        [[30]],
        past_key=[[1, 0], [0, 1]],
        past_value=[[10], [20]],
        rope="half",
        scale=1,
    )
    assert_close(result.raw, [[math.cos(2), math.sin(2), 1]])  # query and new key stand at position 2
    weights = np.exp(result.raw[0]) / np.exp(result.raw[0]).sum()
    assert_close(result.output, [[weights @ [10, 20, 30]]])


def test_grouped_heads_are_consecutive():
    q = np.zeros((1, 4, 1, 1))
    v = np.array([10.0, 20.0]).reshape(1, 2, 1, 1)
    result = attention(q, np.zeros((1, 2, 1, 1)), v)
    assert result.output.ravel().tolist() == [10, 10, 20, 20]


def test_packed_heads_are_split_token_by_token():
    v = [[1, 2, 30, 40], [3, 4, 50, 60]]  # head 0 has columns 0 and 1, head 1 the others
    result = attention(np.zeros((2, 4)), np.zeros((2, 4)), v, heads=2, causal=True)
    assert_close(result.heads, [[[1, 2], [2, 3]], [[30, 40], [40, 50]]])
    assert_close(result.output, [[1, 2, 30, 40], [2, 3, 40, 50]])


def test_scores_of_a_thousand_do_not_overflow():
    result = attention([[1000.0]], [[1.0], [0.999]], [[1], [0]])
    assert_close(result.weights, [[1 / (1 + math.exp(-1)), 1 / (1 + math.e)]], rtol=1e-11)
    assert_close(result.lse, [1000 + math.log1p(math.exp(-1))])
    low = attention([[-1000.0]], [[1.0], [0.999]], [[1], [0]])
    assert_close(low.weights, [[1 / (1 + math.e), 1 / (1 + math.exp(-1))]], rtol=1e-11)
