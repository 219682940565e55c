"""torch: scaled_dot_product_attention, MultiheadAttention and autograd."""

import numpy as np
import pytest
from interop.shared import answer

import attncalc

torch = pytest.importorskip("torch", reason="torch is in the extra interop")
sdpa = torch.nn.functional.scaled_dot_product_attention
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def tensors(*arrays):
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]


@pytest.fixture(params=["MATH", "FLASH_ATTENTION"])
def kernel(request):
    """Each of the kernels that torch has on a CPU."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(getattr(SDPBackend, request.param)):
        yield request.param


@pytest.mark.parametrize("mask", ["mask", "empty", "zero_one", "minus_infinity"])
def test_sdpa_masks(inputs, kernel, mask):
    q, k, v, m = tensors(inputs.q, inputs.k, inputs.v, getattr(inputs, mask))
    np.testing.assert_allclose(
        sdpa(q, k, v, attn_mask=m), answer("torch-sdpa", inputs, mask=getattr(inputs, mask)), **CLOSE
    )


@pytest.mark.parametrize("queries", [2, 4])
def test_sdpa_causal_starts_upper_left(inputs, kernel, queries):
    q = inputs.q[:, :, :queries]
    expected = sdpa(*tensors(q, inputs.k, inputs.v), is_causal=True)
    np.testing.assert_allclose(expected, answer("torch-sdpa", inputs, query=q, causal=True), **CLOSE)


def test_sdpa_causal_after_a_cache_starts_upper_left_too(inputs, kernel):
    past = {"past_key": inputs.k[:, :, :2], "past_value": inputs.v[:, :, :2]}
    expected = sdpa(*tensors(inputs.q, inputs.k, inputs.v), is_causal=True)
    got = answer("torch-sdpa", inputs, key=inputs.k[:, :, 2:], value=inputs.v[:, :, 2:], causal=True, **past)
    np.testing.assert_allclose(expected, got, **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_sdpa_lets_nan_through(inputs, kernel, which):
    given = {which: getattr(inputs, f"nan_{which}")}
    q, k, v, m = tensors(inputs.q, given.get("key", inputs.k), given.get("value", inputs.v), inputs.hides_it)
    expected = sdpa(q, k, v, attn_mask=m)
    assert torch.isnan(expected).any()
    np.testing.assert_allclose(expected, answer("torch-sdpa", inputs, mask=inputs.hides_it, **given), **CLOSE)


def test_sdpa_grouped_heads_and_scale(inputs, kernel):
    k, v = inputs.k[:, :1], inputs.v[:, :1]
    expected = sdpa(*tensors(inputs.q, k, v), scale=0.7, enable_gqa=True)
    np.testing.assert_allclose(expected, answer("torch-sdpa", inputs, key=k, value=v, scale=0.7), **CLOSE)


def module(heads=3, **widths):
    torch.manual_seed(1)
    made = torch.nn.MultiheadAttention(12, heads, batch_first=True, dtype=torch.float64, **widths)
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return made.eval()


def state(made):
    return {name: tensor.numpy() for name, tensor in made.state_dict().items()}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("widths", [{}, {"kdim": 10, "vdim": 10}])
def test_mha_state_dict(bias, widths):
    made = module(bias=bias, **widths)
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    context = torch.randn(2, 4, 10, dtype=torch.float64) if widths else x
    output, weights = made(x, context, context, average_attn_weights=False)
    around = {"context": context.numpy()} if widths else {}
    result = attncalc.attention(x=x.numpy(), weights=state(made), heads=3, **around)
    np.testing.assert_allclose(result.output, output.detach(), **CLOSE)
    np.testing.assert_allclose(result.weights, weights.detach(), **CLOSE)


@pytest.mark.parametrize("kind", ["blocked", "row", "zero_one"])
def test_mha_masks(kind):
    made, x = module(), torch.randn(2, 5, 12, dtype=torch.float64)
    blocked = torch.ones(5, 5, dtype=torch.bool).triu(1)
    if kind == "row":
        blocked[2] = True
    mask = blocked.double() if kind == "zero_one" else blocked
    output, weights = made(x, x, x, attn_mask=mask, average_attn_weights=False)
    result = attncalc.attention(x=x.numpy(), weights=state(made), heads=3, mask=mask.numpy(), like="torch-mha")
    np.testing.assert_allclose(result.output, output.detach(), **CLOSE)
    np.testing.assert_allclose(result.weights, weights.detach(), **CLOSE)


def test_mha_padding():
    made, x = module(), torch.randn(2, 5, 12, dtype=torch.float64)
    padding = torch.tensor([[False] * 5, [False, True, False, True, True]])
    output, _ = made(x, x, x, key_padding_mask=padding)
    result = attncalc.attention(x=x.numpy(), weights=state(made), heads=3, padding=padding.numpy(), like="torch-mha")
    np.testing.assert_allclose(result.output, output.detach(), **CLOSE)


@pytest.mark.parametrize("which", ["value", "key"])
def test_mha_lets_nan_through(inputs, which):
    """A module that projects nothing and has one head is attention itself."""
    made = module(heads=1, bias=False)
    identity = torch.eye(12, dtype=torch.float64)
    with torch.no_grad():
        made.in_proj_weight.copy_(identity.repeat(3, 1))
        made.out_proj.weight.copy_(identity)
    rng = np.random.default_rng(0)
    given = {"query": rng.normal(size=(3, 12)), "key": rng.normal(size=(4, 12)), "value": rng.normal(size=(4, 12))}
    given[which][1] = np.nan  # all of the row: the projection would spread it anyway
    blocked = np.array([False, True, False, False])[np.newaxis].repeat(3, 0)
    output, _ = made(*tensors(*given.values()), attn_mask=torch.from_numpy(blocked))
    assert torch.isnan(output).any()
    np.testing.assert_allclose(output.detach(), answer("torch-mha", inputs, mask=blocked, **given), **CLOSE)


@pytest.mark.parametrize(
    "options",
    [{}, {"causal": True}, {"mask": True}, {"scale": -0.4}, {"bias": True}, {"grouped": True}],
    ids=str,
)
def test_gradients_of_sdpa(inputs, options):
    groups = 1 if options.pop("grouped", False) else None
    q, k, v = (t.requires_grad_() for t in tensors(inputs.q, inputs.k[:, :groups], inputs.v[:, :groups]))
    mask = inputs.mask if options.pop("mask", False) else None
    bias = inputs.zero_one if options.pop("bias", False) else None
    attn_mask = None if mask is None and bias is None else torch.from_numpy(mask if bias is None else bias)
    output = sdpa(q, k, v, attn_mask=attn_mask, is_causal=options.get("causal", False), scale=options.get("scale"),
                  enable_gqa=groups is not None)  # fmt: skip
    grad = torch.randn_like(output)
    output.backward(grad)
    given = {"mask": mask, "bias": bias, **options}
    found = attncalc.gradient(*(t.detach().numpy() for t in (q, k, v)), grad=grad.numpy(), **given)
    for name, tensor in (("dq", q), ("dk", k), ("dv", v)):
        np.testing.assert_allclose(found.arrays[name], tensor.grad, rtol=1e-11, atol=1e-12)


def test_gradients_of_everything_at_once():
    """Rotation, cap, bias, causal mask, sink and grouped heads, written down in torch and differentiated by it."""
    rng = np.random.default_rng(5)
    H, G, T, d = 4, 2, 5, 6
    q, k, v = (torch.from_numpy(rng.normal(size=(n, T, d))).requires_grad_() for n in (H, G, G))
    bias, sink, grad = (torch.from_numpy(rng.normal(size=shape)) for shape in ((T, T), (H, 1, 1), (H, T, d)))

    def turned(rows):
        angle = torch.arange(T, dtype=torch.float64)[:, None] * 10000.0 ** (
            -torch.arange(0, d, 2, dtype=torch.float64) / d
        )
        x, y = rows[..., ::2], rows[..., 1::2]
        pairs = (x * angle.cos() - y * angle.sin(), y * angle.cos() + x * angle.sin())
        return torch.stack(pairs, dim=-1).flatten(-2)

    keys, values = (t.repeat_interleave(H // G, dim=0) for t in (turned(k), v))
    scores = 1.5 * torch.tanh(turned(q) @ keys.mT * d**-0.5 / 1.5) + bias
    scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)
    weights = torch.cat([scores, sink.expand(H, T, 1)], dim=-1).softmax(-1)[..., :-1]
    (weights @ values).backward(grad)
    found = attncalc.gradient(
        *(t.detach().numpy() for t in (q, k, v)), grad=grad.numpy(), causal=True, softcap=1.5, rope="interleaved",
        bias=bias.numpy(), sink=sink.numpy().ravel(),
    )  # fmt: skip
    for name, tensor in (("dq", q), ("dk", k), ("dv", v)):
        np.testing.assert_allclose(found.arrays[name], tensor.grad, rtol=1e-11, atol=1e-12)
