"""Files of training rows as inputs: what ``harmony dataset`` would write of each row."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from openai_harmony.cli.failures import CommandError, UsageError, with_flags
from openai_harmony.cli.flags import SHOWN_ROWS, given_flags
from openai_harmony.cli.rendering import given_rendering
from openai_harmony.cli.sources import Source, check_standard_input, sources

if TYPE_CHECKING:
    from openai_harmony.training import Batch

_ROWS = 256
"""How many are rendered together: the first is shown before a large file has been read."""


def rows_or_sources(options: argparse.Namespace) -> Iterator[Source]:
    """The rows of all files, if ``--format`` says that these have rows; else what they are."""
    if options.format is not None:
        return _rows(options)
    for name in given_flags(options, SHOWN_ROWS):
        raise UsageError(f"--{name.replace('_', '-')} needs --format")
    return sources(options.files)


def _rows(options: argparse.Namespace) -> Iterator[Source]:
    from openai_harmony import training
    from openai_harmony.training.dataset import CHUNK_BYTES
    from openai_harmony.training.dataset.inputs import STDIN, InputError, Inputs, Position

    if options.form is not None:
        raise UsageError("--as and --format: give one of them")
    if options.ending not in (None, "training"):
        raise UsageError(f"--ending {options.ending}: rows are training examples")
    rendering = given_rendering(options, SHOWN_ROWS)
    if options.date is not None:
        rendering["date"] = options.date
    if STDIN in options.files:
        check_standard_input()
    try:
        training.render([], **rendering)
    except ValueError as error:
        raise UsageError(with_flags(error, options)) from error
    try:
        inputs = Inputs(options.files)
        for chunk in inputs.chunks(Position(), _ROWS, CHUNK_BYTES):
            batch = training.render(chunk.rows, **rendering)
            path = inputs.paths[chunk.start.file]
            path = "standard input" if path == STDIN else path
            notes = tuple((path, note) for note in sorted(batch.unused))
            for row, source in _of_batch(batch):
                name = f"{path}:{chunk.lines[row] + 1}{source.name}"
                yield source._replace(name=name, notes=notes)
                notes = ()
    except InputError as error:
        raise CommandError(str(error)) from error


def _of_batch(batch: Batch) -> Iterator[tuple[int, Source]]:
    """The examples of each row, or why it has none, in the order of the rows."""
    preferred: Sequence[bool | None] = batch.preferred or [None] * len(batch)
    made = [*zip(batch, preferred)]
    bad = [(row, Source("", is_line=True, made=error)) for row, error in batch.errors]
    good = [
        (row, Source(_title(number, len(examples), is_preferred), is_line=True, made=example))
        for row, group in groupby(made, lambda one: one[0].row)
        for examples in [[*group]]
        for number, (example, is_preferred) in enumerate(examples, 1)
    ]
    # A row of several turns may have both: an error and examples of the others.
    yield from sorted(good + bad, key=lambda one: one[0])


def _title(number: int, count: int, is_preferred: bool | None) -> str:
    """Which of a row's examples one is, if there are several."""
    if count == 1:
        return ""
    if is_preferred is None:
        return f" example {number}"
    return " chosen" if is_preferred else " rejected"
