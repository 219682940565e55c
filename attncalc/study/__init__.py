"""What one learns from the numbers: each file asks the stages of a run one question and returns a record.

A question is named like its command: ``check.py`` answers ``attncalc check``, ``probe.py`` answers ``attncalc probe``.
Nothing here prints; the pages are in ``show/pages``, the words that are translated in ``texts``.
"""
