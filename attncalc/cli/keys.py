"""Waiting for a key, where there is a keyboard."""

import os

from attncalc.cli.environment import Environment


def wait_for_key(env: Environment, said: bool = False) -> None:
    """Wait until a key is pressed; not at all when standard input or output is no terminal.

    Ctrl-C interrupts, as everywhere.  Where single keys cannot be read, a line is.

    Args:
        env: where keys come from.
        said: the reader knows what to do.
    """
    if env.width is None or not env.stdin.isatty():
        return
    if not said and not env.quiet:
        env.message("note", "any key shows the next step, Ctrl-C ends")
    try:
        import termios
        import tty
    except ImportError:
        env.stdin.readline()
        return
    keyboard = env.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard, termios.TCSADRAIN)  # one key at a time, and Ctrl-C still works
        os.read(keyboard, 16)  # an arrow key is several bytes
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
