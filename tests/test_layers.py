"""Who may import whom: the arrows of the architecture, read from the source."""

import ast
from pathlib import Path

import pytest

import attncalc

PACKAGE = Path(attncalc.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "suggest": set(),
    "address_space": set(),
    "core": {"address_space", "errors", "suggest"},
    "texts": {"errors", "suggest"},
    "files": {"address_space", "errors", "suggest"},
    "mistakes": {"core", "texts", "errors", "suggest"},
    "study": {"mistakes", "core", "texts", "errors", "suggest"},
    "api": {"study", "mistakes", "core", "texts", "errors", "suggest"},
    "cluster": {"core", "errors"},
    "show": {"study", "mistakes", "core", "texts", "errors", "suggest"},
    "cli": {"api", "cluster", "files", "show", "study", "mistakes", "core", "texts", "errors", "suggest"},
    "__main__": {"address_space", "cli"},
}
"""Layers by name; a layer may always import itself."""

ONLY_IN = {
    "typer": {"cli"},
    "rich": {"show/terminal.py"},
    "matplotlib": {"show/picture.py", "show/picture_fonts.py"},
    "safetensors": {"files/safetensors_format.py"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
    "threadpoolctl": {"core/threads.py"},
    "llvmlite": {"core/compiled.py"},
    "orjson": {"files/json_format.py"},
    "click": set(),
    "pickle": set(),
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_arrows(path):
    inside = path.relative_to(PACKAGE)
    layer = inside.parts[0].removesuffix(".py")
    if layer == "__init__":
        return
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "attncalc" and len(parts) > 1 and parts[1] not in (layer, "__version__"):
            assert parts[1] in MAY_IMPORT[layer], f"{inside} imports {module}"
        for package, places in ONLY_IN.items():
            if parts[0] == package:
                assert layer in places or str(inside) in places, f"{inside} imports {package}"


def test_every_layer_has_a_row():
    layers = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in sources()} - {"__init__"}
    assert layers == set(MAY_IMPORT)
