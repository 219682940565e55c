"""Mistakes with the matrices of a layer, from formulas in plain loops."""

import numpy as np
import pytest
from oracle import attend, project, project_out

from attncalc import attention, check

RNG = np.random.default_rng(5)
HEADS = 2
X = RNG.normal(size=(3, 4)).round(3)
LAYER = {name: RNG.normal(size=(4, 4)).round(3).tolist() for name in ("wq", "wk", "wv", "wo")}
BIASES = {name: RNG.normal(size=4).round(3).tolist() for name in ("bq", "bk", "bv", "bo")}
WEIGHTS = LAYER | BIASES


def answer(inside, outside):
    """Project with some matrices, attend, and project out with others."""
    q, k, v = project(X, inside)
    return np.array(project_out(attend(q, k, v, heads=HEADS)["output"], outside))


def turned(*names):
    return WEIGHTS | {name: np.array(WEIGHTS[name]).T.tolist() for name in names}


def without(*names):
    return {name: array for name, array in WEIGHTS.items() if name not in names}


INSIDE, OUTSIDE = ("wq", "wk", "wv"), ("wo",)
FORMS = [
    ("projection-transposed", turned(*INSIDE), turned(*OUTSIDE)),
    ("projection-transposed", turned(*INSIDE), WEIGHTS),
    ("projection-transposed", WEIGHTS, turned(*OUTSIDE)),
    ("projection-bias-missing", LAYER, LAYER),
    ("projection-bias-missing", without("bq", "bk", "bv"), WEIGHTS),
    ("projection-bias-missing", WEIGHTS, without("bo")),
    ("output-projection-missing", WEIGHTS, {}),
]


def test_the_plain_projection_is_right():
    right = attention(x=X, weights=WEIGHTS, heads=HEADS).output
    assert np.allclose(answer(WEIGHTS, WEIGHTS), right, rtol=1e-11)


@pytest.mark.parametrize(("id", "inside", "outside"), FORMS)
def test_mistakes_with_a_layer_are_named_first(id, inside, outside):
    verdict = check(answer(inside, outside), x=X, weights=WEIGHTS, heads=HEADS)
    assert not verdict
    assert verdict.mistakes[0].ids == (id,)


def test_a_missing_projection_is_named_by_its_shape():
    wide = WEIGHTS | {"wo": RNG.normal(size=(4, 7)).tolist(), "bo": RNG.normal(size=7).tolist()}
    verdict = check(answer(wide, {}), x=X, weights=wide, heads=HEADS)
    assert verdict.comparison is None
    assert verdict.ids == ("output-projection-missing",)


def test_a_bias_on_keys_alone_cancels():
    only = LAYER | {"bk": [5.0, -3.0, 2.0, 1.0]}
    assert check(answer(LAYER, LAYER), x=X, weights=only, heads=HEADS)
