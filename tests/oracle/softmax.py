"""One row of scores: its lse, its weights, and the mean that they make of the values."""

from typing import Any

from .numbers import Numbers


def softmax_row(scores: list[Any], keys: list[int], sink: Any, empty_rows: str, n: Numbers) -> tuple[Any, list[Any]]:
    """Give lse and weights of one query that may attend to ``keys``.

    The sink is one more exponential in the sum, which belongs to no key.
    """
    terms = [scores[j] for j in keys] + ([] if sink is None else [sink])
    if not terms:
        weight = {"zero": n.make(0), "nan": n.make("nan"), "uniform": n.make(1) / len(scores)}[empty_rows]
        return n.make("-inf"), [weight] * len(scores)
    top = max(terms)
    total = n.total(n.exp(term - top) for term in terms)
    weights = [n.make(0)] * len(scores)
    for j in keys:
        weights[j] = n.exp(scores[j] - top) / total
    return top + n.log(total), weights


def mix(weights: list[Any], values: list[list[Any]], keys: list[int], n: Numbers) -> list[Any]:
    """Add up the values of ``keys``, each times its weight; the others are not looked at."""
    return [n.total(weights[j] * values[j][c] for j in keys) for c in range(len(values[0]))]
