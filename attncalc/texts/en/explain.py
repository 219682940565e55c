"""What ``attncalc explain`` says, in English."""

TEXTS = {
    "list": "{front} and {last}",
    "list.comma": ", ",
    "range": "{first} to {last}",
    "query": "query {i}",
    "query.token": "query {i} ({token})",
    "explain.title": "Attention, step by step",
    "explain.title.cell": "One weight from the ground up: query {i}, key {j}",
    "explain.everything": "All {T} queries are worked out in full.",
    "explain.only": "The one query there is, worked out in full.",
    "explain.focus": "The numbers of {query} are worked out in full, those of the other queries are shown in short.",
    "explain.focus.alone": "The numbers of {query} are worked out in full; there are {T} queries.",
    "explain.digits": "Numbers are rounded where they are shown, and only there: the arithmetic uses all digits.",
    "explain.blocked": "blocked",
    "explain.mistake": "This run is wrong on purpose; it has the mistake {id} in it: {title}.",
    "unlike": "This run does something else here: {stage} of key {j} would be {expected}, and the run has {got}.",
    "unlike.inputs": (
        "This run does something else here: its Q, K or V are not what the step described makes of them."
    ),
    "unlike.opened": (
        "This run does something else here: by the rules {query} may not attend to k{j}, and the run lets it."
    ),
    "unlike.blocked": (
        "This run does something else here: by the rules {query} may attend to k{j}, and the run blocks it."
    ),
    # shapes
    "shapes.title": "What goes in",
    "shapes.text": (
        "Each row of Q is a query, each row of K a key, and each row of V the value that belongs to the key of the "
        "same row. Every query is compared with every key; the better the two match, the more of the key's value "
        "goes into the query's output."
    ),
    "shapes.array": "array",
    "shapes.shape": "shape",
    "shapes.meaning": "meaning",
    "shapes.square": "scores, weights",
    "shapes.output": "output",
    "shapes.queries.one": "T = {n} query; its width d is that of a key",
    "shapes.queries.many": "T = {n} queries; their width d is that of the keys",
    "shapes.keys.one": "S = {n} key",
    "shapes.keys.many": "S = {n} keys",
    "shapes.values.one": "{n} value, for the one key; its width d_v is free",
    "shapes.values.many": "{n} values, one for each key; their width d_v is free",
    "shapes.scores": "T × S: a row for each query, a column for each key",
    "shapes.outputs": "T × d_v: a row for each query, as wide as a value",
    "shapes.batch": "There are {B} sequences that know nothing of each other; sequence {b} is shown.",
    "shapes.heads": "There are {H} heads, each an attention of its own on its own columns; head {h} is shown.",
    "shapes.groups.one": (
        "The {H} query heads all use the same key/value head (multi-query attention): query head {h} uses key/value "
        "head {g}."
    ),
    "shapes.groups.many": (
        "There are {H} query heads and {G} key/value heads, so every {share} neighbouring query heads use the same "
        "one (grouped-query attention): query head {h} uses key/value head {g}."
    ),
    "shapes.past.one": (
        "Of the {S} keys, k0 is from the past: it comes from a cache and stands in front of the new ones."
    ),
    "shapes.past.many": (
        "Of the {S} keys, k0 to k{last} are from the past: they come from a cache and stand in front of the new ones."
    ),
    # project
    "project.title": "Make Q, K and V from the sequence",
    "project.text": (
        "Learned matrices make a query, a key and a value of every row. A column of the matrix says how much of each "
        "number of the row goes into one number of the result."
    ),
    "project.query": "Row {i} of x becomes {query}:",
    "project.bias": "The last term of each line is the bias, which is added.",
    "project.keys": "Keys and values are made in the same way, with Wk and Wv, {same}.",
    "project.self": "from the same sequence",
    "project.other": "from the other sequence, the context",
    # split
    "split.title": "Split into heads",
    "split.text": (
        "The columns hold {H} heads beside each other, {d} columns each. Head {h} is columns {first} to {last} of Q. "
        "No number changes; the heads only get an axis of their own."
    ),
    "split.matrix": "{name} of head {h}",
    # rope
    "rope.title": "Turn queries and keys by their position (RoPE)",
    "rope.text": (
        "Two columns make a pair (x, y), and each pair is turned by an angle a that grows with the position. The "
        "product of a query and a key then depends on how far apart they stand, and not on where. The first pair "
        "turns by one radian a position, later pairs ever more slowly (base {base}, {dims} columns)."
    ),
    "rope.query": "{Query} stands at position {position}:",
    "rope.formula": "(x, y) → (x cos a − y sin a, y cos a + x sin a),   a = position × base^(−2n/dims)",
    "rope.rest": "Columns {first} to {last} are not turned.",
    "rope.keys": "Keys are turned in the same way, values are not. These enter the product:",
    "rope.keys.past": (
        "New keys are turned in the same way; past keys are taken as already turned, so they stay as they are. Values "
        "are not turned. These enter the product:"
    ),
    # raw
    "raw.title": "Compare: the product of each query with each key",
    "raw.text": (
        "Multiply the numbers that stand in the same column, and add up. Rows that point the same way give a large "
        "product, rows that have nothing in common give 0, opposite rows a negative one."
    ),
    # scale
    "scale.title": "Scale: make the products independent of the width",
    "scale.usual": (
        "A product is a sum of d terms (here d = {d}), so it grows with the width: for random rows of numbers around "
        "±1 its usual size is √d (√d times itself is d). Multiplied by 1/√d it is about 1 at every width. Without "
        "that, the scores of wide rows lie so far apart that softmax gives nearly all the weight to one key, and "
        "training has nothing left to improve (attncalc scaling shows it by experiment)."
    ),
    "scale.given": "The scale is given as {factor}; the usual one would be 1/√d = 1/√{d} = {usual}.",
    # cap
    "cap.title": "Soft cap",
    "cap.text": (
        "No score may leave the range from −{c} to {c}. Small scores hardly change, large ones come ever closer to "
        "the limit."
    ),
    # bias
    "bias.title": "Add the bias",
    "bias.file": "The numbers of the bias file are added to the scores.",
    "bias.alibi": (
        "ALiBi takes away slope × distance, so that keys far away count less. The slope of head {h} is {slope}; the "
        "distance is |p − j|, from the position p of the query to the key j."
    ),
    # mask
    "mask.title": "Mask: what a query may not see",
    "mask.formula": "scores = {before} where the query may attend to the key, −∞ elsewhere",
    "mask.none": "No mask is in force: every query may attend to every key, and the scores stay as they are.",
    "mask.rules": "A query may attend to a key when every mask in force says yes:",
    "mask.mask": "mask",
    "mask.rule": "query i may attend to key j …",
    "mask.name.causal": "causal",
    "mask.name.window": "window",
    "mask.name.mask": "mask file",
    "mask.name.real": "padding",
    "mask.name.bias": "bias −∞",
    "mask.causal": "when j ≤ {place}: nothing that comes later",
    "mask.window": "when {window}: nothing far away",
    "mask.file": "where the file says so (true and 1 mean {true})",
    "mask.allowed": "allowed",
    "mask.blocked": "blocked",
    "mask.real": "when key j is a real token, not filling",
    "mask.bias": "where the bias is not −∞",
    "mask.all": "{Query} may attend to every key; nothing changes for it.",
    "mask.empty": "{Query} may attend to no key at all.",
    "mask.empty.zero": "What it gets is said by --empty-rows zero: weights and output 0.",
    "mask.empty.nan": "What it gets is said by --empty-rows nan: NaN, in weights and output.",
    "mask.empty.uniform": "What it gets is said by --empty-rows uniform: the weight 1/S for every key, blocked too.",
    "mask.empty.error": "For --empty-rows error that is an error.",
    "mask.empty.sink": "{Query} may attend to no key at all: the sink takes all its weight.",
    "mask.verdict": "{Query} may attend to {seen}, and not to {hidden}:",
    "mask.yes": "yes",
    "mask.no": "no: {reasons}",
    "mask.column.key": "key",
    "mask.column.before": "before",
    "mask.column.verdict": "allowed",
    "mask.column.after": "score",
    "mask.column.free": "weight without mask",
    "mask.column.weight": "with mask",
    "mask.infinity": (
        "−∞ and not 0: the next step takes exp of each score, and exp(−∞) is exactly 0, while exp(0) is 1. So a "
        "blocked key gets no weight at all, and what it would have got is shared among the others."
    ),
    "mask.infinity.some": (
        "−∞ and not 0: the next step takes exp of each score, and exp(−∞) is exactly 0, while exp(0) is 1. So where a "
        "query has other keys, a blocked one gets no weight at all, and what it would have got is shared among them."
    ),
    "mask.infinity.none": (
        "−∞ and not 0: the next step takes exp of each score, and exp(−∞) is exactly 0, while exp(0) is 1. Here every "
        "exponential of the row is 0, and there is no other key to get the weight."
    ),
    # softmax
    "softmax.title": "Softmax: scores become weights",
    "softmax.text": (
        "exp(x) is e = 2.718… to the power x: positive for every x, 1 for x = 0, and 2.718 times as large when x "
        "grows by 1. Divided by their sum, the exponentials of a row add up to 1. First the largest score m of the "
        "row is subtracted. That changes no weight, because it divides every exponential and their sum by the same "
        "number, exp(m); but now no exponential is larger than 1, and none can overflow."
    ),
    "softmax.largest": "largest of {n} scores",
    "softmax.sum": "sum",
    "softmax.key": "key",
    "softmax.score": "score",
    "softmax.difference": "− m",
    "softmax.exp": "exp",
    "softmax.weight": "/ sum",
    "softmax.lse": (
        "ln undoes exp. lse is the logarithm of the sum of exp(score), so that weight = exp(score − lse); libraries "
        "return it beside the output."
    ),
    "softmax.zero": "The score 0 gets weight too: exp(0) is 1. Only −∞ gets none.",
    "softmax.sink": (
        "The sink is a score without a key. It stands in the sum and takes weight, so the weights of the keys add up "
        "to less than 1."
    ),
    "softmax.sink.label": "sink",
    "softmax.empty.error": "{Query} has no key; there is nothing to divide.",
    "softmax.empty.zero": (
        "{Query} has no key, so its sum is 0 and there is nothing to divide: its weights are set to 0."
    ),
    "softmax.empty.nan": "{Query} has no key, so its sum is 0, and 0/0 is NaN.",
    "softmax.empty.uniform": (
        "{Query} has no key; by --empty-rows uniform every key gets the weight 1/S = {share}, although it is blocked."
    ),
    # output
    "output.title": "Mix: add up the values, each times its weight",
    "output.text": (
        "An output is a mean of the values in which each counts as much as its weight says. Column by column:"
    ),
    "output.text.alone": "An output is a mean of the values in which each counts as much as its weight says.",
    "output.text.sink": (
        "Each value counts as much as its weight says. The sink takes part of the weight and has no value, so an "
        "output is a mean of the values and 0. Column by column:"
    ),
    "output.text.sink.alone": (
        "Each value counts as much as its weight says. The sink takes part of the weight and has no value, so an "
        "output is a mean of the values and 0."
    ),
    "output.left_out": "Keys with weight 0 are left out: whatever their values are, they change nothing.",
    "output.nothing": "All weights of {query} are 0, and so is its output.",
    # merge
    "merge.title": "Put the heads beside each other",
    "merge.title.project": "Put the heads together: the output projection",
    "merge.text": (
        "{Query} has {H} outputs, one from each head, {d} columns wide. They are set side by side, not added:"
    ),
    "merge.beside": "together",
    "merge.project": (
        "A last learned matrix mixes the columns of {query} (a term for each of them, and the bias if there is one):"
    ),
    # check
    "check.title": "Check",
    "check.sums": "The weights of every query add up to 1 (largest error: {off}).",
    "check.sums.some": "The weights of every query that has keys add up to 1 (largest error: {off}).",
    "check.sums.sink": "The weights of every query and its sink add up to 1 (largest error: {off}).",
    "check.sums.wrong": "The weights of {query} add up to {got}, not to 1.",
    "check.blocked": "Every blocked key has the weight 0.",
    "check.blocked.some": "Every blocked key of a query that has others has the weight 0.",
    "check.blocked.wrong": "{Query} gives weight {weight} to key {j}, which it may not attend to.",
    "check.range": (
        "Every output lies between the smallest and the largest value that its query may see, as a mean must; column "
        "0 of {query}: {bounds}."
    ),
    "check.range.some": (
        "Every output of a query that has keys lies between the smallest and the largest value that the query may "
        "see, as a mean must; column 0 of {query}: {bounds}."
    ),
    "check.range.sink": (
        "Every output lies between the smallest and the largest of 0 and the values that its query may see: 0 too, "
        "because the sink takes part of the weight and has no value; column 0 of {query}: {bounds}."
    ),
    "check.range.wrong": (
        "Column {c} of the output of {query} is {got}, outside the range of the values, {low} to {high}: no mean can "
        "be that."
    ),
    "check.range.wrong.sink": (
        "Column {c} of the output of {query} is {got}, outside the range of the values and 0, {low} to {high}: no "
        "mean can be that."
    ),
    "check.empty.one": (
        "Left out of these checks: {query}, which may attend to no key. What it gets is said by --empty-rows."
    ),
    "check.empty.many": (
        "Left out of these checks: {query}, which may attend to no key. What they get is said by --empty-rows."
    ),
    "check.nothing.one": (
        "{Query} may attend to no key, so there is nothing to check here. What it gets is said by --empty-rows."
    ),
    "check.nothing.many": (
        "{Query} may attend to no key, so there is nothing to check here. What they get is said by --empty-rows."
    ),
    # cell
    "cell.rows": "A query and a key, both d = {d} wide, and the value of the key, d_v = {d_v} wide:",
    "cell.share": "share",
    "cell.raw": "Column by column, query {i} times key {j}:",
    "cell.column": "column",
    "cell.product": "product",
    "cell.total": "sum so far",
    "cell.allowed": "{Query} may attend to k{j}, so the score stays.",
    "cell.blocked": "{Query} may not attend to k{j} ({reasons}), so the score becomes −∞.",
    "cell.softmax": (
        "The weight is the share that exp(score − m) has in the sum over the whole row; m = {m} is the largest score "
        "of the row, and the sum is {total}."
    ),
    "cell.weight.zero": "exp(−∞) is 0, and 0 divided by anything is 0.",
    "cell.output": "This weight times the value of k{j} is what the key brings to the output of {query}:",
    "cell.whole": "whole output",
}
