"""Examples as the files of Megatron-LM: pairs of ``.bin`` and ``.idx``.

The form is the one of ``IndexedDataset`` in megatron-core. ``.bin`` holds the items of all
sequences one after the other. ``.idx`` is, little-endian:

===========  =========  ==========================================================================
bytes        type       value
===========  =========  ==========================================================================
9            bytes      ``MMIDIDX``, two zero bytes
8            uint64     1, the version
1            uint8      the type of an item: 4 is int32, 1 is uint8
8            uint64     the number of sequences
8            uint64     the number of document boundaries: one more than documents
4 each       int32      the items of each sequence
8 each       int64      where each sequence begins in ``.bin``, in bytes
8 each       int64      the first sequence of each document, and the number of sequences
===========  =========  ==========================================================================

Each example is a sequence and a document. Megatron has no file for loss masks, so they
are a second pair of the same form, ``NAME.loss_mask.bin`` and ``.idx``, with a byte for each token:
sequence *i*, items *a* to *b* there are the masks of the tokens at the same place here.
"""

from __future__ import annotations

import itertools
import os
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from openai_harmony._arrays import IntArray
from openai_harmony.training.flat import FlatExamples
from openai_harmony.training.whole_files import AllOrNothing, WholeFiles

_MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQQ")
_UINT8, _INT32 = 1, 4
_ITEM_BYTES = {_UINT8: 1, _INT32: 4}
STEP = 65536
"""The entries of an index that are computed at once."""


def megatron_paths(prefix: str | os.PathLike[str]) -> list[Path]:
    """The four files of a prefix: tokens and masks, and then the index of each."""
    name = os.fspath(prefix)
    return [Path(name + end) for end in (".bin", ".loss_mask.bin", ".idx", ".loss_mask.idx")]


def write_megatron(batch: FlatExamples, prefix: str | os.PathLike[str]) -> None:
    """Writes one batch; ``Batch.write_megatron`` describes it."""
    with MegatronWriter(prefix) as writer:
        writer.write(batch)


class MegatronWriter(AllOrNothing):
    """Writes many batches into one pair of files and a pair of masks next to it.

    The files appear when the writer is closed, all complete; a ``with`` block that an exception
    leaves writes none. Memory: 4 bytes for each example.

    >>> import tempfile
    >>> from openai_harmony.training import render
    >>> said = [{"role": "user", "content": "2 + 2?"},
    ...         {"role": "assistant", "channel": "final", "content": "4."}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with MegatronWriter(f"{folder}/train") as writer:
    ...         for rows in ([said], [said, said]):
    ...             writer.write(render(rows))
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['train.bin', 'train.idx', 'train.loss_mask.bin', 'train.loss_mask.idx']
    """

    def __init__(self, prefix: str | os.PathLike[str]) -> None:
        """``prefix`` is the path without a suffix; files of these names are replaced.

        ``OSError`` if they cannot be written.
        """
        self._files = WholeFiles(megatron_paths(prefix))
        self._lengths: IntArray = array("i")

    def write(self, batch: FlatExamples, start: int = 0, stop: int | None = None) -> None:
        """Appends the examples of a batch, or those from ``start`` up to ``stop``."""
        stop = len(batch) if stop is None else stop
        first, end = batch.offsets[start], batch.offsets[stop]
        tokens, masks = self._files.files[:2]
        tokens.write(memoryview(batch.tokens)[first:end])
        masks.write(memoryview(batch.loss_mask)[first:end])
        ends = batch.offsets[start : stop + 1]
        self._lengths.extend(end - begin for begin, end in itertools.pairwise(ends))

    def append(self, prefix: str | os.PathLike[str]) -> None:
        """Appends all examples of files that a writer wrote."""
        import shutil

        paths = megatron_paths(prefix)
        for path, target in zip(paths, self._files.files[:2]):
            with open(path, "rb") as source:
                shutil.copyfileobj(source, target)
        with open(paths[2], "rb") as index:
            _, _, _, sequences, _ = _HEADER.unpack(index.read(_HEADER.size))
            self._lengths.fromfile(index, sequences)

    def close(self) -> None:
        """Writes the indexes and gives all files their names."""
        for file, kind in zip(self._files.files[2:], (_INT32, _UINT8)):
            _write_index(file, self._lengths, kind)
        self._files.close()

    def discard(self) -> None:
        """Removes what was written."""
        self._files.discard()


def read_megatron(prefix: str | os.PathLike[str]) -> Iterator[tuple[list[int], list[int]]]:
    """The tokens and the mask of each example that a writer wrote.

    ``ValueError`` for other files.
    """
    tokens, masks, index, _ = megatron_paths(prefix)
    lengths: IntArray = array("i")
    with open(index, "rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(_MAGIC):
            raise ValueError(f"{index} is not an index of Megatron's")
        _, _, kind, sequences, _ = _HEADER.unpack(header)
        if kind != _INT32:
            raise ValueError(f"{index} is not of token ids of four bytes")
        lengths.fromfile(file, sequences)
    with open(tokens, "rb") as file, open(masks, "rb") as mask:
        for length in lengths:
            ids = array("i")
            ids.fromfile(file, length)
            yield ids.tolist(), list(mask.read(length))


def _write_index(file: IO[bytes], lengths: IntArray, kind: int) -> None:
    count = len(lengths)
    file.write(_HEADER.pack(_MAGIC, 1, kind, count, count + 1))
    file.write(lengths)
    begins = itertools.islice(itertools.accumulate(lengths, initial=0), count)
    _write_numbers(file, (begin * _ITEM_BYTES[kind] for begin in begins))
    _write_numbers(file, iter(range(count + 1)))


def _write_numbers(file: IO[bytes], numbers: Iterator[int]) -> None:
    while part := array("q", itertools.islice(numbers, STEP)):
        file.write(part)


__all__ = ["MegatronWriter", "megatron_paths", "read_megatron"]
