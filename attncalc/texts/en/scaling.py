"""What ``attncalc scaling`` says, in English."""

TEXTS = {
    "scaling.title": "Why scores are divided by √d: an experiment",
    "scaling.text": (
        "Queries and keys of random numbers with mean 0 and variance 1; {samples} queries at each width d, each "
        "compared with {keys} keys. The left number of each pair is without the scale, the right one, marked *, with "
        "1/√d. Seed {seed}."
    ),
    "scaling.variance": "variance",
    "scaling.entropy": "entropy",
    "scaling.max_weight": "top weight",
    "scaling.gradient": "gradient",
    "scaling.scaled.variance": "var.*",
    "scaling.scaled.entropy": "entr.*",
    "scaling.scaled.max_weight": "top w.*",
    "scaling.scaled.gradient": "grad.*",
    "scaling.read.variance": (
        "variance: of the products. It is about d, since a product is a sum of d terms; divided by √d it stays about 1."
    ),
    "scaling.read.entropy": (
        "entropy: how evenly the weights are spread, in nats. {most} means that all {keys} keys get the same, 0 that "
        "one key gets everything."
    ),
    "scaling.read.weight": (
        "top weight: the largest weight of a query, on average. 1 means that the other keys get nothing."
    ),
    "scaling.read.gradient": (
        "gradient: how much the weights react when the scores change. When it is near 0, training cannot move the "
        "weights any more."
    ),
    "scaling.curve.max_weight": "Top weight over d",
    "scaling.curve.gradient": "Gradient over d",
    "scaling.curve.legend": "× without the scale   • with 1/√d   # both",
    "scaling.result": (
        "From d = {first} to d = {last} the top weight goes from {low} to {high} without the scale, and stays "
        "between {least} and {most} with it. That is what 1/√d is for."
    ),
    "scaling.result.one": "At d = {last} the top weight is {high} without the scale and {most} with it.",
}
