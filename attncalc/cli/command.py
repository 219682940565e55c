"""From functions that take groups of options to typer commands, which take one long flat list.

A group is a dataclass whose fields are annotated as typer options.  A command function names the groups it needs:

    def compute(env: Environment, inputs: InputOptions, rules: RuleOptions, output: OutputOptions) -> None: ...

Parameters that are no groups are options of the command alone.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

OWN = "Other options"
SETTINGS = {"help_option_names": ["-h", "--help"]}


def fitted(text: str, encoding: str) -> str:
    """Write signs that the encoding lacks in ASCII: √ as sqrt."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        from attncalc.show.charset import for_encoding  # the layer loads numpy

        return for_encoding(text, encoding)
    return text


class Command(TyperCommand):
    """A command whose help shows its options under the headings of their groups."""

    def get_help(self, ctx: Any) -> str:
        """Return the help in signs that standard output has."""
        return fitted(super().get_help(ctx), ctx.obj.encoding)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each panel of options in the order of its first option."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                argument = param.param_type_name == "argument"
                panel = "Arguments" if argument else getattr(param, "rich_help_panel", None) or OWN
                panels.setdefault(panel, []).append(record)
        for panel in sorted(panels, key=lambda name: (name != "Arguments", name == OWN)):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])


def load(name: str) -> TyperCommand:
    """Import the command of this name and return it for typer."""
    function = getattr(import_module(f"attncalc.cli.{name}"), name)
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, cls=Command, context_settings=SETTINGS)(flat(function))
    command = get_command(app)
    assert isinstance(command, TyperCommand)
    return command


def flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same command with one parameter for each option of its groups."""
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint) and name != "env"
    }
    alone = [p for p in inspect.signature(function).parameters.values() if p.name not in groups and p.name != "env"]

    def callback(typer_context: typer.Context, **values: Any) -> Any:
        arguments = {
            name: group(**{entry.name: values.pop(entry.name) for entry in fields(group)})
            for name, group in groups.items()
        }
        return function(typer_context.obj, **arguments, **values)

    def parameters() -> Iterator[inspect.Parameter]:
        keyword = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter("typer_context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        for name in inspect.signature(function).parameters:
            if name in groups:
                options = get_type_hints(groups[name], include_extras=True)
                for entry in fields(groups[name]):
                    yield inspect.Parameter(entry.name, keyword, default=entry.default, annotation=options[entry.name])
        for parameter in alone:
            yield parameter.replace(kind=keyword, annotation=hints[parameter.name])

    callback.__signature__ = inspect.Signature(list(parameters()))  # type: ignore[attr-defined]
    callback.__annotations__ = {p.name: p.annotation for p in parameters()}
    callback.__doc__ = function.__doc__
    return callback
