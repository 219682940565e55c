"""Random problems: every layout, every option, sizes that do not meet."""

import numpy as np
from hypothesis import strategies as st

LAYOUTS = ["td", "htd", "btd", "bhtd", "thd", "bthd", "packed td", "packed btd"]


def arrange(array, letters, packed):
    """Bring an array (B, heads, tokens, width) into the order of ``letters``."""
    if packed:
        array = array.transpose(0, 2, 1, 3)
        array = array.reshape(*array.shape[:2], -1)
        return array if "b" in letters else array[0]
    array = np.einsum("bhtd->" + letters, array) if len(letters) == 4 else array
    if letters == "td":
        return array[0, 0]
    if letters == "htd":
        return array[0]
    if letters == "thd":
        return array[0].transpose(1, 0, 2)
    return array[:, 0] if letters == "btd" else array


@st.composite
def problems(draw):
    """Give q, k, v and options; sizes come from sets of primes that do not meet."""
    name = draw(st.sampled_from(LAYOUTS))
    packed = name.startswith("packed")
    letters = name.removeprefix("packed ")
    has_heads = packed or "h" in letters
    B = 3 if "b" in letters else 1
    G = draw(st.sampled_from([1, 2])) if has_heads else 1
    H = G * draw(st.sampled_from([1, 2, 3])) if has_heads else 1
    T = draw(st.sampled_from([1, 2, 5]))
    new = draw(st.sampled_from([1, 3, 7]) | st.just(T))
    P = draw(st.sampled_from([0, 0, 2]))
    S = P + new
    d = draw(st.sampled_from([1, 4, 6]))
    d_v = draw(st.sampled_from([2, 3, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([0.5, 1.0, 3.0]))

    def normal(*shape):
        return rng.normal(0, size, shape)

    q, k, v = normal(B, H, T, d), normal(B, G, new, d), normal(B, G, new, d_v)
    arrays = [arrange(array, letters, packed) for array in (q, k, v)]
    options = {"empty_rows": draw(st.sampled_from(["zero", "nan", "uniform", "error"]))}
    if letters in ("thd", "bthd") or (letters == "btd" and not packed):
        options["layout"] = letters
    if packed:
        options["heads"] = H
        if G != H or draw(st.booleans()):
            options["kv_heads"] = G
    if P:
        past = normal(B, G, P, d), normal(B, G, P, d_v)
        as_bgpd = letters == "btd" and packed and draw(st.booleans())
        for key, array in zip(("past_key", "past_value"), past, strict=True):
            options[key] = array if as_bgpd else arrange(array, letters, packed)

    def maybe(chance=4):
        return draw(st.integers(1, chance)) == 1

    stage = ([B] if "b" in letters else []) + ([H] if has_heads else []) + [T, S]

    def broadcastable():
        cut = draw(st.integers(0, len(stage) - 1))
        return [1 if maybe() else size for size in stage[cut:]]

    aligns = ["upper-left", "lower-right"]
    if maybe(2):
        words = [True, "past"] if P else [True, *aligns]
        options["causal"] = draw(st.sampled_from(words))
    if not P and not isinstance(options.get("causal"), str) and maybe(2):
        options["causal_align"] = draw(st.sampled_from(aligns))
    if maybe(3):
        mask = rng.random(broadcastable()) < 0.7
        options["mask"] = mask if maybe(2) else mask.astype(int)
        options["mask_true"] = draw(st.sampled_from(["allowed", "blocked"]))
    if maybe():
        options["padding"] = rng.random((B, S) if "b" in letters and maybe(2) else S) < 0.7
    if maybe():
        per_batch = "b" in letters and maybe(2)
        options["lengths"] = rng.integers(1, S + 1, B).tolist() if per_batch else int(rng.integers(1, S + 1))
    if maybe(3):
        options["window_left"] = draw(st.integers(0, 4))
    if maybe(3):
        options["window_right"] = draw(st.integers(0, 4))
    if maybe():
        options["scale"] = draw(st.sampled_from([0.3, 1.0, -0.7]))
    if maybe():
        options["softcap"] = draw(st.sampled_from([0.8, 30.0]))
    if maybe():
        bias = normal(*broadcastable())
        options["bias"] = np.where(rng.random(bias.shape) < 0.2, -np.inf, bias) if maybe(2) else bias
    if maybe():
        options["alibi"] = True
    elif maybe():
        options["alibi_slopes"] = rng.random(H).tolist()
    if maybe():
        options["sink"] = normal(H).tolist()
    if d > 1 and maybe(3):
        options["rope"] = draw(st.sampled_from(["half", "interleaved"]))
        if maybe(2):
            options["rope_base"] = 100.0
        if maybe(2):
            options["rope_dims"] = draw(st.sampled_from([2, 4]))
        if maybe(2):
            options["rope_offset"] = draw(st.sampled_from([0, 5]))
    return arrays, options
