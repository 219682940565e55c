"""TODO."""

TEXTS: dict[str, str] = {}
