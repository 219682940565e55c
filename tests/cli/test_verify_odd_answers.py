"""``attncalc verify`` and implementations that answer in odd ways: each is a finding, none a fault of ours."""

import json
import sys
from pathlib import Path

import pytest

SQUARE = ("verify", "--only", "scale", "--skip", "scale", "--format", "json", "--timeout", "20")
START = "import os, sys, numpy as np; d = np.load(sys.argv[1]); o = sys.argv[2]; "
ANSWER = """
import sys, numpy as np
d = np.load(sys.argv[1])
s = d['q'] @ np.swapaxes(d['k'], -1, -2) / np.sqrt(d['q'].shape[-1])
e = np.exp(s - s.max(-1, keepdims=True))
out = e / e.sum(-1, keepdims=True) @ d['v']
"""


def reasons(done):
    """Return what is said of every vector, each reason once."""
    assert done.code in (0, 1), done.err
    record = json.loads(done.out)
    assert not record["skipped"]
    return {each["reason"] for each in record["failed"]}


def run(shell, program):
    return reasons(shell(*SQUARE, "--", sys.executable, "-c", program, "{input}", "{output}"))


def test_an_npz_with_one_array_is_taken(attncalc):
    assert run(attncalc, ANSWER + "np.savez(open(sys.argv[2], 'wb'), out=out)") == set()


VECTORS = ("plain", "square", "keys-as-wide", "values-as-wide", "batch-of-heads", "large-scores")
ODD = [
    ("np.savez(open(o, 'wb'), a=1.0, b=2.0)", "it wrote an npz with 2 arrays, not an npy: a, b"),
    ("os.mkdir(o)", "it made a folder where the answer should be"),
    ("os.mkfifo(o)", "it made something that is no regular file where the answer should be"),
    ("open(o, 'w')", "it wrote an empty file"),
    ("pass", "it wrote no answer"),
    ("open(o, 'w').write('1,2\\n3,4\\n')", "what it wrote is not an npy file: it does not begin as one"),
    ("open(o, 'w').write('[[1, 2]]')", "what it wrote is not an npy file: it does not begin as one"),
    ("open(o, 'wb').write(os.urandom(9).replace(b'P', b'Q'))", "what it wrote is not an npy file: it does not"),
    ("np.save(o, np.array([{}], dtype=object))", "what it wrote cannot be read: holds Python objects"),
    ("np.save(o, np.ones(3) * 1j)", "what it wrote cannot be read: has the type complex128"),
    ("np.save(o, np.array(['a']))", "it wrote text, not numbers"),
    (
        "np.lib.format.write_array_header_1_0(open(o, 'wb'), "
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10**11,)})",
        "what it wrote cannot be read: is truncated: it has 0 of 800000000000 bytes of data",
    ),
    ("np.save(o, np.zeros((2**14, 2**10)))", "it wrote an array of 16384 × 1024, far larger than any answer here"),
    ("np.save(o, np.float64(3))", "the output is wrong: its shape is a single number, not "),
]


@pytest.mark.parametrize("first", range(0, len(ODD), len(VECTORS)))
def test_an_odd_file_is_a_finding(attncalc, first):
    """A run does something odd for each vector."""
    some = dict(zip(VECTORS, ODD[first : first + len(VECTORS)], strict=False))
    programs = {name: program for name, (program, _) in some.items()}
    choose = f"exec({programs!r}.get(os.path.basename(sys.argv[1])[:-4], 'pass'))"
    done = attncalc(*SQUARE, "--", sys.executable, "-c", START + choose, "{input}", "{output}")
    assert done.code == 1
    found = {each["vector"]: each["reason"] for each in done.json["failed"]}
    for name, (_, reason) in some.items():
        assert found[name].startswith(reason)
        assert "attncalc-" not in found[name]
        assert "pickle" not in found[name]


def test_the_words_of_a_command_are_cut(attncalc):
    (found,) = run(attncalc, "import sys; sys.exit('first\\n' + 'x' * 400_000 + 'the end')")
    assert found.startswith("it ended with exit code 1: …xxx")
    assert found.endswith("xthe end")
    assert len(found) < 400


FUNCTIONS = """
import numpy as np
def plain(q, k, v):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
def named(*, v, k, q): return plain(q, k, v)
def other_order(k, q, v): return plain(q, k, v)
def other_names(a, b, c): return plain(a, b, c)
def by_place(q, k, v, /): return plain(q, k, v)
def anything(**given): return plain(given["q"], given["k"], given["v"])
def imaginary(q, k, v): return plain(q, k, v) + 1j
def long(q, k, v): return plain(q, k, v).astype(np.longdouble)
def shouts(q, k, v): raise ValueError("loud " * 100_000)
notfun = 3
"""


@pytest.fixture
def functions(attncalc):
    Path(attncalc.folder, "some_functions.py").write_text(FUNCTIONS)
    return attncalc


@pytest.mark.parametrize("name", ["named", "other_order", "other_names", "by_place", "anything", "long"])
def test_a_function_takes_q_k_and_v_as_its_signature_says(functions, name):
    assert reasons(functions(*SQUARE, "--python", f"some_functions:{name}")) == set()


def test_messages_about_functions(functions):
    (found,) = reasons(functions(*SQUARE, "--python", "some_functions:imaginary"))
    assert found == "TypeError: the function returns complex numbers (complex128)"
    (found,) = reasons(functions(*SQUARE, "--python", "some_functions:shouts"))
    assert found.startswith("ValueError: loud loud")
    assert len(found) < 400
    said = functions.fails("verify", "--python", "some_functions:notfun")
    assert "notfun of some_functions is not callable: it is of the type int" in said
    assert "has no function missing" in functions.fails("verify", "--python", "some_functions:missing")
