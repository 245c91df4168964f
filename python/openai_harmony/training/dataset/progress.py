"""What a person sees of a run: a bar while it lasts, and a report at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TextIO

from openai_harmony._counted import counted
from openai_harmony.training.dataset.output import Output
from openai_harmony.training.dataset.state import Counts, State

Progress = Callable[[int, Counts], None]
LONG = (4096, 8192, 32768)
"""Lengths in tokens at which people cut: how many examples are longer is in the report."""


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


def numbers(state: State) -> list[tuple[str, str]]:
    """What has been read and made, line by line."""
    counts = state.counts
    lines: list[tuple[str, str]] = [
        ("rows", f"{counts.rows:,}"),
        ("examples", f"{state.examples:,}"),
        *([("packs", f"{state.rows:,}")] if state.settings.get("pack") else []),
        ("tokens", f"{state.tokens:,}"),
        ("trained", f"{state.trained:,} ({percent(state.trained, state.tokens):.1f} %)"),
        *_lengths(counts),
        ("errors", f"{sum(counts.errors.values()):,}"),
        *((f"  {kind}", f"{count:,}") for kind, count in sorted(counts.errors.items())),
    ]
    if counts.first_error:
        lines.append(("  first", counts.first_error))
    optional = (
        ("dropped", counts.dropped),
        ("thoughts dropped", counts.dropped_thoughts),
        ("truncated", counts.truncated),
        ("blank", counts.blank),
    )
    lines += [(name, f"{count:,}") for name, count in optional if count]
    if counts.unused:
        lines.append(("unused", f"{sum(counts.unused.values()):,}"))
        lines += [(f"  {name}", f"{count:,}") for name, count in sorted(counts.unused.items())]
    return lines


def _lengths(counts: Counts) -> Iterator[tuple[str, str]]:
    if not counts.lengths:
        return
    middle, most, longest = map(counts.longest_of, (0.5, 0.95, 1))
    yield "length", f"median {middle:,}, 95 % {most:,}, longest {longest:,}"
    for limit in LONG:
        above = sum(count for length, count in counts.lengths.items() if length > limit)
        if above:
            share = percent(above, sum(counts.lengths.values()))
            yield f"  above {limit // 1024}k", f"{above:,} ({share:.1f} %)"


def percent(part: int, whole: int) -> float:
    """A share in percent, of nothing 0."""
    return 100 * part / whole if whole else 0.0


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
