"""Files of examples: Parquet, Arrow or Megatron, written shard by shard and joined to one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from openai_harmony._extras import needed
from openai_harmony.training.megatron import MegatronWriter, megatron_paths
from openai_harmony.training.whole_files import AllOrNothing, WholeFiles

FileFormat: TypeAlias = Literal["parquet", "arrow", "megatron"]

SUFFIXES: dict[str, FileFormat] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".bin": "megatron",
}
"""What the name of a file ends with, and what is then written."""


def paths_of(stem: Path, kind: FileFormat) -> list[Path]:
    """The files of a shard by the path without its suffix."""
    if kind == "megatron":
        return megatron_paths(stem)
    return [stem.with_name(f"{stem.name}.{kind}")]


class Shard(AllOrNothing):
    """A file of a table that is being written."""

    def __init__(self, path: Path, kind: FileFormat) -> None:
        self._files, self._kind = WholeFiles([path]), kind
        self._writer: Any = None

    def write(self, table: Any) -> None:
        """Appends a table as one row group, or as one batch."""
        if self._writer is None:
            self._writer = self._opened(self._files.files[0], table.schema)
        if len(table):
            self._writer.write_table(table.combine_chunks(), len(table))

    def _opened(self, file: Any, schema: Any) -> Any:
        if self._kind == "parquet":
            pq = needed("pyarrow.parquet", "training")
            return pq.ParquetWriter(file, schema, compression="zstd")
        return needed("pyarrow", "training").ipc.new_file(file, schema)

    def close(self) -> None:
        """Completes the file and gives it its name."""
        if self._writer is not None:
            self._writer.close()
        self._files.close()

    def discard(self) -> None:
        """Removes the file."""
        # The writer may have failed before, and what it still writes is removed.
        with suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.close()
        self._files.discard()


def open_shard(stem: Path, kind: FileFormat) -> Shard | MegatronWriter:
    """Opens the files of a shard; ``OSError`` if that fails."""
    if kind == "megatron":
        return MegatronWriter(stem)
    return Shard(paths_of(stem, kind)[0], kind)


def join(stems: Sequence[Path], target: Path, kind: FileFormat) -> None:
    """Writes the files of one stem from those of others, and leaves these."""
    with open_shard(target, kind) as joined:
        for stem in stems:
            if isinstance(joined, MegatronWriter):
                joined.append(stem)
                continue
            for table in _tables(paths_of(stem, kind)[0], kind):
                joined.write(table)


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
