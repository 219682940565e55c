"""What attncalc says to learners, in every language that it speaks: one folder per language, beside each other.

The folders hold the same files, keys and placeholders; a test says so.  A text that depends on a number has two
keys, ``….one`` and ``….many``.
"""

from attncalc.texts.voice import LANGUAGES, Voice, language

__all__ = ["LANGUAGES", "Voice", "language"]
