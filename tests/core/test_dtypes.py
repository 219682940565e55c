"""The narrower types: inputs and every stage are rounded to the type, once; half-width products add up in float32."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracle import FORMATS, assert_close, assert_same_bits, attend, round_to

from attncalc import attention

NARROW = ["float32", "float16", "bfloat16"]
STAGES = ("raw", "scaled", "capped", "biased", "lse", "weights", "heads", "output")


def problem(seed=0, size=1.0, heads=(2,)):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(0, size, (*heads, *shape)) for shape in ((5, 8), (7, 8), (7, 3)))


def values(array):
    return [x for x in np.asarray(array, dtype=float).ravel().tolist() if math.isfinite(x)]


def assert_within(units, got, exact, dtype, what):
    """Insist on no more than so many units in the last place of each exact number."""
    for x, right in zip(got.ravel().tolist(), exact.ravel().tolist(), strict=True):
        error = abs(Fraction(x) - Fraction(right)) / FORMATS[dtype].spacing(right)
        assert error <= units, f"{what}: {x}, not {right}"


# Half a unit is one rounding; a little more leaves room for the last bit of the sum before it.  In float32 a
# function is several operations, each of which may round.
UNITS = {"float32": 8, "float16": Fraction(51, 100), "bfloat16": Fraction(51, 100)}


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
    """Take each stage as it came out, work out the next one, and round it once."""
    q, k, v = problem(size=size)
    bias = np.random.default_rng(1).normal(size=(5, 7))
    scale, softcap = 0.375, 3.0  # exact in every type
    result = attention(q, k, v, dtype=dtype, scale=scale, softcap=softcap, bias=bias, causal="lower-right")
    rounded = np.vectorize(lambda x: round_to(dtype, x))
    q, k, v, bias = (rounded(array) for array in (q, k, v, bias))
    unit = np.vectorize(lambda x: float(FORMATS[dtype].spacing(float(x))))

    def got(stage):
        return np.asarray(getattr(result, stage), dtype=float)

    # one operation on two numbers of the type: nothing but the one rounding
    assert_same_bits(got("scaled"), rounded(got("raw") * scale), "scaled")
    assert_same_bits(got("biased"), rounded(got("capped") + bias), "biased")
    # sums of products: float32 on the way, so that all but a few numbers are the exact ones, rounded
    raw, terms = q @ k.transpose(0, 2, 1), abs(q) @ abs(k).transpose(0, 2, 1)
    assert (abs(got("raw") - raw) <= unit(raw) + 8 * 2.0**-24 * terms).all()
    if dtype != "float32":
        assert np.mean(got("raw") == rounded(raw)) > 0.95
    assert_within(UNITS[dtype], got("capped"), softcap * np.tanh(got("scaled") / softcap), dtype, "capped")
    assert_within(UNITS[dtype], got("lse"), np.log(np.exp(got("scores")).sum(-1)), dtype, "lse")


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("size", [0.3, 2.0])
def test_weights_and_output_of_the_stages_before_them(dtype, size):
    q, k, v = problem(size=size)
    result = attention(q, k, v, dtype=dtype)
    rounded = np.vectorize(lambda x: round_to(dtype, x))
    unit = np.vectorize(lambda x: float(FORMATS[dtype].spacing(float(x))))
    scores, weights = np.asarray(result.scores, float), np.asarray(result.weights, float)
    exact = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert_within(UNITS[dtype], weights, exact, dtype, "weights")
    output, terms = weights @ rounded(v), weights @ abs(v)
    assert (abs(np.asarray(result.output, float) - output) <= unit(output) + 8 * 2.0**-24 * terms).all()
    if dtype != "float32":
        assert np.mean(result.output == rounded(output)) > 0.95


@pytest.mark.parametrize("size", [0.3, 2.0])
def test_float32_stages_are_rounded_once_too(size):
    result = attention(*problem(size=size), dtype="float32", scale=0.375, softcap=3.0)
    scaled, scores = np.asarray(result.scaled, float), np.asarray(result.scores, float)
    sums = np.exp(scores).sum(-1)
    once = Fraction(51, 100)
    assert_within(once, np.asarray(result.capped, float), 3 * np.tanh(scaled / 3), "float32", "capped")
    assert_within(once, np.asarray(result.lse, float), np.log(sums), "float32", "lse")
    assert_within(once, np.asarray(result.weights, float), np.exp(scores) / sums[..., None], "float32", "weights")


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


@pytest.mark.parametrize(("dtype", "u"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_products_themselves_are_not_rounded_to_the_type(dtype, u):
    x = 1 + 3 * u  # x · x − 1 = 6u + 9u², and 6u + 8u² in the type; with x · x rounded first it is 6u
    result = attention([[x, -1.0]], [[x, 1.0]], [[1.0]], dtype=dtype, scale=1.0)
    assert result.raw.tolist() == [[6 * u + 8 * u * u]]


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
