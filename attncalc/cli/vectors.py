"""``attncalc vectors``: write test inputs with right answers, which expose every known mistake."""

import json
import os
from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc import __version__
from attncalc.cli.environment import Environment
from attncalc.cli.output import PAGES, PageOptions, deliver
from attncalc.errors import FileError, OptionError

if TYPE_CHECKING:
    import numpy as np

    from attncalc.show import Document
    from attncalc.study.vectors import Vector

TEST = "test_attention.py"
SCHEMA = "attncalc.vectors/1"


def vectors(
    env: Environment,
    output: PageOptions,
    *,
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder; it is made when it is not there.", show_default=False)
    ],
) -> None:
    """Write test inputs with right answers, which expose every known mistake.

    Each vector is written as npz and as JSON. README.md explains them, manifest.json says which known mistakes each
    one exposes, and test_attention.py runs your function on them.
    """
    from attncalc.study.vectors import VECTORS, exposing

    env = output.messages(env)
    output.chosen((*PAGES, "json"))
    if not directory:
        raise OptionError("DIR is an empty name", hint="attncalc vectors my-vectors")
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise FileError(f"{directory}: cannot be made a folder: {error.strerror}") from error
    _check_ours(directory)
    exposes = exposing()
    for vector in VECTORS:
        _write(env, directory, f"{vector.name}.npz", as_npz(vector, answer=True))
        _write(env, directory, f"{vector.name}.json", _json(vector).encode())
    manifest = {
        "schema": SCHEMA,
        "version": __version__,
        "vectors": [
            {
                "name": vector.name,
                "features": list(vector.features),
                "exposes": [id for id, names in exposes.items() if vector.name in names],
            }
            for vector in VECTORS
        ],
        "mistakes": exposes,
    }
    _write(env, directory, "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())
    for name in ("README.md", TEST):
        text = package_files("attncalc.cli").joinpath("vectors_folder", f"{name}.txt").read_text(encoding="utf-8")
        _write(env, directory, name, text.replace("VECTOR_TABLE\n", _markdown(exposes)).encode())
    deliver(env, output, lambda: _page(directory, exposes), lambda: manifest)


def _check_ours(directory: str) -> None:
    """Refuse a folder with files that are not ours: it is empty, or an earlier manifest.json stands in it."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise FileError(f"{directory}: cannot be read: {error.strerror}") from error
    if not names:
        return
    try:
        with open(os.path.join(directory, "manifest.json"), "rb") as file:
            ours = json.load(file).get("schema") == SCHEMA
    except (OSError, ValueError, AttributeError, RecursionError):
        ours = False
    if not ours:
        raise FileError(
            f"{directory}: holds files that are none of attncalc's vectors, and may lose some",
            facts=[("it has", ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else ""))],
            hint=f"a new folder: attncalc vectors {os.path.join(directory, 'vectors')}",
        )


def _write(env: Environment, directory: str, name: str, data: bytes) -> None:
    from attncalc.files import replacing

    path = os.path.join(directory, name)
    with env.writing(path), replacing(path) as file:
        file.write(data)


def as_npz(vector: "Vector", *, answer: bool = False) -> bytes:
    """Write a vector as the bytes of an npz, with the right answer or without."""
    import io

    import numpy as np

    from attncalc.files import write_npz

    buffer = io.BytesIO()
    output = {"output": vector.output} if answer else {}
    write_npz(buffer, {**vector.arrays, "options": np.array(_options(vector)), **output})
    return buffer.getvalue()


def _options(vector: "Vector") -> str:
    return json.dumps(dict(vector.options))


def _json(vector: "Vector") -> str:
    """Write an array a line; NaN as Python writes it."""
    lines = [f' "{name}": {json.dumps(array.tolist())}' for name, array in _named(vector).items()]
    lines.insert(-1, f' "options": {_options(vector)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _named(vector: "Vector") -> "dict[str, np.ndarray[Any, Any]]":
    return {**vector.arrays, "output": vector.output}


def _rows(exposes: dict[str, tuple[str, ...]]) -> list[tuple[str, str, str, str]]:
    from attncalc.study.vectors import VECTORS

    return [
        (
            vector.name,
            ", ".join(vector.features) or "none",
            ", ".join(f"{name} {' × '.join(map(str, array.shape))}" for name, array in list(vector.arrays.items())[:3]),
            str(sum(vector.name in names for names in exposes.values())),
        )
        for vector in VECTORS
    ]


def _markdown(exposes: dict[str, tuple[str, ...]]) -> str:
    rows = [("vector", "features", "shapes", "exposes"), ("---", "---", "---", "---:"), *_rows(exposes)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _page(directory: str, exposes: dict[str, tuple[str, ...]]) -> "Document":
    from attncalc.show import Document
    from attncalc.show.document import Column, Heading, Table, Text

    rows = _rows(exposes)
    columns = (Column("vector"), Column("features"), Column("shapes"), Column("exposes", "right"))
    return Document(
        (
            Heading(f"{len(rows)} vectors in {directory}"),
            Table(columns, tuple(rows)),
            Text(
                f"Together they expose all {len(exposes)} known mistakes; manifest.json says which exposes which. "
                f"{TEST} runs your function on them: ATTENTION=module:function pytest {os.path.join(directory, TEST)}"
            ),
        )
    )
