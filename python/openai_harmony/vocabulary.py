"""The vocabulary as a file, for other tools that need ``o200k_base.tiktoken``."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from openai_harmony import _lowlevel

FILE_NAME = "o200k_base.tiktoken"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def vocabulary_text() -> bytes:
    """The canonical file: for each ordinary token, by id, its bytes in base64 and the id.

    ``RuntimeError`` if it does not have the published checksum.
    """
    text = _lowlevel.vocabulary()
    if hashlib.sha256(text).hexdigest() != SHA256:
        raise RuntimeError("the embedded vocabulary is damaged: its checksum is wrong")
    return text


def write_vocabulary(folder: str | os.PathLike[str]) -> Path:
    """Writes the canonical file into a folder and returns its path.

    The file appears complete or not at all. ``OSError`` if the folder is not a directory or cannot
    be written.
    """
    if not os.fspath(folder):
        raise FileNotFoundError("no directory is named")  # `Path` reads it as the current one.
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"not a directory: {folder}")
    if not folder.is_dir():
        raise FileNotFoundError(f"no such directory: {folder}")
    text = vocabulary_text()
    handle, unfinished = tempfile.mkstemp(prefix=f".{FILE_NAME}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        # Only the owner can read what `mkstemp` makes; a vocabulary is for everybody.
        os.chmod(unfinished, 0o644)
        target = folder / FILE_NAME
        os.replace(unfinished, target)
    except BaseException:
        os.unlink(unfinished)
        raise
    return target


__all__ = ["FILE_NAME", "vocabulary_text", "write_vocabulary"]
