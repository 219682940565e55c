from cli.conftest import attncalc

__all__ = ["attncalc"]
