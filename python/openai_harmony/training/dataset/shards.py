"""Files of examples: Parquet, Arrow or Megatron, written shard by shard and joined to one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from typing_extensions import Protocol

from openai_harmony._extras import needed
from openai_harmony.training.megatron import MegatronWriter, megatron_paths
from openai_harmony.training.whole_files import WholeFiles

if TYPE_CHECKING:
    from openai_harmony.training import Batch

FileFormat: TypeAlias = Literal["parquet", "arrow", "megatron"]

SUFFIXES: dict[str, FileFormat] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".bin": "megatron",
}
"""What the name of a file ends with, and what is then written."""


class Shard(Protocol):
    """Some files that are being written."""

    def write(self, batch: Batch, table: Any, start: int, stop: int) -> None:
        """Appends the examples from ``start`` to ``stop`` of a batch, or of the table of it."""

    def size(self) -> int:
        """The bytes that were written so far."""

    def close(self) -> None:
        """Completes the files and gives them their names."""

    def discard(self) -> None:
        """Removes them."""


def paths_of(stem: Path, kind: FileFormat) -> list[Path]:
    """The files of a shard by the path without its suffix."""
    if kind == "megatron":
        return megatron_paths(stem)
    return [stem.with_name(f"{stem.name}.{kind}")]


def open_shard(stem: Path, kind: FileFormat, table: Any) -> Shard:
    """Opens the files of a shard for tables like this one; ``OSError`` if that fails."""
    if kind == "megatron":
        return _MegatronShard(stem)
    return _TableShard(paths_of(stem, kind)[0], kind, table.schema)


def join(stems: Sequence[Path], target: Path, kind: FileFormat) -> None:
    """Writes the files of one stem from those of others, and leaves these."""
    if kind == "megatron":
        with MegatronWriter(target) as writer:
            for stem in stems:
                writer.append(stem)
        return
    [path] = paths_of(target, kind)
    with WholeFiles([path]) as files:
        sink: _Sink | None = None
        for stem in stems:
            for table in _tables(paths_of(stem, kind)[0], kind):
                if sink is None:
                    sink = _Sink(files.files[0], kind, table.schema)
                sink.write(table)
        if sink is not None:
            sink.close()


class _Sink:
    """A table in an open file, written part by part."""

    def __init__(self, file: Any, kind: FileFormat, schema: Any) -> None:
        if kind == "parquet":
            pq = needed("pyarrow.parquet", "training")
            self._writer = pq.ParquetWriter(file, schema, compression="zstd")
        else:
            pa = needed("pyarrow", "training")
            self._writer = pa.ipc.new_file(file, schema)

    def write(self, table: Any) -> None:
        """Appends a table as one row group, or as one batch."""
        if len(table):
            self._writer.write_table(table.combine_chunks(), len(table))

    def close(self) -> None:
        """Writes the end of the file, which stays open."""
        self._writer.close()


class _TableShard:
    def __init__(self, path: Path, kind: FileFormat, schema: Any) -> None:
        self._files = WholeFiles([path])
        self._sink = _Sink(self._files.files[0], kind, schema)

    def write(self, batch: Batch, table: Any, start: int, stop: int) -> None:
        self._sink.write(table.slice(start, stop - start))

    def size(self) -> int:
        return self._files.files[0].tell()

    def close(self) -> None:
        self._sink.close()
        self._files.close()

    def discard(self) -> None:
        # The writer may have failed before, and what it still writes is removed.
        with suppress(OSError, ValueError):
            self._sink.close()
        self._files.discard()


class _MegatronShard:
    def __init__(self, stem: Path) -> None:
        self._writer = MegatronWriter(stem)
        self._size = 0

    def write(self, batch: Batch, table: Any, start: int, stop: int) -> None:
        self._writer.write(batch, start, stop)
        self._size += (batch.offsets[stop] - batch.offsets[start]) * batch.tokens.itemsize

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._writer.close()

    def discard(self) -> None:
        self._writer.discard()


def _tables(path: Path, kind: FileFormat) -> Any:
    """The parts that were written into a file."""
    pa = needed("pyarrow", "training")
    if kind == "parquet":
        with needed("pyarrow.parquet", "training").ParquetFile(path) as file:
            for group in range(file.metadata.num_row_groups):
                yield file.read_row_group(group)
        return
    with pa.memory_map(os.fspath(path)) as stored:
        batches = pa.ipc.open_file(stored)
        for index in range(batches.num_record_batches):
            yield pa.Table.from_batches([batches.get_batch(index)])
