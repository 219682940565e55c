"""Reading what the command line names: each file once, standard input at most once, and the notes on what was found."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO

from attncalc.cli.environment import Environment
from attncalc.cli.values import number_list
from attncalc.errors import FileError, OptionError

if TYPE_CHECKING:
    from attncalc.files import Entry, File


LABEL_FILES = (".txt", ".json", ".csv", ".tsv", ".npy", ".npz", ".safetensors", ".tokens", ".labels", ".vocab", ".list")


class Sources:
    """The files of one command line."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._entries: dict[str, Entry] = {}
        self._stdin_taken = False
        self._notes: dict[str, None] = {}  # a set that keeps its order

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognised in the files and is not obvious, each note once."""
        return tuple(self._notes)

    def hear(self, notes: Iterable[str]) -> None:
        """Remember notes of a file."""
        self._notes.update(dict.fromkeys(notes))

    def file(self, source: str, *, any_shape: bool = False) -> "File":
        """Read a whole file, a container perhaps."""
        from attncalc.files import read, split_name

        path, name = split_name(_named(source))
        found = read(path, self._stdin(source), any_shape=any_shape)
        if name is not None:
            raise OptionError(f"{source} names one array, and several are needed", hint=f"{path} holds all of them")
        self.hear(found.notes)
        return found

    def entry(self, source: str) -> "Entry":
        """Read one array: FILE, FILE:NAME or -."""
        from attncalc.files import read_entry

        if _named(source) not in self._entries:
            self._entries[source] = read_entry(source, self._stdin(source))
        elif source.partition(":")[0] == "-":
            self._stdin(source)
        self.hear(self._entries[source].notes)
        return self._entries[source]

    def result(self, source: str, stage: str) -> "Entry":
        """Read an array that is compared with a stage; a container without :NAME gives the one of that name."""
        from attncalc.files import split_name

        if split_name(source)[1] is not None:
            return self.entry(source)
        file = self.file(source, any_shape=True)
        names = list(file.entries)
        if stage not in names and len(names) != 1:
            raise FileError(
                f"{source}: holds no array “{stage}”",
                facts=[("it has", ", ".join(names) or "nothing")],
                hint=f"{source}:NAME picks another",
            )
        entry = file.entries[stage if stage in names else names[0]]
        self.hear(entry.notes)
        return entry

    def numbers(self, option: str, text: str) -> "Entry | list[float]":
        """Read a file of numbers, or a list that is typed; an existing file wins."""
        if text == "-" or os.path.exists(text.partition(":")[0]) or os.path.exists(text):
            return self.entry(text)
        words = {"true": "1", "false": "0"}
        try:
            return list(number_list(",".join(words.get(part.strip().lower(), part) for part in text.split(","))))
        except Exception as error:
            raise OptionError(f"{option}: “{text}” is neither a file nor a list of numbers") from error

    def labels(self, text: str) -> tuple[str, ...]:
        """Read labels: a comma list, or a file with one a line or a JSON list; FILE:NAME takes a list of a bundle."""
        if not _may_be_file(text):
            return _parts(text)
        from attncalc.files import read_lines

        lines = read_lines(text, self._stdin(text))
        if len(lines) == 1 and len(parts := _parts(lines[0])) > 1 and all(parts):
            self.hear([f"{text}: its one line is read as {len(parts)} labels, separated by commas"])
            return parts
        return tuple(lines)

    def _stdin(self, source: str) -> BinaryIO | None:
        """Return standard input for ``-``, which can be read once only, and None for files."""
        if source.partition(":")[0] != "-":
            return None
        if self._stdin_taken:
            raise OptionError("standard input can be read only once, and - is given twice")
        self._stdin_taken = True
        return self._env.stdin


def _may_be_file(text: str) -> bool:
    """Whether labels name a file: one that exists, or what cannot be a label so likely as a mistyped file."""
    if text == "-" or os.path.exists(text):
        return True
    if "," in text:
        return False
    path = text.rpartition(":")[0]
    if path == "-" or os.path.isfile(path):
        return True
    suffixes = {os.path.splitext(name.lower().removesuffix(".gz"))[1] for name in (text, path)}
    return not suffixes.isdisjoint(LABEL_FILES) or ("/" in text and "<" not in text)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _named(source: str) -> str:
    """Return the name of a file, or say that it is empty."""
    if not source:
        raise OptionError("the name of a file is empty")
    return source
