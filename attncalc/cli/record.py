"""The beginning of every command's JSON: schema, shapes, the rules in force, and the notes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attncalc.core.prepare import Problem


def head(command: str, problem: "Problem", notes: Sequence[str]) -> dict[str, Any]:
    """Return the first keys of a record.

    Args:
        command: whose record it is.
        problem: inputs and rules.
        notes: everything that was told the user.
    """
    record: dict[str, Any] = {
        "schema": f"attncalc.{command}/1",
        "shapes": problem.all_shapes,
        "options": problem.options,
    }
    if (adopted := problem.adopted) is not None:
        record["like"] = {
            "dialect": adopted.dialect.name,
            "flag": adopted.dialect.flag,
            "known": adopted.dialect.known,
            "version": adopted.dialect.version,
            "changed": adopted.changed,
        }
    for name in ("query_tokens", "key_tokens"):
        if (labels := getattr(problem, name)) is not None:
            record[name] = labels
    return record | {"notes": tuple(notes)}
