"""The commands in the order and groups of --help, and the one place where everything ends in an exit code."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from attncalc import __version__
from attncalc.cli.command import SETTINGS, fitted, load
from attncalc.cli.environment import ClosedPipe, Environment, ExitStatus, NotWritten
from attncalc.errors import AttnCalcError, OptionError
from attncalc.suggest import did_you_mean


class Listed(NamedTuple):
    """A command as --help lists it; its function is attncalc.cli.NAME.NAME."""

    group: str
    name: str
    arguments: str
    summary: str


COMMANDS = (
    Listed("Calculate", "compute", "[Q K V | BUNDLE]", "compute attention; print scores, weights and output"),
    Listed("Calculate", "gradient", "[Q K V | BUNDLE]", "gradients of a loss with respect to Q, K and V"),
    Listed("Understand", "explain", "[Q K V | BUNDLE]", "walk through the arithmetic, step by step"),
    Listed("Understand", "probe", "[Q K V | BUNDLE]", "change one position at a time; show which outputs move"),
    Listed("Understand", "scaling", "", "show by experiment why scores are divided by √d"),
    Listed("Understand", "cost", "", "count operations and bytes from sizes alone"),
    Listed("Understand", "quiz", "", "questions about attention, with computed answers"),
    Listed(
        "Judge", "check", "[Q K V | BUNDLE]", "say whether an answer is right and, if not, which mistake explains it"
    ),
    Listed("Judge", "mistakes", "[ID] [Q K V]", "the known mistakes, and what each does to these numbers"),
    Listed("Judge", "vectors", "DIR", "write test inputs with right answers, which expose every known mistake"),
    Listed("Judge", "verify", "…", "run an implementation on those vectors and name what it gets wrong"),
    Listed("Judge", "audit", "[Q K V | BUNDLE]", "say which mistakes a test on these inputs would let through"),
    Listed("Compare", "dialects", "[Q K V | BUNDLE]", "what PyTorch, ONNX, JAX, … would answer, and where they part"),
    Listed("Compare", "precision", "[Q K V | BUNDLE]", "what float32, float16 and bfloat16 lose, stage by stage"),
    Listed("Compare", "replay", "[Q K V | BUNDLE]", "whole sequence against token by token through a cache"),
)


NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""What the system's loader, the system and Python say where memory is short, in errors that are no MemoryError."""


class Commands(TyperGroup):
    """The commands by name, each imported when it is used."""

    def get_help(self, ctx: Any) -> str:
        """Return the help in signs that standard output has."""
        return fitted(super().get_help(ctx), ctx.obj.encoding)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of --help."""
        return [command.name for command in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Import one command."""
        return load(cmd_name) if cmd_name in self.list_commands(ctx) else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was typed; an unknown one gets a suggestion."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            hint = did_you_mean(args[0], names) or f"the commands are {', '.join(names)}"
            raise OptionError(f"there is no command {args[0]}", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their groups."""
        for group in dict.fromkeys(command.group for command in COMMANDS):
            with formatter.section(group):
                formatter.write_dl(
                    [(f"{c.name:<10} {c.arguments}".rstrip(), c.summary) for c in COMMANDS if c.group == group]
                )


app = typer.Typer(cls=Commands, rich_markup_mode=None, context_settings=SETTINGS)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"attncalc {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def attncalc(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The attention calculator: every number, every rule, and the name of the mistake."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str], env: Environment) -> int:
    """Run a command line; return its exit code.  Every error that reaches a user is written here.

    Raises:
        MemoryError: there is not even enough to say that there is not enough.
    """
    try:
        return _run(arguments, env)
    except MemoryError:
        pass  # and forget it: what the failed computation held is free from here on
    try:
        env.error(AttnCalcError("there is not enough memory; compute --show output builds no T × S stage"))
    except ImportError as error:
        raise MemoryError from error
    return ExitStatus.MISUSED


def _run(arguments: Sequence[str], env: Environment) -> int:
    try:
        status = get_command(app)(list(arguments), prog_name="attncalc", standalone_mode=False, obj=env)
        return int(status or ExitStatus.DONE)
    except AttnCalcError as error:
        env.error(error)
        return ExitStatus.MISUSED
    except typer.TyperException as error:
        env.error(usage_error(error, arguments))
        return ExitStatus.MISUSED
    except ClosedPipe:
        return ExitStatus.CLOSED_PIPE
    except (NotWritten, OSError) as error:  # readers say theirs as FileError
        env.message("error", f"the result could not be written: {getattr(error, 'strerror', None) or error}")
        return ExitStatus.NOT_WRITTEN
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except MemoryError:
        raise
    except Exception as raised:
        # typer makes an Abort of KeyboardInterrupt, and of EOFError, which is none of its business
        fault = raised.__cause__ if isinstance(raised, typer.Abort) else raised
        if fault is None or isinstance(fault, KeyboardInterrupt):
            return ExitStatus.INTERRUPTED
        if any(sign in str(fault) for sign in NO_MEMORY):
            raise MemoryError from fault
        said = f"a fault of attncalc itself ({type(fault).__name__}: {fault})"
        env.message("error", said, ["  hint: ATTNCALC_DEBUG=1 shows the traceback"])
        if env.variables.get("ATTNCALC_DEBUG"):
            import traceback

            from attncalc.show.labels import clean

            env.stderr.writelines(f"{clean(line)}\n" for line in traceback.format_exc().splitlines())
        return ExitStatus.FAULT


def usage_error(error: typer.TyperException, arguments: Sequence[str]) -> AttnCalcError:
    """Say typer's complaint in our form: one sentence, and a hint."""
    command = next((name for name in arguments[:1] if name in (each.name for each in COMMANDS)), "")
    hint = f"{f'attncalc {command}'.strip()} --help lists the options"
    text = error.format_message().strip().rstrip(".")
    wrong = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoSuchOption" and wrong and context is not None:
        known = [name for param in context.command.params for name in param.opts if name.startswith("--")]
        text, hint = f"there is no option {wrong}", did_you_mean(wrong, known) or hint
    return AttnCalcError(text[:1].lower() + text[1:], hint=hint)


def main() -> int:
    """Run the command line of this process; return its exit code."""
    # Numbers that become infinite or NaN are looked for and told with their place.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"attncalc\.")
    env = Environment.of_process()
    try:
        status = run(sys.argv[1:], env)
        sys.stdout.flush()
    except SystemExit as ended:  # completion, or typer found standard output closed while it wrote a help page
        closed = type(sys.stdout).__name__ == "PacifyFlushWrapper"
        status = ExitStatus.CLOSED_PIPE if closed else int(ended.code or 0)
    except OSError:
        status = ExitStatus.NOT_WRITTEN
    if status in (ExitStatus.CLOSED_PIPE, ExitStatus.NOT_WRITTEN):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in Python's buffer has nowhere to go
    return status
