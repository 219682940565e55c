"""What is typed behind options: plain numbers, lists and sizes."""

import re

import typer

NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.ASCII | re.IGNORECASE)


class Numbers(tuple[float, ...]):
    """Numbers typed as one list; a type of its own, since typer reads ``list`` as an option given many times."""


def number(text: str) -> float:
    """Read one finite decimal number; Python's ``1_0`` and ``infinity`` are none."""
    text = text.strip().replace("\u2212", "-")
    if not NUMBER.fullmatch(text):
        raise typer.BadParameter(f"{text or 'nothing'} is not a plain decimal number")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise typer.BadParameter(f"{text} is too large for float64")
    return value


def whole(text: str) -> int:
    """Read one whole number."""
    if not re.fullmatch(r"[+-]?\d+", text.strip(), re.ASCII):
        raise typer.BadParameter(f"{text or 'nothing'} is not a whole number")
    if len(text.strip()) > 18:
        raise typer.BadParameter(f"{text} is too large")
    return int(text)


def whole_list(text: str) -> Numbers:
    """Read whole numbers with commas between them."""
    return Numbers(whole(part) for part in text.split(","))


def number_list(text: str) -> Numbers:
    """Read numbers with commas between them."""
    return Numbers(number(part) for part in text.split(","))


def size(text: str) -> int:
    """Read a number of bytes: 500000, 500k, 1.5GB, 2GiB."""
    found = SIZE.fullmatch(text.strip())
    if not found:
        raise typer.BadParameter(f"{text} is not a size such as 500MB or 2GiB")
    amount, prefix, binary = found.groups()
    if len(amount) > 18:
        raise typer.BadParameter(f"{text} is too large")
    return int(float(amount) * (1024 if binary else 1000) ** (" kmgt".index(prefix.lower()) if prefix else 0))
