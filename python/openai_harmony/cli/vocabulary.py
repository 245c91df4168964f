"""``harmony vocabulary``: the vocabulary as a file that tiktoken reads."""

from __future__ import annotations

import argparse

from openai_harmony.cli.failures import DONE, CommandError, say
from openai_harmony.vocabulary import FILE_NAME, write_vocabulary


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = f"Writes {FILE_NAME} into a folder and verifies it."
    parser.add_argument("folder", metavar="DIR", help="an existing folder")


def run(options: argparse.Namespace) -> int:
    """Prints the path of the file."""
    try:
        say(write_vocabulary(options.folder))
    except RuntimeError as error:
        raise CommandError(str(error)) from error
    return DONE
