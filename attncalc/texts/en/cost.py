"""What ``attncalc cost`` says, in English."""

TEXTS = {
    "cost.title": "What attention costs",
    "cost.text": (
        "Counted from sizes alone, with as many keys as queries. batch B = {batch}, query heads H = {heads}, "
        "key/value heads G = {kv_heads}, widths d = {dim} and d_v = {value_dim}, {dtype} ({bytes} bytes a number)."
    ),
    "cost.matrix": "The T × S matrix of scores",
    "cost.tokens": "tokens",
    "cost.elements": "elements",
    "cost.bytes": "bytes",
    "cost.growth": "growth",
    "cost.multiply_adds": "multiply-adds",
    "cost.cache": "KV cache",
    "cost.seconds": "time",
    "cost.instead": "What other ways need instead",
    "cost.tiled": "block by block",
    "cost.window": "window",
    "cost.window.work": "window work",
    "cost.linear": "linear",
    "cost.linear.work": "linear work",
    "cost.read.growth": (
        "The matrix grows with the square of the length: {first} → {last} tokens is {ratio} times the tokens and "
        "{growth} times the elements. The cache grows with the length alone."
    ),
    "cost.read.elements": "elements: B × H × T × S. There is such a matrix of scores, and another one of weights.",
    "cost.read.work": (
        "multiply-adds: B × H × T × S × (d + d_v), for Q Kᵀ and for weights · V. A causal mask leaves about half of "
        "them without effect."
    ),
    "cost.read.cache": (
        "KV cache: the keys and values of all tokens, kept for the next one: B × G × S × (d + d_v) numbers. Fewer "
        "key/value heads than query heads make it {share} times smaller."
    ),
    "cost.read.cache.same": (
        "KV cache: the keys and values of all tokens, kept for the next one: B × G × S × (d + d_v) numbers."
    ),
    "cost.read.seconds": "time: 2 operations for each multiply-add, at {flops} operations a second.",
    "cost.read.tiled": (
        "block by block (FlashAttention): exact, and the same work. Of the matrix it holds one tile of {tile} × "
        "{tile} a head, with m and l for its rows, and keeps one lse a query."
    ),
    "cost.read.window": (
        "window: each query sees itself and the {before} keys before it. Not the same answer, and work that grows "
        "with the length alone."
    ),
    "cost.read.linear": (
        "linear: attention without softmax. A matrix of d × d_v a head takes the place of all keys and values. Not "
        "the same answer; work grows with the length alone, and memory not at all."
    ),
}
