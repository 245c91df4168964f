"""What a person sees of a run: a bar while it lasts, and a report at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TextIO

from openai_harmony._counted import counted
from openai_harmony.training.dataset.numbers import numbers
from openai_harmony.training.dataset.output import Output
from openai_harmony.training.dataset.state import Counts, State

Progress = Callable[[int, Counts], None]


@contextmanager
def shown(size: int | None, stream: TextIO | None = None) -> Iterator[Progress]:
    """Shows the progress of a run on a terminal, if rich is installed.

    Nothing, if the stream (by default the one of errors) is not a terminal.
    """
    stream = sys.stderr if stream is None else stream
    if not stream.isatty() or find_spec("rich") is None:
        yield lambda read, counts: None
        return
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
