"""One score and one weight from the ground up: query i, key j."""

import numpy as np

from attncalc.study.explanation import checking, scores
from attncalc.study.explanation.masking import blocking, empty, formula
from attncalc.study.explanation.parts import GAP, MORE, Explanation, Grid, Part, Prose, Step, Worked, Working
from attncalc.study.explanation.softening import between
from attncalc.study.explanation.unlike import unlike_mask
from attncalc.study.explanation.view import LEFT_OUT, View, ends, in_product, product, vector, with_gaps

COLUMNS = 16
"""So many columns of a product are written below each other; of more, both ends."""


def explanation(view: View, i: int, j: int) -> Explanation:
    """Explain how query i and key j come to their weight."""
    scaled, capped, biased = scores.scale(view, j), scores.cap(view, j), scores.bias(view, j)
    steps = [_rows(view, i, j), _raw(view, i, j), scaled, capped, biased, _mask(view, i, j), _softmax(view, i, j)]
    steps += [_output(view, i, j), checking.check(view)]
    say = view.say
    return Explanation(
        title=say("explain.title.cell", i=i, j=j),
        intro=(say("explain.digits"),),
        steps=tuple(step for step in steps if step is not None),
        batch=view.batch,
        head=view.head,
        queries=(i,),
        at_hand=tuple(view.at_hand),
    )


def _rows(view: View, i: int, j: int) -> Step:
    say, n = view.say, view.sizes
    rows = {"query": view.query[view.row(i)], "key": view.key[j], "value": view.value[j]}
    names = (f"Q[{i}]", f"K[{j}]", f"V[{j}]")
    lines = [Worked(name, (vector(say.row(row)),)) for name, row in zip(names, rows.values(), strict=True)]
    return Step(
        id="shapes",
        title=say("shapes.title"),
        formula="",
        latex="",
        parts=(Prose(say("cell.rows", d=n.d, d_v=n.d_v)), Working(tuple(lines))),
        values=rows,
    )


def _raw(view: View, i: int, j: int) -> Step:
    say = view.say
    query, key, raw = view.query[view.row(i)], view.key[j], float(view.stage("raw")[view.row(i), j])
    products = query * key
    columns = [say.row(query), say.row(key), say.row(products), say.row(np.cumsum(products))]
    shown = with_gaps(ends(len(query), COLUMNS))
    rows = [(GAP, *[MORE] * 4) if n == LEFT_OUT else (str(n), *(column[n] for column in columns)) for n in shown]
    head = (say("cell.column"), f"q{i}", f"k{j}", say("cell.product"), say("cell.total"))
    parts: list[Part] = [Prose(say("cell.raw", i=i, j=j)), Grid(head, tuple(rows))]
    parts.append(Working((Worked(f"raw[{i}, {j}]", (say.number(raw, fixed=False),)),)))
    return Step("raw", say("raw.title"), scores.RAW, scores.RAW_LATEX, tuple(parts), {"raw": np.array(raw)})


def _mask(view: View, i: int, j: int) -> Step:
    say, r = view.say, view.row(i)
    query = view.query_words(i)
    reasons = [say(f"mask.name.{name}") for name, allows in blocking(view).items() if not allows[r, j]]
    said = say("cell.blocked", query=query, j=j, reasons=", ".join(reasons)) if reasons else ""
    none = [] if view.stage("allowed")[r].any() else [Prose(_none(view, query)), *empty(view, i)]
    differs = unlike_mask(view, i)
    score = view.stage("scores")[r, j]
    line = Worked(f"score[{i}, {j}]", (say.number(float(score)),))
    return Step(
        id="mask",
        title=say("mask.title"),
        formula=formula(view),
        latex="",
        parts=(Prose(said or say("cell.allowed", query=query, j=j)), *none, *differs, Working((line,))),
        values={"scores": np.array(score), "allowed": np.array(view.stage("allowed")[r, j])},
    )


def _none(view: View, query: str) -> str:
    """Say that a query may attend to no key at all."""
    return view.say("mask.empty" if view.stages.rules.sink is None else "mask.empty.sink", query=query)


def _softmax(view: View, i: int, j: int) -> Step:
    say, r, found = view.say, view.row(i), between(view)
    m, total = float(found.maximum[r]), float(found.total[r])
    score, weight = float(view.stage("scores")[r, j]), float(view.stage("weights")[r, j])
    parts: list[Part] = []
    if total == 0:
        parts.append(
            Prose(say(f"softmax.empty.{view.stages.rules.empty_rows}", query=view.query_words(i), share=weight))
        )
    else:
        parts.append(Prose(say("cell.softmax", m=m, total=total)))
        score_text, m_text = say.number(score), in_product(say.number(m))
        e = float(found.exponentials[r, j])
        parts.append(
            Working(
                (
                    Worked("score − m", (f"{score_text} − {m_text}",), say.number(float(found.differences[r, j]))),
                    Worked("exp", (f"exp({say.number(float(found.differences[r, j]))})",), say.number(e)),
                    Worked(f"weights[{i}, {j}]", (f"{say.number(e)} / {say.number(total)}",), say.number(weight)),
                )
            )
        )
        if score == -np.inf:
            parts.append(Prose(say("cell.weight.zero")))
    values = {"maximum": np.array(m), "sum": np.array(total), "weights": np.array(weight)}
    return Step("softmax", say("softmax.title"), "", "", tuple(parts), values)


def _output(view: View, i: int, j: int) -> Step:
    say, r = view.say, view.row(i)
    weight, value, output = view.stage("weights")[r, j], view.value[j], view.stage("heads")[r]
    share = np.zeros_like(value) if weight == 0 else weight * value
    w, values, shares, outputs = say.number(float(weight)), say.row(value), say.row(share, True), say.row(output, True)
    shown = with_gaps(ends(len(value), COLUMNS // 2))
    rows = [
        (GAP, *[MORE] * 3) if c == LEFT_OUT else (str(c), product(w, values[c]), shares[c], outputs[c]) for c in shown
    ]
    head = (say("cell.column"), f"weights[{i}, {j}] × V[{j}]", say("cell.share"), say("cell.whole"))
    parts = (Prose(say("cell.output", query=view.query_words(i), j=j)), Grid(head, tuple(rows)))
    return Step("output", say("output.title"), "", "", parts, {"share": share, "output": output})
