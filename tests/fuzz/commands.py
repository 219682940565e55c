"""Random command lines through every command and every option.

Each must end with an exit code of the contract and say why, with nothing on standard output that a terminal would obey
and no JSON that is not strict.  By hand, in one process and as processes of their own:

    PYTHONPATH=tests python -m fuzz.commands --count 20000
    PYTHONPATH=tests python -m fuzz.commands --count 500 --processes
"""

import argparse
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from attncalc.cli.app import COMMANDS, run
from attncalc.cli.command import load
from attncalc.cli.environment import Environment

from .files import SLOW, Hang, failure, limits, watch
from .mutate import mutate
from .seeds import ROOT, seeds

CODES = (0, 1, 2)
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
HOSTILE = (
    "\x1b[2J",
    "a\nb",
    "<script>",
    "=1+1",
    "[/b]",
    "$x$",
    "\u202e",
    "你",
    "\udcff",
    "",
    " ",
    "'",
    '"',
    "%s",
    "{}",
    "\\",
)
TEXTS = ("a", "the,cat", "a,b,c", "x,y", "1", "tokens.txt", "nonsense", "q.json", *HOSTILE)
WHOLES = ("0", "1", "2", "3", "7", "-1", "100", "999999999999999999", "1e3", "1.5", "1_0", "x", "", "+2")
REALS = (
    "0",
    "1",
    "0.5",
    "-2",
    "3e4",
    "1e-30",
    "5e-324",
    "1e-300",
    "1e300",
    "1e400",
    "nan",
    "inf",
    "-0",
    "x",
    "",
    "1_0",
    "\u22121",
)
SIZES = ("0", "1", "500MB", "2GiB", "1.5k", "x", "-1", "9" * 30, "")
LISTS = (
    "1",
    "1,2",
    "1,0,1",
    "0.5,-1",
    "3,3",
    "1,,2",
    "-1",
    "2,1",
    "1,1,1",
    "x",
    "",
    "999999999999",
    "4,8",
    "1e300,1e-320",
    "5e-324,3e4",
    "1e300",
    "0,1e-30",
)
SUFFIXES = ("json", "csv", "tsv", "md", "tex", "html", "txt", "svg", "npy", "npz")
PLACES = (*(f"out.{suffix}" for suffix in SUFFIXES), "-", "", "out.xyz", "no/such/out.json", ".", "q.json", "/dev/null")
PAGES = ("table", "plain", "json", "markdown", "latex", "html", "heatmap")
FORMATS = (*PAGES, "csv", "tsv", "npy", "npz", "svg", "png", "yaml", "")
QUADRATIC = ("raw", "scaled", "capped", "biased", "allowed", "scores", "weights")
STAGES = (*QUADRATIC, "lse", "heads", "output", "shapes", "all", "query")
DIALECTS = ("torch-sdpa", "torch-mha", "onnx-23", "onnx-25", "jax", "keras-mha", "flash-attention-2", "hf-eager", "mlx")
FUNCTIONS = ("math:sqrt", "json:dumps", "math", "nosuch:f", "math:nosuch", ":", "my_attention:attention", "os:getcwd")
SMALL = {"dims": ("4", "4,8"), "samples": ("1", "20", "0", "-1"), "questions": ("1", "3", "0", "-1")}
TEXTS_OF = {
    "format": FORMATS,
    "out": PLACES,
    "color": ("auto", "always", "never", "blue"),
    "show": (*STAGES, "scores,weights", "output,nonsense"),
    "stage": STAGES,
    "like": (*DIALECTS, "torch"),
    "example": ("textbook", "causal-words", "two-heads", "text"),
    "dtype": ("float64", "float32", "float16", "bfloat16", "int8"),
    "lang": ("en", "zh", "fr"),
    "causal_align": ("upper-left", "lower-right", "left"),
    "mask_true": ("allowed", "blocked", "1"),
    "empty_rows": ("error", "zero", "nan", "uniform", "x"),
    "rope": ("half", "interleaved", "x"),
    "layout": ("td", "htd", "btd", "bhtd", "thd", "bthd", "dt", ""),
    "change": ("keys", "values", "queries", "all", "x"),
    "cell": ("0,0", "1,2", "9,9", "x", "0", "-1,0"),
    "python": FUNCTIONS,
    "dask": ("nonsense", ""),
    "only": ("causal", "mask,window", "x"),
    "skip": ("causal", "rope,sink", "x"),
    "id": ("scale-missing", "mask-inverted", "nonsense"),
    "directory": ("vectors", "q.json", ""),
}
EXTREME = {
    "huge.json": [[1e300, -1e308], [1e200, 1.5]],
    "tiny.json": [[5e-324, -1e-310], [1e-300, 1e-8]],
    "wide.json": [[1e-300, 1e300], [-1e30, 1e-30], [0.0, -0.0]],
    "zero.json": [[0, 0], [0, 0]],
    "steep.json": [[1e4, -1e4], [3e4, 1]],
}
"""Numbers at which something overflows, underflows or cancels, by the file that holds them."""

SLOW_COMMANDS = ("verify",)  # which start processes of their own
Line = list[str]


class Option(NamedTuple):
    """An option as a command line writes it."""

    name: str
    keyword: str
    flag: bool
    metavar: str


@cache
def options(command: str) -> tuple[tuple[Option, ...], tuple[Option, ...]]:
    """Return the options and the arguments of a command, as typer knows them."""
    found: list[Option] = []
    arguments: list[Option] = []
    for param in load(command).params:
        if param.param_type_name == "argument":
            arguments.append(Option("", param.name or "", False, param.metavar or ""))
            continue
        named = next(name for name in (*param.opts,) if name.startswith("--"))
        found.append(Option(named, param.name or "", bool(getattr(param, "is_flag", False)), param.metavar or ""))
    return tuple(found), tuple(arguments)


def folder_of_files(folder: Path) -> None:
    """Fill a folder with what random command lines read."""
    for path in sorted((ROOT / "samples").rglob("*")):
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "tokens.txt").write_text("the\n\x1b[31mcat\n=sum\n", encoding="utf-8")
    (folder / "row.csv").write_text("1,2\n", encoding="utf-8")
    for name, numbers in EXTREME.items():
        (folder / name).write_text(json.dumps(numbers), encoding="utf-8")
    files = seeds()
    for number in range(60):
        random = Random(number)
        (folder / f"mutated{number}").write_bytes(mutate(random, random.choice(files), files))


def files_in(folder: Path) -> list[str]:
    names = sorted(path.name for path in folder.iterdir())
    good = ["q.json", "k.json", "v.json", "words_q.csv", "bundle.json:q", "mask.json", "layer.json", "padded.json"]
    return [*names, *4 * good, "-", "missing.json", "\x1b[2J.json", "a\nb", ".", "q.json:q", "bundle.json:nonsense"]


def value(random: Random, option: Option, files: list[str]) -> str:
    """Make up a value: one that the option may take, as a rule."""
    if option.keyword in SMALL:
        return random.choice(SMALL[option.keyword])
    if option.keyword in TEXTS_OF:
        words = TEXTS_OF[option.keyword]
        return random.choice(words) if random.random() < 0.95 else random.choice(HOSTILE)
    if random.random() < 0.05:
        return random.choice(HOSTILE)
    kind = option.metavar
    if "FILE" in kind and ("LIST" not in kind or random.random() < 0.5):
        return random.choice(files)
    if "LIST" in kind or kind == "N[,N…]":
        return random.choice(LISTS)
    if kind == "SIZE":
        return random.choice(SIZES)
    if kind == "X":
        return random.choice(REALS[:5] if random.random() < 0.5 else REALS)
    if len(kind) == 1 or kind in ("SEED", "SECONDS"):
        return random.choice(WHOLES[:5] if random.random() < 0.7 else WHOLES)
    return random.choice(TEXTS)


def inputs(random: Random, files: list[str]) -> Line:
    """Name inputs: right ones as a rule, or nothing would be computed."""
    chance = random.random()
    if chance < 0.45:
        return ["--example", random.choice(("textbook", "causal-words", "two-heads"))]
    if chance < 0.65:
        return ["q.json", "k.json", "v.json"]
    if chance < 0.72:
        return random.choices([*EXTREME, "q.json"], k=3)
    if chance < 0.78:
        return [random.choice(("bundle.json", "padded.json", "sentence.json"))]
    if chance < 0.82:
        return ["--x", "words_q.csv", "--weights", "layer.json"]
    return [random.choice(files) for _ in range(random.choice((0, 1, 1, 2, 3, 3, 3, 4)))]


def command_line(random: Random, files: list[str]) -> Line:
    """Make up a command line."""
    if random.random() < 0.02:
        return [
            random.choice((*TEXTS, "--help", "-h", "--version", "compute", "--nonsense"))
            for _ in range(random.choice((0, 1, 2)))
        ]
    command = random.choice(
        [listed.name for listed in COMMANDS if listed.name not in SLOW_COMMANDS or random.random() < 0.2]
    )
    known, arguments = options(command)
    line = [command]
    if any(option.keyword == "files" for option in arguments):
        line += inputs(random, files)
    if command == "check":
        line += ["--got", random.choice(files)]
    if command == "vectors":
        line.append("vectors")
    if command == "mistakes" and random.random() < 0.5:
        line.insert(1, random.choice(("scale-missing", "nonsense")))
    if command == "verify":
        line += ["--python", random.choice(FUNCTIONS), "--only", "causal"] if random.random() < 0.9 else []
    for option in random.sample(known, min(len(known), random.choice((0, 1, 1, 1, 2, 2, 3)))):
        if option.keyword == "help":
            line += ["--help"] if random.random() < 0.1 else []
        else:
            line += [option.name] if option.flag else [option.name, value(random, option, files)]
    if random.random() < 0.03:
        line.insert(random.randrange(len(line) + 1), random.choice((*TEXTS, "--", "--nonsense", "-q", "-h")))
    return [word.replace("\0", "") for word in line]


def judge(line: Line, code: int, out: bytes, err: str) -> str:
    """Check what a command line did; say how it ended."""
    allowed = (*CODES, 74) if "/dev/full" in line else CODES
    assert code in allowed, (code, err[-500:])
    assert "Traceback" not in err
    assert not CONTROLS.search(err.encode("utf-8", "replace")), err
    if code == 2:
        assert err.startswith("attncalc: ") or "\nattncalc: error: " in err, err
    binary = any(word in line for word in ("npy", "npz", "png"))
    if not binary:
        plain = COLOURS.sub(b"", out) if "always" in line or b"\x1b[" in out else out
        assert not CONTROLS.search(plain), plain[:2000]
    if out.startswith(b"{") and "json" in line:
        json.loads(out, parse_constant=_refuse)
    return f"exit {code}"


def _refuse(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


def in_process(line: Line, random: Random) -> str:
    """Run a command line in this process."""
    out, err = io.BytesIO(), io.StringIO()
    stdin = io.BytesIO(random.choice((b"", b"[[1, 2], [3, 4]]", b"1\n2\nx\n", b"\xff\xfe", b"{}")))
    encoding, width = random.choice(("utf-8", "utf-8", "ascii", "cp1252")), random.choice((None, None, 40, 80))
    variables = random.choice(({}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1", "ATTNCALC_LANG": "zh"}))
    env = Environment(stdin, out, err, encoding, width, variables)
    held, sys.stdout = sys.stdout, io.StringIO()  # typer writes its help there
    try:
        code = run(line, env)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.stdout = held
    return judge(line, code, out.getvalue(), err.getvalue())


def as_process(line: Line, random: Random) -> str:
    """Run a command line as a process of its own."""
    env = {"PATH": os.environ["PATH"], "TERM": random.choice(("dumb", "xterm")), "PYTHONPATH": str(ROOT)}
    env |= random.choice(
        ({}, {"LC_ALL": "C"}, {"PYTHONIOENCODING": "cp1252"}, {"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "40"})
    )
    words = [word.encode("utf-8", "surrogateescape") for word in line]
    done = subprocess.run(
        [sys.executable, "-m", "attncalc", *words],
        input=random.choice((b"", b"[[1, 2], [3, 4]]")),
        capture_output=True,
        env=env,
        timeout=6 * SLOW,  # the machine may have much else to do
        check=False,
    )
    return judge(line, done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def fuzz(
    count: int, first: int = 0, seconds: float = float("inf"), processes: bool = False
) -> tuple[Counter, list[str]]:
    """Run ``count`` random command lines; return how many ended how, and the failures."""
    outcomes: Counter = Counter()
    failures: dict[str, str] = {}
    until, before = time.monotonic() + seconds, os.getcwd()
    with tempfile.TemporaryDirectory() as folder, limits():
        folder_of_files(Path(folder))
        os.chdir(folder)
        try:
            files = files_in(Path(folder))
            for number in range(first, first + count):
                random = Random(number)
                line = command_line(random, files)
                watch(not processes)
                try:
                    outcomes[as_process(line, random) if processes else in_process(line, random)] += 1
                except (Exception, Hang):
                    outcomes["FAILED"] += 1
                    what, where = failure()
                    failures.setdefault(f"{where}{what[:120]}", f"number {number}: {line}\n    {what}\n    {where}")
                if time.monotonic() > until:
                    break
        finally:
            os.chdir(before)
    return outcomes, list(failures.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--processes", action="store_true", help="each as a process of its own")
    given = parser.parse_args()
    start = time.monotonic()
    outcomes, failures = fuzz(given.count, given.first, given.seconds, given.processes)
    print(f"{sum(outcomes.values())} command lines in {time.monotonic() - start:.0f} s; {dict(outcomes.most_common())}")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    print("\n".join(failures) or "no failure")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
