"""How a command ends."""

from __future__ import annotations

import os
import sys

DONE, FAILED, USAGE, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes. ``DIFFERENT`` is what ``diff`` and ``parse --check`` found."""


class UsageError(Exception):
    """The arguments do not fit together."""


class CommandError(Exception):
    """What was asked for cannot be done; the text says why, in a line."""


def say(report: object) -> None:
    """Prints what a command has done. Nothing fails because nobody reads it any more."""
    try:
        print(report, flush=True)
    except BrokenPipeError:
        nobody_reads()


def nobody_reads() -> None:
    """Lets standard output lead nowhere: Python flushes it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
