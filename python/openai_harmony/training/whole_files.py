"""Files that appear under their names whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from typing_extensions import Self

SUFFIX = ".unfinished"
"""What the name of a file ends with while it is written."""


class AllOrNothing:
    """Something that is written whole or not at all.

    As a context manager it is closed at the end, and discarded on an exception.
    """

    def close(self) -> None:
        """Completes what was written."""
        raise NotImplementedError

    def discard(self) -> None:
        """Removes what was written."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.discard()


class WholeFiles(AllOrNothing):
    """Some files that are written together: each under another name, until all are complete."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.files: list[IO[bytes]] = []
        """Open for writing, in the order of the paths."""
        try:
            for path in paths:
                # If this is a link, it is removed and not followed.
                unfinished(path).unlink(missing_ok=True)
                self.files.append(unfinished(path).open("xb"))
        except BaseException:
            self.discard()
            raise

    def close(self) -> None:
        """Gives the files their names, once their bytes are on the disk.

        If that fails, those that have no name yet are removed.
        """
        try:
            for file in self.files:
                file.flush()
                os.fsync(file.fileno())
                file.close()
            for path in self.paths:
                os.replace(unfinished(path), path)
            for folder in {path.parent for path in self.paths}:
                sync_folder(folder)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Removes what was written."""
        for path, file in zip(self.paths, self.files):
            file.close()
            unfinished(path).unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Writes or replaces one file of text."""
    with WholeFiles([path]) as files:
        files.files[0].write(text.encode())


def unfinished(path: Path) -> Path:
    """The name of a file while it is written."""
    return path.with_name(path.name + SUFFIX)


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk, where the system has a call for it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


__all__ = ["AllOrNothing", "WholeFiles", "unfinished", "write_whole"]
