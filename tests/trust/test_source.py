"""What the source never does, read from the source: pickle, eval, a shell, the network, names that can be guessed."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "attncalc"
MODULES = sorted(PACKAGE.rglob("*.py"))
NEVER_IMPORTED = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "joblib",
    "socket",
    "ssl",
    "http",
    "urllib",
    "requests",
    "ftplib",
}
NEVER_CALLED = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "tempfile.mktemp",
}
PROGRAMS = {"cli/implementation.py", "cli/worker.py", "cli/verify.py"}  # run what the user names behind --python or --
IMPORTS_BY_NAME = {  # the module behind --python; our own commands, renderers and texts
    "cli/function.py",
    "cli/command.py",
    "show/__init__.py",
    "texts/voice.py",
}
CLUSTER = {"cluster.py"}  # --dask ADDRESS, the one thing that speaks to other machines


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def called(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_does_nothing_that_is_never_done(path):
    name = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    packages = {module.partition(".")[0] for module in imported(tree)}
    assert not packages & NEVER_IMPORTED
    assert "subprocess" not in packages or name in PROGRAMS
    assert not packages & {"distributed", "dask"} or name in CLUSTER
    for call in called(tree):
        written = ast.unparse(call.func)
        assert written not in NEVER_CALLED
        assert not written.endswith("import_module") or name in IMPORTS_BY_NAME
        for keyword in call.keywords:
            assert keyword.arg not in ("shell", "allow_pickle") or ast.unparse(keyword.value) == "False", written
