"""Where a command writes to."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def add_output(parser: argparse.ArgumentParser, *formats: str) -> None:
    """``--to`` and ``--output``."""
    writing = parser.add_argument_group("writing").add_argument
    writing("--to", choices=formats, default=formats[0], help=f"output format ({formats[0]})")
    writing("-o", "--output", metavar="OUT", help="a file instead of standard output")


class Output:
    """Standard output, or a file that is there as a whole or not at all."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        """Writes text; to a file at the end."""
        if self._path is None:
            sys.stdout.write(text)
        else:
            self._parts.append(text)

    def close(self) -> None:
        """Writes the file."""
        if self._path is None:
            return
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            # A device or a pipe is written to, not replaced.
            with open(self._path, "w", encoding="utf-8") as opened:
                opened.writelines(self._parts)
            return
        from openai_harmony.training.whole_files import write_whole

        # A link's file is replaced, not the link.
        target = Path(os.path.realpath(self._path))
        if not target.parent.is_dir():
            raise FileNotFoundError(f"no such folder: {target.parent}")
        write_whole(target, "".join(self._parts))
