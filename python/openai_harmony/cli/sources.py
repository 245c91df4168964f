"""Where inputs are: files of one or of many, a line each, files of examples, standard input."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, NamedTuple

from openai_harmony.cli.failures import CommandError, UsageError
from openai_harmony.errors import HarmonyError

if TYPE_CHECKING:
    from openai_harmony.training import Example
    from openai_harmony.training.dataset.written import WrittenExample

MOST_BYTES = 64 * 2**20
"""The most of one input. Files of lines may be longer: each line is an input."""


class Source(NamedTuple):
    """An input before it is read."""

    name: str
    """The file, and the line of one that has several inputs."""
    raw: bytes = b""
    is_line: bool = False
    """Whether it is one of many, so that those after it are read although it is bad."""
    made: Example | WrittenExample | HarmonyError | None = None
    """The example that a file has, or that was rendered of a row, or why the row gives none."""
    notes: tuple[tuple[str, str], ...] = ()
    """What did not reach the tokens of these and other rows, each with the name of the file."""


def sources(names: Iterable[str]) -> Iterator[Source]:
    """The inputs of all files, one after the other."""
    for name in names:
        yield from sources_of(name)


def sources_of(name: str) -> Iterator[Source]:
    """The inputs of a file: one, or one a line."""
    if name == "-":
        check_standard_input()
        yield from _read(sys.stdin.buffer, "standard input")
    elif os.path.isdir(name) or name.endswith((".parquet", ".arrow", ".bin")):
        yield from _written(name)
    else:
        with open(name, "rb") as file:
            yield from _read(file, name)


def check_standard_input() -> None:
    """``UsageError`` if nothing can be read there, or a person would have to write it."""
    if sys.stdin is None or sys.stdin.isatty():
        there = "closed" if sys.stdin is None else "a terminal"
        raise UsageError(f"no FILE, and standard input is {there}")


def _written(name: str) -> Iterator[Source]:
    """The examples of an output of ``harmony dataset``: a file, or a folder of them."""
    from openai_harmony.training.dataset.written import NotWrittenError, examples, files

    try:
        for path in files(name) if os.path.isdir(name) else [name]:
            for title, example in examples(path):
                yield Source(f"{path}:{title}", made=example)
    except NotWrittenError as error:
        raise CommandError(f"{name}: {error}") from None


def _read(file: IO[bytes], name: str) -> Iterator[Source]:
    lines = enumerate(iter(lambda: _line(file, name), b""), 1)
    begun, filled = _begin(lines, 1)
    if filled and filled[0].lstrip()[:1] in (b"{", b"["):
        more, others = _begin(lines, 2)
        begun += more
        # A bad line is followed by good ones; the second line of one value is rarely a value.
        is_stream = b'"done":false' in filled[0].replace(b" ", b"")  # Ollama's, one answer
        if others and not is_stream and (_is_json(filled[0]) or all(map(_is_json, others))):
            for number, raw in itertools.chain(begun, lines):
                if not raw.isspace():
                    yield Source(f"{name}:{number}", raw, is_line=True)
            return
    yield Source(name, _rest(file, name, b"".join(raw for _, raw in begun)))


def _begin(
    lines: Iterator[tuple[int, bytes]], count: int
) -> tuple[list[tuple[int, bytes]], list[bytes]]:
    """The next lines, up to and including ``count`` that are not blank."""
    begun: list[tuple[int, bytes]] = []
    filled: list[bytes] = []
    while len(filled) < count and (line := next(lines, None)) is not None:
        begun.append(line)
        filled += [] if line[1].isspace() else [line[1]]
    return begun, filled


def _is_json(raw: bytes) -> bool:
    """Whether a line is a whole object or list."""
    if raw.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True


def _line(file: IO[bytes], name: str) -> bytes:
    raw = file.readline(MOST_BYTES + 1)
    _check(len(raw), name)
    return raw


def _rest(file: IO[bytes], name: str, first: bytes) -> bytes:
    raw = file.read(MOST_BYTES + 1 - len(first))
    _check(len(first) + len(raw), name)
    return first + raw


def _check(size: int, name: str) -> None:
    if size > MOST_BYTES:
        raise CommandError(
            f"{name}: longer than {MOST_BYTES // 2**20} MiB, the most that one input may have; "
            "`harmony dataset` reads files of any size, a conversation a line"
        )
