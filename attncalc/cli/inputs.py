"""From arguments to a problem: three files, a bundle, a sequence with weights, or an example; tokens and masks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attncalc.cli.environment import Environment
from attncalc.cli.options import RuleOptions
from attncalc.cli.sources import Sources
from attncalc.errors import LETTERS, AttnCalcError, OptionError, index_text, listed, shape_text

if TYPE_CHECKING:
    from attncalc.core.prepare import Problem
    from attncalc.files import Entry

INPUTS = "Inputs"

BUNDLED = ("mask", "bias", "padding", "lengths", "past_key", "past_value", "sink")
"""What a bundle may hold beside Q, K, V and tokens."""

NOTHING: Mapping[str, tuple[str | None, str]] = {}

RULES = ("scale", "softcap", "causal", "window_left", "window_right", "dtype", "heads", "kv_heads", "layout", "rope")
"""Rules that somebody might expect to be read from a bundle, which holds arrays only."""

TOKENS = ("tokens", "query_tokens", "key_tokens")

NAMES = {"q": "query", "k": "key", "v": "value"} | {n: n for n in ("query", "key", "value", *BUNDLED, *TOKENS)}
"""What the names in a bundle mean, in lower case."""


@dataclass(frozen=True)
class InputOptions:
    """Where the arrays come from."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[Q K V | BUNDLE]",
            help="Three files, or one that holds all; - is standard input, FILE:NAME one array of a container.",
            show_default=False,
        ),
    ] = None
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="FILE", help="A sequence to project into Q, K and V.", rich_help_panel=INPUTS),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="wq wk wv and optionally wo bq bk bv bo, for --x.", rich_help_panel=INPUTS),
    ] = None
    weights_prefix: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Use the arrays of --weights whose names begin so.", rich_help_panel=INPUTS),
    ] = None
    context: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A sequence that K and V are made from, with --x.", rich_help_panel=INPUTS),
    ] = None
    tokens: Annotated[
        str | None,
        typer.Option(metavar="LIST|FILE", help="Labels of queries and keys: a,b,c, or a file.", rich_help_panel=INPUTS),
    ] = None
    query_tokens: Annotated[
        str | None, typer.Option(metavar="LIST|FILE", help="Labels of the queries.", rich_help_panel=INPUTS)
    ] = None
    key_tokens: Annotated[
        str | None, typer.Option(metavar="LIST|FILE", help="Labels of the keys.", rich_help_panel=INPUTS)
    ] = None
    example: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A built-in example instead of files: textbook, …", rich_help_panel=INPUTS),
    ] = None

    @property
    def nothing(self) -> bool:
        """Whether no input was named at all."""
        named = (self.x, self.weights, self.context, self.example)
        return not self.files and all(each is None for each in named)


@dataclass(frozen=True)
class Loaded:
    """What was read: keywords for ``prepare``, and where each array came from.

    Attributes:
        keywords: arrays and options by library keyword.
        entries: the file entry behind a keyword, for those that came from a file.
        notes: what was recognised in the files.
        labels: what the options for labels say, by keyword.
    """

    keywords: dict[str, Any]
    entries: dict[str, "Entry"] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)

    def problem(self, **more: Any) -> "Problem":
        """Check everything and return the problem; errors name the files."""
        from attncalc.core.prepare import prepare

        with self.naming_files():
            return prepare(**self.keywords | more)

    @contextmanager
    def naming_files(self) -> Iterator[None]:
        """Add to every error inside which file each array came from, and where in it a cell stands."""
        try:
            yield
        except AttnCalcError as error:
            rows = [(self._letter(n), *self._source(n), shape_text(shape)) for n, shape in error.arrays]
            if error.cell:
                name, index = error.cell
                rows.append((self._letter(name), *self._source(name), self._place(name, index)))
            rows.extend((_option(n), text) for n, text in self.labels.items() if error.message.startswith(f"{n} has "))
            error.facts = (*rows, *error.facts)
            error.arrays, error.cell = (), None
            raise

    def _letter(self, name: str) -> str:
        option = name in self.entries or name in self.keywords
        return LETTERS.get(name) or (_option(name) if option else name)

    def _source(self, name: str) -> tuple[str, ...]:
        return (self.entries[name].source,) if name in self.entries else ()

    def _place(self, name: str, index: tuple[int, ...]) -> str:
        entry = self.entries.get(name)
        if entry is None:
            return index_text(index)
        return entry.place(index[len(index) - entry.values.ndim :])  # one query in a file is a list, not a matrix


def load(
    env: Environment,
    inputs: InputOptions,
    rules: RuleOptions,
    *,
    textbook: bool = False,
    results: Mapping[str, tuple[str | None, str]] = NOTHING,
) -> Loaded:
    """Read everything that the options name.

    Args:
        env: where standard input and notes go.
        inputs: what to read.
        rules: masks and biases may be files too.
        textbook: without any input use the built-in textbook example; otherwise that is an error.
        results: further files that are no arguments of ``prepare``, by the option's keyword, each with the name of
            the array that is taken from a container; they are among the entries only.
    """
    sources = Sources(env)
    given = rules.given()
    entries: dict[str, Entry] = {}
    if inputs.example is not None or (inputs.nothing and textbook):
        keywords = _example(inputs, inputs.example or "textbook")
    elif inputs.x is not None or inputs.weights is not None or inputs.context is not None:
        keywords, entries = _projected(sources, inputs)
    else:
        keywords, entries = _attended(sources, inputs.files or [])
    for name in ("mask", "bias", "past_key", "past_value"):
        if name in given:
            entries[name] = sources.entry(given.pop(name))
            keywords[name] = entries[name].values
    for name in ("padding", "sink"):
        if name in given:
            found = sources.numbers(f"--{name}", text := given.pop(name))
            entries.pop(name, None)
            if isinstance(found, list):
                keywords[name] = found
            else:
                entries[name] = found
                keywords[name] = entries[name].values
    labels = {name: text for name in TOKENS if (text := getattr(inputs, name)) is not None}
    for name, text in labels.items():
        keywords[name] = sources.labels(text)
    if inputs.tokens is not None:  # an option beats what files say, for queries and keys alike
        for name in ("query_tokens", "key_tokens"):
            if getattr(inputs, name) is None:
                keywords.pop(name, None)
    for name, (source, stage) in results.items():
        if source is not None:
            entries[name] = sources.result(source, stage)
    _forget_labels_that_do_not_fit(keywords, sources)
    return Loaded(keywords | given, entries, sources.notes, labels)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _example(inputs: InputOptions, name: str) -> dict[str, Any]:
    from attncalc.study.examples import example

    if inputs.files or inputs.x:
        raise OptionError("--example takes the place of files, and files are given as well")
    found = example(name)
    return {"query": found.query, "key": found.key, "value": found.value, **found.keywords}


def _attended(sources: Sources, files: list[str]) -> tuple[dict[str, Any], dict[str, "Entry"]]:
    """Read Q, K and V: three files, or one bundle."""
    if len(files) == 1:
        return _bundle(sources, files[0])
    if len(files) != 3:
        raise OptionError(
            f"Q, K and V are three files, or one that holds all; given: {len(files) or 'none'}",
            hint="q.json k.json v.json; or --example textbook",
        )
    entries = dict(zip(("query", "key", "value"), (sources.entry(file) for file in files), strict=True))
    keywords: dict[str, Any] = {name: entry.values for name, entry in entries.items()}
    labels = {name: entry.labels for name, entry in entries.items() if entry.labels}
    if "query" in labels:
        keywords["query_tokens"] = labels["query"]
    if key_labels := labels.get("key") or labels.get("value"):
        keywords["key_tokens"] = key_labels
    return keywords, entries


def _bundle(sources: Sources, source: str) -> tuple[dict[str, Any], dict[str, "Entry"]]:
    """Read Q, K and V, and what belongs to them, from one file."""
    file = sources.file(source)
    if not file.bundle:
        raise OptionError(
            f"{source} holds one array; Q, K and V are three", hint="give three files, or one that holds q, k and v"
        )
    found: dict[str, str] = {}
    for name in file.entries:
        if (meaning := NAMES.get(name.casefold())) is not None:
            if meaning in found:
                raise AttnCalcError(f"{source} holds {meaning} twice, as {found[meaning]} and as {name}")
            found[meaning] = name
    for name, kind in file.others.items():
        if name.casefold() in NAMES:
            raise AttnCalcError(f"{source}:{name} is {kind}, not an array")
    if missing := [name for name in ("query", "key", "value") if name not in found]:
        raise AttnCalcError(
            f"{source} has no {' or '.join(missing)}; it holds {listed(file.entries)}",
            hint=f"the names are q k v or query key value; or take them one by one: {source}:NAME",
        )
    if unread := [name for name in file.entries if name in RULES]:
        sources.hear([f"{source}: {', '.join(unread)} in it is not read; rules are options, such as --{unread[0]}"])
    entries = {meaning: file.entries[name] for meaning, name in found.items()}
    keywords: dict[str, Any] = {}
    for meaning, entry in entries.items():
        sources.hear(entry.notes)
        keywords[meaning] = tuple(entry.texts()) if meaning in TOKENS else entry.values
    return keywords, {name: entry for name, entry in entries.items() if name not in TOKENS}


def _projected(sources: Sources, inputs: InputOptions) -> tuple[dict[str, Any], dict[str, "Entry"]]:
    """Read a sequence and the weights of a layer."""
    if inputs.files:
        raise OptionError("--x, --weights and --context take the place of Q, K and V, and files are given as well")
    if inputs.x is None:
        given = [
            _option(name) for name in ("weights", "weights_prefix", "context") if getattr(inputs, name) is not None
        ]
        raise OptionError(f"{' and '.join(given)} without a sequence: give --x as well", hint=f"--x FILE {given[0]} …")
    entries = {name: sources.entry(text) for name in ("x", "context") if (text := getattr(inputs, name)) is not None}
    keywords: dict[str, Any] = {name: entry.values for name, entry in entries.items()}
    if "x" in entries and entries["x"].labels:
        keywords["query_tokens"] = entries["x"].labels
    if "context" in entries and entries["context"].labels:
        keywords["key_tokens"] = entries["context"].labels
    elif "query_tokens" in keywords and inputs.context is None:
        keywords["key_tokens"] = keywords["query_tokens"]
    if inputs.weights is not None:
        file = sources.file(inputs.weights)
        if not file.bundle:
            raise OptionError(f"{inputs.weights} holds one array; the weights are several: wq, wk, wv …")
        keywords["weights"] = Arrays(file.entries)
    if inputs.weights_prefix is not None:
        keywords["weights_prefix"] = inputs.weights_prefix
    return keywords, entries


class Arrays(Mapping[str, Any]):
    """The arrays of a file by name, each read when it is first used: a model's file holds many layers."""

    def __init__(self, entries: Mapping[str, "Entry"]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        return self._entries[name].values

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _forget_labels_that_do_not_fit(keywords: dict[str, Any], sources: Sources) -> None:
    """Drop labels from files when past keys make more keys than there are labels."""
    if "past_key" in keywords and len(keywords.get("key_tokens") or ()) == len(keywords.get("key", ())):
        keywords.pop("key_tokens", None)
        sources.hear(["with past keys there are more keys than labels; --key-tokens names them all"])
