"""attncalc: the attention calculator.

    from attncalc import attention
    result = attention(q, k, v, causal=True)
    result.weights, result.output

numpy is loaded when one of these names is first used.
"""

from typing import TYPE_CHECKING

from attncalc.errors import AttnCalcError

if TYPE_CHECKING:
    from attncalc.api import Result, assert_attention, attention, check, gradient
    from attncalc.study.check import Verdict
    from attncalc.study.gradient import Gradients

__all__ = [
    "AttnCalcError",
    "Gradients",
    "Result",
    "Verdict",
    "__version__",
    "assert_attention",
    "attention",
    "check",
    "gradient",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load the library when it is first used, so that ``attncalc --version`` loads no numpy (PEP 562)."""
    if name == "Verdict":
        from attncalc.study.check import Verdict

        return Verdict
    if name == "Gradients":
        from attncalc.study.gradient import Gradients

        return Gradients
    if name in __all__:
        from attncalc import api

        return getattr(api, name)
    raise AttributeError(f"module 'attncalc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
