"""How arrays are read by rank, layout and heads, and in which axes every stage comes back."""

import numpy as np
import pytest
from oracle import assert_close, attend

from attncalc import AttnCalcError, attention

B, H, G, T, S, D, D_V = 2, 6, 3, 5, 7, 4, 11
SCORE_STAGES = ("raw", "scaled", "capped", "biased", "allowed", "scores", "weights")


def arrays(heads=H, groups=G):
    """Give q, k, v as (B, heads, tokens, width)."""
    rng = np.random.default_rng(11)
    return (
        rng.normal(size=(B, heads, T, D)),
        rng.normal(size=(B, groups, S, D)),
        rng.normal(size=(B, groups, S, D_V)),
    )


def packed(array):
    """(B, heads, tokens, width) → (B, tokens, heads · width)"""
    return array.transpose(0, 2, 1, 3).reshape(B, array.shape[2], -1)


# name: how to arrange an array (B, heads, tokens, width), options, outer axes of the stages, shape of the output
VARIANTS = {
    "td": (lambda a: a[0, 0], {}, (), (T, D_V)),
    "htd": (lambda a: a[0], {}, (H,), (H, T, D_V)),
    "htd by name": (lambda a: a[0], {"layout": "htd"}, (H,), (H, T, D_V)),
    "btd": (lambda a: a[:, 0], {"layout": "btd"}, (B,), (B, T, D_V)),
    "bhtd": (lambda a: a, {}, (B, H), (B, H, T, D_V)),
    "bhtd by name": (lambda a: a, {"layout": "bhtd"}, (B, H), (B, H, T, D_V)),
    "thd": (lambda a: a[0].transpose(1, 0, 2), {"layout": "thd"}, (H,), (T, H, D_V)),
    "bthd": (lambda a: a.transpose(0, 2, 1, 3), {"layout": "bthd"}, (B, H), (B, T, H, D_V)),
    "packed td": (lambda a: packed(a)[0], {"heads": H, "kv_heads": G}, (H,), (T, H * D_V)),
    "packed btd": (packed, {"heads": H, "kv_heads": G}, (B, H), (B, T, H * D_V)),
    "packed btd by name": (
        packed,
        {"heads": H, "kv_heads": G, "layout": "btd"},
        (B, H),
        (B, T, H * D_V),
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_axes_of_every_stage(name):
    arrange, options, outer, output = VARIANTS[name]
    result = attention(*map(arrange, arrays()), **options)
    for stage in SCORE_STAGES:
        assert getattr(result, stage).shape == (*outer, T, S), stage
    assert result.lse.shape == (*outer, T)
    assert result.heads.shape == (*outer, T, D_V)
    assert result.output.shape == output


@pytest.mark.parametrize("name", VARIANTS)
def test_values_in_every_layout(name):
    arrange, options, _, _ = VARIANTS[name]
    inputs = [arrange(array) for array in arrays()]
    options = options | {"causal": "lower-right", "alibi": True, "rope": "half"}
    result, expected = attention(*inputs, **options), attend(*inputs, **options)
    for stage in (*SCORE_STAGES, "lse", "heads", "output"):
        assert_close(getattr(result, stage), expected[stage], what=stage)


@pytest.mark.parametrize("name", [n for n, (_, _, outer, _) in VARIANTS.items() if H in outer])
def test_layouts_are_the_same_numbers_in_another_order(name):
    arrange, options, outer, _ = VARIANTS[name]
    whole = attention(*arrays(), causal=True)
    result = attention(*map(arrange, arrays()), **options, causal=True)
    pick = slice(None) if B in outer else 0
    assert_close(result.weights, whole.weights[pick])
    assert_close(result.heads, whole.heads[pick])
    assert_close(result.output, arrange(whole.output))


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_every_number_of_groups(groups):
    q, k, v = arrays(groups=groups)
    result, expected = attention(q, k, v), attend(q, k, v)
    assert_close(result.output, expected["output"])
    together = attention(packed(q), packed(k), packed(v), heads=H, kv_heads=groups)
    assert_close(together.output, packed(result.output))


@pytest.mark.parametrize("name", ["td", "htd", "btd", "bhtd", "thd", "bthd", "packed td", "packed btd"])
def test_a_cache_has_the_shape_of_keys_and_values(name):
    arrange, options, outer, output = VARIANTS[name]
    q, k, v = arrays()
    past = {"past_key": arrange(k[:, :, :2]), "past_value": arrange(v[:, :, :2])}
    result = attention(arrange(q), arrange(k[:, :, 2:]), arrange(v[:, :, 2:]), **past, **options, causal=True)
    assert result.scores.shape == (*outer, T, S)
    assert result.output.shape == output
    mask = np.arange(S) <= np.arange(T)[:, None] + 2
    assert_close(result.output, attention(arrange(q), arrange(k), arrange(v), **options, mask=mask).output)


def test_a_cache_of_packed_heads_may_have_a_heads_axis():
    q, k, v = arrays()
    options = {"heads": H, "kv_heads": G, "causal": True}
    inputs = packed(q), packed(k[:, :, 2:]), packed(v[:, :, 2:])
    as_they_are = attention(*inputs, past_key=packed(k[:, :, :2]), past_value=packed(v[:, :, :2]), **options)
    with_heads = attention(*inputs, past_key=k[:, :, :2], past_value=v[:, :, :2], **options)
    assert_close(with_heads.output, as_they_are.output)


def test_one_query_of_rank_one():
    q, k, v = (array[0, 0] for array in arrays())
    result = attention(q[0], k, v)
    assert result.weights.shape == (1, S)
    assert result.output.shape == (1, D_V)
    assert_close(result.output, attention(q[:1], k, v).output)


def test_one_head_that_is_packed_has_a_heads_axis():
    q, k, v = (array[0, 0] for array in arrays())
    result = attention(q, k, v, heads=1)
    assert result.weights.shape == (1, T, S)
    assert result.output.shape == (T, D_V)


def test_rank_3_with_heads_is_a_batch():
    x = np.random.default_rng(0).normal(size=(2, 3, 8))
    assert attention(x, x, x, heads=4).weights.shape == (2, 4, 3, 3)
    assert attention(x, x, x).weights.shape == (2, 3, 3)


def test_lists_and_integers_are_arrays_too():
    result = attention([[1, 2]], [[3, 4], [5, 6]], [[1], [2]])
    assert result.output.dtype == np.float64
    assert result.output.shape == (1, 1)


# --- what does not fit ------------------------------------------------------------------------------


def zeros(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize("name", ["K", "V"])
def test_keys_and_values_are_matrices(name):
    k, v = (zeros(2) if name == letter else zeros(3, 2) for letter in "KV")
    with pytest.raises(AttnCalcError, match=name) as caught:
        attention(zeros(1, 2), k, v)
    assert "[[" in str(caught.value)  # how to write a matrix


def test_rank_4_has_its_heads_already():
    with pytest.raises(AttnCalcError, match="heads"):
        attention(zeros(2, 4, 3, 8), zeros(2, 4, 3, 8), zeros(2, 4, 3, 8), heads=2)


def test_rank_5_is_too_much():
    with pytest.raises(AttnCalcError, match="5"):
        attention(zeros(1, 1, 1, 1, 1), zeros(1, 1, 1, 1, 1), zeros(1, 1, 1, 1, 1))


@pytest.mark.parametrize(
    ("q", "k", "v", "options"),
    [
        ((4, 3, 2), (3, 3, 2), (3, 3, 2), {}),
        ((2, 4, 3, 2), (2, 3, 3, 2), (2, 3, 3, 2), {}),
        ((2, 2, 3, 2), (2, 4, 3, 2), (2, 4, 3, 2), {}),
        ((3, 8), (3, 6), (3, 6), {"heads": 4, "kv_heads": 3}),
    ],
)
def test_query_heads_are_a_multiple_of_key_heads(q, k, v, options):
    with pytest.raises(AttnCalcError, match="heads"):
        attention(zeros(*q), zeros(*k), zeros(*v), **options)


def test_key_and_value_heads_agree():
    with pytest.raises(AttnCalcError, match="K and V"):
        attention(zeros(4, 3, 2), zeros(2, 3, 2), zeros(4, 3, 2))


def test_a_width_that_heads_do_not_divide():
    with pytest.raises(AttnCalcError, match="heads"):
        attention(zeros(3, 7), zeros(3, 7), zeros(3, 7), heads=2)


def test_widths_differ():
    with pytest.raises(AttnCalcError, match="K and Q must have the same width") as caught:
        attention(zeros(3, 2), zeros(4, 3), zeros(4, 2))
    text = str(caught.value)
    assert "3 × 2" in text
    assert "4 × 3" in text


def test_numbers_of_keys_and_values_differ():
    with pytest.raises(AttnCalcError, match="K and V") as caught:
        attention(zeros(3, 2), zeros(4, 2), zeros(5, 2))
    text = str(caught.value)
    assert "4 × 2" in text
    assert "5 × 2" in text


def test_batches_differ():
    with pytest.raises(AttnCalcError, match="batch"):
        attention(zeros(2, 1, 3, 2), zeros(3, 1, 3, 2), zeros(3, 1, 3, 2))


def test_ranks_differ():
    with pytest.raises(AttnCalcError, match="Q"):
        attention(zeros(3, 2), zeros(2, 3, 2), zeros(2, 3, 2))


@pytest.mark.parametrize("layout", ["td", "btd", "bhtd", "thd"])
def test_a_layout_of_another_rank(layout):
    rank = 3 if len(layout) != 3 else 2
    array = zeros(*(2, 3, 4)[:rank])
    with pytest.raises(AttnCalcError, match=layout):
        attention(array, array, array, layout=layout)


@pytest.mark.parametrize("layout", ["hbtd", "xyz", "", "tdd"])
def test_an_unknown_layout(layout):
    with pytest.raises(AttnCalcError, match="layout"):
        attention(zeros(2, 3, 4), zeros(2, 3, 4), zeros(2, 3, 4), layout=layout)


@pytest.mark.parametrize("layout", ["htd", "thd"])
def test_a_layout_with_heads_is_not_packed(layout):
    with pytest.raises(AttnCalcError, match="heads"):
        attention(zeros(2, 3, 4), zeros(2, 3, 4), zeros(2, 3, 4), layout=layout, heads=2)


@pytest.mark.parametrize("option", [{"lengths": [3, 2]}, {"padding": [[1, 1, 0], [1, 1, 1]]}])
def test_what_is_given_for_each_sequence_needs_a_batch(option):
    x = zeros(2, 3, 4)
    with pytest.raises(AttnCalcError) as caught:
        attention(x, x, x, **option)
    assert "btd" in caught.value.hint
    assert attention(x, x, x, layout="btd", **option).allowed[0, 0].tolist() != [True] * 2


def test_as_many_lengths_as_sequences():
    x = zeros(2, 3, 4)
    with pytest.raises(AttnCalcError, match="lengths"):
        attention(x, x, x, layout="btd", lengths=[3, 2, 1])


@pytest.mark.parametrize(
    "past",
    [
        {"past_key": zeros(2, 4)},
        {"past_value": zeros(2, 4)},
        {"past_key": zeros(2, 4), "past_value": zeros(1, 4)},
        {"past_key": zeros(2, 3), "past_value": zeros(2, 4)},
        {"past_key": zeros(2, 4), "past_value": zeros(2, 3)},
        {"past_key": zeros(1, 2, 4), "past_value": zeros(1, 2, 4)},
    ],
    ids=str,
)
def test_a_cache_that_does_not_fit(past):
    with pytest.raises(AttnCalcError, match="past"):
        attention(zeros(3, 4), zeros(3, 4), zeros(3, 4), **past)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_arrays_without_rows_or_columns(which):
    arrays = [zeros(2, 2), zeros(2, 2), zeros(2, 2)]
    arrays[which] = zeros(0, 2)
    with pytest.raises(AttnCalcError):
        attention(*arrays)
