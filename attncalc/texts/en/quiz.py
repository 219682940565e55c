"""What ``attncalc quiz`` asks and explains, in English."""

TEXTS = {
    "quiz.title": "Questions about attention",
    "quiz.number": "Question {n} of {count}",
    "quiz.prompt": "> ",
    "quiz.ask.choice": "Answer with a letter; an empty line skips the question.",
    "quiz.ask.number": "Answer with a number, such as 0.67 or 2/3; an empty line skips the question.",
    "quiz.right": "Right.",
    "quiz.wrong": "Not quite: the answer is {answer}.",
    "quiz.skipped": "The answer is {answer}.",
    "quiz.unclear": "That is no answer here. {ask}",
    "quiz.unclear.choice": "That is none of the letters; it counts as not answered.",
    "quiz.unclear.number": "That is no number; it counts as not answered.",
    "quiz.answer": "Answer: {answer}.",
    "quiz.score": "{right} of {asked} right.",
    "quiz.open": "Not answered: {n}.",
    "quiz.again": "Other questions and other numbers: attncalc quiz --seed {seed}",
    # choices
    "quiz.mixed": "An output of attention is a weighted mean. Of what?",
    "quiz.mixed.a": "of the queries",
    "quiz.mixed.b": "of the keys",
    "quiz.mixed.c": "of the values",
    "quiz.mixed.why": "Queries and keys only decide the weights; what is mixed with these weights are the rows of V.",
    "quiz.output-shape": "Q is 5 × 8, K is 7 × 8 and V is 7 × 16. Which shape has the output?",
    "quiz.output-shape.a": "5 × 16",
    "quiz.output-shape.b": "7 × 16",
    "quiz.output-shape.c": "5 × 7",
    "quiz.output-shape.d": "5 × 8",
    "quiz.output-shape.why": "One row for each of the 5 queries, as wide as a value: T × d_v.",
    "quiz.weights-shape": "Q is 5 × 8, K is 7 × 8 and V is 7 × 16. Which shape have the weights?",
    "quiz.weights-shape.a": "5 × 5",
    "quiz.weights-shape.b": "5 × 7",
    "quiz.weights-shape.c": "7 × 16",
    "quiz.weights-shape.why": (
        "One row for each query, one column for each key: T × S. They are square only when T = S."
    ),
    "quiz.rows-sum": "Which weights add up to 1?",
    "quiz.rows-sum.a": "those of one query, a row",
    "quiz.rows-sum.b": "those of one key, a column",
    "quiz.rows-sum.c": "all of them together",
    "quiz.rows-sum.why": (
        "The softmax runs along the keys: each query shares out 1 among the keys that it may attend to."
    ),
    "quiz.zero-score": "A query and a key have the score 0, and nothing is masked. Which weight does the key get?",
    "quiz.zero-score.a": "none",
    "quiz.zero-score.b": "some",
    "quiz.zero-score.c": "always 1/S",
    "quiz.zero-score.why": "exp(0) is 1, so the key takes part like every other. Only the score −∞ gets no weight.",
    "quiz.causal-self": "May a position attend to itself under a causal mask?",
    "quiz.causal-self.a": "yes",
    "quiz.causal-self.b": "no",
    "quiz.causal-self.c": "only the first one",
    "quiz.causal-self.why": (
        "Allowed is j ≤ i: everything before, and the position itself. Without it the first query had no key."
    ),
    "quiz.causal-first": "What is the first output under a causal mask, with as many keys as queries?",
    "quiz.causal-first.a": "zero",
    "quiz.causal-first.b": "the mean of all values",
    "quiz.causal-first.c": "the first value itself",
    "quiz.causal-first.why": (
        "The first query sees the first key alone; that key gets the weight 1, whatever the score is."
    ),
    "quiz.heads": "What happens to the outputs of several heads?",
    "quiz.heads.a": "they are averaged",
    "quiz.heads.b": "they are set side by side",
    "quiz.heads.c": "each is the input of the next",
    "quiz.heads.why": (
        "Each head attends on columns of its own; the outputs are set side by side, and a learned matrix may mix "
        "them afterwards."
    ),
    "quiz.double-values": "All of V is doubled. What happens?",
    "quiz.double-values.a": "the weights change",
    "quiz.double-values.b": "nothing changes",
    "quiz.double-values.c": "the output doubles, the weights stay",
    "quiz.double-values.why": (
        "V comes in after the weights are made, and the output is a sum of weights times values."
    ),
    "quiz.change-query": "One query changes. Which outputs change?",
    "quiz.change-query.a": "all of them",
    "quiz.change-query.b": "its own",
    "quiz.change-query.c": "its own and those after it",
    "quiz.change-query.why": (
        "Each query has a row of its own in scores, weights and output; queries do not see each other."
    ),
    "quiz.change-key": "One key changes, and nothing is masked. Which outputs can change?",
    "quiz.change-key.a": "all of them",
    "quiz.change-key.b": "that of the same position",
    "quiz.change-key.c": "those after it",
    "quiz.change-key.why": (
        "Every query is compared with every key, and a new score changes the sum that all its weights share."
    ),
    "quiz.four-times": "The sequence gets 4 times as long. How does the matrix of weights grow?",
    "quiz.four-times.a": "4 times",
    "quiz.four-times.b": "8 times",
    "quiz.four-times.c": "16 times",
    "quiz.four-times.why": "It has T × S elements: 4 × 4 = 16 times as many.",
    "quiz.empty-row": "A mask blocks every key of a query. What does the formula of softmax give for its weights?",
    "quiz.empty-row.a": "zeros",
    "quiz.empty-row.b": "1/S each",
    "quiz.empty-row.c": "the weights without the mask",
    "quiz.empty-row.d": "nothing that is defined: 0/0",
    "quiz.empty-row.why": (
        "All exponentials are 0, and so is their sum. A program has to choose what such a row gets: zeros, NaN, or "
        "the mean (see --empty-rows)."
    ),
    "quiz.remove-mask": (
        "A causal mask is taken away, with as many keys as queries. Which outputs stay the same for sure?"
    ),
    "quiz.remove-mask.a": "the first",
    "quiz.remove-mask.b": "the last",
    "quiz.remove-mask.c": "none",
    "quiz.remove-mask.why": (
        "The last query saw every key already; every other query now sees keys that were blocked."
    ),
    "quiz.why-scale": "Why are scores divided by √d?",
    "quiz.why-scale.a": "so that their size does not grow with the width",
    "quiz.why-scale.b": "so that they add up to 1",
    "quiz.why-scale.c": "so that they are positive",
    "quiz.why-scale.why": (
        "A product of two random rows has variance d. Divided by √d it has variance 1, and the softmax does not give "
        "everything to one key."
    ),
    "quiz.mask-after": (
        "Blocked weights are set to 0 after the softmax instead of blocking scores before it. What goes wrong?"
    ),
    "quiz.mask-after.a": "nothing",
    "quiz.mask-after.b": "blocked values come through",
    "quiz.mask-after.c": "the rows no longer add up to 1",
    "quiz.mask-after.why": "The blocked keys have taken their share of the sum already, and it is lost.",
    "quiz.maximum": "Before exp, the largest score of the row is subtracted. How does that change the weights?",
    "quiz.maximum.a": "they become more even",
    "quiz.maximum.b": "not at all",
    "quiz.maximum.c": "the largest becomes 0",
    "quiz.maximum.why": (
        "Numerator and denominator are both divided by exp(m). It only keeps exp from overflowing: exp(710) is too "
        "large for float64."
    ),
    "quiz.constant": "5 is added to every score of one query. What happens to its weights?",
    "quiz.constant.a": "they stay the same",
    "quiz.constant.b": "they become larger",
    "quiz.constant.c": "they become more even",
    "quiz.constant.why": (
        "exp(5) stands in every term above and below the fraction and cancels. Only differences count."
    ),
    "quiz.permute-keys": (
        "The key/value pairs come in another order, each key still with its own value; there is no mask and no "
        "position encoding. What happens?"
    ),
    "quiz.permute-keys.a": "the outputs come in another order too",
    "quiz.permute-keys.b": "all outputs change",
    "quiz.permute-keys.c": "no output changes",
    "quiz.permute-keys.why": (
        "A sum does not depend on the order of its terms. Attention knows order only through masks and positions."
    ),
    "quiz.range": "Can an output be larger than every value in its column of V?",
    "quiz.range.a": "yes, when a score is large",
    "quiz.range.b": "no",
    "quiz.range.c": "only with several heads",
    "quiz.range.why": (
        "The weights are not negative and add up to 1: a mean lies between the smallest and the largest value."
    ),
    "quiz.padding": "What must a padding mask block in the matrix of scores?",
    "quiz.padding.a": "the columns of the padding",
    "quiz.padding.b": "the rows of the padding",
    "quiz.padding.c": "the diagonal",
    "quiz.padding.why": (
        "No query may take anything from filling, and keys are columns. What a row of padding gives out is not used."
    ),
    "quiz.cross": "Where do keys and values come from in cross-attention?",
    "quiz.cross.a": "from the same sequence as the queries",
    "quiz.cross.b": "keys from one sequence, values from the other",
    "quiz.cross.c": "from another sequence than the queries",
    "quiz.cross.why": "The queries of one sequence look up in another one; so T and S may differ.",
    "quiz.widths": "Which two must have the same width?",
    "quiz.widths.a": "K and V",
    "quiz.widths.b": "Q and K",
    "quiz.widths.c": "Q and V",
    "quiz.widths.why": (
        "A query is multiplied with a key, column by column. K and V need the same number of rows, not the same width."
    ),
    "quiz.groups": "8 query heads share 2 key/value heads. Which key/value head does query head 3 use?",
    "quiz.groups.a": "0",
    "quiz.groups.b": "1",
    "quiz.groups.c": "both",
    "quiz.groups.why": "Neighbours share: heads 0 to 3 use key/value head 0, heads 4 to 7 use 1.",
    "quiz.double-queries": "All of Q is doubled. What happens to the weights?",
    "quiz.double-queries.a": "they double",
    "quiz.double-queries.b": "they stay the same",
    "quiz.double-queries.c": "large ones get larger, small ones smaller",
    "quiz.double-queries.why": (
        "All scores double, and so do their differences: the softmax becomes sharper, and still adds up to 1."
    ),
    "quiz.equal-scores": "All scores of a query are equal. What is its output?",
    "quiz.equal-scores.a": "zero",
    "quiz.equal-scores.b": "the mean of the values it may see",
    "quiz.equal-scores.c": "the sum of the values it may see",
    "quiz.equal-scores.why": "Equal scores give equal weights, 1/n each for n keys.",
    "quiz.flash": "What does FlashAttention change?",
    "quiz.flash.a": "only how it is computed: block by block, in less memory",
    "quiz.flash.b": "it leaves out small weights",
    "quiz.flash.c": "it replaces the softmax",
    "quiz.flash.why": (
        "The answer is the same but for rounding; the T × S matrix is never stored (attncalc explain --online)."
    ),
    "quiz.cache": "What does a cache keep while a model writes one token after the other?",
    "quiz.cache.a": "queries, keys and values",
    "quiz.cache.b": "the weights",
    "quiz.cache.c": "keys and values",
    "quiz.cache.why": (
        "Later queries need the keys and values of all tokens before them; an old query is never needed again."
    ),
    # numbers
    "quiz.n-score": "The query is {q}, the key is {k}. What is their product q · k?",
    "quiz.n-score.why": "Multiply column by column and add up: {q} · {k} = {answer}.",
    "quiz.n-scaled": "The query is {q}, the key is {k}, d = 4. What is the scaled score?",
    "quiz.n-scaled.why": "The product is {raw}, and 1/√4 is 0.5: {raw} × 0.5 = {answer}.",
    "quiz.n-weight": "The query is {q}, the keys are {k}, d = 2, nothing is masked. Which weight does key {j} get?",
    "quiz.n-weight.why": (
        "The scaled scores are {s0} and {s1}. Take exp of both and divide that of key {j} by the sum: {answer}."
    ),
    "quiz.n-output": (
        "The query is {q}, the keys are {k}, the values {v}, d = 2, nothing is masked. What is the output?"
    ),
    "quiz.n-output.why": "The weights are {w0} and {w1}; each value times its weight, added up: {answer}.",
    "quiz.n-causal": "Q is {q} and K is {k}, under a causal mask. Which weight does query 1 give to key 0?",
    "quiz.n-causal.why": (
        "Query 1 sees keys 0 and 1, with scaled scores {s0} and {s1}: exp of the first over the sum is {answer}."
    ),
    "quiz.n-elements": "{tokens} tokens attend to each other in {heads} heads. How many weights are there?",
    "quiz.n-elements.why": "H × T × S = {heads} × {tokens} × {tokens} = {answer}.",
    "quiz.n-growth": "From {first} to {last} tokens: how many times as many weights?",
    "quiz.n-growth.why": "{times} times the queries and {times} times the keys: {times} × {times} = {answer}.",
    "quiz.n-cache": (
        "A cache holds {tokens} tokens; number of key/value heads: {groups}, width of each: {d}, type: float16 (2 "
        "bytes a number). How many bytes?"
    ),
    "quiz.n-cache.why": "Keys and values: 2 × {groups} × {tokens} × {d} numbers of 2 bytes, {answer} bytes.",
}
