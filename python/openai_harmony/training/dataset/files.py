"""Files by their paths, and by URLs through fsspec: ``s3://``, ``hf://``, ``memory://``.

A local path is never taken for a URL, nor a URL for a path.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from openai_harmony._extras import needed

_MEBIBYTE = 2**20


def is_url(name: str) -> bool:
    """Whether a name is a URL."""
    return "://" in name


def is_file(name: str) -> bool:
    """Whether there is a file of this name. ``OSError`` if that cannot be found out."""
    if not is_url(name):
        return os.path.isfile(name)
    system, path = _system(name)
    return bool(system.isfile(path))


def inside(name: str) -> list[tuple[str, bool]] | None:
    """What is in a folder, each with whether it is a file; ``None`` if this is no folder."""
    if not is_url(name):
        if not os.path.isdir(name):
            return None
        return [(str(path), path.is_file()) for path in sorted(Path(name).iterdir())]
    system, path = _system(name)
    if not system.isdir(path):
        return None
    found = sorted(system.ls(path, detail=True), key=lambda entry: entry["name"])
    return [(system.unstrip_protocol(one["name"]), one["type"] == "file") for one in found]


def size(name: str) -> int:
    """The bytes of a file."""
    if not is_url(name):
        return os.path.getsize(name)
    system, path = _system(name)
    return int(system.size(path))


def identity(name: str) -> dict[str, Any]:
    """By what the same file is known again."""
    if not is_url(name):
        status = os.stat(name)
        entry = {"path": os.path.abspath(name), "bytes": status.st_size}
        return {**entry, "modified_ns": status.st_mtime_ns}
    system, path = _system(name)
    return {"path": name, "bytes": int(system.size(path)), "key": str(system.ukey(path))}


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """A file, open for reading."""
    if not is_url(name):
        with open(name, "rb", buffering=_MEBIBYTE) as file:
            yield file
        return
    system, path = _system(name)
    # Not all of fsspec's files have `peek`, or a limit of `readline`.
    with system.open(path, "rb") as stored, io.BufferedReader(stored, _MEBIBYTE) as file:
        yield file


def _system(name: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there; ``OSError`` if there is none."""
    fsspec = needed("fsspec.core", "remote")
    try:
        system, path = fsspec.url_to_fs(name)
    except (ImportError, ValueError) as error:
        raise OSError(str(error)) from error
    return system, str(path)
