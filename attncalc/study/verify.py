"""An implementation on the vectors: what it gets right, what it gets wrong and which mistake that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from attncalc.core.shapes import Array
from attncalc.errors import OptionError
from attncalc.study.check import Verdict, check_problem
from attncalc.study.vectors import FEATURES, VECTORS, Vector
from attncalc.suggest import did_you_mean

Result = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """What became of one vector.

    Attributes:
        vector: its name.
        result: passed, failed or skipped.
        reason: why, in a sentence; empty when it passed.
        verdict: the comparison, where there was an answer.
    """

    vector: str
    result: Result
    reason: str = ""
    verdict: Verdict | None = None

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The mistakes that give this answer: the best single ones, or the ids of pairs, joined by +."""
        return () if self.verdict is None else tuple("+".join(found.ids) for found in self.verdict.mistakes)


def chosen(only: str | None, skip: str | None) -> tuple[Vector, ...]:
    """Return the vectors whose features fit two lists, with commas between the words.

    Args:
        only: vectors that use no other feature than these; plain attention needs none.
        skip: no vector that uses one of these.
    """
    wanted, unwanted = _features("--only", only), _features("--skip", skip)
    found = tuple(
        vector
        for vector in VECTORS
        if (only is None or set(vector.features) <= wanted) and not unwanted & set(vector.features)
    )
    if not found:
        raise OptionError("no vector is left", hint=f"the features are {', '.join(FEATURES)}")
    return found


def _features(option: str, text: str | None) -> set[str]:
    words = {word.strip() for word in text.split(",")} if text else set()
    for word in sorted(words - set(FEATURES)):
        hint = did_you_mean(word, FEATURES) or f"the features are {', '.join(FEATURES)}"
        raise OptionError(f"{option} {word}: there is no such feature", hint=hint)
    return words


def judge(vector: Vector, answer: Array, dtype: str | None = None) -> Outcome:
    """Compare an answer with the right one.

    Args:
        vector: what was computed.
        answer: the implementation's output, of numbers.
        dtype: its type, when that is not numpy's.
    """
    verdict = check_problem(vector.problem, vector.output, answer, dtype=dtype)
    if verdict.agrees:
        return Outcome(vector.name, "passed", verdict=verdict)
    remarks = [verdict.sentence]
    if not verdict.mistakes:
        remarks += [verdict.diagnosis, *verdict.observations]
    return Outcome(vector.name, "failed", "; ".join(remarks), verdict)


def lacking(vector: Vector, parameters: Iterable[str] | None) -> str | None:
    """Return why a function cannot be called with a vector: keywords that it lacks; None when it can.

    Args:
        vector: the vector.
        parameters: names of the function's parameters; None when it takes any keyword.
    """
    if parameters is None:
        return None
    known = set(parameters)
    missing = [name for name in keywords_of(vector) if name not in known]
    return f"the function has no {', '.join(missing)}" if missing else None


def keywords_of(vector: Vector) -> dict[str, Any]:
    """Return what a function is called with beside q, k and v; the sequence and the matrices of a layer too."""
    return {name: value for name, value in vector.keywords.items() if name not in ("query", "key", "value")}


def as_json(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return outcomes by the keys of ``attncalc.verify/1``."""
    record: dict[str, list[dict[str, Any]]] = {"passed": [], "failed": [], "skipped": []}
    for each in outcomes:
        row = {"vector": each.vector, "mistakes": list(each.mistakes), "reason": each.reason}
        record[each.result].append(row)
    return record
