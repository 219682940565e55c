"""Counts from sizes: worked by hand, and counted one by one."""

import pytest

from attncalc.errors import OptionError
from attncalc.study.cost import TILE, Sizes, cost, window_elements


def test_four_times_the_tokens_are_sixteen_times_the_weights():
    small, large = cost([128, 512])
    assert (small.weights_elements, large.weights_elements) == (16384, 262144)
    assert (small.growth, large.growth) == (1, 16)
    assert small.weights_bytes == 16384 * 8


def test_every_count_by_hand():
    sizes = Sizes(batch=2, heads=8, kv_heads=2, dim=64, value_dim=32, window=4, dtype="float16", flops=1e9)
    row = cost([10], sizes)[0]
    assert row.weights_elements == 2 * 8 * 10 * 10
    assert row.weights_bytes == 3200
    assert row.multiply_adds == 1600 * 96
    assert row.kv_cache_bytes == 2 * 2 * 10 * (64 + 32) * 2
    assert row.window_elements == 16 * (1 + 2 + 3 + 4 * 7)
    assert row.window_multiply_adds == 16 * 34 * 96
    assert row.linear_bytes == 16 * (64 * 32 + 64) * 2
    assert row.linear_multiply_adds == 2 * 16 * 10 * 64 * 32
    assert row.tiled_bytes == 16 * (10 * 10 + 2 * 10 + 10) * 2
    assert row.seconds == 2 * 153600 / 1e9


def test_block_by_block_grows_with_the_length_alone():
    rows = cost([1024, 2048, 4096])
    grown = [row.tiled_bytes - TILE * (TILE + 2) * 8 for row in rows]
    assert grown == [8 * 1024, 8 * 2048, 8 * 4096]
    assert all(row.tiled_bytes < row.weights_bytes / 50 for row in rows)


@pytest.mark.parametrize("tokens", [1, 2, 5, 9])
@pytest.mark.parametrize("window", [1, 2, 5, 20])
def test_a_window_is_counted_cell_by_cell(tokens, window):
    inside = sum(i - window < j <= i for i in range(tokens) for j in range(tokens))
    assert window_elements(tokens, window) == inside


def test_fewer_heads_make_the_cache_smaller_and_the_work_no_less():
    many, few = (cost([100], Sizes(heads=8, kv_heads=groups))[0] for groups in (8, 2))
    assert many.kv_cache_bytes == 4 * few.kv_cache_bytes
    assert many.multiply_adds == few.multiply_adds


def test_what_is_not_asked_for_is_left_out():
    row = cost([7])[0]
    assert (row.window_elements, row.window_multiply_adds, row.seconds) == (None, None, None)


@pytest.mark.parametrize(
    ("tokens", "sizes", "message"),
    [
        ([0], {}, "tokens must be 1 or more, not 0"),
        ([1], {"heads": 0}, "heads must be 1 or more, not 0"),
        ([1], {"heads": 6, "kv_heads": 4}, "heads must be a multiple of kv_heads, and 6 is none of 4"),
        ([1], {"window": 0}, "window must be 1 or more, not 0"),
        ([1], {"dtype": "float12"}, "dtype must be one of float64, float32, float16, bfloat16, not float12"),
        ([1], {"flops": -1.0}, "flops must be greater than 0, not -1"),
    ],
)
def test_impossible_sizes_are_refused(tokens, sizes, message):
    with pytest.raises(OptionError, match=message):
        cost(tokens, Sizes(**sizes))
