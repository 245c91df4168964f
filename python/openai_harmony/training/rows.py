"""Rows of data sets to tokens and loss masks."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from typing_extensions import Unpack

from openai_harmony import _lowlevel
from openai_harmony._options import completed, takes
from openai_harmony.chat import effort_of
from openai_harmony.encoding import load_harmony_encoding
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.training.arrow import arrow_stream
from openai_harmony.training.batch import Batch
from openai_harmony.training.options import RowOptions, is_count, unmapped


@takes(RowOptions)
def render(rows: Iterable[Any], *, first_row: int = 0, **options: Unpack[RowOptions]) -> Batch:
    """Renders rows to tokens and loss masks, on all cores.

    Args:
        rows: Any iterable of rows: JSON texts, dicts, lists of messages, conversations. Or anything
            that gives an Arrow stream, such as pyarrow's tables and columns: of JSON texts, or of
            structs with the fields of a row; so does a data set of ``datasets`` in the format
            ``"arrow"``. A null in a struct counts as missing.
        first_row: The index of the first row, where data come in parts.
        options: Those of RowOptions.

    Returns:
        The examples. A row that cannot be read or rendered is an entry in ``errors``, as is one of
        which the mask leaves nothing, or that is too long; no row ends the batch.

    Raises:
        ValueError: A wrong option; or ``map`` names a column that no row has.
        TypeError: ``rows`` is not an iterable of rows, but a single text, dict or conversation, or
            something else.

    >>> batch = render(
    ...     [
    ...         '{"messages": [{"role": "user", "content": "2 + 2?"},'
    ...         ' {"role": "assistant", "thinking": "Easy.", "content": "Four."}]}'
    ...     ],
    ...     format="chat",
    ... )
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> [example] = batch
    >>> encoding.decode([t for t, trained in zip(example.tokens, example.loss_mask) if trained])
    '<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>'
    """
    batch = _rendered(rows, first_row, options)
    rows_read = len({*batch.row, *batch.dropped})
    if why := unmapped(options.get("map"), batch.unused, rows_read):
        raise ValueError(why)
    return batch


def _rendered(rows: Iterable[Any], first_row: int, options: RowOptions) -> Batch:
    given = completed(render, options)
    _check_rows(rows)
    _check_system(given)
    if given["max_tokens"] is None and given["overflow"] in ("drop", "truncate_turns"):
        raise ValueError(f"overflow: {given['overflow']!r} does nothing without max_tokens")
    if given["reasoning_effort"] is not None:
        given["reasoning_effort"] = effort_of(given["reasoning_effort"])
    stream = arrow_stream(rows)
    if stream is not None and not hasattr(_lowlevel, "render_arrow"):
        raise NotImplementedError("rows: `make demo` builds no reader of Arrow, `make test` does")
    read = _lowlevel.render_rows if stream is None else _lowlevel.render_arrow
    encoding = load_harmony_encoding("HarmonyGptOss")
    source = rows if stream is None else stream
    return Batch(**read(encoding, source, first_row=first_row, **given))


def _check_system(given: RowOptions) -> None:
    """``ValueError`` for what cannot be in the system message; other types are refused later."""
    system = {name: given[name] for name in ("date", "identity", "reasoning_effort")}
    for name, value in system.items():
        if given["format"] == "harmony" and isinstance(value, (str, datetime.date)):
            raise ValueError(f"{name}: rows of the format 'harmony' have their own system message")


def _check_rows(rows: object) -> None:
    if hasattr(rows, "__arrow_c_stream__"):
        return  # A table may have a column `messages`, which some classes show as an attribute.
    if hasattr(rows, "itertuples"):
        raise WrongTypeError(
            "rows: this DataFrame gives no Arrow stream, as pandas does from 2.2 on with pyarrow; "
            "pass its `to_dict('records')`"
        )
    if isinstance(rows, (str, bytes, dict)) or hasattr(rows, "messages"):
        is_path = isinstance(rows, str) and rows.lstrip()[:1] not in ("{", "[")
        way = "; if it is a file, open(path) gives its lines" if is_path else ""
        raise WrongTypeError(f"rows: expected an iterable of rows, got one: {quoted(rows)}{way}")
    ways = ("__iter__", "__getitem__", "__arrow_c_stream__", "__arrow_c_array__")
    if not any(hasattr(rows, way) for way in ways):
        got = type(rows).__name__
        raise WrongTypeError(f"rows: expected an iterable of rows, got {got}")


@takes(RowOptions)
def render_batches(
    rows: Iterable[Any],
    *,
    batch_rows: int = 1024,
    first_row: int = 0,
    **options: Unpack[RowOptions],
) -> Iterator[Batch]:
    """Renders rows in batches, for data that do not fit into memory.

    Args:
        rows: Any iterable of rows, as :func:`render` takes them. It is read as batches are asked
            for.
        batch_rows: How many rows a batch is made of.
        first_row: The index of the first row.
        options: As for :func:`render`.

    Yields:
        Batches in the order of the rows. Row numbers continue across batches.

    Raises:
        ValueError: A wrong option.
        TypeError: ``rows`` is not an iterable of rows, but one of them or something else.

    >>> import itertools
    >>> chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    >>> endless = ({"messages": chat} for _ in itertools.count())
    >>> batches = render_batches(endless, batch_rows=2, format="chat")
    >>> [list(batch.row) for batch in itertools.islice(batches, 3)]
    [[0, 1], [2, 3], [4, 5]]
    """
    if not is_count(batch_rows, 1):
        raise ValueError(f"batch_rows: expected a whole number from 1, got {quoted(batch_rows)}")
    options = completed(render_batches, options)
    # Wrong options are found now, not when the first batch is asked for.
    render((), first_row=first_row, **options)
    _check_rows(rows)
    return _batches(_parts(rows, batch_rows), first_row, options)


def _batches(parts: Iterator[Any], first_row: int, options: RowOptions) -> Iterator[Batch]:
    for part in parts:
        yield _rendered(part, first_row, options)
        first_row += len(part)


def _parts(rows: Any, count: int) -> Iterator[Any]:
    """Parts of at most ``count`` rows."""
    stream = arrow_stream(rows)
    if stream is not None:
        yield from _arrow_parts(stream, count)
        return
    rest = iter(rows)
    while part := list(islice(rest, count)):
        yield part


def _arrow_parts(rows: Any, count: int) -> Iterator[Any]:
    """Parts of Arrow's tables, columns, and streams of record batches; nothing is copied."""
    import pyarrow

    is_column = isinstance(rows, (pyarrow.Array, pyarrow.ChunkedArray))
    for chunk in [rows] if is_column else pyarrow.RecordBatchReader.from_stream(rows):
        for start in range(0, len(chunk), count):
            yield chunk.slice(start, count)
