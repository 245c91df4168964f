"""Several examples in one row of a trainer, so that little of its length is padding."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TypeVar

from openai_harmony.errors import quoted
from openai_harmony.training.flat import FlatExamples
from openai_harmony.training.options import is_count

_Examples = TypeVar("_Examples", bound=FlatExamples)


def best_fit(lengths: Sequence[int], size: int) -> list[list[int]]:
    """The indexes of the lengths in packs of at most ``size`` in all.

    The longest come first, and each goes where it leaves the least room: best fit decreasing, as
    trainers pack. The same lengths give the same packs.

    >>> best_fit([3, 5, 2, 4], 7)
    [[1, 2], [3, 0]]
    """
    packs: list[list[int]] = []
    by_room: dict[int, list[int]] = {}
    rooms: list[int] = []  # The keys of `by_room`, in order.
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        at = bisect_left(rooms, lengths[index])
        if at == len(rooms):
            pack, room = len(packs), size
            packs.append([])
        else:
            room = rooms[at]
            pack = by_room[room].pop()
            if not by_room[room]:
                del by_room[room], rooms[at]
        packs[pack].append(index)
        room -= lengths[index]
        if room not in by_room:
            by_room[room] = []
            insort(rooms, room)
        by_room[room].append(pack)
    return packs


def pack(batch: _Examples, size: int) -> _Examples:
    """The examples of a batch in packs; ``Batch.pack`` describes it."""
    if not is_count(size, 1):
        raise ValueError(f"size: expected a whole number from 1, got {quoted(size)}")
    if batch.preferred:
        raise ValueError("preferences are not packed: no trainer takes them so")
    lengths = [end - begin for begin, end in pairwise(batch.offsets)]
    for index, length in enumerate(lengths):
        if length > size:
            raise ValueError(
                f"size: example {index} (row {batch.row[index]}) has {length} tokens, more than "
                f"{size}: render with max_tokens={size}, and overflow says what becomes of it"
            )
    packs = best_fit(lengths, size)
    packed = batch.select(list(chain.from_iterable(packs)))
    packed.packs = array("q", [0])
    for examples in packs:
        packed.packs.append(packed.packs[-1] + len(examples))
    return packed
