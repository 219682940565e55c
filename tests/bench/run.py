"""Measure what attncalc promises about speed: ``python tests/bench/run.py [NAME…]`` prints a table of ratios.

Each row compares attncalc with something else, both run in turn in the same minutes, and gives the ratio of the medians
beside its target.  Nothing fails on a clock.  Rows that need a package which is not there are left out; the extra
``bench`` has them all.  ``memory`` runs attncalc alone, at T = 131072, and is told last.
"""

import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent.parent
NUMBERS = 1000  # a matrix of 1000 × 1000
WIDTH = 64
TOKENS = 8192
LONG = 131072
THREADS = 2
ALLOWED_MB = 100
"""What a computation may take beside its inputs and its output."""

sys.path.insert(0, str(ROOT))  # the checkout, not an installed attncalc
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])


class Row(NamedTuple):
    """One comparison."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    target: float
    rounds: int = 9


def process(*command: str) -> Callable[[], object]:
    """Return a call that runs Python to its end."""
    return lambda: subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def start_rows() -> Iterator[Row]:
    """Compare starting with importing what is needed."""
    textbook = [str(ROOT / "samples" / f"{name}.json") for name in "qkv"]
    yield Row("version", process("-m", "attncalc", "--version"), process("-c", "import typer"), 1.5)
    yield Row(
        "compute",
        process("-m", "attncalc", "compute", *textbook),
        process("-c", "import numpy, typer, rich.console, rich.table"),
        1.3,
    )


def file_rows(folder: Path) -> Iterator[Row]:
    """Compare reading with what the standard library and numpy do."""
    from attncalc.files import read_entry

    matrix = np.random.default_rng(0).normal(size=(NUMBERS, NUMBERS))
    as_json, as_csv = str(folder / "x.json"), str(folder / "x.csv")
    Path(as_json).write_text(json.dumps(matrix.tolist()))
    np.savetxt(as_csv, matrix, delimiter=",", fmt="%.17g")

    def json_and_numpy() -> object:
        with open(as_json, encoding="utf-8") as file:
            return np.array(json.load(file))

    yield Row("read-json", lambda: read_entry(as_json), json_and_numpy, 1.3, 5)
    yield Row("read-csv", lambda: read_entry(as_csv), lambda: np.loadtxt(as_csv, delimiter=","), 1.3, 5)


def tokens(count: int, dtype: str) -> list[np.ndarray]:
    """Return Q, K and V of one head."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=(count, WIDTH)).astype(dtype) for _ in range(3)]


def formula(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute attention as everybody writes it with numpy, in the type of the arrays."""
    scores = q @ k.T * q.dtype.type(WIDTH**-0.5)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def kernel_rows() -> Iterator[Row]:
    """Compare in one process, on two threads each."""
    from attncalc import attention
    from attncalc.core import threads

    threads.cores = lambda: THREADS

    def ours(dtype: str, causal: bool = False) -> Callable[[], object]:
        q, k, v = tokens(TOKENS, dtype)
        return lambda: attention(q, k, v, dtype=dtype, causal=causal, stages=("output",)).output

    if find_spec("torch"):
        import torch

        torch.set_num_threads(THREADS)
        for dtype, target in (("float32", 1.25), ("float64", 1.0)):
            inputs = [torch.from_numpy(x)[None, None] for x in tokens(TOKENS, dtype)]
            theirs = partial(torch.nn.functional.scaled_dot_product_attention, *inputs)
            yield Row(f"torch-{dtype}", ours(dtype), theirs, target, 5)
    yield Row("causal", ours("float32", causal=True), ours("float32"), 0.6, 5)
    arrays = tokens(TOKENS, "float32")
    yield Row("formula", ours("float32"), lambda: formula(*arrays), 1 / 3, 3)


SCRIPTS = {
    "numpy": """
s = q @ k.T / np.float32(8)
w = np.exp(s - s.max(-1, keepdims=True))
o = w / w.sum(-1, keepdims=True) @ v
""",
    "torch": """
import torch
q, k, v = (torch.from_numpy(x)[None, None] for x in (q, k, v))
o = torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0].numpy()
""",
    "jax": """
import jax
o = np.asarray(jax.nn.dot_product_attention(*(x[:, None] for x in (q, k, v))))[:, 0]
""",
    "onnxruntime": """
import onnxruntime
from onnx import TensorProto, helper
names = ["Q", "K", "V"]
infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, *q.shape]) for name in [*names, "O"]]
graph = helper.make_graph([helper.make_node("Attention", names, ["O"])], "g", infos[:3], infos[3:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
o = session.run(None, dict(zip(names, (x[None, None] for x in (q, k, v)))))[0][0, 0]
""",
}


def process_rows(folder: Path) -> Iterator[Row]:
    """Compare whole processes from files to a file, in float32."""
    for count in (512, TOKENS, 4 * TOKENS):
        files = [str(folder / f"{name}{count}.npy") for name in "qkv"]
        for file, array in zip(files, tokens(count, "float32"), strict=True):
            np.save(file, array)
        into = str(folder / "out.npy")
        options = ["--dtype", "float32", "--show", "output", "-o", into]
        ours = process("-m", "attncalc", "compute", *files, *options)
        for name, script in SCRIPTS.items():
            plain = name in ("numpy", "onnxruntime")  # both build T × S
            if find_spec(name) is None or (name == "numpy" and count == 512) or (plain and count > TOKENS):
                continue
            program = f"import numpy as np\nq, k, v = (np.load(x) for x in {files!r})\n{script}\nnp.save({into!r}, o)"
            yield Row(f"{name}-{count}", ours, process("-c", program), 1.0, 3)


PEAK = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""
"""Prints the peak of a program's memory; in a small process, for a child begins with the memory of its parent."""

COMPUTE = "from attncalc.__main__ import main; main()"
PLAIN = f"import sys; sys.modules['llvmlite'] = None; {COMPUTE}"


def memory(folder: Path) -> Iterator[str]:
    """Measure the peak memory of a long sequence, in float32, with llvmlite if it is there, and without."""
    files = [str(folder / f"{name}.npy") for name in "qkv"]
    arrays = tokens(LONG, "float32")
    for file, array in zip(files, arrays, strict=True):
        np.save(file, array)
    own = 4 * arrays[0].nbytes / 1e6  # three inputs and one output
    options = ["compute", *files, "--dtype", "float32", "--show", "output", "-o", str(folder / "out.npy")]
    for name, program in (("with llvmlite", COMPUTE), ("without", PLAIN)):
        if name == "without" or find_spec("llvmlite"):
            start = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", PEAK, program, *options], check=True, stdout=subprocess.PIPE)
            more = f"{time.perf_counter() - start:.0f} s, inputs and output {own:.0f} MB"
            peak = int(done.stdout) / 1e6
            yield f"T = {LONG} {name}: {more}, beside them {peak - own:.0f} MB of {ALLOWED_MB} MB"


def rows(folder: Path) -> Iterator[Row]:
    """Yield every comparison; files are made in the folder."""
    yield from start_rows()
    yield from file_rows(folder)
    yield from kernel_rows()
    yield from process_rows(folder)


def seconds(call: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    chosen = sys.argv[1:]
    compileall.compile_dir(ROOT / "attncalc", quiet=1)  # as pip does with what it installs
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, numpy {np.__version__}")
    print(f"{'':<18} {'attncalc':>10} {'other':>10} {'ratio':>7} {'target':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            if chosen and not any(row.name.startswith(name) for name in chosen):
                continue
            pairs = [(seconds(row.ours), seconds(row.theirs)) for _ in range(row.rounds + 1)][1:]  # the first warms up
            ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
            print(f"{row.name:<18} {ours:>9.3f}s {theirs:>9.3f}s {ours / theirs:>7.2f} {row.target:>7.2f}", flush=True)
        if not chosen or "memory" in chosen:
            for line in memory(Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main()
