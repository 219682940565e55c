"""Nothing heavy is imported before it is needed."""

import subprocess
import sys

import pytest

import attncalc

HEAVY = ("numpy", "rich", "pydantic", "safetensors", "json.tool", "matplotlib", "click")

WATCH = """
import sys
sys.argv = ["attncalc", *{arguments!r}]
try:
    from attncalc.cli.app import main
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("\\nLOADED", *(name for name in {heavy!r} if name in sys.modules))
"""


def loaded(*arguments: str) -> set[str]:
    """Run a command line in a process of its own; return which heavy modules it has loaded."""
    program = WATCH.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


HELP = [("--version",), ("--help",), ("compute", "--help"), ("--show-completion", "bash")]


@pytest.mark.parametrize("arguments", HELP)
def test_help_and_version_load_nothing_heavy(arguments):
    assert loaded(*arguments) == set()


@pytest.mark.parametrize("format", ["json", "csv", "plain", "table"])
def test_a_result_without_colour_loads_no_rich(format):
    assert loaded("compute", "--example", "textbook", "--format", format, "--show", "output") == {"numpy"}


def test_colour_loads_rich():
    assert loaded("compute", "--example", "textbook", "--color", "always") == {"numpy", "rich"}


def test_the_library_needs_neither_typer_nor_rich():
    program = (
        "import sys, attncalc; assert 'numpy' not in sys.modules; attncalc.attention; "
        "print(*(m for m in ('typer', 'rich', 'attncalc.cli', 'attncalc.show') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_public_names_are_there():
    assert sorted(attncalc.__all__, key=str.lower) == sorted(dir(attncalc), key=str.lower)
    for name in attncalc.__all__:
        assert getattr(attncalc, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'attentoin'"):
        attncalc.attentoin  # noqa: B018
