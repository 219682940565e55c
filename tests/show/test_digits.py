import math
import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attncalc.show.digits import ASCII, Signs, number, signs_for, texts

floats = st.floats(-1e308, 1e308)


def written(rows, **options):
    values = np.array(rows)
    return texts(values, values, **options)


@given(floats)
def test_full_digits_read_back_to_the_same_bits(value):
    text = number(value, full=True)
    assert struct.pack("d", float(text)) == struct.pack("d", value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_full_digits_of_float32_read_back_too(value):
    array = np.array([[value]], np.float32)
    assert float(texts(array, array, full=True)[0][0]) == value


@given(hnp.arrays(np.float64, (3, 4), elements=floats), st.integers(0, 12))
def test_every_cell_is_within_half_a_unit_of_the_last_decimal(values, digits):
    for row, shown in zip(values, texts(values, values, digits), strict=True):
        for value, text in zip(row, shown, strict=True):
            mantissa, _, exponent = text.partition("e")
            unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
            assert abs(float(text) - value) <= 0.5 * unit * (1 + 1e-9)


@given(hnp.arrays(np.float64, (3, 4), elements=floats), st.integers(0, 12))
def test_all_cells_have_the_same_decimals_and_no_minus_zero(values, digits):
    shown = [text for row in texts(values, values, digits) for text in row]
    decimals = {len(text.partition("e")[0].partition(".")[2]) for text in shown}
    assert len(decimals) == 1
    assert not any(text.startswith("-") and float(text) == 0 for text in shown)


def test_minus_zero_and_small_negatives_lose_their_sign():
    assert written([[-0.0, -0.00001, 0.5]]) == [["0.0000", "0.0000", "0.5000"]]
    assert written([[-0.0, 2.0]]) == [["0", "2"]]
    assert number(-0.0, full=True) == "-0.0"


def test_a_number_that_rounds_up_to_one_is_shown_as_one():
    assert number(0.99999) == "1.0000"


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([[1.0, 0.0]], [["1", "0"]]),
        ([[1.0, 0.5]], [["1.0000", "0.5000"]]),
        ([[1, 20]], [["1", "20"]]),
        ([[1e20, 1.5]], [["1.0000e+20", "1.5000e+00"]]),
        ([[1e-300, 0.0]], [["1.0000e-300", "0.0000e+00"]]),
        ([[1e-5, 0.5]], [["0.0000", "0.5000"]]),
        ([[np.nan, np.inf, -np.inf, 1.0]], [["nan", "inf", "-inf", "1"]]),
    ],
)
def test_the_notation_fits_the_whole_matrix(rows, shown):
    assert written(rows) == shown


def test_fixed_keeps_the_decimals_of_whole_numbers():
    assert written([[1.0, 0.0]], fixed=True) == [["1.0000", "0.0000"]]
    assert written([[1, 0]], fixed=True) == [["1.0000", "0.0000"]]


def test_what_is_not_shown_decides_too():
    assert texts(np.array([[1.0]]), np.array([[1.0, 1e20]])) == [["1.0000e+00"]]
    assert texts(np.array([[1.0]]), np.array([[1.0, 0.5]])) == [["1.0000"]]


@pytest.mark.parametrize(
    ("encoding", "signs"),
    [
        ("utf-8", Signs()),
        ("ascii", replace(ASCII, nan="NaN")),
        ("no-such-encoding", replace(ASCII, nan="NaN")),
        ("cp1252", Signs("-inf", "inf", "NaN", "1", "0", "×", "…", ":")),
        ("cp437", Signs("-∞", "∞", "NaN", "1", "0", "x", "...", ":")),
    ],
)
def test_signs_are_those_that_the_encoding_has(encoding, signs):
    assert signs_for(encoding) == signs


def test_truth_values_and_infinities():
    signs = signs_for("utf-8")
    assert written([[True, False]], signs=signs) == [["✓", "×"]]
    assert written([[True, False]]) == [["1", "0"]]
    assert written([[math.inf, -math.inf, math.nan]], signs=signs) == [["∞", "−∞", "NaN"]]


def test_arrays_of_narrow_floats_are_written():
    assert written(np.array([[0.1, 65504]], np.float16)) == [["0.1000", "65504.0000"]]
