"""The user's own implementation: MODULE:FUNCTION, with the current folder first on the path."""

import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from attncalc.errors import AttnCalcError, OptionError

Function = Callable[..., Any]


def load_function(text: str) -> Function:
    """Import the function that MODULE:FUNCTION names.

    Raises:
        OptionError: it is not written so, or there is no such function.
        AttnCalcError: the module itself fails.
    """
    module_name, colon, name = text.partition(":")
    if not colon or not module_name or not name:
        raise OptionError(f"--python takes MODULE:FUNCTION, not {text}", hint="--python mymodule:attention")
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module_name.removesuffix(".py"))
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise AttnCalcError(f"{module_name} cannot be imported: {error}") from error
        raise OptionError(f"there is no module {module_name} in this folder or among the packages") from error
    except (Exception, SystemExit) as error:
        raise AttnCalcError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise OptionError(f"{module_name} has no function {name}")
        found = getattr(found, part)
    if not callable(found):
        raise OptionError(f"{name} of {module_name} is not callable: it is of the type {type(found).__name__}")
    function: Function = found
    return function


def accepted(function: Function, keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that the function takes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return keywords
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return keywords
    return {name: value for name, value in keywords.items() if name in parameters}
