"""The file of a SQLite store: only its owner reads it, and it has to stay where it is."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy.engine import make_url

_BEGINNING = b"SQLite format 3\0"


class StoreFile:
    """A file that SQLite keeps open, so that it does not notice if somebody removes it."""

    def __init__(self, path: Path) -> None:
        """Of this path."""
        self._path = path
        self._identity: tuple[int, int] | None = None

    @classmethod
    def of(cls, address: str) -> StoreFile | None:
        """That of a SQLAlchemy URL; ``None`` if SQLite gets a URI."""
        path = make_url(address).database or ""
        return None if path.startswith("file:") else cls(Path(path))

    def make(self) -> None:
        """Makes it if there is none, so that from the beginning no other user can read it.

        ``OSError`` names the path if it cannot be made; of others SQLite says less.

        The files next to it, of what is being written, get the same mode from SQLite.
        """
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return

    def opened(self) -> None:
        """Remembers which file it is."""
        self._identity = self._found()

    def check(self) -> None:
        """``OSError`` if it is not there any more, or is another one."""
        if self._found() != self._identity:
            raise OSError(f"{self._path} was replaced by another file")
        with open(self._path, "rb") as file:
            if file.read(len(_BEGINNING)) not in (_BEGINNING, b""):
                raise OSError(f"{self._path} was overwritten")

    def _found(self) -> tuple[int, int]:
        found = os.stat(self._path)
        return found.st_dev, found.st_ino
