"""What holds for all tests: the same examples in every run, and no verdict by the clock."""

from hypothesis import settings

settings.register_profile("attncalc", derandomize=True, deadline=None)
settings.load_profile("attncalc")
