"""The built wheel alone in a clean environment: the README's commands, with the newest and the oldest libraries.

By hand, or in continuous integration:

    PYTHONPATH=tests python tests/trust/wheel.py            # newest and oldest: the README's transcript
    PYTHONPATH=tests python tests/trust/wheel.py --suite    # and the test suite on the oldest
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from test_readme import ROOT, bash, transcripts

OLDEST = ("numpy==1.26.*", "rich==13.8.*", "typer==0.27.2")
OLDEST_EXTRAS = (
    "distributed==2024.8.*",
    "llvmlite==0.45.*",
    "matplotlib==3.8.*",
    "orjson==3.10.*",
    "pyparsing<3.3",  # from which on matplotlib 3.8 uses what is deprecated
    "safetensors==0.4.3",
    "threadpoolctl==3.1.*",
)


def sh(*line: str | Path, **more) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, line)), check=True, text=True, **more)


def build(folder: Path) -> Path:
    """Build the wheel from a copy of what belongs to it."""
    sh(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    return next(folder.glob("attncalc-*.whl"))


def environment(folder: Path, *packages: str | Path) -> Path:
    """Make a clean environment with these packages; return its folder of programs."""
    sh(sys.executable, "-m", "venv", folder)
    sh(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return folder / "bin"


def run_readme(programs: Path, folder: Path) -> list[str]:
    """Run the README's commands in a folder with the samples; return those whose output differs."""
    shutil.copytree(ROOT / "samples", folder / "samples")
    shutil.copy(ROOT / "README.md", folder)
    wrong = []
    for command, output in transcripts():
        line = re.sub(r"(?<![\w/])/tmp/", f"{folder}/", command)
        done = bash(line, folder, f"{programs}{os.pathsep}/usr/bin:/bin")
        if "pip install 'attncalc[" in done.stdout:  # a picture, which needs an extra, and the message says which
            continue
        if (done.stdout != output) if output else done.returncode:
            wrong.append(f"$ {command}\n{done.stdout}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", action="store_true", help="run the tests on the oldest libraries, too")
    suite = parser.parse_args().suite
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        for label, pins in (("newest", ()), ("oldest", OLDEST)):
            programs = environment(folder / label, wheel, *pins)
            listed = sh(programs / "pip", "freeze", capture_output=True).stdout.split()
            print(label, *(line for line in listed if line.startswith(("numpy", "rich", "typer"))), flush=True)
            (folder / f"run-{label}").mkdir()
            wrong = run_readme(programs, folder / f"run-{label}")
            print(f"{len(transcripts())} commands of the README, {len(wrong)} differ", *wrong, sep="\n", flush=True)
            failed = failed or bool(wrong)
        if suite:
            sh(programs / "pip", "install", "--quiet", f"{wheel}[test]", *OLDEST, *OLDEST_EXTRAS)
            line = [programs / "python", "-m", "pytest", "-p", "no:cacheprovider", "--ignore", "tests/test_readme.py"]
            done = subprocess.run(line, cwd=ROOT, check=False)  # the README has been run already
            failed = failed or bool(done.returncode)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
