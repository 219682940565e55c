"""``python -m attncalc``."""

from attncalc.cli.app import main

main()
