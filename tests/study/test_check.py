"""Is an answer right?  Tolerances, errors, places, remarks; right answers in disguise; random noise."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncalc import AttnCalcError, Verdict, assert_attention, attention, check
from attncalc.core.prepare import prepare
from attncalc.files import Written
from attncalc.files.entry import measure
from attncalc.study.check import check_problem
from attncalc.study.tolerance import tolerance_for

Q = K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
V = np.array([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
RIGHT = attention(Q, K, V, causal=True)


def text(values, written):
    """Check an output that a text file wrote."""
    problem = prepare(Q, K, V, causal=True)
    return check_problem(problem, RIGHT.output, np.asarray(values), spelling=written)


# --- the verdict


def test_the_right_answer_agrees():
    verdict = check(RIGHT.output, Q, K, V, causal=True)
    assert isinstance(verdict, Verdict)
    assert verdict
    assert (verdict.max_abs_error, verdict.mistakes, verdict.sentence) == (0.0, (), "the output is right")


def test_every_stage_can_be_checked():
    for stage in ("raw", "scaled", "capped", "biased", "allowed", "scores", "lse", "weights", "heads", "output"):
        assert check(getattr(RIGHT, stage), Q, K, V, causal=True, stage=stage)


def test_a_wrong_answer_says_how_far_and_where():
    got = RIGHT.output.copy()
    got[1, 0] += 0.5
    verdict = check(got, Q, K, V, causal=True)
    assert not verdict
    assert verdict.worst.index == (1, 0)
    assert verdict.worst.got - verdict.worst.expected == pytest.approx(0.5)
    assert verdict.max_rel_error == pytest.approx(0.5 / RIGHT.output[1, 0])
    assert verdict.places == ("query 1 of 3", "column 0 of 2")
    assert verdict.sentence == "the output is wrong: 1 of 6 numbers is off"
    assert verdict.diagnosis.startswith("none of ")


def test_nan_never_agrees():
    got = RIGHT.output.copy()
    got[0, 0] = np.nan
    for verdict in (check(got, Q, K, V, causal=True), check(got, Q, K, V, causal=True, rtol=10, atol=10)):
        assert not verdict
        assert verdict.worst.index == (0, 0)
        assert math.isnan(verdict.max_abs_error)
    empty = {"mask": [[0, 0, 0], [1, 1, 1], [1, 1, 1]], "empty_rows": "nan"}
    verdict = check(attention(Q, K, V, **empty).output, Q, K, V, **empty)
    assert not verdict
    assert not verdict.mistakes


def test_infinity_agrees_with_itself_only():
    assert check(RIGHT.scores, Q, K, V, causal=True, stage="scores")
    got = RIGHT.scores.copy()
    got[0, 1] = -1e9
    verdict = check(got, Q, K, V, causal=True, stage="scores")
    assert not verdict
    assert verdict.max_abs_error == math.inf


def test_another_shape_is_a_wrong_answer():
    verdict = check(RIGHT.output[:2], Q, K, V, causal=True)
    assert not verdict
    assert verdict.sentence == "the output is wrong: its shape is 2 × 2, not 3 × 2"
    assert check(RIGHT.output.T, Q, K, V, causal=True).observations == (
        "it is right but for the order of its axes: (1, 0) of 3 × 2",
    )


def test_an_unknown_stage_gets_a_suggestion():
    with pytest.raises(AttnCalcError, match="did you mean weights"):
        check(RIGHT.output, Q, K, V, stage="weigths")


# --- tolerances


def off_by(error, dtype):
    return check((RIGHT.output + error).astype(dtype), Q, K, V, causal=True)


def test_the_type_decides_the_tolerance():
    tolerances = {"float64": (1e-9, 1e-12), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-3)}
    for dtype, expected in tolerances.items():
        verdict = off_by(0, dtype)
        assert verdict
        assert (verdict.tolerance.rtol, verdict.tolerance.atol) == expected
    assert not off_by(1e-6, "float64")
    assert off_by(2e-6, "float32")
    assert not off_by(1e-3, "float32")
    assert not off_by(0.1, "float16")


def test_float32_in_float64_is_recognised_with_a_note():
    narrow = RIGHT.output.astype(np.float32).astype(np.float64)
    verdict = check(narrow, Q, K, V, causal=True)
    assert verdict
    assert verdict.tolerance.dtype == "float32"
    assert any("taken as float32" in note for note in verdict.notes)
    assert not check(narrow, Q, K, V, causal=True, rtol=1e-9)


def test_round_numbers_are_not_taken_as_float32():
    verdict = check(np.round(RIGHT.output), Q, K, V, causal=True)
    assert verdict.tolerance.dtype == "float64"


def test_a_text_is_compared_to_its_decimals():
    assert text(np.round(RIGHT.output, 2), Written(4, 2, False))
    assert text(np.round(RIGHT.output, 4), Written(6, 4, False)).tolerance.atol == 1e-4
    slip = np.round(RIGHT.output, 4)
    slip[1, 1] += 3e-4
    assert not text(slip, Written(6, 4, False))
    assert text(np.round(RIGHT.output, 1), Written(3, 1, False)).tolerance.atol == 0.01
    assert text(np.round(RIGHT.output), Written(2, 0, True)).tolerance.rtol == 1e-9


def test_a_text_with_the_digits_of_float32_is_taken_as_float32():
    values = np.array([[float(str(x)) for x in row] for row in RIGHT.output.astype(np.float32)])
    assert text(values, Written(9, 7, False))


def test_explicit_tolerances_win():
    assert check(RIGHT.output + 0.4, Q, K, V, causal=True, rtol=0, atol=0.5)
    with pytest.raises(AttnCalcError, match="atol must be 0 or greater"):
        check(RIGHT.output, Q, K, V, causal=True, atol=-1)


def test_rounding_is_named_as_such():
    assert off_by(0, "float16").comparison.rounding == "float16"
    got = RIGHT.output.astype(np.float16).astype(np.float64)
    verdict = check(got, Q, K, V, causal=True)
    assert not verdict
    assert not verdict.mistakes
    assert verdict.observations == ("the difference is consistent with float16 rounding",)


# --- what else can be said


def remarks(got, stage="output", **options):
    verdict = check(got, Q, K, V, stage=stage, **options)
    assert not verdict
    return " | ".join(verdict.observations)


def test_remarks_on_wrong_answers():
    result = attention(Q, K, V)
    assert "it is the stage scaled, not weights" in remarks(result.scaled, "weights")
    assert "their columns" not in remarks(result.weights * 0.5, "weights")
    assert "3 of 3 rows do not sum to 1, but to 0.5" in remarks(result.weights * 0.5, "weights")
    assert "weights are negative" in remarks(result.weights - 0.3, "weights")
    assert "every number is 0.5 times the right one" in remarks(result.output * 0.5)
    assert "with its queries in another order: 2, 0, 1" in remarks(result.output[[2, 0, 1]])
    assert "outside the range of V" in remarks(result.output + 7)
    assert "NaN in 1 of 6 places" in remarks(np.where(np.arange(6).reshape(3, 2) == 3, np.nan, result.output))
    weights = attention(Q, [[1, 2], [0, 1], [3, 1]], V).weights
    turned = check(weights.T, Q, [[1, 2], [0, 1], [3, 1]], V, stage="weights")
    assert "it is the right answer transposed" in turned.observations


def test_rows_of_padding_are_told_from_others():
    got = attention(Q, K, V, padding=[1, 1, 0]).output.copy()
    got[2] = 77
    assert "only the rows of padded positions differ" in remarks(got, padding=[1, 1, 0])


# --- mistakes


def test_ties_are_named_together():
    got = attention(Q, K, V, causal=True, scale=0.5).output
    verdict = check(got, Q, K, V, causal=True)
    assert {found.ids for found in verdict.mistakes} == {("scale-twice",), ("scale-d-not-sqrt",)}
    assert verdict.diagnosis.startswith("2 explanations give this answer")


def test_two_mistakes_at_once_are_named_as_a_pair():
    rng = np.random.default_rng(2)
    q, k, v = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    got = attention(q, k, v, scale=1.0).output  # and the causal mask is left out
    verdict = check(got, q, k, v, causal=True)
    assert [found.ids for found in verdict.mistakes] == [("scale-missing", "causal-ignored")]
    assert "scale-missing together with causal-ignored" in verdict.diagnosis or verdict.ids


def test_no_pair_is_named_where_one_mistake_is_enough():
    rng = np.random.default_rng(2)
    q, k, v = (rng.normal(size=(5, 3)) for _ in range(3))
    verdict = check(attention(q, k, v).output, q, k, v, causal=True)
    assert [found.ids for found in verdict.mistakes] == [("causal-ignored",)]


def test_the_assertion_names_the_mistake():
    assert_attention(RIGHT.output, Q, K, V, causal=True)
    with pytest.raises(AssertionError, match="causal-ignored") as caught:
        assert_attention(attention(Q, K, V).output, Q, K, V, causal=True)
    assert "got 5.98" in str(caught.value)
    assert "is_causal=True" in str(caught.value)


# --- right answers in disguise

OPTIONS = [
    {},
    {"causal": True},
    {"causal": True, "softcap": 2.0, "window_left": 3},
    {"mask": np.tril(np.ones((5, 5))), "bias": np.linspace(-1, 1, 25).reshape(5, 5)},
    {"padding": [1, 1, 1, 0, 0], "alibi": True},
    {"sink": [0.5, -0.5]},
]


def disguises(q, k, v, options):
    """Right answers that look different, computed differently."""
    right = attention(q, k, v, **options)
    yield "float32 in any file", right.output.astype(np.float32)
    yield "float32 in float64", right.output.astype(np.float32).astype(np.float64)
    yield "float16", right.output.astype(np.float16)
    d = q.shape[-1]
    yield "the scale on Q", attention(q / math.sqrt(d), k, v, **options | {"scale": 1.0}).output
    yield "root of the scale on both", attention(q / d**0.25, k / d**0.25, v, **options | {"scale": 1.0}).output
    constant = np.arange(5.0)[:, np.newaxis] * 3
    bias = constant + np.asarray(options.get("bias", 0.0))
    if "sink" not in options:
        yield "a constant on a row", attention(q, k, v, **options | {"bias": bias}).output
    e = np.exp(right.biased) * right.allowed
    total = e.sum(-1, keepdims=True) + (np.exp(np.array(options["sink"]))[:, None, None] if "sink" in options else 0)
    yield "zeroed and renormalised", e / total @ v
    if "sink" not in options:
        low = np.where(right.allowed, right.biased, -1e9)
        e = np.exp(low - low.max(-1, keepdims=True))
        yield "-1e9 for −∞", e / e.sum(-1, keepdims=True) @ v
    if not {"causal", "mask", "bias", "padding", "alibi"} & set(options):
        order = [3, 1, 4, 0, 2]
        yield "keys in another order", attention(q, k[:, order], v[:, order], **options).output


@settings(derandomize=True, max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(OPTIONS))
def test_right_answers_in_disguise_agree(seed, options):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(2, 5, 4)) for _ in range(3))
    for name, got in disguises(q, k, v, options):
        assert check(got, q, k, v, **options), name


@settings(derandomize=True, max_examples=8, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(OPTIONS),
    st.sampled_from([1e-6, 1e-2, 1.0]),
    st.sampled_from(["output", "weights"]),
)
def test_noise_is_never_given_a_mistake(seed, options, size, stage):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(2, 5, 4)) for _ in range(3))
    right = getattr(attention(q, k, v, **options), stage)
    noise = rng.normal(0, size, right.shape)
    if seed % 2:  # in one row only
        noise[..., 1:, :] = 0
    verdict = check(right + noise, q, k, v, stage=stage, **options)
    assert not verdict
    assert not verdict.mistakes


def test_noise_in_a_rounded_text_is_never_given_a_mistake():
    rng = np.random.default_rng(8)
    problem = prepare(Q, K, V, causal=True)
    for _ in range(6):
        got = np.round(RIGHT.output + rng.normal(0, 0.5, (3, 2)), 2)
        verdict = check_problem(problem, RIGHT.output, got, spelling=Written(4, 2, False))
        assert not verdict
        assert not verdict.mistakes


def test_a_large_answer_is_checked_in_parts():
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=(2, 512, 8)) for _ in range(3))
    got = attention(q, k, v, causal=True, scale=1.0, stages=("output",)).output
    verdict = check(got, q, k, v, causal=True)
    assert verdict.ids == ("scale-missing",)


def test_a_mistake_that_narrow_arithmetic_blurs_is_spoken_of_but_not_named():
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(0, 4, size=(5, 16)).astype(np.float32) for _ in range(3))
    got = attention(q, k, v, scale=1.0, dtype="float32").output.astype(np.float64)
    verdict = check(got, q, k, v, rtol=1e-8, atol=1e-8)
    assert not verdict.mistakes
    assert any("nearly what scale-missing gives" in remark for remark in verdict.observations)


# --- rows that the right mask empties


SHORT = np.random.default_rng(5).normal(size=(3, 4))
LONG = np.random.default_rng(6).normal(size=(5, 4))
EMPTY_ABOVE = {"causal": True, "causal_align": "lower-right", "empty_rows": "zero"}


def test_keys_in_an_empty_row_are_named_at_scores_and_lse():
    """The right mask leaves queries 0 and 1 of 5 no key; these mistakes give them some."""
    scores = LONG @ SHORT.T / 2
    lse = np.log(np.exp(scores).sum(axis=-1))
    multiplied = np.where(np.arange(3) <= np.arange(5)[:, np.newaxis] - 2, scores, 0)
    for stage, got, names in (
        ("scores", scores, ("causal-ignored",)),
        ("lse", lse, ("causal-ignored", "mask-after-softmax")),  # both sum over every key
        ("scores", multiplied, ("mask-multiplied",)),
        ("lse", np.log(np.exp(multiplied).sum(axis=-1)), ("mask-multiplied",)),
    ):
        verdict = check(got, LONG, SHORT, SHORT, stage=stage, **EMPTY_ABOVE)
        assert verdict.ids == names, stage
        heads = [np.stack([array] * 2) for array in (got, LONG, SHORT, SHORT)]
        assert check(*heads, stage=stage, **EMPTY_ABOVE).ids == names, stage


def test_an_empty_row_that_stays_empty_is_named_too():
    scores = LONG @ SHORT.T / 2
    scores[:2] = -np.inf
    assert "causal-ignored" in check(scores, LONG, SHORT, SHORT, stage="scores", **EMPTY_ABOVE).ids
    scores[0] = 7  # what no mistake gives
    assert check(scores, LONG, SHORT, SHORT, stage="scores", **EMPTY_ABOVE).ids == ()


def test_a_mistake_at_lse_is_named_without_heads():
    lse = np.log(np.exp(Q @ K.T).sum(axis=-1))
    assert check(lse, Q, K, V, stage="lse").ids == ("scale-missing", "scale-after-softmax")


def test_rounding_gives_an_empty_row_no_keys():
    """Every weight is 0 or 1, whatever is rounded, but for the row that is empty."""
    mask = np.eye(5, dtype=bool)
    mask[2, 2] = False
    q, k, v = np.random.default_rng(0).normal(size=(3, 5, 4))
    for value in (0, np.nan):
        got = np.eye(5)
        got[2] = value
        verdict = check(got, q, k, v, stage="weights", mask=mask, empty_rows="uniform")
        assert not verdict
        assert "softmax-low-precision" not in verdict.ids


@pytest.mark.parametrize("fifth", [0.2, float(np.float16(0.2))])
def test_rounding_is_named_beside_an_empty_row(fifth):
    mask = np.ones((5, 5), dtype=bool)
    mask[2] = False
    q, k, v = np.random.default_rng(1).normal(size=(3, 5, 4))
    e = np.exp((q @ k.T / 2).astype(np.float16).astype(float))
    got = (e / e.sum(axis=-1, keepdims=True)).astype(np.float16).astype(float)
    got[2] = fifth
    verdict = check(got, q, k, v, stage="weights", mask=mask, empty_rows="uniform", rtol=1e-9, atol=1e-12)
    assert verdict.ids == ("softmax-low-precision",)


# --- numbers in scientific notation, and with so many significant digits


@pytest.mark.parametrize("form", ["%.3e", "%.6e", "%.8e", "%.13e", "%.4g", "%.6g", "%.9g", "%.12g", "%.14g"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
def test_a_right_answer_of_so_many_digits_agrees(form, size):
    """Rounded by Python itself; the values go from hundredths to hundreds of the size."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        q, k = rng.normal(size=(2, 6, 4))
        v = rng.normal(size=(6, 3)) * 10.0 ** rng.integers(-2, 3, size=3) * size
        problem, right = prepare(q, k, v), attention(q, k, v).output
        texts = [form % x for x in right.ravel()]
        got = np.array(texts, dtype=float).reshape(right.shape)
        assert check_problem(problem, right, got, spelling=measure(texts))
        wrong = attention(q, k, v, scale=1).output
        texts = [form % x for x in wrong.ravel()]
        verdict = check_problem(
            problem, right, np.array(texts, dtype=float).reshape(right.shape), spelling=measure(texts)
        )
        assert "scale-missing" in verdict.ids


def test_small_numbers_beside_large_ones_have_few_digits():
    """Fixed decimals: 15 digits of the largest number, 8 that may be those of float32; one exponent for all."""
    for texts, values in (
        (["-20578.9076167147", "-0.0007527836"], [-20578.90761671473, -0.00075278364]),
        (["-16171.749", "-2.021"], [-16171.7487, -2.0214]),
        (["2.049853e+05"], [204985.349]),
    ):
        tolerance = tolerance_for(np.array(texts, dtype=float), "float64", measure(texts))
        assert tolerance.near(np.array(texts, dtype=float), np.array(values)).all()


def test_float32_of_nine_digits_is_float32():
    right = RIGHT.output.astype(np.float32) * np.float32(1.0000001)
    texts = [f"{x:.9g}" for x in right.ravel()]
    assert text(np.array(texts, dtype=float).reshape(right.shape), measure(texts)).tolerance.dtype == "float32"


def test_numbers_with_equal_decimals_keep_the_rule_of_decimals():
    """Also where zeros at the end are left out, and where Python writes small ones with an exponent."""
    for texts in (
        ["10.0", "0.0", "3.3023", "6.6976", "7.5148", "7.5148"],
        ["10.0000", "0.0000", "3.3023", "6.6976", "7.5148", "7.5148"],
        ["12.345678", "1e-06", "2.3e-05", "0.123457", "1.234568", "0.5"],
        ["0.3457", "1.0", "0.0123", "0.25"],
    ):
        assert not measure(texts).floating
    for texts in (["1.234567e+00", "1.234567e-03"], ["12.3457", "0.123457"], ["12.3457", "0.123457", "10", "0", "nan"]):
        assert measure(texts).floating


@pytest.mark.parametrize(
    ("got", "keywords", "message"),
    [
        ([[1, 2], [3]], {}, "got is not an array: its rows have different lengths"),
        (Q, {"rtol": "x"}, "rtol must be a finite number, not x"),
        (Q, {"atol": [1]}, "atol must be a finite number"),
        (Q, {"rtol": -1.0}, "rtol must be 0 or greater, not -1"),
        (Q, {"stage": None}, "stage is a name, not None"),
    ],
)
def test_arguments_that_are_none(got, keywords, message):
    with pytest.raises(AttnCalcError, match=re.escape(message)):
        check(got, Q, K, V, **keywords)
