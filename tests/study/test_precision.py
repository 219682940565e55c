"""What narrower types lose: the measures by hand, and the stages that they are taken of."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import FORMATS, round_to

from attncalc import AttnCalcError
from attncalc.core.dtypes import ARITHMETIC
from attncalc.study.precision import COMPARED, largest_step, loss, precision, spacing


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_unit_is_the_distance_to_the_next_number(dtype):
    numbers = np.array([0.0, 1.0, 1.5, 2.0, 3.0, -5.0, 1000.0, 6e-5, 1e-6, 0.1], dtype=dtype)
    expected = np.abs(np.spacing(numbers)).astype(float)
    np.testing.assert_array_equal(spacing(numbers.astype(float), ARITHMETIC[dtype]), expected)


def test_units_of_bfloat16_have_seven_bits_after_the_point():
    true = np.array([1.0, 255.0, 0.1, 0.0])
    expected = [2.0**-7, 2.0**0, 2.0**-11, 2.0**-133]
    np.testing.assert_array_equal(spacing(true, ARITHMETIC["bfloat16"]), expected)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["float16", "bfloat16", "float32"]))
def test_units_are_exact_for_every_number(x, dtype):
    unit = Fraction(float(spacing(np.array(x), ARITHMETIC[dtype])))
    assert unit == FORMATS[dtype].spacing(x)


def test_measures_by_hand():
    true, got = np.array([3.0, 0.0, -8.0]), np.array([3.25, 0.0, -8.5])
    found = loss("float16", "raw", got, true)
    assert (found.max_abs_error, found.max_rel_error) == (0.5, 0.25 / 3)
    assert found.max_ulp_error == 128  # 0.25 is 128 steps of 2^-9 at 3, and 0.5 is 64 steps of 2^-7 at 8


def test_cells_that_are_infinite_or_nan_on_both_sides_are_no_loss():
    same = np.array([-np.inf, np.nan, np.inf, 1.0])
    found = loss("float32", "scores", same, same)
    assert (found.max_abs_error, found.max_rel_error, found.max_ulp_error) == (0, 0, 0)


@pytest.mark.parametrize("got", [np.inf, np.nan, -np.inf])
def test_a_cell_that_is_lost_on_one_side_is_an_infinite_loss(got):
    found = loss("float16", "raw", np.array([got]), np.array([1e6]))
    assert (found.max_abs_error, found.max_rel_error, found.max_ulp_error) == (math.inf, math.inf, math.inf)


def test_something_for_nothing_is_infinitely_wrong_relatively():
    found = loss("float32", "raw", np.array([1.0]), np.array([0.0]))
    assert found.max_rel_error == math.inf
    assert found.max_ulp_error == 2.0**149


def test_the_stage_that_lost_most_adds_most():
    def row(stage, units):
        return loss("float32", stage, np.array([1 + units * 2.0**-23]), np.array([1.0]))

    losses = [row("raw", 5), row("scaled", 9), row("weights", 8), row("output", 13)]
    assert largest_step(losses) == "raw"
    assert largest_step([row("raw", 1), *losses[1:]]) == "scaled"
    assert largest_step([row("raw", 0), row("scaled", 0)]) is None


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_one_product_is_rounded_three_times(dtype):
    """Raw of 1/3 · 1/7: both numbers and the product are rounded to the type, in the oracle's own rounding."""
    q, k = 1 / 3, 1 / 7
    got = round_to(dtype, Fraction(round_to(dtype, q)) * Fraction(round_to(dtype, k)))
    row = precision([dtype], query=[[q]], key=[[k]], value=[[1.0]]).rows[0]
    assert row.stage == "raw"
    assert row.max_abs_error == pytest.approx(abs(got - q * k), rel=1e-9)


def test_rows_come_in_the_order_of_types_and_stages():
    result = precision(query=normal(3, 4), key=normal(5, 4), value=normal(5, 2), causal=True)
    assert [row.stage for row in result.rows] == list(COMPARED) * 3
    assert [row.dtype for row in result.rows[:: len(COMPARED)]] == ["float32", "float16", "bfloat16"]
    for row in result.rows:
        assert 0 <= row.max_rel_error < 0.5
    assert set(result.worst) == {"float32", "float16", "bfloat16"}


def test_wider_types_lose_less():
    result = precision(query=normal(3, 4), key=normal(5, 4), value=normal(5, 2))
    at_the_end = {row.dtype: row.max_abs_error for row in result.rows if row.stage == "output"}
    assert 0 < at_the_end["float32"] < at_the_end["float16"] < at_the_end["bfloat16"]


def test_small_whole_numbers_lose_nothing_before_the_softmax():
    result = precision(["float16"], query=[[1.0, 2]], key=[[3.0, 4], [0, 1]], value=[[1.0], [2]], scale=0.5)
    errors = {row.stage: row.max_abs_error for row in result.rows}
    assert all(errors[stage] == 0 for stage in ("raw", "scaled", "capped", "biased", "scores"))
    assert errors["weights"] > 0


def test_numbers_too_large_for_a_type_are_an_infinite_loss_with_a_note():
    result = precision(["float16"], query=[[300.0]], key=[[300.0], [1.0]], value=[[1.0], [2.0]])
    assert result.rows[0].max_abs_error == math.inf
    assert any("raw is not finite in float16" in note for note in result.notes)


def test_the_type_of_the_truth_cannot_be_compared():
    with pytest.raises(AttnCalcError, match="dtype must be one of float32, float16, bfloat16"):
        precision(["float64"], query=[[1.0]], key=[[1.0]], value=[[1.0]])
