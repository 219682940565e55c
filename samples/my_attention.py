"""An attention as one might write it; `attncalc verify --python my_attention:attention` says what it gets wrong."""

import numpy as np


def attention(q, k, v, *, causal=None, scale=None):
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal is not None:
        scores = scores * np.tril(np.ones(scores.shape[-2:]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v
