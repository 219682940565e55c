"""The child process of ``attncalc verify --python``: calls the user's function, one input after another.

    python -m attncalc.cli.worker MODULE:FUNCTION

It reads a line of JSON for each call, ``{"input": "….npz", "output": "….npy"}``, and answers with a line of JSON; the
first line tells which keywords the function takes.  Whatever the function prints goes to standard error.
"""

import inspect
import json
import os
import sys
from typing import Any, TextIO

import numpy as np

from attncalc.cli.function import load_function
from attncalc.errors import AttnCalcError
from attncalc.study.vectors import MATRICES


def main() -> None:
    """Serve until standard input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the function prints does not get among the replies
    sys.stdout = sys.stderr
    try:
        function = load_function(sys.argv[1])
    except AttnCalcError as error:
        _reply(replies, {"refused": error.message, "hint": error.hint})
        return
    _reply(replies, {"parameters": _parameters(function)})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            dtype = _call(function, request["input"], request["output"])
            _reply(replies, {"dtype": dtype})
        except Exception as error:
            _reply(replies, {"error": f"{type(error).__name__}: {error}".strip(": ")})


def _reply(replies: TextIO, record: dict[str, Any]) -> None:
    replies.write(json.dumps(record) + "\n")
    replies.flush()


def _parameters(function: Any) -> list[str] | None:
    """Return the names of the parameters; None when the function takes any keyword, or does not say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters]


def _takes_by_name(function: Any, *names: str) -> bool:
    """Say whether the function takes all these as keywords."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    kinds = {parameter.kind for parameter in parameters.values()}
    if kinds == {inspect.Parameter.VAR_KEYWORD}:
        return True
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return all(name in parameters and parameters[name].kind in by_name for name in names)


def _call(function: Any, source: str, target: str) -> str:
    """Call the function on an npz; write what it returns as npy, and return its type."""
    with np.load(source, allow_pickle=False) as data:
        arrays = {name: data[name] for name in data.files}
    options = json.loads(str(arrays.pop("options")))
    weights = {name: arrays.pop(name) for name in MATRICES if name in arrays}
    named = _takes_by_name(function, "q", "k", "v")
    positional = [] if named else [arrays.pop(name) for name in ("q", "k", "v") if name in arrays]
    keywords = {**arrays, **({"weights": weights} if weights else {}), **options}
    got = function(*positional, **keywords)
    if hasattr(got, "detach"):  # a tensor of PyTorch
        got = got.detach().cpu()
        got = got.float() if str(got.dtype) == "torch.bfloat16" else got
    answer = np.asarray(got)
    if answer.dtype.kind == "c":
        raise TypeError(f"the function returns complex numbers ({answer.dtype.name})")
    if answer.dtype.kind == "f" and answer.dtype.itemsize > 8:
        answer = answer.astype(np.float64)
    if answer.dtype.kind not in "fiub":
        if answer.dtype.name != "bfloat16":
            what = f"an array of {answer.dtype.name}" if isinstance(got, np.ndarray) else type(got).__name__
            raise TypeError(f"the function returns {what}, not an array of numbers")
        np.save(target, answer.astype(np.float32))
        return "bfloat16"
    np.save(target, answer)
    return answer.dtype.name


if __name__ == "__main__":
    main()
