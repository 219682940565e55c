"""The experiment behind 1/√d: what statistics says, within what the number of samples allows."""

import math

import numpy as np
import pytest
from oracle import assert_close

from attncalc.errors import OptionError
from attncalc.study.scaling import KEYS, products, scaling


def test_the_variance_is_d_and_with_the_scale_1():
    for row in scaling([4, 64, 1024], samples=400, seed=1):
        assert row.variance == pytest.approx(row.d, rel=0.1)
        assert row.variance_scaled == pytest.approx(1, rel=0.1)
        assert row.variance_scaled * row.d == pytest.approx(row.variance, rel=1e-12)


def test_without_the_scale_one_key_takes_all():
    narrow, wide = scaling([4, 4096], samples=100)
    assert wide.max_weight > 0.95 > 0.6 > narrow.max_weight
    assert wide.entropy < 0.1 < 1 < narrow.entropy
    assert wide.gradient < 0.1 < narrow.gradient


def test_with_the_scale_nothing_depends_on_the_width():
    narrow, wide = scaling([8, 2048], samples=400)
    assert wide.max_weight_scaled == pytest.approx(narrow.max_weight_scaled, abs=0.03)
    assert wide.entropy_scaled == pytest.approx(narrow.entropy_scaled, abs=0.08)
    assert wide.gradient_scaled == pytest.approx(narrow.gradient_scaled, abs=0.03)
    assert 0 < wide.entropy_scaled < math.log(KEYS)


def test_the_statistics_by_hand():
    """The same numbers from the products, in loops, with the derivative written out."""
    raw = products(8, 5, np.random.default_rng((7, 8)))
    row = scaling([8], samples=5, seed=7)[0]
    entropy, largest, size = [], [], []
    for logits in (raw / math.sqrt(8)).tolist():
        e = [math.exp(x) for x in logits]
        w = [x / sum(e) for x in e]
        entropy.append(-sum(x * math.log(x) for x in w))
        largest.append(max(w))
        square = sum((w[a] * ((a == b) - w[b])) ** 2 for a in range(KEYS) for b in range(KEYS))
        size.append(math.sqrt(square))
    assert_close(row.entropy_scaled, np.mean(entropy))
    assert_close(row.max_weight_scaled, np.mean(largest))
    assert_close(row.gradient_scaled, np.mean(size))
    assert_close(row.variance, np.mean((raw - raw.mean()) ** 2))


def test_a_seed_gives_the_same_numbers_whatever_the_other_widths_are():
    assert scaling([16], samples=50, seed=3)[0] == scaling([4, 16], samples=50, seed=3)[1]
    assert scaling([16], samples=50, seed=3) != scaling([16], samples=50, seed=4)


def test_the_products_do_not_depend_on_how_many_are_held_together(monkeypatch):
    whole = products(32, 40, np.random.default_rng(0))
    assert whole.shape == (40, KEYS)
    monkeypatch.setattr("attncalc.study.scaling.AT_ONCE", 32 * (KEYS + 1) * 7)
    assert products(32, 40, np.random.default_rng(0)).shape == (40, KEYS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dims": [0]}, "a width must be 1 or more, not 0"),
        ({"samples": 1}, "2 samples or more, not 1"),
        ({"seed": -1}, "a seed must be 0 or more"),
    ],
)
def test_impossible_experiments_are_refused(arguments, message):
    with pytest.raises(OptionError, match=message):
        scaling(**{"dims": [4], **arguments})
