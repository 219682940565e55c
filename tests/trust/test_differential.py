"""The short form of differential.py, the functions under exact, and answers that are the same bit for bit."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from exact import functions

sys.path.insert(0, str(Path(__file__).parent))
from differential import run

ROOT = Path(__file__).parents[2]
BASE = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def test_three_implementations_agree():
    outcomes = run(80)
    assert outcomes["agree"] > 40
    assert set(outcomes) <= {"agree", "refused"}


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-7, 2), Fraction(123), Fraction(-300)])
def test_the_functions_are_right_to_sixty_digits(x):
    with mpmath.workdps(80):
        precise = mpmath.mpf(x.numerator) / x.denominator
        size = abs(precise)
        cosine, sine = functions.cos_sin(x)
        for got, right in (
            (functions.exp(x), mpmath.exp(precise)),
            (functions.log(abs(x)), mpmath.log(size)),
            (functions.sqrt(abs(x)), mpmath.sqrt(size)),
            (functions.tanh(x), mpmath.tanh(precise)),
            (cosine, mpmath.cos(precise)),
            (sine, mpmath.sin(precise)),
        ):
            assert abs(mpmath.mpf(got.numerator) / got.denominator - right) < mpmath.mpf(10) ** -60 * max(1, abs(right))


def answers(folder: Path, *more: str, **variables: str) -> bytes:
    """Run a process that writes every stage of a problem, large enough for threads, and return all bytes."""
    line = [sys.executable, "-m", "attncalc", "compute", "q.npy", "k.npy", "v.npy", "--causal", "-o", "out.npz", *more]
    done = subprocess.run(line, cwd=folder, env=BASE | variables, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return (folder / "out.npz").read_bytes()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name, shape in (("q", (2, 3, 257, 67)), ("k", (2, 3, 307, 67)), ("v", (2, 3, 307, 53))):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=shape))
    return tmp_path


@pytest.mark.parametrize(
    "more", [("--show", "scores,weights,output"), ("--show", "output,lse"), ("--dtype", "float32")]
)
def test_the_answer_is_the_same_bit_for_bit_in_every_run_and_with_every_number_of_threads(folder, more):
    first = answers(folder, *more)
    assert answers(folder, *more, PYTHONHASHSEED="7") == first
    for threads in ("1", "2"):
        assert answers(folder, *more, **dict.fromkeys(THREADS, threads)) == first
