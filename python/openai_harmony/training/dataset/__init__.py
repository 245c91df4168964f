"""Whole data sets: files of rows to files of examples, in a run that can be interrupted."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from typing_extensions import Unpack

import openai_harmony
from openai_harmony import training
from openai_harmony._extras import needed
from openai_harmony._options import completed, takes
from openai_harmony.errors import WrongTypeError, quoted
from openai_harmony.training.arrow import PREFERENCES, Columns, checked_columns
from openai_harmony.training.dataset.inputs import STDIN, InputError, Inputs
from openai_harmony.training.dataset.output import Output
from openai_harmony.training.dataset.run import (
    CHUNK_BYTES,
    ErrorLimitError,
    NoExamplesError,
    Plan,
    Run,
)
from openai_harmony.training.dataset.shards import FileFormat
from openai_harmony.training.dataset.state import Counts, ShardEntry, State, StateError
from openai_harmony.training.options import RowOptions, described, is_count

logger = logging.getLogger("openai_harmony.training")

PIECE_TOKENS = 2**26
"""After how many tokens a run that writes one file saves its state."""
SHARD_TOKENS = 2**28
"""The tokens of a shard, unless a size is given."""


@takes(RowOptions)
def write_dataset(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    to: FileFormat | None = None,
    columns: Columns | None = None,
    shard_tokens: int | None = None,
    batch_rows: int = 4096,
    pack: int | None = None,
    max_errors: int | float | None = 0.01,  # noqa: PYI041  (1 is a row, 1.0 all of them)
    restart: bool = False,
    progress: Callable[[int, Counts], None] | None = None,
    **options: Unpack[RowOptions],
) -> State:
    """Writes the examples of all rows of some files.

    The same call resumes an interrupted one, and gives the same bytes as if it had not been
    interrupted. It does nothing if the output is complete. Each file appears under its name when it
    is whole; a call that fails before the first shard leaves nothing. Memory: a few times 16 MiB of
    input, or the longest row; a ``.json`` file is loaded whole, at about five times its size.

    Args:
        inputs: A path, or several: of JSONL files, ``.json`` files that are one list of rows (both
            also packed: ``.gz``, ``.bz2``, ``.xz``, ``.zst``), Parquet files, folders of JSONL and
            Parquet (what else is in them is named in a warning of the logger
            ``openai_harmony.training``), their URLs (``s3://``, ``hf://`` and the others of
            fsspec), or ``"-"`` for JSONL from standard input, which cannot be resumed.
        output: A file that ends with ``.parquet``, ``.arrow`` or ``.bin`` (Megatron), or a folder
            for shards; a local path.
        to: What to write into a folder: ``"parquet"``, ``"arrow"`` or ``"megatron"``.
        columns: The columns of Parquet and Arrow files, by default ``"trl"``
            (:meth:`openai_harmony.training.Batch.to_arrow`). Megatron's files have none.
        shard_tokens: The most tokens of a shard, by default 268,435,456; one example may have
            more.
        batch_rows: How many rows are rendered together.
        pack: Puts several examples into a row of at most this many tokens, by best fit among those
            that are rendered together (:meth:`openai_harmony.training.Batch.pack`). Without
            ``max_tokens`` it is that, too. Megatron packs by itself.
        max_errors: How many rows may be bad: a whole number of them, with more of which the run
            stops, or a share of all as a float, which is known at the end. What was written stays,
            and the same call with a higher limit resumes. ``None`` allows any number. Bad rows are
            counted, and written to a separate file.
        restart: Removes what is there of another run of this, and starts over, if the input has a
            row that gives an example. Of standard input only the first byte is awaited.
        progress: Called after each batch with the bytes of the input that were read, and the
            counts.
        options: As for :func:`openai_harmony.training.render`.

    Returns:
        The state of the complete run, which is also in the file of the report. With
        ``found_complete`` there was nothing to do.

    Raises:
        ValueError: A wrong option.
        InputError: A file is missing or cannot be read.
        StateError: The output is another run's, was begun with other options or files, or was
            changed since it was written.
        ErrorLimitError: More rows are bad than ``max_errors`` allows.
        NoExamplesError: There are no rows, or no row gave an example.
        OSError: The output cannot be written.
        ModuleNotFoundError: pyarrow is missing.
    """
    files = Inputs(inputs)
    target = Output(output, to)
    shard_tokens = _checked_sizes(target, shard_tokens, batch_rows)
    _check_max_errors(max_errors)
    columns = _checked_columns(target, columns)
    if progress is not None and not callable(progress):
        raise WrongTypeError(f"progress: expected a function, got {type(progress).__name__}")
    options = completed(write_dataset, options)
    training.render([], **options)
    options = _packed(target, pack, columns, options)
    _check_preferences(target, columns, options)
    for name in files.given:
        if os.path.isdir(name) and target.path.resolve().parent == Path(name).resolve():
            raise ValueError(f"the output would be read as input: {output} is in {name}")
    settings = {
        "format of the output": target.kind,
        "columns": None if target.kind == "megatron" else columns,
        "shard tokens": shard_tokens,
        "batch rows": batch_rows,
        "pack": pack,
        "version of openai-harmony": openai_harmony.__version__,
        "version of pyarrow": _version_of_pyarrow(files, target),
        **dict(described({**options, "threads": None})),
    }
    for folder, names in files.not_read.items():
        logger.warning("not read in %s: %s", folder, names)
    sizes = (batch_rows, shard_tokens, pack)
    plan = Plan(files, target, columns, *sizes, max_errors, options)
    new = State(settings, files.identity())
    with target.locked():
        if restart and target.report.exists():
            Run(plan, new, _no_progress).refuse_empty()
        state = target.begin(new, restart=restart)
        if state.shards and STDIN in files.paths:
            # Nor does anything show whether a complete output is of the same rows.
            raise StateError("standard input cannot be read again: start over with restart=True")
        if state.complete:
            state.found_complete = True
            return state
        if not state.joined:
            state.rows_before = state.counts.rows
            run = Run(plan, state, progress or _no_progress)
            try:
                run.write()
            except ErrorLimitError:
                raise
            except BaseException:
                target.forget(state)
                raise
            files.check_unchanged(state.inputs)
            run.check_all_rows()
        target.end(state)
    return state


def _no_progress(read: int, counts: Counts) -> None:
    """Progress is not reported."""


def _checked_columns(target: Output, columns: Columns | None) -> Columns:
    if columns is None:
        return "trl"
    checked_columns(columns)
    if target.kind == "megatron":
        raise ValueError(f"columns: Megatron's files have none, so {columns} can not be written")
    return columns


def _checked_sizes(target: Output, shard_tokens: int | None, batch_rows: int) -> int:
    """The tokens of a shard; ``ValueError`` for an invalid size."""
    usual = PIECE_TOKENS if target.is_file else SHARD_TOKENS
    tokens = usual if shard_tokens is None else shard_tokens
    for name, size in {"shard_tokens": tokens, "batch_rows": batch_rows}.items():
        if not is_count(size, 1):
            raise ValueError(f"{name}: expected a whole number from 1, got {quoted(size)}")
    if target.is_file and shard_tokens is not None:
        raise ValueError("shard_tokens is for a folder; the output is one file")
    return tokens


def _check_max_errors(max_errors: object) -> None:
    is_share = isinstance(max_errors, float) and 0 <= max_errors <= 1
    if not (max_errors is None or is_share or is_count(max_errors, 0)):
        raise ValueError(
            "max_errors: expected a whole number from 0, or a share from 0.0 to 1.0, got "
            f"{quoted(max_errors)}"
        )


def _check_preferences(target: Output, columns: Columns, options: RowOptions) -> None:
    """``ValueError`` for columns that are not those of preferences, or of nothing else."""
    is_asked = options.get("format") == "preference"
    if is_asked and target.kind == "megatron":
        raise ValueError("format: Megatron's files have no place for preferences")
    if is_asked != (columns in PREFERENCES) and target.kind != "megatron":
        names = " and ".join(map(repr, PREFERENCES))
        raise ValueError(
            f"columns: the format 'preference' and the columns {names} need each other"
        )


def _packed(target: Output, pack: int | None, columns: Columns, options: RowOptions) -> RowOptions:
    """The options of rendering for packs: no example is longer than one."""
    if pack is None:
        return options
    if not is_count(pack, 1):
        raise ValueError(f"pack: expected a whole number from 1, got {quoted(pack)}")
    if target.kind == "megatron":
        raise ValueError("pack: Megatron packs documents by itself")
    if columns in PREFERENCES:
        raise ValueError("pack: preferences are not packed")
    if columns == "flat":
        raise ValueError("pack: columns 'flat' says where each example is from, packs do not")
    longest = options.get("max_tokens")
    if longest is None:
        return {**options, "max_tokens": pack}
    if longest > pack:
        raise ValueError(f"pack: {pack} is less than max_tokens, {longest}")
    return options


def _version_of_pyarrow(files: Inputs, target: Output) -> str | None:
    """Its files differ from version to version. Lines to Megatron's files need no pyarrow."""
    if target.kind == "megatron" and not any(files.needs_pyarrow(path) for path in files.paths):
        return None
    version: str = needed("pyarrow", "training").__version__
    return version


__all__ = [
    "CHUNK_BYTES",
    "Counts",
    "ErrorLimitError",
    "InputError",
    "NoExamplesError",
    "ShardEntry",
    "State",
    "StateError",
    "write_dataset",
]
