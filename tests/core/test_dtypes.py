"""The narrower types: inputs and every stage are rounded to the type, once; half-width products add up in float32."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from oracle import FORMATS, assert_close, attend, round_to

from attncalc import attention

NARROW = ["float32", "float16", "bfloat16"]
STAGES = ("raw", "scaled", "capped", "biased", "lse", "weights", "heads", "output")


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def problem(seed=0, size=1.0, heads=(2,)):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(0, size, (*heads, *shape)) for shape in ((5, 8), (7, 8), (7, 3)))


def values(array):
    return [x for x in np.asarray(array, dtype=float).ravel().tolist() if math.isfinite(x)]


def assert_within_one_unit(got, exact, dtype, what):
    """Insist that every number is one of the two neighbours of the exact one, with a little room."""
    for x, right in zip(np.ravel(got).tolist(), np.ravel(exact).tolist(), strict=True):
        if math.isfinite(right):
            unit = FORMATS[dtype].spacing(right)
            assert abs(Fraction(x) - Fraction(right)) <= unit * Fraction(101, 100), f"{what}: {x}, not {right}"
        else:
            assert x == right


def share_exactly_rounded(got, exact, dtype):
    pairs = zip(np.ravel(got).tolist(), np.ravel(exact).tolist(), strict=True)
    same = [x == round_to(dtype, right) for x, right in pairs]
    return sum(same) / len(same)


@pytest.mark.parametrize("dtype", NARROW)
def test_every_number_of_every_stage_has_the_type(dtype):
    bias = np.random.default_rng(1).normal(size=(5, 7))
    result = attention(
        *problem(), dtype=dtype, causal="lower-right", softcap=3.0, bias=bias, alibi=True, sink=[0.1, 0.2]
    )
    for stage in (*STAGES, "scores"):
        for x in values(getattr(result, stage)):
            assert x == round_to(dtype, x), stage


@pytest.mark.parametrize("dtype", NARROW)
def test_inputs_are_rounded_to_the_type_first(dtype):
    rounded = [[[[round_to(dtype, x) for x in row] for row in m] for m in a.tolist()] for a in problem()]
    assert any(x != y for x, y in zip(values(problem()[0]), values(rounded[0]), strict=True))
    right, same = attention(*problem(), dtype=dtype), attention(*rounded, dtype=dtype)
    assert np.array_equal(right.output, same.output)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("size", [0.3, 2.0])
def test_each_stage_is_the_right_one_of_the_stage_before_it(dtype, size):
    """Take each stage as it came out, work out the next one exactly, and compare."""
    q, k, v = problem(size=size)
    bias = np.random.default_rng(1).normal(size=(5, 7))
    softcap = 3.0
    result = attention(q, k, v, dtype=dtype, softcap=softcap, bias=bias, causal="lower-right")
    r = np.vectorize(lambda x: round_to(dtype, x))
    q, k, v, bias = r(q), r(k), r(v), r(bias)
    previous = {stage: np.asarray(getattr(result, stage), dtype=float) for stage in (*STAGES, "scores")}
    exact = {
        "raw": np.einsum("hid,hjd->hij", q, k),
        "scaled": previous["raw"] / math.sqrt(8),
        "capped": softcap * np.tanh(previous["scaled"] / softcap),
        "biased": previous["capped"] + bias,
        "lse": np.log(np.exp(previous["scores"]).sum(-1)),
    }
    for stage, right in exact.items():
        # sums that cancel lose more than a unit of themselves, but never more than one of their terms
        if stage == "raw":
            terms = np.einsum("hid,hjd->hij", abs(q), abs(k))
            slack = 8 * 2.0**-24 * terms + [[[float(FORMATS[dtype].spacing(x)) for x in y] for y in z] for z in right]
            assert (abs(previous["raw"] - right) <= slack).all()
        elif stage == "scaled":
            # the factor 1/√d may itself be rounded to the type
            assert_close(previous[stage], right, rtol=2.0 ** (2 - FORMATS[dtype].bits), atol=1e-7)
        else:
            assert_within_one_unit(previous[stage], right, dtype, stage)
        if dtype != "float32" or stage != "raw":
            assert share_exactly_rounded(previous[stage], right, dtype) > 0.9, stage


@pytest.mark.parametrize("dtype", NARROW)
def test_the_whole_run_is_near_the_exact_one(dtype):
    q, k, v = problem()
    result = attention(q, k, v, dtype=dtype, causal="lower-right")
    r = np.vectorize(lambda x: round_to(dtype, x))
    exact = attend(r(q), r(k), r(v), causal="lower-right")
    unit = 2.0 ** (1 - FORMATS[dtype].bits)
    for stage in ("raw", "scaled", "lse", "weights", "output"):
        assert_close(getattr(result, stage), exact[stage], rtol=4 * unit, atol=8 * unit, what=stage)
    assert not np.array_equal(result.output, attention(q, k, v, causal="lower-right").output)


@pytest.mark.parametrize(
    ("dtype", "terms", "total"),
    [
        # Added up in the type itself, each 1 would be lost: 2048 + 1 is 2048 in float16, 256 + 1 is 256 in bfloat16
        ("float16", [2048, 1, 1, 1, 1], 2052),
        ("float16", [2048, 1], 2048),
        ("float16", [2048, 1, 1, 1], 2052),  # 2051 lies between 2050 and 2052
        ("bfloat16", [256, 1, 1, 1, 1], 260),
        ("bfloat16", [256, 1], 256),
        ("bfloat16", [256, 1, 1, 1], 260),
        ("float32", [2**24, 1], 2**24),
        ("float16", [40000, 40000], math.inf),
        ("float16", [40000, 40000, -40000], 40000),
    ],
)
def test_products_add_up_in_float32(dtype, terms, total):
    result = attention([terms], [[1] * len(terms)], [[1]], dtype=dtype, scale=0.0001)
    assert result.raw.tolist() == [[total]]


@pytest.mark.parametrize(("dtype", "step"), [("float16", 2.0**-11), ("bfloat16", 2.0**-8)])
def test_products_themselves_are_not_rounded_to_the_type(dtype, step):
    x = 1 + 2 * step  # x · x − 1 = 4 · step + 4 · step²: the last term is lost when the product is rounded
    result = attention([[x, -1.0]], [[x, 1.0]], [[1.0]], dtype=dtype, scale=1.0)
    assert result.raw.tolist() == [[4 * step + 4 * step**2]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_output_products_add_up_in_float32(dtype):
    """512 equal keys of weight 2⁻⁹ each: in the type itself the sum would stop growing."""
    result = attention(np.zeros((1, 1)), np.zeros((512, 1)), np.ones((512, 1)), dtype=dtype)
    assert result.weights.tolist() == [[2.0**-9] * 512]
    assert result.output.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("dtype", "x", "rounded"),
    [
        ("float16", 1 + 2**-11, 1.0),
        ("float16", 1 + 3 * 2**-11, 1 + 2**-9),
        ("bfloat16", 1 + 2**-8, 1.0),
        ("bfloat16", 1 + 3 * 2**-8, 1 + 2**-6),
        ("bfloat16", 1 + 2**-8 + 2**-40, 1 + 2**-7),  # by way of float32 it would be a tie, and 1
        ("float16", 1 + 2**-11 + 2**-40, 1 + 2**-10),
        ("float32", 1 + 2**-24, 1.0),
        ("float16", 2.0**-24, 2.0**-24),
        ("float16", 2.0**-25, 0.0),
        ("bfloat16", 3.38e38, round_to("bfloat16", 3.38e38)),
    ],
)
def test_rounding_of_an_input_is_to_nearest_even_in_one_step(dtype, x, rounded):
    result = attention([[0.0]], [[0.0]], [[x]], dtype=dtype)
    assert result.output.tolist() == [[rounded]]


def test_overflow_in_a_narrow_type_is_shown_with_a_note():
    result = attention([[300.0]], [[300.0], [1.0]], [[1.0], [2.0]], dtype="float16")
    assert result.raw[0, 0] == math.inf
    assert any("float16" in note or "raw" in note for note in result.notes)
    with_room = attention([[300.0]], [[300.0], [1.0]], [[1.0], [2.0]], dtype="bfloat16")
    assert np.isfinite(with_room.output).all()


def test_float64_is_the_default_whatever_the_inputs():
    q, k, v = (array.astype(np.float32) for array in problem())
    result = attention(q, k, v)
    assert result.output.dtype == np.float64
    assert_close(result.output, attend(q, k, v)["output"])


@pytest.mark.parametrize("name", ["float8", "double", "", "int32"])
def test_an_unknown_type(name):
    with pytest.raises(ValueError, match="bfloat16"):
        attention(*problem(), dtype=name)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("policy", ["zero", "nan", "uniform"])
def test_empty_rows_in_narrow_types(dtype, policy):
    q, k, v = problem(heads=())
    result = attention(q, k, v, dtype=dtype, mask=[[1], [0], [1], [1], [1]], empty_rows=policy)
    weight = {"zero": 0.0, "nan": math.nan, "uniform": round_to(dtype, Fraction(1, 7))}[policy]
    assert_close(result.weights[1], [weight] * 7, rtol=0, atol=0)
    assert result.lse[1] == -math.inf


@pytest.mark.parametrize("dtype", NARROW)
def test_the_output_alone_is_near_that_of_the_full_run(dtype):
    whole = attention(*problem(), dtype=dtype)
    lean = attention(*problem(), dtype=dtype, stages=("output",))
    unit = 2.0 ** (1 - FORMATS[dtype].bits)
    assert_close(lean.output, whole.output, rtol=4 * unit, atol=4 * unit)
    for x in values(lean.output):
        assert x == round_to(dtype, x)
