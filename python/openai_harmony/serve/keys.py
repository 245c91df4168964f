"""API keys: whom each is of, and what it may use."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_OPTION = re.compile(r"(running|waiting|tokens)=(\d{1,9})|name=([\w.-]{1,48})|(trusted)", re.ASCII)
_FORM = "expected a key of visible ASCII, then any of name=, running=, waiting=, tokens=, trusted"


@dataclass(frozen=True, slots=True)
class Key:
    """An API key, of which only a digest is known, and what may be done with it."""

    digest: str = ""
    name: str = ""
    running: int | None = None
    """How many of its requests are answered at a time; ``None``: its share."""
    waiting: int | None = None
    """How many of them wait."""
    tokens: int | None = None
    """How many tokens an answer may have."""
    trusted: bool = False
    """Whether it may say where an engine sends its cache, and overtake others: a router's."""

    @property
    def owner(self) -> str:
        """To whom stored responses belong: the same for all keys of one name."""
        return self.name or self.digest

    @property
    def label(self) -> str:
        """What the log and the metrics call it."""
        return self.name or (f"key-{self.digest[:8]}" if self.digest else "")


ANONYMOUS = Key()
"""The key of clients that need none."""


def digest(key: str) -> str:
    """By which a key is known: in memory, and to the store."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


def read_keys(file: str | None) -> tuple[Key, ...]:
    """The keys of a file, one a line, and of ``HARMONY_API_KEYS``, with commas between them.

    Options follow a key: ``sk-… name=alice running=8 tokens=4096``. Empty lines and those that
    begin with ``#`` are skipped. ``OSError`` if the file cannot be read, ``ValueError`` if it is
    not text, has no key, or has a line that is not a key.
    """
    given = os.environ.get("HARMONY_API_KEYS", "").split(",")
    keys = list(_read(given, "HARMONY_API_KEYS, key"))
    if file is not None:
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"api_key_file: {file} is not text in UTF-8") from None
        except OSError as error:
            raise OSError(f"api_key_file: {file}: {error.strerror}") from error
        found = list(_read(text.splitlines(), f"{file}, line"))
        if not found:
            raise ValueError(f"api_key_file: {file} has no key")
        keys += found
    named: dict[str, Key] = {}
    for key in keys:
        first = named.setdefault(key.owner, key)
        if replace(first, digest=key.digest) != key:
            raise ValueError(
                f"api_key_file: two keys of the name {key.name} differ in their limits"
            )
    return tuple(keys)


def _read(lines: Iterable[str], where: str) -> Iterable[Key]:
    for at, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        key, *options = line.split()
        given: dict[str, Any] = {}
        for option in options:
            # Nothing is quoted: it may be most of a key.
            found = _OPTION.fullmatch(option)
            if found is None or option.partition("=")[0] in given:
                raise ValueError(f"api_key_file: {where} {at}: {_FORM}")
            limit, number, name, trusted = found.groups()
            if limit:
                given[limit] = int(number)
            else:
                given |= {"name": name} if name else {"trusted": bool(trusted)}
        if not re.fullmatch("[!-~]+", key):
            raise ValueError(f"api_key_file: {where} {at}: {_FORM}")
        yield Key(digest(key), **given)
