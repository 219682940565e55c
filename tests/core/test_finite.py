"""Empty queries and attended keys, counted from where masks begin and end, are those of the mask itself."""

import numpy as np
from hypothesis import given, settings
from oracle.problems import problems

from attncalc.core import finite, masks
from attncalc.core.prepare import prepare


@settings(derandomize=True, max_examples=100, deadline=None)
@given(problems())
def test_they_are_those_of_the_mask(problem):
    arrays, options = problem
    prepared = prepare(*arrays, **options | {"empty_rows": "zero"})
    rules, sizes = prepared.rules, prepared.sizes
    allowed = masks.allowed(rules, sizes, np.arange(sizes.T), np.arange(sizes.S))
    empty = np.broadcast_to(finite.empty_queries(rules, sizes), allowed.shape[:-1])
    assert np.array_equal(empty, ~allowed.any(axis=-1))
    attended = allowed.any(axis=-2).reshape(sizes.B, sizes.G, -1, sizes.S).any(axis=2)
    assert np.array_equal(finite.attended_keys(rules, sizes), attended)
