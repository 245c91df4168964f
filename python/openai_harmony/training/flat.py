"""What writers and packers read of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from typing_extensions import Self

from openai_harmony._arrays import IntArray


class FlatExamples(Protocol):
    """Examples as flat arrays, which :class:`openai_harmony.training.Batch` has and describes."""

    tokens: IntArray
    offsets: IntArray
    loss_mask: bytearray
    row: IntArray
    preferred: list[bool]
    packs: IntArray | None
    _spans: Any
    _span_offsets: Any

    def __len__(self) -> int: ...

    def select(self, order: Sequence[int]) -> Self:
        """The examples with these indexes, in this order."""

    def rows_of(self, columns: Any) -> Sequence[int]:
        """Where each row of a table begins among the examples, and the end of the last."""
