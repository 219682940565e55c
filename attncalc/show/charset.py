"""Signs that an old console cannot write, said in signs that it can."""

import re

FALLBACK = {
    "−": "-", "×": "x", "·": "*", "÷": "/", "±": "+/-", "√": "sqrt", "∞": "inf", "Σ": "sum", "∑": "sum",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∈": "in", "∂": "d", "∇": "grad ", "Δ": "delta", "∝": "~",
    "→": "->", "←": "<-", "↦": "->", "⇒": "=>", "✓": "yes", "✗": "no", "…": "...", "⋮": ":", "⋯": "...",
    "–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "*", "′": "'",
    "ᵀ": "^T", "⁻": "^-", "⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "ⁿ": "^n",
    "₀": "_0", "₁": "_1", "₂": "_2", "₃": "_3", "ᵢ": "_i", "ⱼ": "_j", "ₖ": "_k", "ᵥ": "_v",
    "α": "alpha", "β": "beta", "ε": "epsilon", "θ": "theta", "λ": "lambda", "μ": "mu", "π": "pi", "σ": "sigma",
    "─": "-", "│": "|", "┼": "+", "█": "#", "▓": "#", "▒": "+", "░": "-",
}  # fmt: skip

ROOT = re.compile(r"√(\w+)")  # √d_k → sqrt(d_k); a √ before a parenthesis needs no more than its name


def encodable(text: str, encoding: str) -> bool:
    """Say whether the encoding has every sign; an encoding that Python does not know is taken as ASCII."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    except LookupError:
        return text.isascii()
    return True


def for_encoding(text: str, encoding: str) -> str:
    r"""Write signs that the encoding lacks in ASCII: our own by name (√ → sqrt), others as ``\u4f60``."""
    if text.isascii() or encodable(text, encoding):
        return text
    if not encodable("√", encoding):
        text = ROOT.sub(r"sqrt(\1)", text)
    return "".join(char if encodable(char, encoding) else FALLBACK.get(char) or escape(char) for char in text)


def escape(char: str) -> str:
    r"""Write one character visibly and harmlessly: ``\x1b``, ``\u202e``, ``\U000e0001``."""
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
