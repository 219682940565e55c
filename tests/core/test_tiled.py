"""The fast path and the definition give the same answer, whatever the options and wherever blocks end."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from oracle import EmptyRowError, assert_close, attend
from oracle.problems import problems

from attncalc import AttnCalcError, attention
from attncalc.core import compiled, threads, tiled
from attncalc.core.prepare import prepare
from attncalc.core.rows import run_in_rows
from attncalc.core.steps import RIGHT

KEPT = ("lse", "heads", "output")


@pytest.fixture(scope="module", autouse=True, params=["plain", "compiled"])
def small_blocks(request):
    """Blocks of a few queries and keys, so that small problems have many; and the two ways to look at one."""
    if request.param == "compiled" and compiled.update(np.dtype(float)) is None:
        pytest.skip("llvmlite is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiled, "COMPILED_BYTES", 0 if request.param == "compiled" else 2**62)
        patch.setattr(tiled, "ROWS", 3)
        patch.setattr(tiled, "BLOCK_BYTES", 2 * 3 * 8)
        patch.setattr(tiled, "STRETCH", 4)
        yield


def both(*arrays, wanted=KEPT, **options):
    """Compute by blocks and by the definition."""
    problem = prepare(*arrays, **options)
    fast = tiled.run_in_tiles(problem.inputs, problem.rules, wanted)
    assert fast is not None
    plain = run_in_rows(RIGHT, problem.inputs, problem.rules, wanted)
    return fast, plain


def normal(*shapes, seed=0, size=1.0, dtype=float):
    rng = np.random.default_rng(seed)
    return [rng.normal(0, size, shape).astype(dtype) for shape in shapes]


@settings(derandomize=True, max_examples=100, deadline=None)
@given(problems())
def test_output_and_lse_are_the_oracles(problem):
    arrays, options = problem
    try:
        expected = attend(*arrays, **options)
    except EmptyRowError:
        with pytest.raises(AttnCalcError, match=r"may attend to no key"):
            prepare(*arrays, **options)
        return
    prepared = prepare(*arrays, **options)
    found = tiled.run_in_tiles(prepared.inputs, prepared.rules, KEPT)
    assert_close(prepared.layout.original(found["output"]), expected["output"], rtol=1e-11, atol=1e-12, what="output")
    for stage in ("lse", "heads"):
        assert_close(prepared.layout.stage(found[stage]), expected[stage], rtol=1e-11, atol=1e-12, what=stage)


@pytest.mark.parametrize("size", [1e2, 1e4])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"softcap": 50.0, "sink": [3.0]}])
def test_large_scores_neither_overflow_nor_vanish(size, options):
    q, k, v = normal((7, 4), (11, 4), (11, 3))
    fast, plain = both(q[None] * size, k[None], v[None], **options)
    assert np.abs(plain["lse"]).max() > 20
    for stage in KEPT:
        assert_close(fast[stage], plain[stage])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_narrow_types_are_rounded_at_both_ends(dtype):
    q, k, v = normal((7, 4), (11, 4), (11, 3))
    fast, plain = both(q, k, v, dtype=dtype, causal=True)
    tolerance = {"float32": 1e-6, "float16": 4e-3, "bfloat16": 4e-2}[dtype]
    exact = attention(q, k, v, causal=True)
    for stage in KEPT:
        assert fast[stage].dtype == ("float16" if dtype == "float16" else "float32")
        assert_close(fast[stage], plain[stage], rtol=tolerance, atol=tolerance)
    error = np.abs(fast["output"] - exact.output).max()
    assert 0 < error <= tolerance


def test_a_bias_of_minus_infinity_blocks():
    q, k, v, bias = normal((7, 4), (11, 4), (11, 3), (7, 11))
    bias[2, :] = bias[:, 5] = bias[4, 3:] = -np.inf
    for policy in ("zero", "nan", "uniform"):
        fast, plain = both(q, k, v, bias=bias, empty_rows=policy)
        assert np.isneginf(fast["lse"][0, 0, 2])
        for stage in KEPT:
            assert_close(fast[stage], plain[stage])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["key", "value"])
def test_what_stands_in_blocked_keys_and_values_changes_nothing(name, bad):
    given = dict(zip(("query", "key", "value"), normal((2, 7, 4), (2, 11, 4), (2, 11, 3)), strict=True))
    options = {"layout": "btd", "lengths": [9, 5], "window_left": 4, "empty_rows": "zero"}
    clean, _ = both(**given, **options)
    given[name][0, 9:] = given[name][1, 5:] = bad
    fast, plain = both(**given, **options)
    for stage in KEPT:
        assert np.array_equal(fast[stage], clean[stage])
        assert_close(fast[stage], plain[stage])


def test_the_mean_of_all_values_is_that_of_blocked_ones_too():
    q, k, v = normal((7, 4), (11, 4), (11, 3))
    v[10, 1] = np.nan
    fast, plain = both(q, k, v, lengths=10, causal="lower-right", window_right=0, window_left=0, empty_rows="uniform")
    assert np.array_equal(np.isnan(fast["output"]), np.isnan(plain["output"]))
    again, as_well = both(q, k, v, mask=np.zeros((7, 11)), empty_rows="uniform")
    assert np.isnan(again["output"][..., 1]).all()
    assert_close(again["output"], as_well["output"])


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_answer_does_not_depend_on_the_number_of_threads(workers, monkeypatch):
    q, k, v = normal((2, 17, 4), (2, 19, 4), (2, 19, 3))
    alone, _ = both(q, k, v, causal=True)
    monkeypatch.setattr(threads, "cores", lambda: workers)
    many, _ = both(q, k, v, causal=True)
    for stage in KEPT:
        assert np.array_equal(many[stage], alone[stage])


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"causal": True}, 0.7),
        ({"window_left": 2, "window_right": 0}, 0.4),
        ({"lengths": 5}, 0.45),
        ({"padding": [1] * 5 + [0] * 25}, 0.45),
        ({"mask": np.arange(30) < 5}, 0.45),
    ],
)
def test_blocks_that_are_blocked_are_skipped(options, most, monkeypatch):
    q, k, v = normal((30, 4), (30, 4), (30, 3))
    seen = []
    adjust = tiled.adjust
    monkeypatch.setattr(tiled, "adjust", lambda S, *rest: (seen.append(S.size), adjust(S, *rest))[1])
    both(q, k, v)
    every = sum(seen)
    seen.clear()
    both(q, k, v, **options)
    assert 0 < sum(seen) < most * every


def test_numbers_that_could_overflow_are_left_to_the_definition(monkeypatch):
    monkeypatch.setattr("attncalc.api.SMALL", 0)
    with pytest.raises(AttnCalcError, match=r"raw is infinite at query 1, key 0"):
        attention([[1.0], [1e300]], [[1e300], [2.0]], [[1.0], [2.0]], stages=("output",))
    noted = attention([[1.0], [1e30]], [[1e30], [2.0]], [[1.0], [2.0]], stages=("output",), dtype="float32")
    assert "raw is infinite at query 1, key 0" in noted.notes[0]
    largest = np.finfo(np.float64).max / 2  # three times as much is infinite, and their mean is not
    mean = attention([[0.0]], [[1.0]] * 3, [[largest]] * 3, stages=("output",)).output
    assert_close(mean, [[largest]])


def test_sums_that_are_too_large_for_float16_are_computed_in_float32():
    q, k, v = normal((3, 4), (300, 4), (300, 3))
    v *= 1e4 / np.abs(v).max()
    fast, plain = both(q, k, v, dtype="float16")
    assert_close(fast["output"], plain["output"], rtol=4e-3, atol=4e-3 * 1e4)


def test_what_was_nan_before_it_was_turned_is_blocked():
    q, k, v = normal((7, 4), (11, 4), (11, 3))
    k[9:] = v[9:] = np.nan
    fast, plain = both(q, k, v, lengths=9, rope="half")
    for stage in KEPT:
        assert_close(fast[stage], plain[stage])


def test_stages_are_those_that_are_asked_for_and_inputs_are_not_written_to(monkeypatch):
    monkeypatch.setattr("attncalc.api.SMALL", 0)
    arrays = normal((7, 4), (11, 4), (11, 3), dtype=np.float32)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    result = attention(*arrays, stages=("query", "output"))
    assert set(result.stages) == {"query", "output"}
    assert result.query.dtype == result.output.dtype == np.float64
    for array, was in zip(arrays, before, strict=True):
        assert np.array_equal(array, was)


def test_progress_ends_at_one():
    problem = prepare(*normal((17, 4), (11, 4), (11, 3)), causal=True)
    told = []
    tiled.run_in_tiles(problem.inputs, problem.rules, KEPT, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1


def test_threads_of_the_library_are_given_back_after_an_exception():
    controller = pytest.importorskip("threadpoolctl").ThreadpoolController
    before = controller().info()
    problem = prepare(*normal((17, 4), (11, 4), (11, 3)))

    def fail(share):
        assert all(each["num_threads"] == 1 for each in controller().info())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiled.run_in_tiles(problem.inputs, problem.rules, KEPT, progress=fail)
    assert controller().info() == before


def test_calls_that_have_not_begun_are_given_up_when_one_fails():
    begun = []

    def call(n):
        begun.append(n)
        assert n < 3, "the third"

    calls = [lambda n=n: call(n) for n in range(1000)]
    with pytest.raises(AssertionError, match="the third"):
        list(threads.in_order(calls, 2))
    assert len(begun) < 50


def test_results_come_in_the_order_of_the_calls():
    for workers in (1, 3):
        assert list(threads.in_order([lambda n=n: n * n for n in range(50)], workers)) == [n * n for n in range(50)]


def test_memory_is_that_of_the_output_and_little_more(monkeypatch):
    monkeypatch.setattr(tiled, "ROWS", 256)
    monkeypatch.setattr(tiled, "BLOCK_BYTES", 2**19)
    monkeypatch.setattr(tiled, "STRETCH", 2**14)
    arrays = normal((2**15, 16), (2**15, 16), (2**15, 16), dtype=np.float32)
    tracemalloc.start()
    result = attention(*arrays, window_left=100, causal=True, stages=("output",), dtype="float32")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.output.dtype == np.float32
    assert peak < result.output.nbytes + 10e6  # one stage would be 4 GB, and a float64 copy of the inputs 12 MB
