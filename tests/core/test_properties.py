"""What must hold whatever the numbers are."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import assert_close, assert_same_bits

from attncalc import attention

STAGES = ("raw", "scaled", "capped", "biased", "allowed", "scores", "lse", "weights", "heads", "output")
seeds = st.integers(0, 2**32 - 1)
quick = settings(derandomize=True, max_examples=25, deadline=None)


def arrays(seed, *outer, T=5, S=7, d=4, d_v=3, size=2.0):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(0, size, (*outer, rows, width)) for rows, width in ((T, d), (S, d), (S, d_v)))
    return rng, q, k, v


@quick
@given(seeds, st.sampled_from([0.1, 3.0, 1000.0]))
def test_rows_of_weights_sum_to_one(seed, size):
    _, q, k, v = arrays(seed, 2, 3, size=size)
    weights = attention(q, k, v, causal=True).weights
    assert_close(weights.sum(-1), np.ones((2, 3, 5)))
    assert (weights >= 0).all()


@quick
@given(seeds)
def test_weights_and_sink_sum_to_one(seed):
    rng, q, k, v = arrays(seed, 3)
    sink = rng.normal(size=3)
    result = attention(q, k, v, sink=sink.tolist(), window_left=1)
    assert_close(result.weights.sum(-1) + np.exp(sink[:, None] - result.lse), np.ones((3, 5)))


@quick
@given(seeds)
def test_keys_and_values_may_stand_in_any_order(seed):
    rng, q, k, v = arrays(seed)
    order = rng.permutation(7)
    right, other = attention(q, k, v), attention(q, k[order], v[order])
    assert_close(other.output, right.output)
    assert_close(other.weights, right.weights[:, order])


@quick
@given(seeds)
def test_queries_do_not_see_each_other(seed):
    rng, q, k, v = arrays(seed)
    order = rng.permutation(5)
    assert_close(attention(q[order], k, v).output, attention(q, k, v).output[order])
    assert_close(attention(q[2], k, v).output[0], attention(q, k, v).output[2])


@quick
@given(seeds)
def test_a_constant_along_a_row_of_scores_changes_only_the_lse(seed):
    rng, q, k, v = arrays(seed)
    constant = rng.normal(0, 10, (5, 1))
    right, other = attention(q, k, v, causal=True), attention(q, k, v, causal=True, bias=constant)
    assert_close(other.weights, right.weights)
    assert_close(other.output, right.output)
    assert_close(other.lse, right.lse + constant[:, 0])


@quick
@given(seeds, st.integers(1, 6))
def test_under_a_causal_mask_a_prefix_is_the_answer_of_the_shorter_sequence(seed, n):
    _, q, k, v = arrays(seed, T=7)
    options = {"causal": True, "alibi": True, "rope": "half", "window_left": 3}
    whole, short = attention(q, k, v, **options), attention(q[:n], k[:n], v[:n], **options)
    assert_close(short.output, whole.output[:n])
    assert_close(short.lse, whole.lse[:n])


@quick
@given(seeds, st.integers(1, 6))
def test_the_last_tokens_against_a_cache_give_what_the_full_pass_gives(seed, P):
    _, q, k, v = arrays(seed, 2, T=7)
    whole = attention(q, k, v, causal=True, alibi=True, window_left=3)
    cached = attention(
        q[:, P:],
        k[:, P:],
        v[:, P:],
        past_key=k[:, :P],
        past_value=v[:, :P],
        causal=True,
        alibi=True,
        window_left=3,
    )
    level = attention(q[:, P:], k, v, causal="lower-right", alibi=True, window_left=3)
    for other in (cached, level):
        assert_close(other.output, whole.output[:, P:])
        assert_close(other.weights, whole.weights[:, P:])


@quick
@given(seeds)
def test_masked_keys_are_as_if_they_were_not_there(seed):
    _, q, k, v = arrays(seed)
    short = attention(q, k[:4], v[:4])
    for options in ({"lengths": 4}, {"padding": [1, 1, 1, 1, 0, 0, 0]}, {"mask": [1, 1, 1, 1, 0, 0, 0]}):
        long = attention(q, k, v, **options)
        assert_close(long.output, short.output)
        assert_close(long.lse, short.lse)
        assert (long.weights[:, 4:] == 0).all()


@quick
@given(seeds)
def test_sequences_and_heads_are_independent(seed):
    rng, q, k, v = arrays(seed, 2, 3)
    bias = rng.normal(size=(2, 3, 5, 7))
    whole = attention(q, k, v, bias=bias, lengths=[7, 4])
    for b, h in np.ndindex(2, 3):
        alone = attention(q[b, h], k[b, h], v[b, h], bias=bias[b, h], lengths=(7, 4)[b])
        assert_close(whole.output[b, h], alone.output)
        assert_close(whole.scores[b, h], alone.scores)


@quick
@given(seeds)
def test_shared_keys_are_the_same_as_repeated_ones(seed):
    _, q, _, _ = arrays(seed, 2, 6)
    _, _, k, v = arrays(seed + 1, 2, 3)
    shared = attention(q, k, v, causal=True)
    repeated = attention(q, k.repeat(2, axis=1), v.repeat(2, axis=1), causal=True)
    assert_close(shared.output, repeated.output)


@quick
@given(seeds, st.integers(0, 40))
def test_rope_sees_distances_only(seed, offset):
    _, q, k, v = arrays(seed)
    here, there = attention(q, k, v, rope="half"), attention(q, k, v, rope="half", rope_offset=offset)
    assert_close(there.raw, here.raw, rtol=1e-11, atol=1e-11)


@quick
@given(seeds)
def test_a_scale_may_as_well_be_on_the_queries(seed):
    _, q, k, v = arrays(seed)
    assert_close(attention(q, k, v, scale=0.3).output, attention(0.3 * q, k, v, scale=1).output)


@quick
@given(seeds)
def test_outputs_lie_within_the_values(seed):
    _, q, k, v = arrays(seed, size=5)
    output = attention(q, k, v).output
    slack = 1e-14 * np.abs(v).max()
    assert (output <= v.max(0) + slack).all()
    assert (output >= v.min(0) - slack).all()


OPTIONS = {
    "causal": "lower-right",
    "mask": np.array([[1, 1, 1, 0, 1, 1, 1]]),
    "padding": np.array([[1, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 0, 0]]),
    "lengths": np.array([7, 6]),
    "bias": np.full((5, 7), 0.25),
    "alibi_slopes": np.array([0.5, 0.25, 0.125]),
    "sink": np.array([0.0, 0.5, 1.0]),
    "softcap": 10.0,
    "rope": "interleaved",
    "scale": 0.4,
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("own", [np.float64, np.float32])
def test_inputs_are_never_written_to(own, dtype):
    _, q, k, v = arrays(3, 2, 3)
    inputs = {"query": q.astype(own), "key": k.astype(own), "value": v.astype(own)}
    copies = {name: array.copy() for name, array in inputs.items()}
    options = {name: value.copy() if hasattr(value, "copy") else value for name, value in OPTIONS.items()}
    for array in [*inputs.values(), *(o for o in options.values() if isinstance(o, np.ndarray))]:
        array.flags.writeable = False
    result = attention(**inputs, **options, dtype=dtype)
    assert np.isfinite(result.output).all()
    for name, array in inputs.items():
        assert_same_bits(array, copies[name], name)
        assert array.dtype == own
    for name, value in options.items():
        assert np.array_equal(value, OPTIONS[name]), name


def test_writable_inputs_are_not_written_to_either_and_stay_writable():
    _, q, k, v = arrays(3)
    copies = [array.copy() for array in (q, k, v)]
    attention(q, k, v, rope="half", past_key=k[:2], past_value=v[:2])
    for array, copy in zip((q, k, v), copies, strict=True):
        assert_same_bits(array, copy)
        assert array.flags.writeable


def test_results_are_read_only_and_share_nothing_with_the_inputs():
    _, q, k, v = arrays(3)
    result = attention(q, k, v, scale=1)
    for stage in STAGES:
        array = getattr(result, stage)
        assert isinstance(array, np.ndarray)
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        for given_array in (q, k, v):
            assert not np.shares_memory(array, given_array)


@pytest.mark.parametrize(
    "change", [np.asfortranarray, lambda a: a[::-1][::-1], lambda a: a.astype(">f8"), np.ndarray.tolist]
)
def test_order_in_memory_and_of_bytes_does_not_matter(change):
    _, q, k, v = arrays(3)
    right = attention(q, k, v, causal=True)
    assert_close(attention(change(q), change(k), change(v), causal=True).output, right.output)


@quick
@given(seeds, st.sampled_from([1, 3, 64, 300]), st.booleans())
def test_the_output_alone_is_that_of_the_full_run(seed, S, causal):
    _, q, k, v = arrays(seed, 2, 3, T=17, S=S)
    options = {"causal": "lower-right" if causal else None, "empty_rows": "zero"}
    whole = attention(q, k, v, **options)
    lean = attention(q, k, v, **options, stages=("output",))
    assert_close(lean.output, whole.output)
    assert lean.output.shape == whole.output.shape
    assert_close(attention(q, k, v, **options, stages=("lse",)).lse, whole.lse)


def test_only_what_is_named_is_given():
    _, q, k, v = arrays(3)
    result = attention(q, k, v, stages=("weights", "output"))
    assert result.weights.shape == (5, 7)
    assert result.output.shape == (5, 3)
    for stage in set(STAGES) - {"weights", "output"}:
        assert getattr(result, stage, None) is None, stage


def test_no_table_of_all_queries_and_keys_is_built_for_the_output():
    n = 6000  # one table of n × n doubles has 288 MB
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, n, 8))
    tracemalloc.start()
    try:
        result = attention(q, k, v, causal=True, stages=("output", "lse"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n * n
    some = [0, 1, 999, n - 1]
    for i in some:
        scores = k[: i + 1] @ q[i] / np.sqrt(8)
        assert result.lse[i] == pytest.approx(np.logaddexp.reduce(scores), rel=1e-12)


def test_the_same_call_gives_the_same_bits():
    _, q, k, v = arrays(3, 2, 3, T=50, S=50)
    assert_same_bits(attention(q, k, v).output, attention(q, k, v).output)


def test_nothing_is_printed(capfd):
    _, q, k, v = arrays(3)
    attention(q, k, v, causal=True)
    assert capfd.readouterr() == ("", "")
