"""The data of the page to explore: what attncalc computed, number for number, as JSON."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attncalc.core.shapes import Array
from attncalc.errors import LETTERS, shape_text
from attncalc.show.digits import notation
from attncalc.show.pages.compute import WHOLE
from attncalc.show.pages.rules import header
from attncalc.show.webpage import labels
from attncalc.study.explore import Exploration, Part, Run

BEYOND = {np.inf: "inf", -np.inf: "-inf"}


@dataclass
class Store:
    """Arrays, each once, however many runs share it."""

    digits: int
    arrays: list[Mapping[str, Any]] = field(default_factory=list)
    places: dict[tuple[str, tuple[int, ...], bytes], int] = field(default_factory=dict)

    def put(self, name: str, array: Array) -> int:
        """Return where the array stands; it is written as ``compute`` writes the stage of this name."""
        if array.dtype == bool:
            written, values = "signs", array
        else:
            values = array.astype(np.float64)
            written = notation(values, self.digits, name not in WHOLE)
        place = (written, values.shape, values.tobytes())
        if place not in self.places:
            self.places[place] = len(self.arrays)
            self.arrays.append({"notation": written, "values": rows(values)})
        return self.places[place]


def rows(values: Array) -> list[Any]:
    """Return numbers for JSON, which knows no infinity and no NaN; truth values as text of 0 and 1."""
    if values.dtype == bool:
        return ["".join("01"[int(cell)] for cell in row) for row in values]
    listed: list[Any] = values.tolist()
    for index in np.argwhere(~np.isfinite(values)).tolist():
        row = listed
        for n in index[:-1]:
            row = row[n]
        row[index[-1]] = BEYOND.get(row[index[-1]], "nan")
    return listed


def data(exploration: Exploration, *, start: str, lang: str, digits: int) -> Mapping[str, Any]:
    """Return the page's data.

    Args:
        exploration: what was computed.
        start: what the page opens at: explore, explanation or answer.
        lang: the language that it opens in.
        digits: decimals.
    """
    problem, kept = exploration.problem, exploration.kept
    sizes, store = problem.sizes, Store(digits)
    runs = [_run(run, store) for run in exploration.runs]
    return {
        "schema": "attncalc.page/1",
        "start": start,
        "lang": lang,
        "digits": digits,
        "sizes": {letter: getattr(sizes, letter) for letter in ("B", "H", "G", "T", "S", "d", "d_v", "P")},
        "shapes": " · ".join(
            f"{LETTERS.get(name, name)} {shape_text(shape)}" for name, shape in problem.shapes.items()
        ),
        "dtype": problem.rules.arithmetic.name,
        "axes": {"batch": problem.layout.has_batch, "head": problem.layout.has_heads},
        "tokens": {"query": labels(problem.query_tokens), "key": labels(problem.key_tokens)},
        "kept": {
            name: list(getattr(kept, name))
            for name in ("batches", "heads", "queries", "keys", "columns", "value_columns")
        },
        "variants": kept.variants,
        "query": exploration.query,
        "arrays": store.arrays,
        "runs": runs,
    }


def _run(run: Run, store: Store) -> Mapping[str, Any]:
    rules = run.rules
    return {
        "causal": rules.causal,
        "scale": rules.scale,
        "softcap": rules.softcap,
        "usual": rules.scale == 1 / math.sqrt(run.problem.sizes.d),
        "fault": run.fault,
        "rules": dict(header(run.problem)),
        "parts": {f"{b},{h}": _part(part, store) for (b, h), part in run.parts.items()},
        "layers": {str(b): store.put("output", array) for b, array in run.layers.items()},
    }


def _part(part: Part, store: Store) -> Mapping[str, Any]:
    record: dict[str, Any] = {
        "stages": {name: store.put(name, array) for name, array in part.stages.items()},
        "blocked_by": {name: store.put("allowed", array) for name, array in part.blocked_by.items()},
    }
    if part.sink is not None:
        record["sink"] = {"logit": part.sink[0], "exponential": store.put("sum", part.sink[1])}
    return record
