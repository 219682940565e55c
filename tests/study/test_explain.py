"""An explanation: the steps of the contract, hand-worked arithmetic, and the oracle's numbers."""

import contextlib
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from oracle import assert_close, attend
from voices import CHINESE, ENGLISH

from attncalc.core.prepare import prepare
from attncalc.core.steps import RIGHT
from attncalc.errors import NumberError, OptionError, ShapeError
from attncalc.mistakes import CATALOGUE, combine
from attncalc.study.examples import TEXTBOOK, TWO_HEADS
from attncalc.study.explain import explain
from attncalc.study.explanation.parts import Verdict

ALWAYS = ["shapes", "raw", "scale", "mask", "softmax", "output", "check"]
R = 1 / math.sqrt(2)


def textbook(**options):
    return prepare(query=TEXTBOOK.query, key=TEXTBOOK.key, value=TEXTBOOK.value, **options)


def random_problem(seed=0, T=5, S=7, d=3, d_v=2, H=1, **options):
    rng = np.random.default_rng(seed)
    shapes = [(T, d), (S, d), (S, d_v)] if H == 1 else [(H, T, d), (H, S, d), (H, S, d_v)]
    q, k, v = (rng.normal(size=shape) for shape in shapes)
    return (q, k, v), prepare(query=q, key=k, value=v, **options)


def ids(explanation):
    return [step.id for step in explanation.steps]


def step(explanation, name):
    return next(step for step in explanation.steps if step.id == name)


def verdicts(explanation):
    return [part for part in step(explanation, "check").parts if isinstance(part, Verdict)]


# ── the textbook, by hand ────────────────────────────────────────────────────────────────────────────────


def test_the_textbook_without_a_mask_has_the_steps_that_are_always_there():
    told = explain(textbook(), ENGLISH)
    assert ids(told) == ALWAYS
    assert told.queries == (0,)
    assert told.at_hand == (0, 1, 2)
    assert "No mask is in force" in step(told, "mask").text


def test_the_products_are_told_term_by_term():
    text = step(explain(textbook(), ENGLISH), "raw").text
    assert "q0 · k0 = 1×1 + 0×0 = 1" in text
    assert "q0 · k1 = 1×0 + 0×1 = 0" in text
    assert "q0 · k2 = 1×1 + 0×1 = 1" in text


def test_the_scale_and_its_reason_are_told():
    told = step(explain(textbook(), ENGLISH), "scale")
    assert told.formula == "scaled = raw × scale,   scale = 1/√d = 1/√2 = 0.7071"
    assert "scale = 1/√2 = 1/1.4142 = 0.7071" in told.text
    assert "scaled[0, 0] = 1 × 0.7071 = 0.7071" in told.text
    assert "attncalc scaling" in told.text


def test_a_given_scale_is_told_as_given():
    told = step(explain(textbook(scale=2), ENGLISH), "scale")
    assert told.formula == "scaled = raw × scale,   scale = 2.0000"
    assert "The scale is given as 2.0000; the usual one would be 1/√d = 1/√2 = 0.7071." in told.text


def test_a_causal_mask_shows_the_first_query_with_a_choice():
    told = explain(textbook(causal=True), ENGLISH)
    assert told.queries == (1,)
    assert "Query 1 may attend to k0 and k1, and not to k2:" in step(told, "mask").text


def test_the_weights_without_the_mask_stand_beside_those_with_it():
    told = step(explain(textbook(causal=True), ENGLISH), "mask")
    e = math.exp(R)
    assert_close(told.values["weights_without_mask"][1], [1 / (1 + 2 * e), e / (1 + 2 * e), e / (1 + 2 * e)])
    table = next(part for part in told.parts if getattr(part, "head", ("",))[0] == "key")
    assert table.rows == (
        ("k0", "0.0000", "yes", "0.0000", "0.1978", "0.3302"),
        ("k1", "0.7071", "yes", "0.7071", "0.4011", "0.6698"),
        ("k2", "0.7071", "no: causal", "−∞", "0.4011", "0"),
    )


def test_the_softmax_is_told_in_its_true_steps():
    told = step(explain(textbook(causal=True), ENGLISH), "softmax")
    e = math.exp(-R)
    assert_close(told.values["maximum"], [R, R, 2 * R])
    assert_close(told.values["differences"][1], [-R, 0, -math.inf])
    assert_close(told.values["exponentials"][1], [e, 1, 0])
    assert_close(told.values["sum"][1], 1 + e)
    assert_close(told.values["weights"][1], [e / (1 + e), 1 / (1 + e), 0])
    assert_close(told.values["lse"][1], math.log(1 + math.exp(R)))
    for line in (
        "m = max(0.0000, 0.7071) = 0.7071",
        "sum = 0.4931 + 1.0000 = 1.4931",
        "weights[1, 0] = 0.4931 / 1.4931 = 0.3302",
        "weights[1, 1] = 1.0000 / 1.4931 = 0.6698",
        "The score 0 gets weight too: exp(0) is 1. Only −∞ gets none.",
    ):
        assert line in told.text


def test_the_output_is_told_term_by_term_without_the_blocked_keys():
    told = step(explain(textbook(causal=True), ENGLISH), "output")
    assert "output[1, 0] = 0.3302×10 + 0.6698×0 = 3.3024" in told.text
    assert "output[1, 1] = 0.3302×0 + 0.6698×10 = 6.6976" in told.text
    assert "Keys with weight 0 are left out" in told.text


def test_the_check_holds():
    told = explain(textbook(causal=True), ENGLISH)
    assert told.holds
    assert [verdict.text for verdict in verdicts(told)] == [
        "The weights of every query add up to 1 (largest error: 0).",
        "Every blocked key has the weight 0.",
        "Every output lies between the smallest and the largest value that its query may see, as a mean must; "
        "column 0 of query 1: 0 ≤ 3.3024 ≤ 10.",
    ]


def test_a_cell_from_the_ground_up():
    told = explain(textbook(causal=True), ENGLISH, cell=(2, 1))
    assert ids(told) == ALWAYS
    assert told.title == "One weight from the ground up: query 2, key 1"
    table = next(part for part in step(told, "raw").parts if hasattr(part, "head"))
    assert table.rows == (("0", "1", "0", "0", "0"), ("1", "1", "1", "1", "1"))
    assert "scaled[2, 1] = 1 × 0.7071 = 0.7071" in step(told, "scale").text
    assert "scaled[2, 0]" not in step(told, "scale").text
    assert "Query 2 may attend to k1" in step(told, "mask").text
    assert "weights[2, 1] = 0.4931 / 1.9861 = 0.2483" in step(told, "softmax").text
    assert_close(step(told, "output").values["share"], [0, 10 / (2 + math.exp(R))])


def test_a_blocked_cell_says_which_mask():
    told = explain(textbook(causal=True), ENGLISH, cell=(0, 2))
    assert "Query 0 may not attend to k2 (causal), so the score becomes −∞." in step(told, "mask").text
    assert "exp(−∞) is 0, and 0 divided by anything is 0." in step(told, "softmax").text


def test_all_queries_in_full():
    told = explain(textbook(causal=True), ENGLISH, everything=True)
    assert told.queries == (0, 1, 2)
    for line in ("q0 · k0 = ", "q1 · k1 = ", "q2 · k2 = "):
        assert line in step(told, "raw").text


def test_tokens_are_named():
    told = explain(textbook(causal=True, tokens=["le", "[b]", "]"]), ENGLISH)
    assert "Query 1 ([b]) may attend to k0 and k1, and not to k2:" in step(told, "mask").text


# ── against the oracle ───────────────────────────────────────────────────────────────────────────────────

OPTIONS = [
    {},
    {"causal": True},
    {"causal": True, "causal_align": "lower-right"},
    {"window_left": 1, "window_right": 2},
    {"softcap": 0.5},
    {"scale": -0.3},
    {"alibi_slopes": [0.25]},
    {"sink": [0.7], "causal": True},
    {"mask": [[j != i for j in range(7)] for i in range(5)]},
    {"lengths": [4]},
    {"bias": [[0.1 * j - 0.2 * i for j in range(7)] for i in range(5)]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
def test_every_stage_is_the_oracles(options):
    (q, k, v), problem = random_problem(**options)
    told = explain(problem, ENGLISH)
    expected = attend(q, k, v, **options)
    places = {"raw": "raw", "scaled": "scale", "scores": "mask", "allowed": "mask", "weights": "softmax"}
    places |= {"lse": "softmax", "output": "output"}
    for stage, place in places.items():
        assert_close(step(told, place).values[stage], expected[stage], what=stage)
    assert told.holds
    assert "something else" not in "".join(each.text for each in told.steps)


def test_the_steps_that_apply_stand_in_the_order_of_the_contract():
    rng = np.random.default_rng(3)
    weights = {"wq": rng.normal(size=(5, 8)), "wk": rng.normal(size=(5, 4)), "wv": rng.normal(size=(5, 4))}
    problem = prepare(
        x=rng.normal(size=(3, 5)),
        weights={**weights, "wo": rng.normal(size=(8, 6))},
        heads=4,
        kv_heads=2,
        rope="half",
        softcap=5,
        alibi=True,
    )
    told = explain(problem, ENGLISH, head=3, online=True)
    assert ids(told) == [
        "shapes", "project", "split", "rope", "raw", "scale", "cap", "bias", "mask", "softmax", "output", "merge",
        "online", "check",
    ]  # fmt: skip
    assert told.holds
    assert "query head 3 uses key/value head 1" in step(told, "shapes").text


def test_one_head_of_packed_ones_by_hand():
    problem = prepare(query=TWO_HEADS.query, key=TWO_HEADS.key, value=TWO_HEADS.value, heads=2)
    told = explain(problem, ENGLISH, query=0, head=1)
    assert "Head 1 is columns 2 to 3 of Q." in step(told, "split").text
    assert "q0 · k1 = 0×0 + 2×2 = 4" in step(told, "raw").text
    assert_close(step(told, "raw").values["raw"][0], [0, 4, 2])
    assert "head 1 = [4.1878, 11.4131]" in step(told, "merge").text


def test_rope_turns_by_hand():
    problem = prepare(query=[[1, 0], [1, 0]], key=[[1, 0], [1, 0]], value=[[1], [2]], rope="half")
    told = explain(problem, ENGLISH, query=1)
    c, s = math.cos(1), math.sin(1)
    assert_close(step(told, "rope").values["query"], [[1, 0], [c, s]])
    assert "q1[0] = 1 × cos 1.0000 − 0 × sin 1.0000 = 0.5403" in step(told, "rope").text
    assert "q1[1] = 0 × cos 1.0000 + 1 × sin 1.0000 = 0.8415" in step(told, "rope").text
    assert_close(step(told, "raw").values["raw"], [[1, c], [c, 1]])


def test_soft_cap_and_bias_by_hand():
    problem = prepare(query=[[2]], key=[[1], [3]], value=[[0], [1]], scale=1, softcap=4, bias=[[0.5, -1]])
    told = explain(problem, ENGLISH)
    assert_close(step(told, "cap").values["capped"], [[4 * math.tanh(0.5), 4 * math.tanh(1.5)]])
    assert "capped[0, 0] = 4 × tanh(2.0000 / 4) = 1.8485" in step(told, "cap").text
    assert "biased[0, 1] = 3.6206 + (-1.0000) = 2.6206" in step(told, "bias").text


def test_alibi_by_hand():
    problem = prepare(query=[[0], [0]], key=[[0], [0]], value=[[1], [2]], alibi_slopes=[0.5])
    told = explain(problem, ENGLISH, query=1)
    assert_close(step(told, "bias").values["biased"], [[0, -0.5], [-0.5, 0]])
    assert "biased[1, 0] = 0.0000 + (-0.5000) = -0.5000" in step(told, "bias").text


def test_an_empty_row_says_what_it_gets():
    problem = textbook(mask=[[True] * 3, [False] * 3, [True] * 3], empty_rows="uniform")
    told = explain(problem, ENGLISH, query=1)
    assert "Query 1 may attend to no key at all." in step(told, "mask").text
    assert "every key gets the weight 1/S = 0.3333" in step(told, "softmax").text
    assert "output[1, 0] = 0.3333×10 + 0.3333×0 + 0.3333×10 = 6.6667" in step(told, "output").text
    assert told.holds


# ── queries without any key ──────────────────────────────────────────────────────────────────────────────

ONE_EMPTY = [[True, True, False], [False, False, False], [True, True, True]]


def without_keys(empty_rows, mask=ONE_EMPTY):
    return textbook(mask=mask, empty_rows=empty_rows)


@pytest.mark.parametrize("empty_rows", ["zero", "nan", "uniform"])
def test_the_checks_leave_out_a_query_without_keys_and_say_so(empty_rows):
    for options in ({"query": 1}, {"cell": (1, 2)}, {"query": 0}):
        told = explain(without_keys(empty_rows), ENGLISH, **options)
        text = step(told, "check").text
        assert told.holds
        assert "The weights of every query that has keys add up to 1" in text
        assert "Every blocked key of a query that has others has the weight 0." in text
        assert "Every output of a query that has keys lies between" in text
        assert "column 0 of query 0: 0 ≤ " in text
        assert "every query add up" not in text
        assert text.endswith(
            "Left out of these checks: query 1, which may attend to no key. What it gets is said by --empty-rows."
        )


@pytest.mark.parametrize(("empty_rows", "weight"), [("zero", "0"), ("nan", "nan"), ("uniform", "0.3333")])
def test_the_table_shows_the_weights_that_a_query_without_keys_has(empty_rows, weight):
    told = step(explain(without_keys(empty_rows), ENGLISH, query=1), "mask")
    table = next(part for part in told.parts if getattr(part, "head", ("",))[0] == "key")
    assert [row[-1] for row in table.rows] == [weight] * 3
    assert f"What it gets is said by --empty-rows {empty_rows}" in told.text
    assert "shared among" not in told.text
    cell = step(explain(without_keys(empty_rows), ENGLISH, cell=(1, 2)), "mask").text
    assert "Query 1 may attend to no key at all." in cell
    assert f"--empty-rows {empty_rows}" in cell


def test_where_others_have_keys_the_mask_says_it_of_them_alone():
    told = step(explain(without_keys("uniform"), ENGLISH, everything=True), "mask").text
    assert "where a query has other keys, a blocked one gets no weight at all" in told


def test_no_columns_are_announced_where_none_follow():
    told = step(explain(without_keys("zero"), ENGLISH, query=1), "output").text
    assert "All weights of query 1 are 0, and so is its output." in told
    assert "Column by column" not in told
    assert "Column by column:" in step(explain(without_keys("zero"), ENGLISH, query=0), "output").text


def test_a_page_without_any_key_says_that_there_is_nothing_to_check():
    told = explain(without_keys("zero", [[False] * 3] * 3), ENGLISH, query=1)
    assert verdicts(told) == []
    assert step(told, "check").text.startswith(
        "Query 0, query 1 and query 2 may attend to no key, so there is nothing to check here."
    )
    assert "没有可检查的" in step(explain(without_keys("zero", [[False] * 3] * 3), CHINESE), "check").text


def test_with_a_sink_an_output_is_a_mean_of_the_values_and_0():
    problem = prepare(query=[[1], [1]], key=[[1], [1]], value=[[4], [6]], sink=[9], mask=[[1, 0], [0, 0]])
    told = explain(problem, ENGLISH, query=0)
    assert told.holds
    check = step(told, "check").text
    assert "lies between the smallest and the largest of 0 and the values that its query may see" in check
    assert "column 0 of query 0: 0 ≤ 0.0013 ≤ 4" in check  # 4 e / (e + e⁹)
    assert "as a mean must" not in check
    assert "Left out" not in check
    assert "an output is a mean of the values and 0. Column by column:" in step(told, "output").text
    alone = step(explain(problem, ENGLISH, query=1), "mask").text
    assert "the sink takes all its weight" in alone
    assert "shared among" not in alone
    assert "m = max(9.0000) = 9.0000" in step(explain(problem, ENGLISH, query=1), "softmax").text


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────


def test_past_keys_are_said_to_be_turned_already():
    turned = {"query": [[1, 0]], "key": [[1, 0]], "value": [[1]], "rope": "half"}
    past = step(explain(prepare(**turned, past_key=[[1, 1]], past_value=[[5]]), ENGLISH), "rope").text
    assert "past keys are taken as already turned" in past
    assert "Keys are turned in the same way" not in past
    plain = step(explain(prepare(**turned), ENGLISH), "rope").text
    assert "Keys are turned in the same way, values are not." in plain
    assert "(base 10000, 2 columns)" in plain


def test_rope_is_told_in_one_language():
    told = step(explain(prepare(query=[[1, 0]], key=[[1, 0]], value=[[1]], rope="half"), CHINESE), "rope")
    assert "a = 位置 × 底数^(−2n/列数)" in told.formula
    assert "position" not in told.formula + told.text
    assert "底数 10000，" in told.text


def test_the_heads_that_share_are_counted_in_words_that_fit():
    rng = np.random.default_rng(0)
    for groups, words in (
        (1, "The 4 query heads all use the same key/value head (multi-query attention): query head 3 uses key/value "
            "head 0."),
        (2, "There are 4 query heads and 2 key/value heads, so every 2 neighbouring query heads use the same one "
            "(grouped-query attention): query head 3 uses key/value head 1."),
    ):  # fmt: skip
        q, k, v = rng.normal(size=(4, 2, 3)), rng.normal(size=(groups, 2, 3)), rng.normal(size=(groups, 2, 3))
        assert words in step(explain(prepare(query=q, key=k, value=v), ENGLISH, head=3), "shapes").text


def test_chinese_has_no_space_in_front_of_a_query():
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(2, 2)) for name in ("wq", "wk", "wv", "wo")}
    told = explain(prepare(x=rng.normal(size=(2, 2)), weights=weights), CHINESE, query=1)
    assert "混合查询 1 的各列" in step(told, "merge").text
    assert "这个键对查询 1 的输出" in step(explain(textbook(), CHINESE, cell=(1, 1)), "output").text


def test_a_past_is_told():
    problem = textbook(past_key=[[1, 1]], past_value=[[5, 5]], causal=True)
    told = explain(problem, ENGLISH)
    assert "Of the 4 keys, k0 is from the past" in step(told, "shapes").text
    assert told.queries == (0,)
    assert "Query 0 may attend to k0 and k1, and not to k2 and k3:" in step(told, "mask").text
    assert step(told, "mask").values["allowed"].tolist() == [[True] * n + [False] * (4 - n) for n in (2, 3, 4)]


def test_nan_in_a_blocked_value_changes_nothing():
    problem = prepare(query=[[1, 0]], key=[[1, 0], [9, 9]], value=[[3, 4], [math.nan, 0]], mask=[[1, 0]])
    told = explain(problem, ENGLISH)
    assert_close(step(told, "output").values["output"], [[3, 4]])
    assert told.holds


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_narrow_types_are_no_mistake(dtype):
    _, problem = random_problem(d=16, causal=True, dtype=dtype)
    told = explain(problem, ENGLISH, everything=True)
    assert told.holds
    assert "something else" not in "".join(each.text for each in told.steps)


# ── a wrong run ──────────────────────────────────────────────────────────────────────────────────────────


def test_explaining_a_wrong_run_says_where_it_parts():
    def unscaled(s, steps):
        return {"scaled": s.raw}

    told = explain(textbook(), ENGLISH, steps=replace(RIGHT, scale=unscaled))
    assert (
        "This run does something else here: scaled of key 0 would be 0.7071, and the run has 1.0000."
        in step(told, "scale").text
    )
    assert "something else" not in step(told, "softmax").text
    assert told.holds


def test_weights_cut_off_after_the_softmax_fail_the_check():
    def cut(s, steps):
        weights = np.where(s.allowed, steps_softmax(s.biased), 0)
        return {"lse": np.zeros(weights.shape[:-1]), "weights": weights}

    def steps_softmax(scores):
        e = np.exp(scores)
        return e / e.sum(axis=-1, keepdims=True)

    told = explain(textbook(causal=True), ENGLISH, steps=replace(RIGHT, softmax=cut))
    assert not told.holds
    assert "The weights of query 0 add up to 0.4011, not to 1." in step(told, "check").text
    assert "something else" in step(told, "softmax").text


def test_a_leaking_weight_fails_the_check():
    def leak(s, steps):
        return {"lse": s.biased[..., 0], "weights": np.full(s.biased.shape, 1 / 3)}

    told = explain(textbook(causal=True), ENGLISH, steps=replace(RIGHT, softmax=leak))
    assert "Query 0 gives weight 0.3333 to key 1, which it may not attend to." in step(told, "check").text


def test_an_output_outside_the_values_fails_the_check():
    def doubled(s, steps):
        return {"heads": 2 * RIGHT.mix(s, steps)["heads"]}

    told = explain(textbook(), ENGLISH, steps=replace(RIGHT, mix=doubled))
    assert "Column 0 of the output of query 0 is 16.0445, outside the range of the values" in step(told, "check").text


def test_a_mask_that_lets_too_much_through_is_told():
    def one_ahead(s, steps):
        allowed = np.broadcast_to(np.tri(3, k=1, dtype=bool), s.biased.shape)
        return {"allowed": allowed, "scores": np.where(allowed, s.biased, -np.inf)}

    told = explain(textbook(causal=True), ENGLISH, query=0, steps=replace(RIGHT, allow=one_ahead))
    assert "by the rules query 0 may not attend to k1, and the run lets it." in step(told, "mask").text


def test_exchanged_keys_and_values_are_told_with_the_inputs():
    def exchanged(s, steps):
        return {"query": s.inputs.query, "key": s.inputs.value, "value": s.inputs.key}

    told = explain(textbook(), ENGLISH, steps=replace(RIGHT, project=exchanged))
    assert "its Q, K or V are not what the step described makes of them" in step(told, "shapes").text


@pytest.mark.parametrize("mistake", CATALOGUE, ids=lambda mistake: mistake.id)
def test_every_known_mistake_can_be_explained(mistake):
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(2, 4, 4, 4)), rng.normal(size=(2, 2, 4, 4)), rng.normal(size=(2, 2, 4, 4))
    past = {"past_key": rng.normal(size=(2, 2, 2, 4)), "past_value": rng.normal(size=(2, 2, 2, 4))}
    seen = rng.random((4, 4)) < 0.7
    for options in (
        {},
        {"causal": True, "softcap": 2.0, "alibi": True, "window_left": 1, "scale": 0.3, "sink": [0.1, 0.2, 0.3, 0.4]},
        {"rope": "half", "causal": True, "bias": rng.normal(size=(4, 6)), **past},
        {"mask": seen, "lengths": [3, 4], "empty_rows": "nan", "causal": True, "causal_align": "lower-right"},
    ):
        problem = prepare(query=q, key=k, value=v, **options)
        for form in mistake.open_forms(problem):
            if mistake.id in ("heads-averaged", "sink-as-extra-value"):
                with contextlib.suppress(ShapeError):  # weights or outputs of another shape have no such steps
                    explain(problem, ENGLISH, steps=combine(form))
                continue
            told = explain(problem, ENGLISH, steps=combine(form), everything=True, online=True)
            assert set(ALWAYS) <= set(ids(told))


# ── large inputs ─────────────────────────────────────────────────────────────────────────────────────────


def test_one_query_of_many_needs_no_matrix():
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(2048, 16)), rng.normal(size=(3000, 16)), rng.normal(size=(3000, 4))
    problem = prepare(query=q, key=k, value=v)
    tracemalloc.start()
    told = explain(problem, ENGLISH, query=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2048 * 3000 * 8 / 8  # far below one T × S matrix
    assert told.at_hand == (2000,)
    scores = [math.fsum(a * b for a, b in zip(q[2000], key, strict=True)) / 4 for key in k]
    e = [math.exp(score - max(scores)) for score in scores]
    assert_close(step(told, "softmax").values["sum"], [math.fsum(e)], rtol=1e-9)
    output = [math.fsum(w * row[c] for w, row in zip(e, v, strict=True)) / math.fsum(e) for c in range(4)]
    assert_close(step(told, "output").values["output"], [output], rtol=1e-9)


def test_long_sums_leave_out_their_middle():
    (q, k, _), problem = random_problem(T=20, S=40, d=30, d_v=11)
    told = explain(problem, ENGLISH, query=13)
    lines = step(told, "raw").text.splitlines()
    assert sum(line == "⋮" for line in lines) >= 1
    first = next(line for line in lines if line.startswith("q13 · k0 = "))
    assert first.count("×") == 8
    assert " + … + " in first
    assert first.endswith(f"{sum(q[13] * k[0]):.4f}")
    assert "output[13, 0] = " in step(told, "output").text


def test_all_of_a_large_input_is_refused():
    _, problem = random_problem(T=1)
    large = prepare(query=np.ones((5000, 2)), key=np.ones((5000, 2)), value=np.ones((5000, 1)))
    with pytest.raises(OptionError, match="5000 queries and 5000 keys are too many to explain all") as error:
        explain(large, ENGLISH, everything=True)
    assert error.value.hint == "--query N"
    assert explain(problem, ENGLISH, everything=True).queries == (0,)


# ── errors and languages ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"query": 3}, "--query: there is no query 3; they are numbered 0 to 2"),
        ({"query": -1}, "--query: there is no query -1"),
        ({"cell": (0, 3)}, "--cell: there is no key 3"),
        ({"cell": (4, 0)}, "--cell: there is no query 4"),
        ({"head": 1}, "--head: there is no head 1; head 0 is the only one"),
        ({"batch": 2}, "--batch: there is no batch 2"),
        ({"online": True, "block": 0}, "--block must be 1 or more, not 0"),
    ],
)
def test_what_there_is_not_is_said(keywords, message):
    with pytest.raises(OptionError, match=message):
        explain(textbook(), ENGLISH, **keywords)


def test_numbers_that_overflow_are_an_error():
    problem = prepare(query=[[1e200]], key=[[1e200]], value=[[1]])
    with pytest.raises(NumberError, match="raw is infinite at query 0, key 0"):
        explain(problem, ENGLISH)


def test_narrow_numbers_that_overflow_are_noted():
    problem = prepare(query=[[300.0]], key=[[300.0], [1]], value=[[1], [2]], dtype="float16")
    told = explain(problem, ENGLISH)
    assert told.notes == ("raw is infinite at query 0, key 0: the numbers are too large for float16",)


def test_the_mask_names_the_stage_before_it():
    assert step(explain(textbook(causal=True), ENGLISH), "mask").formula.startswith("scores = scaled where")
    assert step(explain(textbook(softcap=3), ENGLISH), "mask").formula.startswith("scores = capped where")
    assert step(explain(textbook(alibi=True), ENGLISH), "mask").formula.startswith("scores = biased where")


def test_chinese_has_the_same_numbers():
    english, chinese = (explain(textbook(causal=True), say, online=True) for say in (ENGLISH, CHINESE))
    assert ids(english) == ids(chinese)
    for ours, theirs in zip(english.steps, chinese.steps, strict=True):
        assert ours.values.keys() == theirs.values.keys()
        for name, array in ours.values.items():
            assert_close(theirs.values[name], array)
    assert "查询 1 可以关注 k0 和 k1，不能关注 k2：" in step(chinese, "mask").text
