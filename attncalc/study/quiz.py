"""Questions about attention: those of a textbook, and some with numbers from a seed that the core answers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncalc.core.prepare import prepare
from attncalc.core.steps import RIGHT, Stages, run
from attncalc.errors import OptionError
from attncalc.study import cost
from attncalc.texts import Voice

LETTERS = "abcd"

CHOICES = (
    ("mixed", 3, "c"),
    ("output-shape", 4, "a"),
    ("weights-shape", 3, "b"),
    ("rows-sum", 3, "a"),
    ("zero-score", 3, "b"),
    ("causal-self", 3, "a"),
    ("causal-first", 3, "c"),
    ("heads", 3, "b"),
    ("double-values", 3, "c"),
    ("change-query", 3, "b"),
    ("change-key", 3, "a"),
    ("four-times", 3, "c"),
    ("empty-row", 4, "d"),
    ("remove-mask", 3, "b"),
    ("why-scale", 3, "a"),
    ("mask-after", 3, "c"),
    ("maximum", 3, "b"),
    ("constant", 3, "a"),
    ("permute-keys", 3, "c"),
    ("range", 3, "b"),
    ("padding", 3, "a"),
    ("cross", 3, "c"),
    ("widths", 3, "b"),
    ("groups", 3, "a"),
    ("double-queries", 3, "c"),
    ("equal-scores", 3, "b"),
    ("flash", 3, "a"),
    ("cache", 3, "c"),
)
"""The textbook's questions: id, number of choices, letter of the right one; the words are in the catalogues."""


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        id: its name.
        text: what is asked.
        choices: what one can choose from; empty where a number is asked for.
        answer: a letter, or a number as text.
        explanation: why.
        number: the number, where one is asked for.
    """

    id: str
    text: str
    choices: tuple[str, ...]
    answer: str
    explanation: str
    number: float | None = None

    def judge(self, given: str) -> bool | None:
        """Say whether an answer is right; None where it is no answer at all.

        A number is right when it is as near as its last decimal says, and never further off than 0.01; it may be
        written 0.67, 0,67 or 2/3.
        """
        given = given.strip().casefold()
        if self.number is not None:
            return _near(given, self.number)
        letter = given.rstrip(").").strip()
        known = LETTERS[: len(self.choices)]
        if len(letter) == 1 and letter in known:
            return letter == self.answer
        said = [choice.casefold().rstrip(".。") for choice in self.choices]
        word = given.rstrip(".。")
        return said.index(word) == known.index(self.answer) if word in said else None


def questions(say: Voice, seed: int = 0, count: int | None = None) -> list[Question]:
    """Return questions in the order of a seed, which also makes their numbers.

    Args:
        say: the language.
        seed: of the order and of the numbers.
        count: how many; all unless given.
    """
    if seed < 0:
        raise OptionError(f"a seed must be 0 or more, not {seed}")
    pool = [_choice(say, *entry) for entry in CHOICES]
    pool += [
        _numeric(say, name, make(np.random.default_rng((seed, n)))) for n, (name, make) in enumerate(NUMERIC.items())
    ]
    if count is not None and not 1 <= count <= len(pool):
        raise OptionError(f"there are {len(pool)} questions; {count} cannot be asked")
    order = np.random.default_rng(seed).permutation(len(pool))
    return [pool[n] for n in order[:count]]


def _choice(say: Voice, name: str, count: int, answer: str) -> Question:
    key = f"quiz.{name}"
    choices = tuple(say(f"{key}.{letter}") for letter in LETTERS[:count])
    return Question(name, say(key), choices, answer, say(f"{key}.why"))


@dataclass(frozen=True)
class Made:
    """A question with numbers: what stands in its words, and the answer."""

    words: dict[str, object]
    answer: float
    decimals: int = 4


def _numeric(say: Voice, name: str, made: Made) -> Question:
    whole = made.decimals == 0
    text = f"{made.answer:.0f}" if whole else f"{made.answer:.{made.decimals}f}"
    asked = say(f"quiz.{name}", **made.words)
    why = say(f"quiz.{name}.why", **made.words, answer=text)
    return Question(name, asked, (), text, why, made.answer)


def _near(given: str, answer: float) -> bool | None:
    """Compare a written number with the answer, as exactly as it is written; None where it is no number."""
    text = given.replace("\u2212", "-").replace(" ", "")
    if not re.fullmatch(r"[+-]?\d*[.,]?\d+|[+-]?\d+[.,]?|[+-]?\d+/\d+", text, re.ASCII):
        return None
    if "/" in text:
        top, bottom = map(int, text.split("/"))
        return None if bottom == 0 else abs(float(Fraction(top, bottom)) - answer) <= 1e-9 * max(1.0, abs(answer))
    text = text.replace(",", ".")
    decimals = len(text.partition(".")[2])
    room = min(10.0**-decimals, 0.01)
    return abs(float(text) - answer) <= room * (1 + 1e-9)


def _whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 4, shape)


def _positive(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(1, 4, shape)


def _rows(array: np.ndarray) -> str:
    return str(array.tolist())


def _run(query: np.ndarray, key: np.ndarray, value: np.ndarray, causal: bool = False) -> Stages:
    problem = prepare(query=query, key=key, value=value, causal=causal)
    return run(RIGHT, problem.inputs, problem.rules)


def _score(rng: np.random.Generator) -> Made:
    query, key = _positive(rng, 1, 3), _whole(rng, 1, 3)
    raw = _run(query, key, np.zeros((1, 1))).raw
    return Made({"q": _rows(query[0]), "k": _rows(key[0])}, float(raw[0, 0, 0, 0]), 0)


def _scaled(rng: np.random.Generator) -> Made:
    query, key = _positive(rng, 1, 4), _whole(rng, 1, 4)
    found = _run(query, key, np.zeros((1, 1)))
    words = {"q": _rows(query[0]), "k": _rows(key[0]), "raw": int(found.raw[0, 0, 0, 0])}
    return Made(words, float(found.scaled[0, 0, 0, 0]), 1)


def _weight(rng: np.random.Generator) -> Made:
    query, key = _positive(rng, 1, 2), _whole(rng, 2, 2)
    found = _run(query, key, np.zeros((2, 1)))
    if found.raw[0, 0, 0, 0] == found.raw[0, 0, 0, 1]:
        return _weight(rng)  # equal scores need no arithmetic
    j = int(rng.integers(2))
    s0, s1 = (float(score) for score in found.scores[0, 0, 0])
    return Made({"q": _rows(query[0]), "k": _rows(key), "j": j, "s0": s0, "s1": s1}, float(found.weights[0, 0, 0, j]))


def _output(rng: np.random.Generator) -> Made:
    query, key, value = _positive(rng, 1, 2), _whole(rng, 2, 2), rng.integers(0, 10, (2, 1))
    found = _run(query, key, value)
    w0, w1 = (float(weight) for weight in found.weights[0, 0, 0])
    words = {"q": _rows(query[0]), "k": _rows(key), "v": _rows(value), "w0": w0, "w1": w1}
    return Made(words, float(found.output[0, 0, 0, 0]))


def _causal(rng: np.random.Generator) -> Made:
    query, key = _positive(rng, 3, 2), _whole(rng, 3, 2)
    found = _run(query, key, np.zeros((3, 1)), causal=True)
    if found.raw[0, 0, 1, 0] == found.raw[0, 0, 1, 1]:
        return _causal(rng)
    s0, s1 = (float(score) for score in found.scores[0, 0, 1, :2])
    words = {"q": _rows(query), "k": _rows(key), "s0": s0, "s1": s1}
    return Made(words, float(found.weights[0, 0, 1, 0]))


def _elements(rng: np.random.Generator) -> Made:
    tokens, heads = int(rng.choice([16, 32, 64, 128])), int(rng.choice([2, 4, 8]))
    row = cost.cost([tokens], cost.Sizes(heads=heads, kv_heads=heads))[0]
    return Made({"tokens": tokens, "heads": heads}, row.weights_elements, 0)


def _growth(rng: np.random.Generator) -> Made:
    first, times = int(rng.choice([64, 128, 256])), int(rng.choice([2, 3, 5, 8]))
    row = cost.cost([first, first * times])[1]
    return Made({"first": first, "last": first * times, "times": times}, row.growth, 0)


def _cached(rng: np.random.Generator) -> Made:
    tokens, groups, d = int(rng.choice([10, 100])), int(rng.choice([1, 2, 4])), int(rng.choice([8, 16, 64]))
    sizes = cost.Sizes(heads=groups, kv_heads=groups, dim=d, value_dim=d, dtype="float16")
    row = cost.cost([tokens], sizes)[0]
    return Made({"tokens": tokens, "groups": groups, "d": d}, row.kv_cache_bytes, 0)


NUMERIC: dict[str, Callable[[np.random.Generator], Made]] = {
    "n-score": _score,
    "n-scaled": _scaled,
    "n-weight": _weight,
    "n-output": _output,
    "n-causal": _causal,
    "n-elements": _elements,
    "n-growth": _growth,
    "n-cache": _cached,
}
"""Questions with numbers."""
