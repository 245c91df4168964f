"""Files and standard input, read as what their form says."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from openai_harmony.cli.arguments import date
from openai_harmony.cli.failures import DONE, FAILED, CommandError, with_flags
from openai_harmony.cli.sources import Source, sources, sources_of
from openai_harmony.errors import HarmonyError
from openai_harmony.kinds import Api, Form

if TYPE_CHECKING:
    from openai_harmony.training import Example

_MOST_REPORTED = 20
"""How many bad lines are reported each by itself."""
_INDEX = re.compile(r"\[\d+\]")
_EXAMPLE = re.compile(rb'"(?:labels|mask|loss_mask|prompt_ids)"')
"""Columns of examples that no request has, nor tokens without a mask."""

APIS = get_args(Api)
"""The forms of requests; their values are turns."""
SAMPLED = frozenset(("stripped", "answer"))
"""The forms of sampled output; their values are conversations."""


class Input(NamedTuple):
    """What was read."""

    name: str
    """The file, and the line of one that has several inputs."""
    form: str
    value: Any
    """A ``Conversation``, a ``Turn``, token ids, or messages."""
    mask: list[int] | None = None
    """Which of the token ids are trained, where the file says so."""
    row: Example | None = None
    """The example that was rendered of a row, with the places of its messages."""


def add_input(parser: argparse.ArgumentParser, *names: str) -> None:
    """The arguments of commands that read: files, and how they are read."""
    for name in names or ("files",):
        parser.add_argument(
            name,
            metavar="FILE",
            nargs=None if names else "*",
            default=["-"] if not names else None,
            help="a conversation or a request of chat completions, Responses, Anthropic or Ollama "
            "in JSON (also one a line), their answers, whole or as logs of streams, token ids, "
            "text with markers, or an output of harmony dataset (.parquet, .arrow); - or nothing "
            "is standard input",
        )
    reading = parser.add_argument_group("reading").add_argument
    reading(
        "--as",
        dest="form",
        choices=["chat", *get_args(Form)[1:]],
        help="input format, if it cannot be detected; markers: <|start|> and its like are "
        "special tokens; stripped: their names were dropped; plain: ordinary text; answer: of an "
        "API, whole or as the log of a stream",
    )
    reading(
        "--date",
        type=date,
        metavar="YYYY-MM-DD",
        help="the date in the system message of requests (today; none in training examples)",
    )


def each(
    options: argparse.Namespace, found: Iterable[Source], work: Callable[[Input], None]
) -> int:
    """Does the work of a command for each input that was found; gives the exit code.

    A bad line is reported, and the next one is read.
    """
    bad = 0
    reader = _Reader(options)
    for source in found:
        try:
            for one in reader.read(source):
                work(one)
        except (CommandError, HarmonyError, ValueError) as error:
            if not source.is_line:
                raise
            bad += 1
            if bad <= _MOST_REPORTED:
                _report(source.name, with_flags(error))
    reader.end()
    if bad > _MOST_REPORTED:
        print(f"harmony: error: {bad - _MOST_REPORTED:,} more bad lines", file=sys.stderr)
    return FAILED if bad else DONE


def _report(name: str, text: str) -> None:
    said = " ".join(text.split())
    said = said if said.startswith(name) else f"{name}: {said}"
    print(f"harmony: error: {said}", file=sys.stderr)


def inputs(options: argparse.Namespace) -> Iterator[Input]:
    """The inputs of all files, one after the other. The first that is bad is an error."""
    reader = _Reader(options)
    for source in sources(options.files):
        yield from reader.read(source)
    reader.end()


def one_input(name: str, options: argparse.Namespace) -> Input:
    """The only input of a file."""
    found = sources_of(name)
    first = next(found)
    if next(found, None) is not None:
        raise CommandError(f"{name}: has several inputs, one a line; expected a single one")
    [one, *others] = _Reader(options).read(first)
    if others:
        raise CommandError(f"{name}: has several inputs in its line; expected a single one")
    return one


class _Reader:
    """Reads inputs as the options say, and prints what was left out of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._form: Any = "chat_completions" if options.form == "chat" else options.form
        # Examples of training have no date, as `harmony dataset` writes them.
        is_example = getattr(options, "ending", None) == "training"
        self._date: str | None = options.date or (None if is_example else "today")
        self._tools: list[str] = getattr(options, "tool", None) or []
        self._noted: set[str] = set()
        self._repeated = 0

    def read(self, source: Source) -> Iterator[Input]:
        """What a source has: one input, but for rows of several examples."""
        # Slow to import, and a wrong path needs none of it.
        from openai_harmony.show.forms import UnknownForm, recognize

        for name, note in source.notes:
            self._note(name, note)
        if isinstance(source.made, HarmonyError):
            raise source.made
        examples = self._examples(source) if source.made is None else [("", source.made)]
        if examples is not None:
            for column, made in examples:
                name, tokens, mask = source.name + column, list(made.tokens), list(made.loss_mask)
                row: Any = made if hasattr(made, "spans") else None
                yield Input(name, "tokens", tokens, mask, row)
            return
        try:
            found = recognize(source.raw, self._form, date=self._date, tools=self._tools)
        except UnknownForm as error:
            raise CommandError(f"{source.name}: {error}") from None
        for note in found.notes:
            self._note(source.name, note)
        value: Any = found.value
        if found.form in SAMPLED:
            from openai_harmony.chat import Conversation

            value = Conversation(messages=value)
        yield Input(source.name, found.form, value)

    def _examples(self, source: Source) -> Iterable[tuple[str, Any]] | None:
        """Those of a row of a data set in JSON, which has its mask, each with its column."""
        if self._form not in (None, "tokens") or not _EXAMPLE.search(source.raw):
            return None
        from openai_harmony.training.dataset.written import example_of

        try:
            row = json.loads(source.raw)
        except (ValueError, RecursionError):
            return None
        return example_of(row) if isinstance(row, dict) else None

    def _note(self, name: str, note: str) -> None:
        """Prints a note once, whatever the index of the message that it is about."""
        kind = _INDEX.sub("[*]", note)
        if kind in self._noted:
            self._repeated += 1
            return
        self._noted.add(kind)
        print(f"{name}: note: {note}", file=sys.stderr)

    def end(self) -> None:
        """Says how many notes were not printed."""
        if self._repeated:
            print(f"note: {self._repeated:,} more like these", file=sys.stderr)
