"""How a command ends."""

from __future__ import annotations

import os
import sys

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(Exception):
    """The arguments do not fit together."""


class CommandError(Exception):
    """What was asked for cannot be done; the text says why, in a line."""


def say(report: object) -> None:
    """Prints what a command has done. Nothing fails because nobody reads it any more."""
    try:
        print(report, flush=True)
    except BrokenPipeError:
        # Python flushes the stream again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
