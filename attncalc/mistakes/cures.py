"""What to write instead, for numpy and for PyTorch; q, k, v are (B, H, T, d), masks are True = may attend."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cure:
    """What to write instead, in code, which is the same in every language."""

    numpy: str
    torch: str

    def __str__(self) -> str:
        return f"numpy: {self.numpy}\nPyTorch: {self.torch}"


_ROPE = Cure("q, k = rope(q, pos), rope(k, pos)", "q, k = apply_rotary_pos_emb(q, k, cos, sin)")
_SCALE = Cure("scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])", "scores = q @ k.mT / math.sqrt(q.size(-1))")
_CAP = Cure("scores = c * np.tanh(scores / c)  # after the scale", "scores = c * torch.tanh(scores / c)")
_CAUSAL = Cure("allowed = j <= i[:, None] + offset", "allowed = torch.ones(T, S, dtype=bool).tril(offset)")
_WINDOW = Cure(
    "allowed &= (j >= p[:, None] - left) & (j <= p[:, None] + right)",
    "allowed &= (j >= p[:, None] - left) & (j <= p[:, None] + right)",
)
_BLOCK = Cure("scores = np.where(allowed, scores, -np.inf)", "scores = scores.masked_fill(~allowed, -math.inf)")
_PADDING = Cure("allowed &= real[:, None, None, :]", "allowed = allowed & real[:, None, None, :]")
_LENGTHS = Cure("real = np.arange(S) < lengths[:, None]", "real = torch.arange(S) < lengths[:, None]")
_SOFTMAX = Cure(
    "e = np.exp(scores - scores.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)",
    "w = scores.softmax(dim=-1)",
)
_SINK = Cure(
    "w = np.exp(scores - np.logaddexp(lse, sink)[..., None])",
    "w = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]",
)
_MERGE = Cure("out = heads.transpose(0, 2, 1, 3).reshape(B, T, H * d_v)", "out = heads.transpose(1, 2).flatten(2)")
_ALIBI = Cure(
    "scores += -slopes[:, None, None] * np.abs(p[:, None] - j)",
    "scores = scores - slopes[:, None, None] * (p[:, None] - j).abs()",
)

CURES = {
    "projection-transposed": Cure("q = x @ wq  # wq is (in, out)", "q = F.linear(x, weight)  # weight is (out, in)"),
    "projection-bias-missing": Cure("q = x @ wq + bq", "q = F.linear(x, weight, bias)"),
    "heads-split-by-reshape": Cure(
        "q = q.reshape(B, T, H, d).transpose(0, 2, 1, 3)", "q = q.view(B, T, H, d).transpose(1, 2)"
    ),
    "key-value-swapped": Cure("out = attention(q, k, v)", "out = F.scaled_dot_product_attention(q, k, v)"),
    "past-appended-after": Cure("k = np.concatenate([past_k, k], axis=2)", "k = torch.cat([past_k, k], dim=2)"),
    "gqa-tiled": Cure("k = np.repeat(k, H // G, axis=1)", "k = k.repeat_interleave(H // G, dim=1)"),
    "rope-ignored": _ROPE,
    "rope-pairing": Cure(
        "half: x, y = q[..., :d//2], q[..., d//2:]; interleaved: x, y = q[..., ::2], q[..., 1::2]",
        "half: x, y = q.chunk(2, -1); interleaved: x, y = q[..., ::2], q[..., 1::2]",
    ),
    "rope-on-values": _ROPE,
    "rope-offset-ignored": Cure("pos = past + np.arange(T)", "pos = torch.arange(past, past + T)"),
    "query-key-swapped": Cure("raw = q @ k.swapaxes(-1, -2)", "raw = q @ k.mT"),
    "key-not-transposed": Cure("raw = q @ k.swapaxes(-1, -2)", "raw = q @ k.mT"),
    "scale-missing": _SCALE,
    "scale-d-model": _SCALE,
    "scale-inverted": _SCALE,
    "scale-twice": Cure(_SCALE.numpy, "F.scaled_dot_product_attention(q, k, v)  # it scales; do not scale q as well"),
    "scale-d-not-sqrt": _SCALE,
    "scale-from-values": _SCALE,
    "scale-option-ignored": Cure(
        "scores = q @ k.swapaxes(-1, -2) * scale", "F.scaled_dot_product_attention(q, k, v, scale=scale)"
    ),
    "softcap-ignored": _CAP,
    "softcap-before-scale": _CAP,
    "softcap-wrong-formula": _CAP,
    "bias-ignored": Cure("scores = scores + bias", "F.scaled_dot_product_attention(q, k, v, attn_mask=bias)"),
    "bias-before-scale": Cure("scores = raw * scale + bias", "scores = raw * scale + bias"),
    "alibi-ignored": _ALIBI,
    "alibi-sign": _ALIBI,
    "alibi-slopes-shifted": Cure(
        "slopes = 2.0 ** (-8 * np.arange(1, H + 1) / H)", "slopes = 2.0 ** (-8 * torch.arange(1, H + 1) / H)"
    ),
    "causal-ignored": Cure(_CAUSAL.numpy, "F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
    "causal-strict": Cure(_CAUSAL.numpy, "torch.ones(T, S, dtype=bool).tril(0)  # not tril(-1)"),
    "causal-one-ahead": Cure(_CAUSAL.numpy, "torch.ones(T, S, dtype=bool).tril(0)  # not tril(1)"),
    "causal-reversed": Cure(_CAUSAL.numpy, "torch.ones(T, S, dtype=bool).tril()  # not triu"),
    "causal-wrong-corner": Cure(
        "offset = 0  # upper left; S - T: lower right", "attn_mask=torch.nn.attention.bias.causal_lower_right(T, S)"
    ),
    "causal-ignores-past": Cure("offset = past", "allowed = torch.ones(T, past + T, dtype=bool).tril(past)"),
    "window-ignored": _WINDOW,
    "window-one-short": _WINDOW,
    "window-one-long": _WINDOW,
    "window-ignores-offset": Cure("p = np.arange(T) + offset", "p = torch.arange(T) + offset"),
    "mask-ignored": Cure("allowed &= mask", "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)"),
    "mask-inverted": Cure(
        "scores = np.where(mask, scores, -np.inf)", "attn_mask=mask  # MultiheadAttention: attn_mask=~mask"
    ),
    "mask-transposed": Cure("mask[i, j]: query i, key j", "mask[i, j]: query i, key j"),
    "mask-batch-order": Cure(
        "mask = np.repeat(mask, H, axis=0)  # not tile", "mask = mask.repeat_interleave(H, dim=0)  # not repeat"
    ),
    "mask-added-as-numbers": Cure(_BLOCK.numpy, "attn_mask=mask.bool()"),
    "mask-multiplied": _BLOCK,
    "mask-finite-fill": _BLOCK,
    "masks-unioned": Cure("allowed = causal & mask & real", "allowed = causal & mask & real"),
    "padding-ignored": _PADDING,
    "padding-inverted": Cure(
        "allowed &= real[:, None, None, :]", "key_padding_mask=~real  # MultiheadAttention: True = padding"
    ),
    "padding-on-queries": Cure("real[:, None, None, :]  # not real[:, None, :, None]", "real[:, None, None, :]"),
    "padding-wrong-side": Cure(_LENGTHS.numpy, 'tokenizer(..., padding_side="right")'),
    "lengths-one-short": _LENGTHS,
    "lengths-one-long": _LENGTHS,
    "softcap-after-mask": Cure(
        "np.where(allowed, c * np.tanh(scores / c), -np.inf)",
        "(c * torch.tanh(scores / c)).masked_fill(~allowed, -math.inf)",
    ),
    "mask-after-softmax": _BLOCK,
    "scale-after-softmax": _SCALE,
    "softmax-over-queries": _SOFTMAX,
    "softmax-over-heads": _SOFTMAX,
    "softmax-missing": _SOFTMAX,
    "softmax-unstable": _SOFTMAX,
    "softmax-low-precision": Cure(
        "w = softmax(scores.astype(np.float32))", "w = scores.softmax(-1, dtype=torch.float32).to(scores.dtype)"
    ),
    "empty-row-nan": Cure(
        "w = np.where(allowed.any(-1, keepdims=True), w, 0)", "w = w.masked_fill(~allowed.any(-1, keepdim=True), 0)"
    ),
    "dropout-left-on": Cure("no dropout outside training", "dropout_p=self.p if self.training else 0.0"),
    "sink-ignored": _SINK,
    "sink-renormalised": _SINK,
    "sink-as-extra-value": _SINK,
    "weights-transposed": Cure("out = w @ v", "out = w @ v"),
    "blocked-nan-leaks": Cure(
        "v = np.where(used[..., None], v, 0)  # and scores by np.where", "v = v.masked_fill(~used[..., None], 0)"
    ),
    "heads-batch-swapped": Cure(
        "x.reshape(B * H, T, d); x.reshape(B, H, T, d)", "x.flatten(0, 1); x.unflatten(0, (B, H))"
    ),
    "heads-averaged": _MERGE,
    "heads-merged-by-reshape": _MERGE,
    "output-projection-missing": Cure("out = merged @ wo + bo", "out = self.out_proj(merged)"),
}
