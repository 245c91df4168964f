"""What a person sees of a run: a bar while it lasts, and a report at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from openai_harmony._counted import counted
from openai_harmony.training.dataset.numbers import numbers, percent
from openai_harmony.training.dataset.output import Output
from openai_harmony.training.dataset.state import Counts, State

Progress = Callable[[int, Counts], None]

_SECONDS = 0.1
"""How often a line is written again."""


@contextmanager
def shown(size: int | None, stream: TextIO | None = None) -> Iterator[Progress]:
    """Shows the progress of a run on a terminal: with rich if it is installed, else in a line.

    Nothing, if the stream (by default the one of errors) is not a terminal.
    """
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield lambda read, counts: None
        return
    try:
        import rich  # noqa: F401
    except ModuleNotFoundError:
        yield from _line(size, stream)
        return
    yield from _bar(size, stream)


def _line(size: int | None, stream: TextIO) -> Iterator[Progress]:
    """One line, written over and over."""
    last = 0.0

    def update(read: int, counts: Counts) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS:
            last = time.monotonic()
            part = f"{read / 2**20:,.0f} MiB" if size is None else f"{percent(read, size):.0f} %"
            stream.write(f"\r\033[K{part}  {_told(counts)}")
            stream.flush()

    try:
        yield update
    finally:
        stream.write("\r\033[K")
        stream.flush()


def _bar(size: int | None, stream: TextIO) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[told]}"),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        task = progress.add_task("", total=size, told="")
        yield lambda read, counts: progress.update(task, completed=read, told=_told(counts))


def _told(counts: Counts) -> str:
    bad = sum(counts.errors.values())
    return f"{counts.rows:,} rows" + (f", {bad:,} bad" if bad else "")


def report(state: State, output: Output, seconds: float) -> str:
    """What a complete run has done, as text."""
    counts, rows = state.counts, state.counts.rows - state.rows_before
    lines = numbers(state)
    files = output.files(state)
    stored = sum(path.stat().st_size for path in files)
    number = "" if output.is_file else f" ({counted(len(files), 'file')})"
    lines.append(("written", f"{output.path}{number}, {stored / 2**20:,.1f} MiB"))
    if counts.error_bytes:
        lines.append(("errors in", str(output.errors)))
    if state.found_complete:
        lines.append(("done", "nothing to do: this output was complete"))
    else:
        speed = f"{counted(round(rows / max(seconds, 1e-9)), 'row')}/s"
        resumed = (
            f", after {state.rows_before:,} rows of an earlier run" if state.rows_before else ""
        )
        lines.append(("time", f"{seconds:,.1f} s, {speed}{resumed}"))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {value}".rstrip() for name, value in lines)
