"""What a run has written, row by row, for people to look at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from openai_harmony._extras import needed
from openai_harmony.training.arrow import IGNORED
from openai_harmony.training.megatron import read_megatron


class WrittenExample(NamedTuple):
    """Token ids of a file, and for each whether it is trained."""

    tokens: list[int]
    loss_mask: list[int]


class NotWrittenError(Exception):
    """A file that has no examples as :meth:`openai_harmony.training.Batch.to_arrow` makes them."""


SUFFIXES = (".parquet", ".arrow", ".bin")
"""Those of files that have examples."""


def files(path: str) -> list[str]:
    """The files with examples that are in a folder, in their order."""
    found = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    found = [name for name in found if name.endswith(SUFFIXES) and ".loss_mask." not in name]
    if not found:
        raise NotWrittenError(f"has no files of examples ({', '.join(SUFFIXES)})")
    return found


def example_of(row: dict[str, Any]) -> Iterator[tuple[str, WrittenExample]] | None:
    """The examples of a row, each with its column, if it has such columns."""
    for columns, read in _COLUMNS:
        if all(isinstance(row.get(name), list) for name in columns - {"label"}) and (
            "label" not in columns or "label" in row
        ):
            return read(row)
    return None


def examples(path: str) -> Iterator[tuple[str, WrittenExample]]:
    """The examples of a file, each with its row, from 1 on, and its column.

    ``NotWrittenError`` if the file is not of these columns.
    """
    if path.endswith(".bin"):
        yield from _of_megatron(path.removesuffix(".bin"))
        return
    number = 0
    for batch in _batches(path):
        names = set(batch.schema.names)
        found = [read for columns, read in _COLUMNS if columns <= names]
        if not found:
            known = "; ".join(", ".join(sorted(columns)) for columns, _ in _COLUMNS)
            raise NotWrittenError(f"has no columns of examples (known: {known})")
        for row in batch.to_pylist():
            number += 1
            for title, example in found[0](row):
                yield f"{number}{title}", example


def _batches(path: str) -> Iterator[Any]:
    pa = needed("pyarrow", "training")
    try:
        if path.endswith(".parquet"):
            with needed("pyarrow.parquet", "training").ParquetFile(path) as file:
                yield from file.iter_batches(64)
            return
        with pa.memory_map(path) as stored:
            reader = pa.ipc.open_file(stored)
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)
    except pa.ArrowException as error:
        raise NotWrittenError(f"cannot be read: {error}") from error


def _of_megatron(prefix: str) -> Iterator[tuple[str, WrittenExample]]:
    try:
        for number, example in enumerate(read_megatron(prefix), 1):
            yield str(number), WrittenExample(*example)
    except (ValueError, EOFError) as error:
        raise NotWrittenError(f"cannot be read: {error}") from error


_Read = Callable[[dict[str, Any]], Iterator[tuple[str, WrittenExample]]]


def _labels(row: dict[str, Any]) -> Iterator[tuple[str, WrittenExample]]:
    mask = [int(label != IGNORED) for label in row["labels"]]
    yield "", WrittenExample(row["input_ids"], mask)


def _torchtune(row: dict[str, Any]) -> Iterator[tuple[str, WrittenExample]]:
    yield "", WrittenExample(row["tokens"], [int(not ignored) for ignored in row["mask"]])


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, WrittenExample]]:
    yield "", WrittenExample(row["tokens"], row["loss_mask"])


def _answers(*names: str) -> _Read:
    def read(row: dict[str, Any]) -> Iterator[tuple[str, WrittenExample]]:
        prompt = row["prompt_ids"]
        for name in names:
            answer = row[f"{name}_ids"]
            mask = [0] * len(prompt) + [1] * len(answer)
            yield f" {name}", WrittenExample(prompt + answer, mask)

    return read


_COLUMNS: list[tuple[set[str], _Read]] = [
    ({"input_ids", "labels"}, _labels),
    ({"tokens", "mask"}, _torchtune),
    ({"tokens", "loss_mask"}, _flat),
    ({"prompt_ids", "chosen_ids", "rejected_ids"}, _answers("chosen", "rejected")),
    ({"prompt_ids", "completion_ids", "label"}, _answers("completion")),
]
"""The columns by which each kind of file is known."""
