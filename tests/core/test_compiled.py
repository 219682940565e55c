"""The compiled step of the online softmax does what the one in NumPy does, as exactly."""

import sys

import mpmath
import numpy as np
import pytest
from oracle import assert_close

from attncalc import attention
from attncalc.core import compiled, tiled

pytest.importorskip("llvmlite")

TYPES = (np.float32, np.float64)


def fresh(rows, dtype):
    """m and l before any key has been seen."""
    return np.full((rows, 1), -np.inf, dtype), np.zeros((rows, 1), dtype)


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -80), (np.float64, -700)])
def test_exp_is_right_to_two_units_in_the_last_place(dtype, lowest):
    rng = np.random.default_rng(0)
    x = np.concatenate([[0], rng.uniform(lowest, 0, 2000), -rng.exponential(1, 2000), -(2.0 ** -np.arange(60))])
    S = x.astype(dtype)[np.newaxis]
    exact = [mpmath.exp(mpmath.mpf(float(each))) for each in S[0]]
    compiled.update(np.dtype(dtype))(S, *fresh(1, dtype))
    worst = max(abs((mpmath.mpf(float(found)) - true) / true) for found, true in zip(S[0], exact, strict=True))
    assert worst < 2 * np.finfo(dtype).eps
    assert S[0, 0] == 1


@pytest.mark.parametrize("dtype", TYPES)
def test_what_vanishes_is_zero_and_nan_stays(dtype):
    S = np.array([[0, -np.inf, -1e4, -np.finfo(dtype).max], [0, 1, np.nan, 2]], dtype)
    m, total = fresh(2, dtype)
    compiled.update(np.dtype(dtype))(S, m, total)
    assert S[0].tolist() == [1, 0, 0, 0]
    assert (m[0], total[0]) == (0, 1)
    assert np.isnan(S[1, 2])
    assert np.isnan(total[1])


@pytest.mark.parametrize("dtype", TYPES)
def test_a_row_without_a_key_stays_as_it_was(dtype):
    S = np.full((1, 5), -np.inf, dtype)
    m, total = fresh(1, dtype)
    assert compiled.update(np.dtype(dtype))(S, m, total)[0] == 0
    assert (m[0], total[0]) == (-np.inf, 0)
    assert not S.any()
    m[0], total[0], S[:] = 3, 7, -np.inf
    assert compiled.update(np.dtype(dtype))(S, m, total)[0] == 1
    assert (m[0], total[0]) == (3, 7)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [1, 30, 1e4])
def test_it_agrees_with_numpy_for_every_width_of_a_block(dtype, size):
    rng = np.random.default_rng(0)
    one, other = fresh(3, dtype), fresh(3, dtype)
    for columns in [*range(1, 70), 512]:
        memory = rng.normal(0, size, (3, columns + columns % 3)).astype(dtype)
        a, b = memory.copy()[:, :columns], memory.copy()[:, :columns]
        rest = memory[:, columns:].copy()
        shrinks = tiled.update(a, *one), compiled.update(np.dtype(dtype))(b, *other)
        tolerance = 8 * np.finfo(dtype).eps
        for found, expected in ((shrinks[1], shrinks[0]), (b, a), (other[1], one[1])):
            assert_close(found, expected, rtol=tolerance, atol=4 * np.finfo(dtype).tiny)
        assert np.array_equal(other[0], one[0])
        assert np.array_equal(memory[:, columns:], rest)


@pytest.mark.parametrize("failure", [ImportError, OSError])
def test_without_llvmlite_the_step_in_numpy_is_taken(failure, monkeypatch):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(40, 4)) for _ in range(3)]
    monkeypatch.setattr("attncalc.api.SMALL", 0)
    expected = attention(*arrays, stages=("output",)).output

    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "llvmlite":
                raise failure("it does not load")

    for name in [name for name in sys.modules if name.partition(".")[0] == "llvmlite"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    monkeypatch.setattr(compiled, "update", compiled.update.__wrapped__)
    monkeypatch.setattr(tiled, "COMPILED_BYTES", 0)
    assert compiled.update(np.dtype(float)) is None
    assert np.array_equal(attention(*arrays, stages=("output",)).output, expected)
