"""Rows of data sets to tokens and loss masks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

from typing_extensions import Unpack

from openai_harmony import _lowlevel
from openai_harmony.chat import EffortName, ReasoningEffort
from openai_harmony.encoding import load_harmony_encoding
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import RenderConversationConfig
from openai_harmony.training.arrow import arrow_stream
from openai_harmony.training.batch import Batch
from openai_harmony.training.options import RowFormat, RowOptions, is_count, refuse_unknown


def render(
    rows: Iterable[Any],
    *,
    format: RowFormat = "harmony",  # noqa: A002  (the plain word)
    mask: LossMask | None = None,
    config: RenderConversationConfig | None = None,
    examples: Literal["conversation", "turns"] = "conversation",
    max_tokens: int | None = None,
    overflow: Literal["error", "drop", "truncate_turns"] = "error",
    threads: int | None = None,
    date: str | None = None,
    identity: str | None = None,
    reasoning_effort: ReasoningEffort | EffortName | None = None,
    first_row: int = 0,
) -> Batch:
    """Renders rows to tokens and loss masks, on all cores.

    Args:
        rows: Any iterable of rows: JSON texts, dicts, lists of messages, conversations. Or anything
            that gives an Arrow stream, such as pyarrow's tables and columns: of JSON texts, or of
            structs with the fields of a row; so does a data set of ``datasets`` in the format
            ``"arrow"``. A null in a struct counts as missing.
        format: What the rows are: conversations in this library's form, ``"chat"`` messages
            as data sets on hubs have them, or bodies of the APIs ``"anthropic"`` and
            ``"responses"``, the answer at their end. ``"preference"``: chat messages with
            ``chosen`` and ``rejected`` answers to a ``prompt``, or with a ``completion`` and a
            ``label``; the columns ``"dpo"`` and ``"kto"`` are for them.
        mask: What of the tokens that the model samples is not trained; by default nothing.
        config: How conversations are rendered. By default as servers with
            :mod:`openai_harmony.interop` do: thoughts of completed turns are dropped, those of the
            last turn are not.
        examples: One example for each conversation, or one for each of its ``"turns"``: the
            conversation up to the turn's end, as the model sees it there, of which the last turn is
            trained.
        max_tokens: The most tokens that an example may have.
        overflow: What becomes of a longer one: an ``"error"`` of its row, ``"drop"`` leaves it out,
            ``"truncate_turns"`` leaves out whole turns until it fits: the first ones where the last
            turn alone is trained, else the last. A single turn that is too long is an error. Where
            each turn is an example, the others stay in any case.
        threads: How many threads render; by default as many as there are cores.
        date: The date in the system message of chat rows, ``"2025-06-28"``; by default there is
            none, so that a data set gives the same tokens tomorrow.
        identity: The identity in the system message of chat rows; by default the model's own.
        reasoning_effort: The effort in the system message of chat rows that do not say their own:
            ``"low"``, ``"medium"`` (the default) or ``"high"``, in any case of letters.
        first_row: The index of the first row, where data come in parts.

    Returns:
        The examples. A row that cannot be read or rendered is an entry in ``errors``, as is one of
        which the mask leaves nothing, or that is too long; no row ends the batch.

    Raises:
        ValueError: A wrong option.
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
    _check_rows(rows)
    _check_system(format, date=date, identity=identity, reasoning_effort=reasoning_effort)
    _check_overflow(overflow, max_tokens)
    stream = arrow_stream(rows)
    read = _lowlevel.render_rows if stream is None else _lowlevel.render_arrow
    fields = read(
        load_harmony_encoding("HarmonyGptOss"),
        rows if stream is None else stream,
        format=format,
        mask=mask,
        config=config,
        examples=examples,
        max_tokens=max_tokens,
        overflow=overflow,
        threads=threads,
        date=date,
        identity=identity,
        reasoning_effort=_effort(reasoning_effort),
        first_row=first_row,
    )
    return Batch(**fields)


def _check_system(format: str, **fields: object) -> None:  # noqa: A002  (as above)
    """``ValueError`` for what cannot be in the system message; other types are refused later."""
    for name, value in fields.items():
        if format == "harmony" and isinstance(value, str):
            raise ValueError(f"{name}: rows of the format 'harmony' have their own system message")
    date = fields["date"]
    if isinstance(date, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        raise ValueError(f"date: expected a date such as '2025-06-28', got {quoted(date)}")


def _effort(effort: object) -> ReasoningEffort | None:
    try:
        return None if effort is None else ReasoningEffort(effort)
    except ValueError:
        known = "'low', 'medium' or 'high'"
        raise ValueError(f"reasoning_effort: expected {known}, got {quoted(effort)}") from None


def _check_overflow(overflow: object, max_tokens: object) -> None:
    if max_tokens is None and overflow in ("drop", "truncate_turns"):
        raise ValueError(f"overflow: {overflow!r} does nothing without max_tokens")


def _check_rows(rows: object) -> None:
    if isinstance(rows, (str, bytes, dict)) or hasattr(rows, "messages"):
        raise WrongTypeError(f"rows: expected an iterable of rows, got one: {quoted(rows)}")
    ways = ("__iter__", "__getitem__", "__arrow_c_stream__", "__arrow_c_array__")
    if not any(hasattr(rows, way) for way in ways):
        got = type(rows).__name__
        raise WrongTypeError(f"rows: expected an iterable of rows, got {got}")


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
    refuse_unknown(options, "render_batches", "batch_rows", "first_row")
    # Wrong options are found now, not when the first batch is asked for.
    render((), first_row=first_row, **options)
    _check_rows(rows)
    return _batches(_parts(rows, batch_rows), first_row, options)


def _batches(parts: Iterator[Any], first_row: int, options: RowOptions) -> Iterator[Batch]:
    for part in parts:
        yield render(part, first_row=first_row, **options)
        first_row += len(part)


def _parts(rows: Any, count: int) -> Iterator[Any]:
    """Parts of at most so many rows."""
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
