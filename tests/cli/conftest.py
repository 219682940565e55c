"""A command line run in this process: what it writes and the exit code, without a shell."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc.cli.app import run
from attncalc.cli.environment import Environment

SAMPLES = Path(__file__).parent.parent.parent / "samples"

TEXTBOOK = {"q": [[1, 0], [0, 1], [1, 1]], "k": [[1, 0], [0, 1], [1, 1]], "v": [[10, 0], [0, 10], [10, 10]]}


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    data: bytes
    err: str

    @property
    def out(self) -> str:
        return self.data.decode("utf-8")

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


class Shell:
    """Runs attncalc in a folder of its own, which holds the textbook example as q.json, k.json and v.json."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, *arguments: str, stdin: bytes = b"", width: int | None = None, encoding: str = "utf-8", **variables: str
    ) -> Done:
        out, err = io.BytesIO(), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        env = Environment(io.BytesIO(stdin), out, err, encoding, width, {"TERM": "xterm-256color", **variables})
        code = run(arguments, env)
        messages = err.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
        assert "Traceback" not in messages
        return Done(code, out.getvalue(), messages)

    def fails(self, *arguments: str, **more: Any) -> str:
        """Run what must be refused: exit code 2, nothing on standard output; return the message."""
        done = self(*arguments, **more)
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith("attncalc: error: ")
        return done.err

    def write(self, **arrays: Any) -> None:
        """Write arrays as NAME.json into the folder."""
        for name, array in arrays.items():
            Path(self.folder, f"{name}.json").write_text(json.dumps(np.asarray(array).tolist()))


@pytest.fixture
def attncalc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path)
    shell.write(**TEXTBOOK)
    return shell
