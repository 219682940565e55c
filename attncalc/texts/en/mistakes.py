"""What ``attncalc mistakes`` says around the catalogue, in English."""

TEXTS = {
    "mistakes.title": "Known mistakes",
    "mistakes.list": (
        "{count} mistakes that attention code has made in public, by the step in which they are made. attncalc "
        "mistakes ID tells one; attncalc mistakes Q K V shows what each does to your numbers."
    ),
    "mistakes.effects": "What each known mistake does to these numbers",
    "mistakes.effects.text": (
        "Each is the right computation with one step exchanged. The difference is the largest one in the output; where "
        "a mistake can be made in several ways, that of the one that shows most. The last column is the largest total "
        "weight that a query gives to keys which it must not see."
    ),
    "mistakes.unseen.one": "{n} that applies makes no difference here: {ids}.",
    "mistakes.unseen.many": "{n} that apply make no difference here: {ids}.",
    "mistakes.others.one": "{n} more does not apply to these inputs.",
    "mistakes.others.many": "{n} more do not apply to these inputs.",
    "mistakes.id": "id",
    "mistakes.stage": "stage",
    "mistakes.name": "mistake",
    "mistakes.difference": "difference",
    "mistakes.leak": "on blocked keys",
    "mistakes.what": "What it does",
    "mistakes.why": "Why it is wrong",
    "mistakes.shows": "How it shows",
    "mistakes.instead": "Instead",
    "mistakes.source": "Seen in",
    "mistakes.inputs": "On these inputs",
    "mistakes.inputs.not": "It does not apply to these inputs.",
    "mistakes.inputs.same": "It makes no difference on these inputs.",
    "mistakes.inputs.difference": "The largest difference in the output is {difference}.",
    "mistakes.right": "right",
    "mistakes.wrong": "wrong",
    "mistakes.sum": "sum",
}
