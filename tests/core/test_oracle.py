"""The oracle itself, against values worked out by hand and against the machine's own rounding."""

import math
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import EmptyRowError, assert_close, attend, project, project_out, round_to

floats = st.floats(width=64, allow_nan=False)


def nearest_by_struct(code: str, x: float) -> float:
    try:
        return struct.unpack(code, struct.pack(code, x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


@settings(derandomize=True, max_examples=200)
@given(floats | st.floats(-70000, 70000))
def test_rounding_to_float32_and_float16_is_the_machines(x):
    assert round_to("float32", x) == nearest_by_struct("<f", x)
    assert round_to("float16", x) == nearest_by_struct("<e", x)


@pytest.mark.parametrize(
    ("x", "rounded"),
    [
        (1 + 2**-8, 1.0),  # half way, down to even
        (1 + 3 * 2**-8, 1 + 2**-6),  # half way, up to even
        (1 + 2**-8 + 2**-40, 1 + 2**-7),
        (-(1 + 2**-8 + 2**-40), -(1 + 2**-7)),
        (257.0, 256.0),
        (259.0, 260.0),
        (3.4e38, math.inf),
        (float.fromhex("0x1.fep127"), float.fromhex("0x1.fep127")),
        (2.0**-133, 2.0**-133),
        (2.0**-134, 0.0),
        (3 * 2.0**-134, 2.0**-132),
        (-0.0, -0.0),
    ],
)
def test_rounding_to_bfloat16(x, rounded):
    assert repr(round_to("bfloat16", x)) == repr(rounded)


@settings(derandomize=True, max_examples=200)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_bfloat16_is_the_upper_half_of_float32(x):
    rounded = round_to("bfloat16", x)
    if math.isfinite(rounded):
        assert struct.pack(">f", rounded)[2:] == b"\0\0"
        below = struct.unpack(">f", struct.pack(">f", x)[:2] + b"\0\0")[0]
        assert abs(Fraction(rounded) - Fraction(x)) <= abs(Fraction(x) - Fraction(below))


def test_heads_are_grouped_consecutively():
    q = [[[0.0]], [[0.0]], [[0.0]], [[0.0]]]
    k = [[[0.0]], [[0.0]]]
    v = [[[10.0]], [[20.0]]]
    assert attend(q, k, v)["output"] == [[[10.0]], [[10.0]], [[20.0]], [[20.0]]]


def test_rope_turns_by_the_position():
    stages = attend([[1, 0], [1, 0]], [[1, 0], [1, 0]], [[1], [1]], rope="half", scale=1)
    assert_close(stages["raw"], [[1, math.cos(1)], [math.cos(1), 1]])


def test_rope_pairs():
    q, k, v = [[0, 0, 0, 0], [1, 2, 3, 4]], [[1, 10, 100, 1000]], [[1]]  # k stands at 0 and is not turned
    a, b = 1.0, 0.01  # the angles of position 1, width 4

    def turned(x, y, angle):
        return x * math.cos(angle) - y * math.sin(angle), y * math.cos(angle) + x * math.sin(angle)

    (x1, x3), (x2, x4) = turned(1, 3, a), turned(2, 4, b)
    half = attend(q, k, v, rope="half")["raw"][1][0]
    assert half == pytest.approx(x1 + 10 * x2 + 100 * x3 + 1000 * x4, rel=1e-14)
    (x1, x2), (x3, x4) = turned(1, 2, a), turned(3, 4, b)
    interleaved = attend(q, k, v, rope="interleaved")["raw"][1][0]
    assert interleaved == pytest.approx(x1 + 10 * x2 + 100 * x3 + 1000 * x4, rel=1e-14)


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
        (12, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8, 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]),
    ],
)
def test_alibi_slopes(heads, slopes):
    zeros = [[[0.0], [0.0]]] * heads
    biased = attend(zeros, zeros, zeros, alibi=True)["biased"]
    assert_close([-biased[h][0][1] for h in range(heads)], slopes)


def test_an_empty_row_is_named():
    with pytest.raises(EmptyRowError, match="query 1"):
        attend([[1], [1]], [[1]], [[1]], mask=[[1], [0]])


def test_fifty_digits():
    weights = attend([[1]], [[0], [1]], [[1], [2]], number=mpmath.mpf)["weights"]
    assert mpmath.almosteq(weights[0][1], 1 / (1 + mpmath.exp(-1)), rel_eps=mpmath.mpf(10) ** -48)


def test_projection_by_our_names_and_by_pytorchs():
    x, wq, bq = [[1, 2]], [[1, 10], [100, 1000]], [5, 6]
    ours = {"wq": wq, "wk": [[1, 0], [0, 1]], "wv": [[2, 0], [0, 2]], "bq": bq}
    assert project(x, ours) == ([[206, 2016]], [[1, 2]], [[2, 4]])
    across = {"q_proj.weight": [[1, 100], [10, 1000]], "q_proj.bias": bq}
    across |= {"k_proj.weight": [[1, 0], [0, 1]], "v_proj.weight": [[2, 0], [0, 2]]}
    assert project(x, across) == project(x, ours)
    stacked = {
        "in_proj_weight": np.array([[1, 100], [10, 1000], [1, 0], [0, 1], [2, 0], [0, 2]]),
        "in_proj_bias": [5, 6, 0, 0, 0, 0],
    }
    assert project(x, stacked) == project(x, ours)
    assert project(x, ours, context=[[3, 4]]) == ([[206, 2016]], [[3, 4]], [[6, 8]])
    assert project_out(x, ours) == x
    assert project_out(x, {"wo": wq, "bo": bq}) == [[206, 2016]]
    assert project_out(x, {"out_proj.weight": [[1, 100], [10, 1000]], "out_proj.bias": bq}) == [[206, 2016]]
