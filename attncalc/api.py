"""The library's front door: arrays in, arrays out; nothing is printed, and inputs are never written to."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from attncalc.core import arrays, finite
from attncalc.core.dtypes import SMALL
from attncalc.core.memory import check_memory
from attncalc.core.prepare import Problem, prepare
from attncalc.core.rows import run_in_rows
from attncalc.core.shapes import INPUT_STAGES, QUADRATIC, STAGES, Array
from attncalc.core.steps import RIGHT, Stages
from attncalc.errors import NumberError, OptionError
from attncalc.suggest import did_you_mean

if TYPE_CHECKING:
    from attncalc.core.tiled import Spread
    from attncalc.study.check import Verdict
    from attncalc.study.gradient import Gradients

NAMES = (*INPUT_STAGES, *STAGES)


class Result:
    """What a computation gave: every stage that was asked for, as a read-only array in the user's order of axes.

    Attributes:
        raw: Q Kᵀ, (…, T, S).
        scaled: raw × scale, (…, T, S).
        capped: softcap · tanh(scaled / softcap), (…, T, S); equal to scaled without a soft cap.
        biased: capped + bias, (…, T, S).
        allowed: may the query attend to the key, (…, T, S) booleans.
        scores: biased where allowed, −∞ elsewhere, (…, T, S).
        lse: log of the sum of exp(scores), (…, T).
        weights: softmax along the keys, (…, T, S).
        heads: the output of each head, (…, T, d_v).
        output: weights · V, (…, T, d_v), or as wide as the packed heads or the output projection.
        query: Q as it entered the product: projected, split, rotated; ``key`` and ``value`` likewise.
        stages: the same arrays by name, those that were asked for.
        shapes: shapes of the inputs and of the output, by name.
        options: every rule in force by keyword; ``attention(q, k, v, **options)`` repeats the run.
        notes: what one should know about how the input was understood.
        problem: the checked inputs and rules.
    """

    raw: Array
    scaled: Array
    capped: Array
    biased: Array
    allowed: Array
    scores: Array
    lse: Array
    weights: Array
    heads: Array
    output: Array
    query: Array
    key: Array
    value: Array
    stages: Mapping[str, Array]
    shapes: Mapping[str, tuple[int, ...]]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    problem: Problem

    def __init__(self, problem: Problem, stages: Mapping[str, Array], notes: tuple[str, ...]) -> None:
        fields = {
            "stages": stages,
            "shapes": problem.all_shapes,
            "options": problem.options,
            "notes": notes,
            "problem": problem,
        }
        self.__dict__.update(stages | fields)  # type: ignore[operator]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a result cannot be changed: {name}")

    def __getattr__(self, name: str) -> Array:
        if name in NAMES:
            raise AttributeError(f"{name} was not computed; name it in stages=(…)")
        raise AttributeError(f"a result has no {name}")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.stages.items())
        return f"<attncalc Result: {shapes}>"


def attention(
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    stages: Iterable[str] | None = None,
    max_memory: int | None = None,
    **options: Any,
) -> Result:
    """Compute attention, softmax(Q Kᵀ · scale) V, with every intermediate stage.

    "Attention Is All You Need", section 3.2.1 (arXiv:1706.03762), with the masks, caps, biases, sinks and caches
    that came later.  All arithmetic is float64 unless ``dtype`` says otherwise.

    Args:
        q: Q, (d,), (T, d), (H, T, d) or (B, H, T, d); other orders of axes with ``layout``.
        k: K, (S, d) and so on; G heads of K and V may serve a multiple of G query heads.
        v: V, (S, d_v) and so on.
        stages: which stages to compute, of ``Result``'s names; all but query, key and value unless given.
            No T × S array is built when none is asked for.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.
        options: the arguments of ``attncalc.core.prepare.prepare`` and the fields of
            ``attncalc.core.ruling.Options``: the command's options with ``_`` for ``-``.

    Returns:
        The stages, read-only; with the rules in force in ``options``.

    Raises:
        AttnCalcError: a ValueError with ``.hint``; what does not fit, and where.
    """
    problem = _prepared(q, k, v, options)
    return solve(problem, STAGES if stages is None else stages, max_memory=max_memory)


def check(
    got: ArrayLike,
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    stage: str = "output",
    rtol: float | None = None,
    atol: float | None = None,
    **options: Any,
) -> "Verdict":
    """Say whether an answer is right and, if not, which known mistake gives it.

    Args:
        got: the answer, in the axes of the stage.
        q: Q; ``k`` and ``v`` likewise, as for ``attention``.
        k: K.
        v: V.
        stage: which stage the answer claims to be.
        rtol: how far it may be off, |got − right| ≤ atol + rtol · |right|; by its dtype unless given.
        atol: likewise.
        options: the arguments of ``attention``.

    Returns:
        The verdict, true when the answer agrees; NaN never does.

    Raises:
        AttnCalcError: inputs or options do not fit; a wrong answer, also one of another shape, is no error.
    """
    from attncalc.study.check import check_problem, check_stage  # the catalogue takes a while to load

    check_stage(stage)
    answer, dtype = _answer(got)
    problem = _prepared(q, k, v, options)
    result = solve(problem, (stage,))
    right = result.stages[stage]
    return check_problem(problem, right, answer, stage=stage, dtype=dtype, rtol=rtol, atol=atol, notes=result.notes)


def gradient(
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    grad: ArrayLike | None = None,
    max_memory: int | None = None,
    **options: Any,
) -> "Gradients":
    """Compute how a loss moves with Q, K and V, by formula.

    Args:
        q: Q; ``k`` and ``v`` likewise, as for ``attention``.
        k: K.
        v: V.
        grad: the gradient of the loss with respect to the output, in its shape; ones unless given.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.
        options: the arguments of ``attention``.

    Returns:
        ``dq``, ``dk`` and ``dv``, read-only, each in the shape of what it belongs to; new keys and values only, where
        there is a cache, and the projected Q, K and V, where there is a projection.

    Raises:
        AttnCalcError: inputs, options or grad do not fit.
    """
    from attncalc.study.gradient import differentiate

    return differentiate(_prepared(q, k, v, options), grad, max_memory=max_memory)


def assert_attention(
    got: ArrayLike,
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    stage: str = "output",
    rtol: float | None = None,
    atol: float | None = None,
    **options: Any,
) -> None:
    """Do nothing when an answer is right; for use in any test suite.

    Args:
        got: the answer; all arguments are those of ``check``.
        q: Q.
        k: K.
        v: V.
        stage: which stage the answer claims to be.
        rtol: how far it may be off.
        atol: likewise.
        options: the arguments of ``attention``.

    Raises:
        AssertionError: it is wrong; the message names the likely mistake.
    """
    __tracebackhide__ = True
    verdict = check(got, q, k, v, stage=stage, rtol=rtol, atol=atol, **options)
    if not verdict:
        raise AssertionError(verdict.report)


def _prepared(q: ArrayLike | None, k: ArrayLike | None, v: ArrayLike | None, options: Mapping[str, Any]) -> Problem:
    given: dict[str, Any] = {n: array for n, array in (("query", q), ("key", k), ("value", v)) if array is not None}
    return prepare(**options, **given)


def _answer(got: ArrayLike) -> tuple[Array, str]:
    """Return an answer as numbers, and the name of its type."""
    try:
        dtype = np.asarray(got).dtype.name
    except (ValueError, TypeError):
        dtype = "float64"  # it is no array, which the next lines say
    if dtype == "bfloat16":  # of ml_dtypes, which numpy can only convert
        return np.asarray(got).astype(np.float32), dtype
    return arrays.numbers("got", got), dtype


def solve(
    problem: Problem,
    wanted: Iterable[str] = STAGES,
    *,
    max_memory: int | None = None,
    spread: "Spread | None" = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Result:
    """Compute the wanted stages of a problem that has been prepared.

    Args:
        problem: what to compute.
        wanted: names of stages.
        max_memory: bytes that the T × S stages may take together; half of the free memory unless given.
        spread: where it is computed, without any T × S stage; on this machine unless given.
        progress: is told now and then which share of the work is done.
    """
    wanted = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in wanted:
        if name not in NAMES:
            raise OptionError(f"there is no stage {name}", hint=did_you_mean(name, NAMES) or _stages_hint())
    check_memory(problem, wanted, max_memory)
    findings: dict[str, str] = {}

    def inspect(stages: Stages) -> None:
        if found := finite.check_stages(stages, problem.layout):
            _overflow(problem, *found, findings)

    quadratic = [name for name in QUADRATIC if name in wanted]
    if spread is not None and quadratic:
        raise OptionError(f"a cluster does not build T × S stages, and {quadratic[0]} is one", hint="--show output")
    computed = None
    if spread is not None or (not quadratic and problem.sizes.multiply_adds > SMALL):
        from attncalc.core.tiled import run_in_tiles

        computed = run_in_tiles(problem.inputs, problem.rules, wanted, spread, progress)
    if computed is None:
        computed = run_in_rows(RIGHT, problem.inputs, problem.rules, wanted, inspect, progress)
    shown = {name: _hand_out(problem, name, computed[name]) for name in NAMES if name in wanted}
    if "output" in shown and not findings and not problem.empty.any() and not np.isfinite(shown["output"]).all():
        place = tuple(int(n) for n in np.argwhere(~np.isfinite(shown["output"]))[0])
        _overflow(problem, "output", f"not finite at {problem.layout.cell_text('output', place)}", findings)
    if "output" in shown and problem.rules.empty_rows == "uniform" and np.isnan(shown["output"]).any():
        findings.setdefault("uniform", "a blocked value is not finite, and so the mean of all values is NaN")
    return Result(problem, shown, problem.notes + tuple(findings.values()))


def _overflow(problem: Problem, stage: str, where: str, findings: dict[str, str]) -> None:
    """In float64 a stage that is not finite is an error; narrower types show the IEEE result, with a note."""
    name = problem.rules.arithmetic.name
    if name == "float64":
        raise NumberError(f"{stage} is {where}: the numbers are too large for float64")
    findings.setdefault(stage, f"{stage} is {where}: the numbers are too large for {name}")


def _hand_out(problem: Problem, name: str, array: Array) -> Array:
    """Give a stage the user's axes and type, read-only."""
    layout = problem.layout
    shown = layout.original(array) if name == "output" else layout.stage(array)
    if shown.dtype != bool:
        shown = problem.rules.arithmetic.store(shown)
    if shown.base is not None or np.may_share_memory(shown, array):
        shown = shown.view()
    shown.flags.writeable = False
    return shown


def _stages_hint() -> str:
    return f"the stages are {', '.join(NAMES)}"
