"""Self-attention from one sequence: Q, K and V as products of it with matrices of weights."""

from typing import Any

from .nested import build, plain, shape_of
from .numbers import Numbers, numbers_of


def project(x: Any, weights: dict[str, Any], *, context: Any = None, number: type = float) -> tuple[Any, Any, Any]:
    """Give Q, K and V with packed heads; keys and values come from ``context`` where there is one."""
    n = numbers_of(number)
    w = named_as_ours(weights)
    context = x if context is None else context
    return (
        apply(x, w["wq"], w.get("bq"), n),
        apply(context, w["wk"], w.get("bk"), n),
        apply(context, w["wv"], w.get("bv"), n),
    )


def project_out(output: Any, weights: dict[str, Any], *, number: type = float) -> Any:
    """Apply the output projection to packed heads; without one nothing changes."""
    w = named_as_ours(weights)
    return apply(output, w["wo"], w.get("bo"), numbers_of(number)) if "wo" in w else plain(output)


def named_as_ours(weights: dict[str, Any]) -> dict[str, Any]:
    """Give the parameters as ``wq wk wv wo bq bk bv bo``, each matrix W applied as x @ W.

    Those of a PyTorch module are stored transposed: what it calls ``weight`` is applied as x @ weight.T.
    """
    ours = {}
    for name, array in weights.items():
        array = plain(array)
        kind = name[-len("weight") :] if name.endswith("weight") else name[-len("bias") :]
        stem = name.removesuffix(kind).rstrip("._")
        initial = {"weight": "w", "bias": "b"}.get(kind)
        if name in {"wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo"}:
            ours[name] = array
        elif stem == "in_proj":
            third = len(array) // 3
            for place, letter in enumerate("qkv"):
                part = array[place * third : (place + 1) * third]
                ours[initial + letter] = transposed(part) if kind == "weight" else part
        else:
            letter = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "o_proj": "o", "out_proj": "o"}[stem]
            ours[initial + letter] = transposed(array) if kind == "weight" else array
    return ours


def apply(x: Any, matrix: Any, bias: Any, n: Numbers) -> Any:
    """Multiply every row of x, a matrix or a batch of matrices, with ``matrix`` and add ``bias``."""
    x = plain(x)
    if len(shape_of(x)) == 3:
        return [apply(one, matrix, bias, n) for one in x]

    def element(t: int, c: int) -> Any:
        terms = [n.make(x[t][e]) * n.make(matrix[e][c]) for e in range(len(matrix))]
        return n.total([*terms, n.make(0 if bias is None else bias[c])])

    return build((len(x), len(matrix[0])), element)


def transposed(matrix: Any) -> Any:
    return [list(column) for column in zip(*matrix, strict=True)]
