"""The catalogue in English: title, what it computes, why that is wrong, how it shows."""

from attncalc.mistakes.record import Words

HEADINGS = {
    "what": "What it does",
    "why": "Why it is wrong",
    "shows": "How it shows",
    "instead": "Instead",
    "source": "Made in",
    "stage": "Stage",
    "right": "right",
    "wrong": "wrong",
    "difference": "largest difference in the output",
    "does not apply": "does not apply to these inputs",
    "no difference": "makes no difference here",
    "catalogue": "Known mistakes",
    "on these numbers": "What each known mistake does to these numbers",
    "one form of": "several forms; shown is the one that changes most",
    "list hint": "attncalc mistakes ID tells one; attncalc mistakes Q K V shows what each does to your numbers",
}

WORDS = {
    # input
    "projection-transposed": Words(
        "a projection matrix is used transposed",
        "Computes x @ wᵀ where x @ w is meant, or the reverse: for all matrices, for those of Q, K and V, or for wo.",
        "PyTorch stores a Linear's weight as (out, in) and applies its transpose; plain matrices are (in, out). "
        "A square matrix lets the mix-up pass without any complaint.",
        "Every number is off while every shape is right. A matrix that is not square fails at once.",
    ),
    "projection-bias-missing": Words(
        "the bias of a projection is left out",
        "Computes x @ w without + b: nowhere, for Q, K and V, or for the output.",
        "The layer was trained with its biases. Only one on K alone cancels, because the softmax ignores a constant "
        "along a row.",
        "Values are shifted by a constant; nothing shows with a fresh layer whose biases are 0.",
    ),
    "heads-split-by-reshape": Words(
        "heads are split by a reshape, without moving an axis",
        "Reshapes (B, T, H·d) to (B, H, T, d) at once.",
        "A reshape keeps the order of the numbers in memory, so that what is called a head holds the beginnings of "
        "several tokens.",
        "Tokens and heads are mixed up, shapes are right, and the model still trains.",
    ),
    "key-value-swapped": Words(
        "K and V are exchanged",
        "Takes V for the keys and K for the values.",
        "Keys decide where to look, values are what is brought back. Some interfaces take query, value, key in that "
        "order.",
        "Plausible rows, which are mixtures of keys. It needs d_v = d to pass.",
    ),
    "past-appended-after": Words(
        "the cache is put behind the new keys",
        "Puts new rows first and past rows last; masks, bias and positions keep their places.",
        "Masks and positions count the past from place 0, and so hit the wrong keys.",
        "Worse the longer the cache; nothing shows without anything that depends on places.",
    ),
    "gqa-tiled": Words(
        "grouped key/value heads are tiled instead of repeated",
        "Gives query head h the key/value head h mod G: 0 1 0 1.",
        "Groups are consecutive: query head h belongs to key/value head h div (H/G), 0 0 1 1.",
        "Head 0 and the last head are right, most others are not.",
    ),
    "rope-ignored": Words(
        "queries and keys are not rotated",
        "Leaves out the rotary embedding.",
        "Without it attention knows nothing about the order of tokens.",
        "The first position is right; the order of the keys has no effect.",
    ),
    "rope-pairing": Words(
        "the rotary embedding turns the wrong pairs of columns",
        "Turns columns (n, n + d/2) where (2n, 2n + 1) is meant, or the reverse.",
        "Checkpoints are trained with one of the two, and both have the same shape.",
        "Right at position 0 only.",
    ),
    "rope-on-values": Words(
        "the values are rotated as well",
        "Applies the rotary embedding to V like to K.",
        "Positions are to show in scores, as differences; turned values carry absolute positions into the output.",
        "Output rows are turned; row 0 is right under a causal mask.",
    ),
    "rope-offset-ignored": Words(
        "positions start at 0 despite the cache",
        "Rotates the new rows as if the first one stood at position 0.",
        "New tokens stand behind the cached ones: their position is the number of past tokens and more.",
        "Prefill is right, every step of decoding is wrong.",
    ),
    # raw
    "query-key-swapped": Words(
        "the product is K Qᵀ instead of Q Kᵀ",
        "Takes the scores transposed: raw[j, i] for raw[i, j].",
        "Rows of the scores belong to queries; here they belong to keys, and the softmax and the masks run along the "
        "wrong axis.",
        "It needs T = S to pass. A model trained this way never notices.",
    ),
    "key-not-transposed": Words(
        "K is not transposed in the product",
        "Computes Q K, which multiplies queries with columns of K.",
        "A score is the dot product of a query with a key, and keys are rows.",
        "It passes only when the number of keys equals d, and then no shape complains.",
    ),
    # scaled
    "scale-missing": Words(
        "the scores are not scaled",
        "Leaves out the factor 1/√d.",
        "The dot product of two random vectors has a variance of d, so that the softmax saturates and gradients "
        "vanish.",
        "Weights are too peaked, the more so the larger d is.",
    ),
    "scale-d-model": Words(
        "the scale is taken from the model's width",
        "Divides by √(H·d) instead of √d.",
        "Each head multiplies vectors of width d; the width of all heads together plays no part.",
        "Weights are too flat, as if √H were one more temperature.",
    ),
    "scale-inverted": Words(
        "scores are divided by the scale",
        "Multiplies by √d where it should divide.",
        "The scale is 1/√d already; dividing by it makes large scores larger.",
        "Weights are almost one-hot.",
    ),
    "scale-twice": Words(
        "the scale is applied twice",
        "Multiplies by scale², for example on Q and again in the attention function.",
        "One factor of 1/√d is what brings the variance to 1.",
        "Weights are too flat.",
    ),
    "scale-d-not-sqrt": Words(
        "scores are divided by d instead of √d",
        "Multiplies by 1/d.",
        "The standard deviation of the dot product grows with √d, not with d.",
        "Weights are too flat.",
    ),
    "scale-from-values": Words(
        "the scale is taken from the width of V",
        "Divides by √d_v instead of √d.",
        "Scores are products of queries and keys; the width of the values plays no part.",
        "Right as long as d_v = d.",
    ),
    "scale-option-ignored": Words(
        "the scale that was asked for is ignored",
        "Uses 1/√d although another scale is given.",
        "Some models are trained with a scale of their own.",
        "A small drift, in those models only.",
    ),
    # capped
    "softcap-ignored": Words(
        "the soft cap is left out",
        "Uses the scores as they are instead of c · tanh(scores / c).",
        "The model was trained with scores within ±c.",
        "Too peaked, where scores are not small against c.",
    ),
    "softcap-before-scale": Words(
        "the soft cap comes before the scale",
        "Computes scale · c · tanh(raw / c).",
        "The cap is meant for the scaled scores; unscaled ones run into it much earlier.",
        "Too flat.",
    ),
    "softcap-wrong-formula": Words(
        "the soft cap multiplies by the scores instead of c",
        "Computes x · tanh(x / c) for c · tanh(x / c).",
        "That is an even function without an upper bound.",
        "Large scores are not capped at all, and small negative ones turn positive.",
    ),
    # biased
    "bias-ignored": Words(
        "the bias is not added",
        "Leaves the bias file out.",
        "Relative positions, or whatever the bias says, are lost.",
        "The bias has no effect.",
    ),
    "bias-before-scale": Words(
        "the bias is added before scaling",
        "Computes (raw + bias) × scale.",
        "The bias is meant for the scaled scores.",
        "The bias is weaker by √d.",
    ),
    "alibi-ignored": Words(
        "ALiBi is left out",
        "Adds no −m · |p − j|.",
        "Without it attention knows nothing about distance.",
        "Distance has no effect.",
    ),
    "alibi-sign": Words(
        "ALiBi has the wrong sign",
        "Adds + m · |p − j|.",
        "Distance is to be a penalty.",
        "Far keys are preferred.",
    ),
    "alibi-slopes-shifted": Words(
        "the slopes of ALiBi start one too early",
        "Takes 2^(−8h/H), with h from 0.",
        "The first slope is 2^(−8/H), not 1.",
        "Head 0 has the slope 1, and every head is steeper than it should be.",
    ),
    # scores
    "causal-ignored": Words(
        "the causal mask is left out",
        "Lets every query see later keys.",
        "A model that is to predict the next token must not see it.",
        "The future is visible; the training loss is too good to be true.",
    ),
    "causal-strict": Words(
        "the causal mask hides the query's own position",
        "Allows j < p only.",
        "A token attends to itself as well: j ≤ p.",
        "Row 0 has no key at all: NaN, zeros or a mean of everything. No token sees itself.",
    ),
    "causal-one-ahead": Words(
        "the causal mask shows one key too many",
        "Allows j ≤ p + 1.",
        "That is the very token which is to be predicted.",
        "The next token leaks; the training loss drops to almost nothing.",
    ),
    "causal-reversed": Words(
        "the causal mask shows the future and hides the past",
        "Allows j ≥ p.",
        "The triangle is the other one.",
        "The last row sees itself only.",
    ),
    "causal-wrong-corner": Words(
        "the causal mask is aligned with the wrong corner",
        "Counts from the first key where the last one is meant, or the reverse; or ignores the lengths.",
        "When T and S differ there are two readings, and libraries differ in the one they take.",
        "A single decoding step returns the first value; with T > S some rows are empty.",
    ),
    "causal-ignores-past": Words(
        "the causal mask does not count the cache",
        "Lets new query i see keys up to i, although P past keys stand in front.",
        "The new queries stand at P and later.",
        "Each query sees only the first cached keys.",
    ),
    "window-ignored": Words(
        "the window is left out",
        "Lets queries see keys however far away.",
        "The layer was trained to look at its neighbourhood only.",
        "Far keys are visible; short inputs show nothing.",
    ),
    "window-one-short": Words(
        "the window is one key too short",
        "Allows N − 1 keys on a side instead of N.",
        "In some libraries the size counts the token itself, here it does not.",
        "One key is missing at the edge.",
    ),
    "window-one-long": Words(
        "the window is one key too long",
        "Allows N + 1 keys on a side instead of N.",
        "In some libraries the comparison includes the edge, in others it does not.",
        "One key too many at the edge.",
    ),
    "window-ignores-offset": Words(
        "the window is placed around the row number",
        "Allows i − left ≤ j ≤ i + right, without the offset.",
        "With a cache, or level with the last key, query i stands at p = i + offset.",
        "The band is in the wrong place; without a cache nothing shows.",
    ),
    "mask-ignored": Words(
        "the mask is left out",
        "Blocks nothing on account of the mask.",
        "What it hides is visible.",
        "The mask has no effect.",
    ),
    "mask-inverted": Words(
        "the mask is read the other way round",
        "Blocks where the mask allows, and allows where it blocks.",
        "True means “may attend” in some libraries and “is blocked” in others.",
        "Attends to exactly what it must not.",
    ),
    "mask-transposed": Words(
        "the mask is transposed",
        "Reads mask[j, i] for mask[i, j].",
        "Rows of the mask belong to queries.",
        "With a triangle, the future for the past.",
    ),
    "mask-batch-order": Words(
        "masks are repeated over heads in the wrong order",
        "Gives block (b, h) the mask of sequence (b·H + h) mod B.",
        "Batch and heads are folded as b·H + h; tiling the masks instead of repeating each H times mixes sequences.",
        "A sample depends on its neighbours in the batch.",
    ),
    "mask-added-as-numbers": Words(
        "a mask of zeros and ones is added to the scores",
        "Adds 1 where a key is allowed and 0 where it is not.",
        "Adding 1 makes a key e times likelier, and blocks nothing.",
        "Blocked keys are only e times less likely.",
    ),
    "mask-multiplied": Words(
        "scores are multiplied by the mask",
        "Sets blocked scores to 0 before the softmax.",
        "exp(0) is 1: a blocked key still gets weight, often more than an allowed one.",
        "Blocked keys have the weight of the score 0.",
    ),
    "mask-finite-fill": Words(
        "blocked scores get a finite number",
        "Puts −10, −1e4 or −1e9 in the place of blocked scores, or adds it to them.",
        "−10 still leaks e^−10, and where every key is blocked any finite number cancels.",
        "A leak of 1e-5, or rows without a key that answer with the mean of all values.",
    ),
    "masks-unioned": Words(
        "masks are joined by “or”",
        "Allows a key when any of the masks does.",
        "A query may attend to a key when every mask in force says yes.",
        "Far too much is visible.",
    ),
    "padding-ignored": Words(
        "padding is not masked",
        "Lets queries attend to padded keys.",
        "Padding holds nothing, and its amount depends on the neighbours in the batch.",
        "Results depend on the amount of padding.",
    ),
    "padding-inverted": Words(
        "the padding mask is read the other way round",
        "Blocks real keys and allows padded ones.",
        "1 means “real” in some libraries and “padding” in others.",
        "Attends to padding only.",
    ),
    "padding-on-queries": Words(
        "the padding mask is laid along the queries",
        "Blocks the rows of padded queries instead of the columns of padded keys.",
        "What must not be attended to are keys; a padded row is read by nobody.",
        "Padded rows are empty, and every other row still attends to padding.",
    ),
    "padding-wrong-side": Words(
        "padding is masked on the wrong side",
        "Reads the padding from the other end.",
        "Some tokenizers pad on the left, others on the right.",
        "Real keys at one end are hidden, padding at the other is visible.",
    ),
    "lengths-one-short": Words(
        "lengths are taken to be one shorter",
        "Works as if each length were N − 1.",
        "Some interfaces count from 0, and ask for the index of the last key.",
        "The last real key is missing.",
    ),
    "lengths-one-long": Words(
        "lengths are taken to be one longer",
        "Works as if each length were N + 1.",
        "j ≤ N shows the key N, which is padding.",
        "The first padded key is visible.",
    ),
    "softcap-after-mask": Words(
        "the soft cap comes after the mask",
        "Caps scores that already hold −∞.",
        "tanh makes −1 of −∞: blocked keys come out at −c, which is finite.",
        "Blocked keys keep a weight of the order e^−c.",
    ),
    # weights
    "mask-after-softmax": Words(
        "weights are set to zero after the softmax",
        "Computes the softmax over all keys, then sets blocked weights to 0.",
        "The blocked keys have taken their share of the sum already.",
        "Rows sum to less than 1.",
    ),
    "scale-after-softmax": Words(
        "the scale is applied after the softmax",
        "Computes scale × softmax of unscaled scores.",
        "The scale is to tame the exponents; on weights it only shrinks the output.",
        "Rows sum to 1/√d.",
    ),
    "softmax-over-queries": Words(
        "the softmax runs along the queries",
        "Divides by the sum over i instead of the sum over j.",
        "Each query distributes a weight of 1 over the keys.",
        "Columns sum to 1, rows do not.",
    ),
    "softmax-over-heads": Words(
        "the softmax runs along the heads",
        "Divides by the sum over the heads, or over heads and keys.",
        "Heads are independent: each has a softmax of its own.",
        "For each cell the heads sum to 1; or rows sum to 1/H on average.",
    ),
    "softmax-missing": Words(
        "there is no softmax",
        "Uses the scores as weights, and 0 where blocked.",
        "Scores are neither positive nor do they sum to 1.",
        "Rows do not sum to 1, and some weights are negative.",
    ),
    "softmax-unstable": Words(
        "the softmax overflows",
        "Takes exponentials without subtracting the largest score first.",
        "exp overflows at 709.8 in float64, at 88.7 in float32 and at 11.1 in float16; subtracting the maximum "
        "changes nothing else.",
        "NaN rows for large scores; for very low ones 0/0.",
    ),
    "softmax-low-precision": Words(
        "the softmax is computed in half precision",
        "Rounds scores and weights to float16 or bfloat16.",
        "A score near 100 is known to 0.03 only in float16, to 0.25 in bfloat16, and its exponential to as many "
        "parts.",
        "Errors of 1e-3 or 1e-2, of no pattern.",
    ),
    "empty-row-nan": Words(
        "a query without any key gets NaN",
        "Divides 0 by 0 in rows where everything is blocked.",
        "--empty-rows says what such a row is to be.",
        "NaN rows, which spread through everything that follows.",
    ),
    "dropout-left-on": Words(
        "dropout is left on",
        "Drops weights at random and divides the others by 1 − rate.",
        "Dropout is for training only.",
        "Another answer every time; rows sum to more or less than 1.",
    ),
    "sink-ignored": Words(
        "the sink is left out",
        "Computes the softmax without the sink in the sum.",
        "The sink takes a share of the weight, so that a head may attend to almost nothing.",
        "Weights are too large: rows sum to 1.",
    ),
    "sink-renormalised": Words(
        "the weights are normalised after the sink has gone",
        "Divides the weights by their sum once more.",
        "That takes the share of the sink out again.",
        "The sink has no effect: rows sum to 1.",
    ),
    # output
    "sink-as-extra-value": Words(
        "the sink's weight meets a value",
        "Gives the sink's share to key 0, or to a row of ones.",
        "The sink stands in the denominator only; it has no value, or one of zeros.",
        "Rows sum to 1, or every number is larger by the sink's share.",
    ),
    "weights-transposed": Words(
        "the weights are transposed before they meet V",
        "Computes weightsᵀ · V.",
        "Rows of the weights belong to queries.",
        "The row of a query is mixed with weights that belong to a key.",
    ),
    "blocked-nan-leaks": Words(
        "NaN in a blocked key or value leaks",
        "Multiplies blocked values by 0, or adds −∞ to blocked scores.",
        "0 · NaN and NaN − ∞ are NaN. What is blocked must be selected away.",
        "NaN in the output although the place is masked.",
    ),
    "heads-batch-swapped": Words(
        "batch and heads are folded in the wrong order",
        "Takes the block of (b, h) from where (h, b) stands when both axes are folded into one.",
        "B·H blocks in a row can be counted heads first or batch first; folding and unfolding must agree.",
        "Right blocks in wrong places.",
    ),
    "heads-averaged": Words(
        "the heads are averaged instead of set side by side",
        "Takes the mean over the heads, of their outputs or of their weights.",
        "Each head has its own part of the output, which the projection reads separately.",
        "The output is d_v wide instead of H·d_v, or all heads are equal.",
    ),
    "heads-merged-by-reshape": Words(
        "heads are merged by a reshape, without moving an axis",
        "Reshapes (B, H, T, d_v) to (B, T, H·d_v) at once.",
        "The heads axis must move behind the tokens first.",
        "Rows mix tokens; a task of copying still passes.",
    ),
    "output-projection-missing": Words(
        "the output projection is left out",
        "Hands out the heads side by side, without wo and bo.",
        "wo is what lets the heads talk to each other.",
        "The shape may even fit.",
    ),
}
