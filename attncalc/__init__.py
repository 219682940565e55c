"""attncalc: the attention calculator."""

__version__ = "0.1.0"
