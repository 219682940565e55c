"""The gradient of a loss with respect to Q, K and V, by formula, from the stages of a run.

With dX for the gradient of the loss with respect to X, the walk of ``steps.py`` is taken backwards:

    dO = dOutput · Woᵀ, split into heads          output projection and merge, where there are any
    dV = Wᵀ · dO                                  mix
    dW = dO · Vᵀ
    dS = W ∘ (dW − rowsum(W ∘ dW))                softmax; 0 where blocked
    dScaled = dS ∘ (1 − (capped / c)²)            soft cap: the derivative of c · tanh(x / c)
    dRaw = dScaled × scale                        scale
    dQ = dRaw · K,   dK = dRawᵀ · Q               product
    turned back by the angle of their position    RoPE

The formula of the softmax is that of FlashAttention (arXiv:2205.14135, appendix B.2).  It holds with a sink as well:
the sink has a weight and no value, so that it adds nothing to rowsum(W ∘ dW).  A bias, ALiBi's too, is a constant and
only passes dS on.  Query heads that share a key/value head add up their dK and dV.
"""

from dataclasses import dataclass

import numpy as np

from attncalc.core import heads, positions
from attncalc.core.heads import grouped_matmul
from attncalc.core.rules import Rules
from attncalc.core.shapes import Array
from attncalc.core.steps import RIGHT, Inputs, Stages, run


@dataclass(frozen=True)
class Gradient:
    """What the walk backwards passes, in our order of axes.

    Attributes:
        stages: the run forwards.
        heads: dO, (B, H, T, d_v): the gradient with respect to the output of every head.
        weights: dW, (B, H, T, S), 0 where blocked.
        scores: dS, (B, H, T, S), 0 where blocked and for queries without any key.
        scaled: (B, H, T, S): through the soft cap.
        raw: (B, H, T, S): through the scale.
        query: dQ as Q came in: (B, H, T, d), or packed (B, T, H·d); of the projected Q where there is a projection.
        key: dK of the new keys, (B, G, S − P, d), or packed.
        value: dV of the new values, (B, G, S − P, d_v), or packed.
    """

    stages: Stages
    heads: Array
    weights: Array
    scores: Array
    scaled: Array
    raw: Array
    query: Array
    key: Array
    value: Array


@np.errstate(over="ignore", invalid="ignore")  # NaN and infinity are found and named afterwards
def gradient(inputs: Inputs, rules: Rules, output: Array) -> Gradient:
    """Walk forwards, then backwards.

    Every array of the way back is rounded once to the type of the rules, as the stages are.

    Args:
        inputs: what attention is computed from.
        rules: the rules in force.
        output: the gradient of the loss with respect to the output, shaped as the output in our order of axes.
    """
    s = run(RIGHT, inputs, rules)
    exact = rules.arithmetic.round
    P = inputs.sizes.P
    d_heads = exact(of_heads(inputs, exact(output)))  # (B, H, T, d_v)
    d_weights = exact(of_weights(s, d_heads))  # (B, H, T, S)
    d_scores = exact(of_scores(s, d_weights))
    d_scaled = exact(of_scaled(s, d_scores))
    d_raw = exact(d_scaled * d_scaled.dtype.type(rules.scale))
    d_query = exact(grouped_matmul(d_raw, finite(s.key)))  # (B, H, T, S) @ (B, G, S, d) -> (B, H, T, d)
    d_key = exact(shared(d_raw, s.query, inputs.sizes.G))[:, :, P:]  # (B, G, S − P, d)
    d_value = exact(shared(s.weights, d_heads, inputs.sizes.G))[:, :, P:]
    if rules.rope is not None:
        d_query = exact(positions.rotate(d_query, rules.rope, back=True))
        d_key = exact(positions.rotate(d_key, rules.rope, back=True))
    if inputs.packed:
        d_query, d_key, d_value = heads.merge(d_query), heads.merge(d_key), heads.merge(d_value)
    return Gradient(s, d_heads, d_weights, d_scores, d_scaled, d_raw, d_query, d_key, d_value)


def of_heads(inputs: Inputs, output: Array) -> Array:
    """Return dO: back through the output projection and the merge of heads."""
    layer = inputs.projection
    if layer is not None and layer.wo is not None:
        output = output @ layer.wo.T  # (B, T, E'') @ (E'', H·d_v) -> (B, T, H·d_v)
    return heads.split(output, inputs.sizes.H) if inputs.packed else output


def of_weights(s: Stages, d_heads: Array) -> Array:
    """Return dW = dO · Vᵀ: (B, H, T, d_v) @ (B, G, d_v, S) -> (B, H, T, S); 0 where blocked.

    A blocked key has the weight 0 whatever the scores are, so nothing reaches the loss through it.
    """
    return np.where(s.allowed, grouped_matmul(d_heads, finite(s.value).swapaxes(-1, -2)), d_heads.dtype.type(0))


def of_scores(s: Stages, d_weights: Array) -> Array:
    """Return dS = W ∘ (dW − rowsum(W ∘ dW)), 0 where blocked.

    The weights of a query without any key do not depend on its scores, so its dS is 0, and NaN where its weights
    are NaN.
    """
    row = (s.weights * d_weights).sum(axis=-1, keepdims=True)  # (B, H, T, 1)
    d_scores: Array = s.weights * (d_weights - row)
    if s.rules.empty_rows == "nan":
        return np.where(s.allowed | np.isnan(s.weights), d_scores, d_scores.dtype.type(0))
    return np.where(s.allowed, d_scores, d_scores.dtype.type(0))


def of_scaled(s: Stages, d_scores: Array) -> Array:
    """Return the gradient through the soft cap: dS ∘ (1 − (capped / c)²); without a cap, dS itself."""
    if s.rules.softcap is None:
        return d_scores
    c = s.capped.dtype.type(s.rules.softcap)
    if c == 0:  # in this type
        return np.zeros_like(d_scores)
    tanh = np.where(s.allowed, s.capped / c, c.dtype.type(0))
    slope: Array = 1 - tanh * tanh
    return d_scores * slope


def shared(left: Array, right: Array, G: int) -> Array:
    """Return leftᵀ · right, added up over the query heads that share a key/value head.

    (B, H, T, S), (B, H, T, n) -> (B, G, S, n).
    """
    B, H, T, S = left.shape
    rows = left.reshape(B, G, H // G * T, S)  # heads of a group one under the other: summing rows sums heads
    columns = right.reshape(B, G, H // G * T, right.shape[-1])
    product: Array = rows.swapaxes(-1, -2) @ columns
    return product


def finite(array: Array) -> Array:
    """Clear NaN and infinity, which can only stand in rows that no query may attend to."""
    return array if np.isfinite(array).all() else np.where(np.isfinite(array), array, array.dtype.type(0))
