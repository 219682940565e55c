"""Layers by the names of modules: where each matrix goes, which way round, and what is refused."""

import numpy as np
import pytest
from oracle import assert_close, attend

from attncalc import AttnCalcError, attention

B, T, E, H, G, D, D_V = 2, 3, 10, 4, 2, 5, 3
OURS = ("wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo")


def matrices(G=G, seed=0, d_v=D_V):
    """Give the matrices of a layer in our orientation; all widths differ."""
    rng = np.random.default_rng(seed)
    shapes = [(E, H * D), (E, G * D), (E, G * d_v), (H * d_v, 7), H * D, G * D, G * d_v, 7]
    return {name: rng.normal(size=shape) for name, shape in zip(OURS, shapes, strict=True)}


X = np.random.default_rng(5).normal(size=(B, T, E))


def by_hand(w, kv_heads, x=X):
    """Project, attend with the oracle, project out."""
    q, k, v = x @ w["wq"] + w["bq"], x @ w["wk"] + w["bk"], x @ w["wv"] + w["bv"]
    packed = np.array(attend(q.tolist(), k.tolist(), v.tolist(), heads=H, kv_heads=kv_heads)["output"])
    return packed @ w["wo"] + w["bo"]


def hugging_face(w, out="o_proj", prefix=""):
    long = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": out}
    return {f"{prefix}{long[n[1]]}.{'weight' if n[0] == 'w' else 'bias'}": a.T for n, a in w.items()}


def torch_joined(w, prefix=""):
    return {
        f"{prefix}in_proj_weight": np.concatenate([w["wq"].T, w["wk"].T, w["wv"].T]),
        f"{prefix}in_proj_bias": np.concatenate([w["bq"], w["bk"], w["bv"]]),
        f"{prefix}out_proj.weight": w["wo"].T,
        f"{prefix}out_proj.bias": w["bo"],
    }


def torch_separate(w):
    separate = {f"{n}_proj_weight": w[f"w{n}"].T for n in "qkv"}
    return separate | {n: a for n, a in torch_joined(w).items() if n != "in_proj_weight"}


@pytest.mark.parametrize("out", ["o_proj", "out_proj"])
def test_hugging_face_names_with_grouped_heads(out):
    w = matrices()
    result = attention(x=X, weights=hugging_face(w, out), heads=H, kv_heads=G)
    assert_close(result.output, by_hand(w, G))


@pytest.mark.parametrize("form", [torch_joined, torch_separate])
def test_torch_names(form):
    w = matrices(G=H, d_v=D)
    assert_close(attention(x=X, weights=form(w), heads=H).output, by_hand(w, H))


@pytest.mark.parametrize("dot", ["", "."])
def test_a_prefix_takes_one_layer_of_many(dot):
    first, second = matrices(seed=1), matrices(seed=2)
    model = hugging_face(first, prefix="model.layers.1.self_attn.")
    model |= hugging_face(second, prefix="model.layers.10.self_attn.")
    model |= {"lm_head.weight": np.ones((2, 2)), "model.layers.1.mlp.up_proj.weight": np.ones((4, 4))}
    result = attention(x=X, weights=model, weights_prefix="model.layers.10.self_attn" + dot, heads=H, kv_heads=G)
    assert_close(result.output, by_hand(second, G))


def test_a_prefix_is_for_our_names_too():
    w = matrices()
    result = attention(x=X, weights={f"a.{n}": m for n, m in w.items()}, weights_prefix="a", heads=H, kv_heads=G)
    assert_close(result.output, by_hand(w, G))


def test_constants_of_a_module_are_left_alone():
    w = hugging_face(matrices()) | {"rotary_emb.inv_freq": np.ones(2)}
    assert_close(attention(x=X, weights=w, heads=H, kv_heads=G).output, by_hand(matrices(), G))


def test_context_gives_the_keys_and_values_their_own_width():
    w, context = matrices(), np.random.default_rng(6).normal(size=(B, 7, 6))
    w |= {"wk": w["wk"][:6], "wv": w["wv"][:6]}
    result = attention(x=X, context=context, weights=hugging_face(w), heads=H, kv_heads=G)
    q, k, v = X @ w["wq"] + w["bq"], context @ w["wk"] + w["bk"], context @ w["wv"] + w["bv"]
    packed = np.array(attend(q.tolist(), k.tolist(), v.tolist(), heads=H, kv_heads=G)["output"])
    assert_close(result.output, packed @ w["wo"] + w["bo"])


def refused(match, weights, **options):
    with pytest.raises(AttnCalcError, match=match) as caught:
        attention(x=X, weights=weights, heads=H, kv_heads=G, **options)
    return caught.value


def test_a_whole_model_needs_a_prefix_and_its_layers_are_named_in_order():
    model = hugging_face(matrices(), prefix="layers.10.") | hugging_face(matrices(), prefix="layers.2.")
    error = refused("one layer is needed", model)
    assert error.hint == "--weights-prefix layers.2"
    assert error.facts == (("layers", "layers.2, layers.10"),)


def test_a_prefix_that_is_not_there():
    error = refused("starts with layers.3.", hugging_face(matrices(), prefix="layers.2."), weights_prefix="layers.3")
    assert error.hint == "--weights-prefix layers.2"
    assert refused("starts with a.", {"b": X}, weights_prefix="a").facts == (("names", "b"),)


def test_two_forms_at_once():
    refused("two forms: wq and q_proj.weight", hugging_face(matrices()) | {"wq": matrices()["wq"]})


def test_the_same_part_twice():
    w = hugging_face(matrices())
    refused("the same part", w | {"out_proj.weight": w["o_proj.weight"]})


@pytest.mark.parametrize("name", ["bias_k", "q_norm.weight", "sinks"])
def test_parts_that_are_not_applied_say_what_they_would_do(name):
    error = refused(f"{name}, which attncalc does not apply", hugging_face(matrices()) | {name: np.ones(D)})
    assert error.facts[0][0] == name


def test_an_unknown_name():
    refused("no place for dense.weight", hugging_face(matrices()) | {"dense.weight": X[0]})


def test_joined_matrices_divide_into_three():
    w = torch_joined(matrices(G=H, d_v=D))
    refused("three matrices", w | {"in_proj_weight": w["in_proj_weight"][1:]})


def test_a_missing_matrix():
    w = hugging_face(matrices())
    del w["v_proj.weight"]
    refused("wv", w)


def test_messages_about_a_module_say_its_own_names():
    error = refused("one row for each column of x", hugging_face(matrices()) | {"q_proj.weight": np.ones((H * D, 3))})
    assert ("wq", "q_proj.weight, transposed") in error.facts


def test_a_prefix_without_weights():
    with pytest.raises(AttnCalcError, match="belong to a sequence x"):
        attention(X, X, X, weights_prefix="a")


# ── the wrong way round, or in capitals ──────────────────────────────────────────────────────────────────


def message_about(weights, **more):
    with pytest.raises(AttnCalcError) as caught:
        attention(x=X, weights=weights, heads=H, kv_heads=G, **more)
    return str(caught.value)


@pytest.mark.parametrize("letter", ["q", "v"])
def test_a_matrix_that_looks_transposed_is_said_to(letter):
    w = matrices()
    w[f"w{letter}"] = w[f"w{letter}"].T
    assert (
        f"hint: w{letter} looks transposed: PyTorch stores it so, under the name {letter}_proj.weight"
        in message_about(w)
    )
    ours = matrices()
    theirs = hugging_face(ours)
    theirs[f"{letter}_proj.weight"] = ours[f"w{letter}"]
    message = message_about(theirs)
    assert f"hint: {letter}_proj.weight looks transposed: a matrix for x @ w has the name w{letter}" in message
    assert "PyTorch stores it so" not in message


def test_an_output_matrix_that_looks_transposed_is_said_to():
    hint = "hint: wo looks transposed: the name wo is for x @ w, and out_proj.weight for x @ w.T"
    w = matrices()
    assert hint in message_about({**w, "wo": w["wo"].T, "bo": np.zeros(H * D_V)})
    assert hint in message_about({**w, "wo": w["wo"].T})


def test_a_matrix_that_fits_neither_way_has_no_such_hint():
    assert "transposed" not in message_about({**matrices(), "wq": np.ones((3, 4)), "bq": np.ones(4)})


def test_joined_matrices_the_wrong_way_round_are_said_to_be():
    w = torch_joined(matrices(G=H, d_v=D))
    with pytest.raises(AttnCalcError, match="in_proj_weight looks transposed"):
        attention(x=X, weights={**w, "in_proj_weight": w["in_proj_weight"].T}, heads=H)


def test_names_in_capitals_are_hinted():
    w = matrices()
    assert "hint: in small letters: wq" in message_about({name.upper(): array for name, array in w.items()})
