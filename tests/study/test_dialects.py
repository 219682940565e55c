"""Where libraries part on one input; every expected value was measured on the library, or worked out by hand."""

import numpy as np
import pytest
from oracle import assert_close, attend

from attncalc import AttnCalcError
from attncalc.study.dialects import compare

Q = np.zeros((2, 2))
K = np.array([[0.1, -0.1], [0.6, 0.1], [-0.5, 0.4]])
V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
MASK = np.array([[True, False, True], [False, False, False]])
BLOCKED = np.array([[False, True, False], [True, True, True]])
MEAN = [3.0, 13 / 3]


def answers(**given):
    given = {"query": Q, "key": K, "value": V, **given}
    return {answer.dialect.name: answer for answer in compare(**given).answers}


def test_a_query_without_any_key_parts_them():
    found = answers(mask=MASK)
    for name in ("torch-sdpa", "onnx-23", "onnx-24", "onnx-25", "keras-mha"):
        np.testing.assert_allclose(found[name].output, [[3, 4.5], [0, 0]])
    for name in ("jax", "hf-eager", "mlx"):
        np.testing.assert_allclose(found[name].output, [[3, 4.5], MEAN])
    assert all(1 in answer.differs for answer in found.values() if answer.output is not None)
    mha = answers(mask=BLOCKED)["torch-mha"]
    np.testing.assert_allclose(mha.output, [[3, 4.5], [np.nan, np.nan]])


def test_the_rules_in_force_may_answer_too():
    comparison = compare(query=Q, key=K, value=V, mask=MASK, like="jax")
    found = {answer.dialect.name: answer for answer in comparison.answers}
    assert found["jax"].differs == found["mlx"].differs == ()
    assert found["torch-sdpa"].differs == (1,)
    assert comparison.undefined == ()


def test_an_explicit_policy_holds_for_all():
    for answer in answers(mask=MASK, empty_rows="zero", mask_true="allowed").values():
        assert answer.differs == () or answer.dialect.name == "keras-attention"


def test_an_error_in_force_is_told_and_differs_from_every_answer():
    comparison = compare(query=Q, key=K, value=V, mask=MASK)
    assert comparison.undefined == (1,)
    assert np.isnan(comparison.output[1]).all()
    assert any("an error under the rules in force" in note for note in comparison.notes)
    with pytest.raises(AttnCalcError, match="may attend to no key"):
        compare(query=Q, key=K, value=V, mask=MASK, empty_rows="error")


def test_nan_in_a_blocked_value_gets_through_everywhere():
    value = V.copy()
    value[1] = np.nan
    found = answers(value=value, padding=[1, 0, 1], mask_true="allowed")
    for answer in found.values():
        assert np.isnan(answer.output).all(), answer.dialect.name
        assert answer.differs == (0, 1)


def test_nan_in_a_blocked_key_gets_through_where_minus_infinity_is_added():
    key = K.copy()
    key[1] = np.nan
    found = answers(key=key, query=Q + 1, padding=[1, 0, 1], mask_true="allowed")
    through = {name for name, answer in found.items() if np.isnan(answer.output).any()}
    assert through == {"torch-sdpa", "torch-mha", "onnx-23", "onnx-24", "onnx-25", "keras-attention", "hf-eager"}


def test_a_mask_of_numbers_is_added_by_some():
    mask = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    found = answers(mask=mask)
    expected = attend(Q, K, V, bias=mask)["output"]
    for name in ("torch-sdpa", "torch-mha", "onnx-24", "hf-eager", "mlx"):
        assert_close(found[name].output, expected)
    assert found["jax"].differs == ()
    mask[0, 1] = 0.5
    comparison = compare(query=Q, key=K, value=V, mask=mask, like="mlx")  # no mask at all under the usual rules
    jax = next(answer for answer in comparison.answers if answer.dialect.name == "jax")
    assert "a mask is made of true and false" in jax.reason


def test_a_bias_of_minus_infinity_is_no_mask_for_some():
    """JAX: where the mask blocks what the bias leaves, the masked key wins; where the bias blocks all, NaN."""
    bias = np.array([[0.0, 0, 0], [-np.inf, -np.inf, 0]])
    padding = [1, 1, 0]
    found = answers(bias=bias, padding=padding)
    for name in ("jax", "mlx"):
        np.testing.assert_allclose(found[name].output, [[2, 3], [5, 7]])
    alone = answers(bias=np.array([[0.0, 0, 0], [-np.inf] * 3]))
    for name in ("jax", "mlx", "torch-mha"):
        assert np.isnan(alone[name].output[1]).all()
    np.testing.assert_array_equal(alone["torch-sdpa"].output[1], [0, 0])


def test_a_billion_swallows_small_scores_and_large_ones_survive_it():
    """Neighbours of a billion are 64 apart in float32: key 0 has the score 100 and takes all the weight."""
    q = np.array([[1.0, 1.0]])
    found = answers(query=q, padding=[0, 0, 0])["keras-attention"]
    np.testing.assert_allclose(found.output, [MEAN], rtol=1e-12)
    found = answers(query=q, key=K + np.array([[50, 50], [0, 0], [0, 0]]), padding=[0, 0, 0])["keras-attention"]
    np.testing.assert_array_equal(found.output, [[1, 2]])


def test_transformers_in_float16_attends_to_a_blocked_key():
    """65504 is subtracted; the score 20 survives it, and the key that has it takes all the weight."""
    q, k = np.array([[1.0]]), np.array([[0.0], [20.0], [0.0]])
    found = answers(query=q, key=k, padding=[0, 0, 0], scale=1.0, dtype="float16")
    np.testing.assert_array_equal(found["hf-eager"].output, [[3, 4]])
    np.testing.assert_allclose(answers(query=q, key=k, padding=[0, 0, 0])["hf-eager"].output, [MEAN])


def test_a_negative_scale_is_nan_for_onnx():
    found = answers(scale=-1.0)
    assert np.isnan(found["onnx-24"].output).all()
    assert found["torch-sdpa"].differs == ()


def test_a_sink_leaves_no_row_empty():
    found = answers(mask=MASK, sink=[0.0])
    for name in ("hf-eager", "mlx"):
        np.testing.assert_array_equal(found[name].output[1], [0, 0])
        assert found[name].differs == ()
    assert found["torch-sdpa"].reason == "has no sink"


def test_a_cache_that_is_not_known_moves_the_causal_mask():
    past = {"past_key": K[:2], "past_value": V[:2]}
    found = answers(key=K[:2], value=V[:2], causal=True, **past)
    keys, values = np.concatenate([K[:2], K[:2]]), np.concatenate([V[:2], V[:2]])
    expected = attend(Q, keys, values, causal=True)["output"]  # upper-left, over all four keys
    assert_close(found["torch-sdpa"].output, expected)
    assert found["torch-sdpa"].differs == (0,)  # query 1 sees both keys once instead of twice
    assert found["onnx-24"].differs == found["mlx"].differs == ()


def test_alibi_still_counts_from_the_cache():
    past = {"past_key": K[:2], "past_value": V[:2]}
    options = {"alibi_slopes": [0.5], "causal": True}
    found = answers(key=K[:2], value=V[:2], **options, **past)
    bias = -0.5 * np.abs(np.arange(2)[:, np.newaxis] + 2 - np.arange(4))
    keys, values = np.concatenate([K[:2], K[:2]]), np.concatenate([V[:2], V[:2]])
    assert_close(found["torch-sdpa"].output, attend(Q, keys, values, causal=True, bias=bias)["output"])


def test_rounding_is_no_difference():
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(7, 11)) for _ in range(3))
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        found = answers(query=q, key=k, value=v, dtype=dtype, causal=True, scale=0.3)
        assert all(answer.differs == () for answer in found.values()), dtype


def test_the_user_s_axes():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(2, 4, 3, 5)), rng.normal(size=(2, 4, 2, 5)), rng.normal(size=(2, 4, 2, 5))
    found = answers(query=q, key=k[:, :, :1], value=v[:, :, :1], layout="bthd", causal=True)
    assert found["torch-sdpa"].output.shape == (2, 4, 3, 5)
    assert found["torch-mha"].reason == "has no grouped heads"


def test_a_dialect_that_refuses_the_input_says_why():
    found = answers(window_left=0)
    assert found["hf-eager"].output is None
    assert "1 or more" in found["hf-eager"].reason


def test_numbers_too_large_for_the_type():
    big = np.full((1, 1), 1e200)
    with pytest.raises(AttnCalcError, match="too large for float64"):
        compare(query=big, key=big, value=big)
    notes = compare(query=[[300.0]], key=[[300.0]], value=[[1.0]], dtype="float16").notes
    assert any("too large for float16" in note for note in notes)


def test_a_rule_that_is_in_force_already_is_not_changed():
    found = answers(like="jax")
    assert found["jax"].changed == found["mlx"].changed == {}
    assert found["torch-sdpa"].changed == {"empty_rows": "zero"}
    assert found["keras-attention"].changed == {"scale": "1"}
    assert all("empty_rows" not in answer.changed for answer in answers(empty_rows="uniform").values())
    numbers = answers(mask=np.array([[1, 0, 1], [1, 1, 0]]), like="torch-sdpa")
    assert "mask" not in numbers["torch-sdpa"].changed


def test_a_rule_of_the_library_in_force_that_another_takes_back_is_changed():
    found = answers(like="keras-attention")
    assert found["keras-attention"].changed == {}
    assert found["torch-sdpa"].changed == {"empty_rows": "zero", "scale": f"{1 / np.sqrt(2):g}"}
    corner = answers(like="mlx", causal=True)
    assert "causal_align" not in corner["mlx"].changed
    assert corner["torch-sdpa"].changed["causal_align"] == "upper-left"
    assert answers(mask=MASK)["jax"].changed == {"empty_rows": "uniform"}
