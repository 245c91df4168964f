"""``python -m openai_harmony``: see ``--help``."""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from openai_harmony.vocabulary import FILE_NAME, write_vocabulary


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command; returns the process's exit code: 0, 1 for a failure, 2 for bad usage."""
    parser = argparse.ArgumentParser(prog="python -m openai_harmony", description="openai-harmony")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    vocabulary = commands.add_parser(
        "vocabulary", help=f"write {FILE_NAME} into a folder and verify it"
    )
    vocabulary.add_argument("folder", metavar="DIR", help="an existing folder")
    options = parser.parse_args(arguments)
    try:
        print(write_vocabulary(options.folder))
    except (OSError, RuntimeError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
