"""The built-in inputs: small enough to follow by hand.  No numpy, so that ``--help`` can name them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attncalc.errors import OptionError
from attncalc.suggest import did_you_mean

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Example:
    """Inputs that are ready for ``attention(example.query, example.key, example.value, **example.keywords)``.

    Attributes:
        name: what users type after ``--example``.
        title: what it shows, in a line.
        query: Q, T rows.
        key: K, S rows.
        value: V, S rows.
        query_tokens: labels of the queries, or None.
        key_tokens: labels of the keys, or None.
        options: rules by library keyword; what users say beats them.
    """

    name: str
    title: str
    query: Rows
    key: Rows
    value: Rows
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keywords(self) -> dict[str, Any]:
        """The tokens and the options together."""
        return {"query_tokens": self.query_tokens, "key_tokens": self.key_tokens, **self.options}


TEXTBOOK = Example(
    name="textbook",
    title="three tokens, two columns, whole numbers",
    query=((1, 0), (0, 1), (1, 1)),
    key=((1, 0), (0, 1), (1, 1)),
    value=((10, 0), (0, 10), (10, 10)),
)

CAUSAL_WORDS = Example(
    name="causal-words",
    title="four words under a causal mask; √d is 2, so the scale is 0.5",
    query=((1, 0, 0, 1), (2, 1, 0, 0), (0, 2, 2, 0), (1, 0, 2, 2)),
    key=((1, 1, 0, 0), (0, 2, 1, 0), (1, 0, 2, 0), (0, 0, 1, 2)),
    value=((1, 0), (0, 4), (4, 0), (2, 2)),
    query_tokens=("the", "cat", "sat", "down"),
    key_tokens=("the", "cat", "sat", "down"),
    options={"causal": True},
)

TWO_HEADS = Example(
    name="two-heads",
    title="two heads beside each other in rows of four columns",
    query=((1, 0, 0, 2), (0, 1, 2, 0), (1, 1, 1, 1)),
    key=((1, 0, 2, 0), (0, 1, 0, 2), (1, 1, 1, 1)),
    value=((1, 0, 10, 0), (0, 1, 0, 10), (2, 2, 20, 20)),
    query_tokens=("a", "b", "c"),
    key_tokens=("a", "b", "c"),
    options={"heads": 2},
)

PADDING = Example(
    name="padding",
    title="three words and a pad token that no query may attend to",
    query=((1, 0), (1, 1), (0, 2), (3, 3)),
    key=((1, 0), (0, 1), (1, 2), (3, 3)),
    value=((2, 0), (0, 2), (4, 4), (100, 100)),
    query_tokens=("I", "see", "you", "[pad]"),
    key_tokens=("I", "see", "you", "[pad]"),
    options={"pad_token": "[pad]"},
)

CROSS = Example(
    name="cross",
    title="two queries of one sequence, four keys of another: the weights are not square",
    query=((1, 2), (2, 0)),
    key=((1, 0), (0, 1), (1, 1), (0, 0)),
    value=((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)),
    query_tokens=("le", "chat"),
    key_tokens=("the", "black", "cat", "."),
)

EXAMPLES = (TEXTBOOK, CAUSAL_WORDS, TWO_HEADS, PADDING, CROSS)


def example(name: str) -> Example:
    """Return the example of that name, or say which there are."""
    names = [each.name for each in EXAMPLES]
    if name not in names:
        listed = f"the examples are {', '.join(names)}"
        raise OptionError(f"there is no example {name}", hint=did_you_mean(name, names) or listed)
    return EXAMPLES[names.index(name)]
