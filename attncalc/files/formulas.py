"""Labels that a spreadsheet would take for a formula: ``=HYPERLINK(…)``, ``+1``, ``@sum``.

Tables that attncalc writes have an apostrophe in front of such a label, which is how spreadsheets themselves mark text;
reading these tables takes it off again.  A label that begins with apostrophes before such a sign gets one more.
"""

import re

FORMULA = re.compile("'*[=+\\-@\t\r＝＋－＠]")


def defused(label: str) -> str:
    """Return the label as a spreadsheet takes it for text."""
    return "'" + label if FORMULA.match(label) else label


def restored(label: str) -> str:
    """Return the label that ``defused`` was given."""
    return label[1:] if label.startswith("'") and FORMULA.match(label) else str(label)
