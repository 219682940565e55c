"""Attention written down a second time, to test the first.

Nothing here knows the code under test, and nothing uses numpy: every number of every stage is worked out on
its own, in loops over nested lists, from the definitions that users read.  It is slow, and meant to be
read.  ``attend`` computes in double precision or, with ``number=mpmath.mpf``, in fifty decimal digits.
"""

from .attention import EmptyRowError, attend
from .compare import assert_close, assert_same_bits, units_off
from .projection import project, project_out
from .rounding import FORMATS, round_to

__all__ = [
    "FORMATS",
    "EmptyRowError",
    "assert_close",
    "assert_same_bits",
    "attend",
    "project",
    "project_out",
    "round_to",
    "units_off",
]
