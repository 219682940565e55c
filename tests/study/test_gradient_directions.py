"""Gradients under random combinations of every option: the slope along a random direction, in fifty digits."""

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import attend

from attncalc.core.prepare import prepare
from attncalc.study.gradient import differentiate

STEP = mpmath.mpf(10) ** -20


@st.composite
def problems(draw):
    """Give q, k, v and options; every option is there in one example of two."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    packed, batch = draw(st.booleans()), draw(st.sampled_from([None, 2]))
    G, share = draw(st.sampled_from([(1, 1), (1, 3), (2, 2)]))
    T, new, P, d, d_v = draw(st.sampled_from([(2, 3, 0, 4, 3), (3, 2, 2, 2, 1), (1, 3, 1, 4, 2)]))
    H, S = G * share, P + new

    def rows(heads, count, width):
        shape = (count, heads * width) if packed else (heads, count, width)
        return rng.normal(size=shape if batch is None else (batch, *shape))

    def maybe(**options):
        return options if draw(st.booleans()) else {}

    arrays = rows(H, T, d), rows(G, new, d), rows(G, new, d_v)
    options = {"empty_rows": draw(st.sampled_from(["zero", "uniform"]))}
    options |= {"heads": H, "kv_heads": G} if packed else {}
    options |= {"past_key": rows(G, P, d), "past_value": rows(G, P, d_v)} if P else {}
    if not packed and batch is None:
        options["layout"] = "htd"
    elif not packed:
        options["layout"] = "bhtd"
    options |= maybe(causal=True)
    options |= maybe(mask=rng.random((T, S)) > 0.3)
    options |= maybe(padding=rng.random(S) > 0.3)
    options |= maybe(window_left=1) | maybe(window_right=1)
    options |= maybe(scale=float(rng.normal())) | maybe(softcap=1.3)
    options |= maybe(bias=np.where(rng.random((H, T, S)) > 0.1, rng.normal(size=(H, T, S)), -np.inf))
    options |= maybe(alibi=True) | maybe(sink=rng.normal(size=H))
    options |= maybe(rope=draw(st.sampled_from(["half", "interleaved"])), rope_base=7.0)
    return arrays, options


def flat(nested):
    return [x for each in nested for x in flat(each)] if isinstance(nested, list) else [nested]


def moved(array, direction, step):
    """Give array + step · direction in fifty digits, as nested lists."""
    if array.ndim == 0:
        return mpmath.mpf(float(array)) + step * mpmath.mpf(float(direction))
    return [moved(a, b, step) for a, b in zip(array, direction, strict=True)]


@given(problems(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_slope_along_any_direction(problem, seed):
    arrays, options = problem
    prepared = prepare(*arrays, **options)
    rng = np.random.default_rng(seed)
    grad = rng.normal(size=prepared.output_shape)
    directions = [rng.normal(size=array.shape) for array in arrays]
    found = differentiate(prepared, grad)

    def loss(step):
        at = [moved(array, direction, step) for array, direction in zip(arrays, directions, strict=True)]
        outputs = flat(attend(*at, number=mpmath.mpf, **options)["output"])
        return mpmath.fsum(g * o for g, o in zip(grad.ravel().tolist(), outputs, strict=True))

    expected = float((loss(STEP) - loss(-STEP)) / (2 * STEP))
    terms = [array * direction for array, direction in zip(found.arrays.values(), directions, strict=True)]
    size = sum(np.abs(term).sum() for term in terms)
    assert abs(sum(term.sum() for term in terms) - expected) <= 1e-13 * max(size, 1)
