"""What is wrong with text that is nearly JSON, in words that help, and the same for every Python."""

import re
from json import JSONDecodeError

from attncalc.errors import FileError

WORD = re.compile(r"[^\s,:\[\]{}\"]{1,20}")
MEANT = {
    "True": "true",
    "False": "false",
    "nan": "NaN",
    "NAN": "NaN",
    "inf": "Infinity",
    "-inf": "-Infinity",
    "Inf": "Infinity",
    "-Inf": "-Infinity",
}
COMMA_TOO_MANY = "a comma too many"
MORE_OF_A_NUMBER = ".0123456789xXeE_"  # what follows where JSON ends a number early: 1_000, 0x10, 1.
BARE_MATRIX = re.compile(r"\s*\[[\d\s.,;+\-eE\[\]*/()]*\]\s*")


def syntax_fault(error: JSONDecodeError, source: str) -> FileError:
    """Say with line and column what is wrong."""
    text, position = error.doc, error.pos
    if error.msg != "Extra data" and BARE_MATRIX.fullmatch(text) and (";" in text or not re.search(r"[,*/()]", text)):
        return FileError(
            f"{source}: begins with a bracket and is not JSON",
            hint="write JSON, [[1, 2], [3, 4]], or one row a line without brackets",
        )
    rest = text[position:].lstrip()
    position = len(text) - len(rest) if rest else len(text.rstrip())
    before = text[:position].rstrip()
    what, hint = _what(error.msg, rest, before)
    if what == COMMA_TOO_MANY and before.endswith(",") and not rest.startswith(","):
        position = len(before) - 1
    head = text[:position].replace("\r\n", "\n").replace("\r", "\n")
    line, column = head.count("\n") + 1, len(head) - head.rfind("\n")
    return FileError(f"{source}: line {line}, column {column}: {what}", hint=hint)


def _what(said: str, rest: str, before: str) -> tuple[str, str | None]:
    """Tell the fault from Python's message and what stands behind and before it."""
    if said.startswith("Unterminated string"):
        return "the text that begins here does not end", None
    if said.startswith("Invalid control character"):
        return "a line break or control character inside a text", None
    if said.startswith("Invalid \\"):
        return "a backslash that JSON does not know", None
    if not rest:
        return "the JSON ends too early; a bracket is not closed", None
    if said == "Extra data":
        return "something follows the end of the JSON", "write one JSON document, not several"
    if rest.startswith(("//", "/*", "#")):
        return "a comment, which JSON does not have", None
    if rest.startswith("'"):
        return "a single quote", "JSON has double quotes"
    if (rest[0] in "]}" and before.endswith(",")) or re.match(r",\s*[\]},]", rest):
        return COMMA_TOO_MANY, None
    if rest[0] == "," or (rest[0] in "]}" and before.endswith(":")):
        return "a value is missing", None
    if rest[0] in "]}":
        return f"“{rest[0]}” closes what another bracket opened", None
    if said.startswith("Expecting ':'"):
        return "a colon is missing", None
    word = WORD.match(rest)
    if word is None:
        return ("a comma is missing" if said.startswith("Expecting ','") else "a name or value is missing"), None
    if word[0] in MEANT:
        return f"“{word[0]}” is not JSON", f"write {MEANT[word[0]]}"
    if said.startswith("Expecting property"):
        return f"“{word[0]}” is a name without double quotes", None
    if said.startswith("Expecting ','") and rest[0] not in MORE_OF_A_NUMBER:
        return f"a comma is missing before “{word[0]}”", None
    return f"“{word[0]}” is not JSON", None
