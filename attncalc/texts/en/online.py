"""What ``attncalc explain --online`` says, in English."""

TEXTS = {
    "online.title": "The same, block by block (online softmax, FlashAttention)",
    "online.text": (
        "The whole row of scores need not be there at once. It is enough to keep three things while the keys go by: "
        "the largest score so far, m; the sum of the exponentials so far, l; and the output so far, o, not yet "
        "divided by the sum. Both l and o are relative to m. When a block brings a larger score, they are shrunk to "
        "the new m by r = exp(old m − new m)."
    ),
    "online.size.one": "Here a block is {n} key.",
    "online.size.many": "Here a block is {n} keys.",
    "online.sink": "The sink comes first: m starts at {sink} and l at 1.",
    "online.query": "For {query}:",
    "online.block": "Block {number}, {keys}:",
    "online.skipped": "Block {number}, {keys}: everything is blocked, so it is skipped.",
    "online.more": "… and so on for {n} more blocks …",
    "online.column.block": "block",
    "online.column.keys": "keys",
    "online.end": "o / l",
    "online.same": "The same output as with the whole row at once.",
    "online.differs": "Not the output of the run, which was computed in another way.",
    "online.empty": "No key was seen: what {query} gets is decided by the rule for such rows.",
    "online.why": (
        "This is why long sequences fit: per query m, l and one output are kept, and not all {S} scores (attncalc "
        "cost counts the bytes)."
    ),
}
