"""What the README shows is what happens: its commands are run, its output is compared, its Python is executed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTINUOUS = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


def transcripts() -> list[tuple[str, str]]:
    """Every command of a console block, with the output below it; empty when none is shown."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def bash(line, folder, path="/usr/bin:/bin"):
    """Run a line in a folder; what it says and its errors come as one text."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={"PATH": path, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(("command", "output"), transcripts(), ids=[command for command, _ in transcripts()])
def test_commands_do_what_the_readme_shows(command, output, tmp_path):
    program = f"{shlex.quote(sys.executable)} -m attncalc"
    line = re.sub(r"(^|\| |&& )attncalc\b", lambda found: found[1] + program, command).replace("/tmp/", f"{tmp_path}/")
    done = bash(line, ROOT)
    assert "Traceback" not in done.stdout
    if output:
        assert done.stdout == output
    else:
        assert done.returncode == 0, done.stdout


def test_python_examples_run():
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


def test_continuous_integration_runs_the_readmes_test_command():
    commands = [line for block in blocks("sh") for line in block.splitlines() if "pytest" in line]
    assert len(commands) == 1
    assert commands[0] in CONTINUOUS


def test_every_command_and_format_stands_in_the_readme():
    from attncalc.cli.app import COMMANDS

    for command in COMMANDS:
        assert f"attncalc {command.name}" in README, command.name
