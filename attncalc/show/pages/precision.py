"""The page of ``attncalc precision``: what each type has lost by the end of every stage."""

import math

from attncalc.show.document import Block, Column, Document, Facts, Heading, Role, Span, Table, Text
from attncalc.show.pages.rules import header
from attncalc.study.precision import Loss, Precision

COLUMNS = (
    Column("stage"),
    Column("largest absolute error", "right"),
    Column("relative", "right"),
    Column("in ULP", "right"),
)


def page(found: Precision) -> Document:
    """Make the page."""
    facts = tuple(row for row in header(found.problem) if row[0] != "dtype")
    blocks: list[Block] = [
        Heading("precision"),
        Facts(facts),
        Text("Each stage against the same stage in float64; an error holds those of the stages before it."),
    ]
    for dtype, worst in found.worst.items():
        rows = tuple(_row(loss, worst) for loss in found.rows if loss.dtype == dtype)
        blocks += [Table(COLUMNS, rows, title=dtype), _verdict(dtype, worst, found)]
    blocks.append(
        Text("One ULP is the distance between neighbouring numbers of the type at the true value; rounding costs ½.")
    )
    return Document(tuple(blocks))


def _row(loss: Loss, worst: str | None) -> tuple[str | Span, ...]:
    role = Role.STRONGEST if loss.stage == worst else Role.NORMAL
    numbers = (_short(loss.max_abs_error), _short(loss.max_rel_error), _units(loss.max_ulp_error))
    return (Span(loss.stage, role), *(Span(number, role) for number in numbers))


def _verdict(dtype: str, worst: str | None, found: Precision) -> Text:
    if worst is None:
        return Text(f"{dtype} loses nothing here.")
    end = next(loss for loss in found.rows if loss.dtype == dtype and loss.stage == "output")
    return Text(
        (
            "Most is lost in ",
            Span(worst, Role.TERM),
            f"; the output is off by {_short(end.max_abs_error)}, or {_units(end.max_ulp_error)} ULP.",
        )
    )


def _short(error: float) -> str:
    if error == 0:
        return "0"
    return "∞" if math.isinf(error) else f"{error:.2e}"


def _units(error: float) -> str:
    if error >= 1e6:
        return _short(error)
    return f"{error:.1f}" if error >= 0.1 else f"{error:.1g}"
