"""Documents and labels that the tests of all renderers share."""

import numpy as np

from attncalc.show.document import (
    Column,
    Document,
    Facts,
    Formula,
    Heading,
    Lines,
    Matrix,
    Note,
    Role,
    Span,
    Table,
    Text,
)

HOSTILE = [
    "[/INST]", "[bold]", "[/]", ":smile:", "\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\u202eevil", "\u2066x\u2069",
    "你好", "👩‍👩‍👧", "🇫🇷", "e\u0301", "\u0301", "a\nb", "a\tb", "a|b", "a\\b", "a_b", "a&b", "100%", "<script>",
    "`code`", "$x$", "#", "*", "--", "~", "^", "", " ", "a b", "\u200b", "a\u200db", "\ud800", "\u2028", "\x00",
    "\x7f", "\ufeff", "{}", '"', "'", "http://a.b/?c=1&d=2", "-1", "…", "é",
]  # fmt: skip


def textbook() -> Document:
    """The scores, weights and output of the textbook example with a causal mask, worked by hand to 4 decimals."""
    allowed = np.tri(3, dtype=bool)
    half = 1 / np.sqrt(2)
    scores = np.array([[half, -np.inf, -np.inf], [0, half, -np.inf], [half, half, 2 * half]])
    weights = np.array([[1, 0, 0], [0.33024, 0.66976, 0], [0.24826, 0.24826, 0.50348]])
    output = np.array([[10, 0], [3.3024, 6.6976], [7.5174, 7.5174]])
    return Document(
        (
            Facts((("scale", "1/√2 = 0.7071"), ("mask", "causal"))),
            Matrix("raw", np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 2]])),
            Matrix("scores", scores, blocked=~allowed, fixed=True),
            Matrix("weights", weights, blocked=~allowed, strength=weights),
            Matrix("output", output, column_prefix="d", fixed=True),
            Matrix("lse", np.array([0.70711, 1.10794, 2.10041]), columns=("lse",), fixed=True),
            Matrix("allowed", allowed),
        )
    )


def lesson() -> Document:
    """One of every block."""
    return Document(
        (
            Heading("Why √d"),
            Text(("Each query is compared with each key: the ", Span("dot product", Role.TERM), " of two vectors ")),
            Text("注意力机制把每个查询与每个键进行比较，然后用软最大值把分数变成权重，每一行的和都是一。"),
            Formula("scores = Q Kᵀ / √d", r"S = Q K^{\top} / \sqrt{d}"),
            Lines(("q0 · k0 = 1 · 1 + 0 · 0", "        = 1")),
            Heading("Rows", 2),
            Table(
                (Column("d", "right"), Column("variance", "right"), Column("what it means")),
                (
                    ("4", "4.01", "scores are spread out a little, and the softmax is soft"),
                    ("1024", Span("1020.11", Role.WRONG), "one score takes nearly all the weight"),
                ),
            ),
            Note("only --causal was given"),
        )
    )


def labelled(labels: list[str]) -> Document:
    """Every kind of block with users' text in every place that can hold it."""
    values = np.arange(len(labels) ** 2).reshape(len(labels), -1) / 8
    names = tuple(labels)
    joined = " ".join(labels)
    return Document(
        (
            Heading(joined),
            Text((joined, Span(joined, Role.WRONG))),
            Note(joined),
            Lines(names),
            Facts(tuple((label, label) for label in labels)),
            Formula("a", "a"),
            Matrix(joined, values, rows=names, columns=names, corner=labels[0], total=("sum", values.sum(1))),
            Table(tuple(Column(label) for label in labels), (names, tuple(Span(x, Role.TERM) for x in labels)), joined),
        )
    )
