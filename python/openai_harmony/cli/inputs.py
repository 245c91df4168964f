"""Files and standard input, read as what their form says."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from openai_harmony.chat import Conversation
from openai_harmony.cli.arguments import date
from openai_harmony.cli.failures import CommandError, UsageError

MOST_BYTES = 64 * 2**20
"""The most of one input. Files of lines may be longer: each line is an input."""
_CHOICES = {
    "chat": "chat_completions",
    "responses": "responses",
    "anthropic": "anthropic",
    "ollama": "ollama",
    "harmony": "harmony",
    "tokens": "tokens",
    "markers": "markers",
    "stripped": "stripped",
    "plain": "plain",
}


class Input(NamedTuple):
    """What was read."""

    name: str
    """The file, and the line of one that has several inputs."""
    form: str
    value: Any
    """A ``Conversation``, a ``Turn``, token ids, or messages."""
    mask: list[int] | None = None
    """Which of the token ids are trained, where the file says so."""


def add_input(parser: argparse.ArgumentParser, *names: str) -> None:
    """The arguments of commands that read: files, and how they are read."""
    for name in names or ("files",):
        parser.add_argument(
            name,
            metavar="FILE",
            nargs=None if names else "*",
            default=["-"] if not names else None,
            help="a conversation or a request of chat completions, Responses, Anthropic or Ollama "
            "in JSON (also one a line), token ids, text with markers, or an output of harmony "
            "dataset (.parquet, .arrow); - or nothing is standard input",
        )
    reading = parser.add_argument_group("reading").add_argument
    reading(
        "--as",
        dest="form",
        choices=list(_CHOICES),
        help="what the input is, if its form does not tell; markers: <|start|> and its like are "
        "special tokens; stripped: their names were dropped; plain: ordinary text",
    )
    reading(
        "--date",
        type=date,
        metavar="YYYY-MM-DD",
        help="the date in the system message of requests (today; none with --ending training)",
    )


def inputs(options: argparse.Namespace) -> Iterator[Input]:
    """The inputs of all files, one after the other."""
    for name in options.files:
        yield from inputs_of(name, options)


def one_input(name: str, options: argparse.Namespace) -> Input:
    """The only input of a file."""
    found = inputs_of(name, options)
    first = next(found)
    if next(found, None) is not None:
        raise CommandError(f"{name}: has several inputs, one a line; expected a single one")
    return first


def inputs_of(name: str, options: argparse.Namespace) -> Iterator[Input]:
    """The inputs of a file: one, or one a line."""
    if name == "-":
        if sys.stdin is None or sys.stdin.isatty():
            there = "closed" if sys.stdin is None else "a terminal"
            raise UsageError(f"no FILE, and standard input is {there}")
        yield from _read(sys.stdin.buffer, "standard input", options)
        return
    if name.endswith((".parquet", ".arrow")):
        from openai_harmony.training.dataset.written import NotWrittenError, examples

        try:
            for title, example in examples(name):
                yield Input(f"{name}:{title}", "tokens", *example)
        except NotWrittenError as error:
            raise CommandError(f"{name}: {error}") from None
        return
    with open(name, "rb") as file:
        yield from _read(file, name, options)


def _read(file: IO[bytes], name: str, options: argparse.Namespace) -> Iterator[Input]:
    lines = enumerate(iter(lambda: _line(file, name), b""), 1)
    filled = ((number, raw) for number, raw in lines if not raw.isspace())
    at, first = next(filled, (1, b""))
    following = next(filled, None) if _is_json(first) else None
    if following is None:
        yield _recognized(first + _rest(file, name, first), name, options)
        return
    for number, raw in itertools.chain([(at, first), following], filled):
        yield _recognized(raw, f"{name}:{number}", options)


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
    return raw


def _check(size: int, name: str) -> None:
    if size > MOST_BYTES:
        raise CommandError(
            f"{name}: longer than {MOST_BYTES // 2**20} MiB, the most that one input may have; "
            "`harmony dataset` reads files of any size, a conversation a line"
        )


def _default_date(options: argparse.Namespace) -> str | None:
    """Examples of training have no date, as `harmony dataset` writes them."""
    return None if getattr(options, "ending", None) == "training" else "today"


def _recognized(raw: bytes, name: str, options: argparse.Namespace) -> Input:
    # Slow to import, and a wrong path needs none of it.
    from openai_harmony.show.forms import UnknownForm, recognize

    form: Any = _CHOICES.get(options.form)
    try:
        tools = getattr(options, "tool", None) or ()
        date = options.date or _default_date(options)
        found = recognize(raw, form, date=date, tools=tools)
    except UnknownForm as error:
        raise CommandError(f"{name}: {error}") from None
    for note in found.notes:
        print(f"{name}: note: {note}", file=sys.stderr)
    value: Any = found.value
    if found.form == "stripped":
        value = Conversation(messages=value)
    return Input(name, found.form, value)
