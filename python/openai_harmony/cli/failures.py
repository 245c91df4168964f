"""How a command ends."""

from __future__ import annotations

import argparse
import os
import re
import sys

DONE, FAILED, USAGE, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes. ``DIFFERENT`` is what ``diff`` and ``parse --check`` found."""


_ADVICE = (
    ("the format '(\\w+)'", r"--format \1"),
    ("strict=False", "without --strict"),
    ("`map`", "--map"),
    (r"\bmax_tokens=(\d+)", r"--max-tokens \1"),
    ("restart=True", "--restart"),
)
"""What errors advise, and how it is written here."""


class UsageError(Exception):
    """The arguments do not fit together."""


class CommandError(Exception):
    """What was asked for cannot be done; the text says why, in a line."""


def with_flags(error: Exception, options: argparse.Namespace | None = None) -> str:
    """The text of an error of the library, with the options that it advises or names as flags."""
    text = str(error)
    for argument, flag in _ADVICE:
        text = re.sub(argument, flag, text)
    if options is None:
        return text
    # A name begins the text. Others are known from words by their underscore, or by this phrase.
    names = r"^[a-z]+(?=: )|(?<= started with )[a-z]+(?==)|(?<= started without )[a-z]+|"
    return re.sub(
        rf"{names}\b[a-z]+(_[a-z]+)+\b",
        lambda word: f"--{word[0].replace('_', '-')}" if word[0] in options else word[0],
        text,
    )


def say(report: object) -> None:
    """Prints what a command has done. A closed output is not a failure."""
    try:
        print(report, flush=True)
    except BrokenPipeError:
        nobody_reads()


def nobody_reads() -> None:
    """Lets standard output lead nowhere: Python flushes it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
