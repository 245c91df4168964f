"""What is shown of tokens: their messages, with all that terminal and HTML draw alike."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from openai_harmony._counted import counted
from openai_harmony._notebook import InNotebooks
from openai_harmony.errors import WrongTypeError
from openai_harmony.kinds import RepairKind
from openai_harmony.show.cells import Cell, cells, the_encoding
from openai_harmony.show.reasons import REASONS

_LEAST_ROOM = 32
"""So many tokens of a message are shown, however many there are."""


class Mark(NamedTuple):
    """What was repaired, and where."""

    kind: RepairKind
    text: str
    start: int
    end: int

    @property
    def reason(self) -> str:
        """The repair in words."""
        return f"{self.kind}: {REASONS.get(self.kind, 'repaired')}"


@dataclass(frozen=True, slots=True)
class Speaker:
    """What a header says."""

    role: str
    name: str | None = None
    channel: str | None = None
    recipient: str | None = None
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The tokens of a message, or tokens between messages, which have no speaker.

    Its header is ``start:content``, its content ``content:stop``, its stop token ``stop:end``.
    """

    start: int
    content: int
    stop: int
    end: int
    speaker: Speaker | None = None
    message: int | None = None
    """The message's index; ``None`` for one that only begins."""
    is_dropped: bool = False
    """The message is not rendered: its tokens are those that it would have."""
    is_header: bool = False
    """A header without its message: the rest has not arrived, or never will."""
    tokens: tuple[int, ...] = ()
    """Those of a dropped message; the indexes count from its beginning."""


class Meeting:
    """The repairs that cells meet, asked of one cell after the other."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self._ahead = sorted(enumerate(marks), key=lambda one: one[1].start, reverse=True)
        self._reached: list[tuple[int, Mark]] = []

    def at(self, cell: Cell) -> list[Mark]:
        """Those of this cell, in the order in which they were reported."""
        while self._ahead and self._ahead[-1][1].start < cell.end:
            self._reached.append(self._ahead.pop())
        self._reached = [one for one in self._reached if one[1].end > cell.start]
        return [mark for _, mark in sorted(self._reached)]


@dataclass(frozen=True, slots=True)
class Picture(InNotebooks):
    """Tokens and what is known of them. Terminal and HTML draw the same picture."""

    tokens: Sequence[int]
    blocks: list[Block]
    title: str = "tokens"
    mask: Sequence[int] | None = None
    """For each token whether it is trained."""
    marks: list[Mark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Lines below the picture."""
    _starts: list[tuple[int, int]] = field(init=False, repr=False, compare=False)
    """Where each mark begins, and its index, in order."""

    def __post_init__(self) -> None:
        starts = sorted((mark.start, index) for index, mark in enumerate(self.marks))
        object.__setattr__(self, "_starts", starts)

    def cells_of(self, block: Block, room: int | None = None) -> list[Cell | int]:
        """The cells of a block; with ``room`` those of at most about that number of tokens.

        A number says how many tokens were left out at its place, in the middle of the content.
        """
        tokens = block.tokens if block.is_dropped else self.tokens
        count = block.end - block.start
        if room is None or count <= room:
            return [*cells(tokens[block.start : block.end], block.start)]
        head = block.start + room * 2 // 3
        tail = block.end - room // 3
        return [
            *cells(tokens[block.start : head], block.start),
            tail - head,
            *cells(tokens[tail : block.end], tail),
        ]

    def marks_of(self, block: Block) -> list[Mark]:
        """The repairs that lie in a block."""
        if block.is_dropped:
            return []
        first = bisect_left(self._starts, (block.start, 0))
        at_end = block.end == len(self.tokens)
        end = len(self._starts) if at_end else bisect_left(self._starts, (block.end, 0))
        return [
            self.marks[index] for index in sorted(index for _, index in self._starts[first:end])
        ]

    def is_trained(self, cell: Cell) -> bool:
        """Whether the mask has a token of the cell."""
        return self.mask is not None and any(self.mask[cell.start : cell.end])

    def within(self, most: int | None) -> tuple[list[Block | int], int | None]:
        """The blocks that are shown if at most about ``most`` tokens are, and the room of each.

        Blocks that are short are shown whole, and the others share what is left. A number says how
        many blocks were left out at its place.
        """
        most = _limit(most)
        if most is None or sum(block.end - block.start for block in self.blocks) <= most:
            return [*self.blocks], None
        count = max(most // _LEAST_ROOM, 2)
        blocks: list[Block | int] = [*self.blocks]
        if len(blocks) > count:
            half = count // 2
            left_out = len(blocks) - 2 * half
            blocks = [*blocks[:half], left_out, *blocks[-half:]]
        lengths = sorted(block.end - block.start for block in blocks if isinstance(block, Block))
        while lengths and lengths[0] <= most // len(lengths):
            most -= lengths.pop(0)
        return blocks, max(most // len(lengths), _LEAST_ROOM) if lengths else None

    @property
    def summary(self) -> str:
        """How many tokens and messages there are, in a line."""
        shown = [block for block in self.blocks if block.speaker and block.message is not None]
        dropped = sum(block.is_dropped for block in shown)
        parts = [counted(len(self.tokens), "token"), counted(len(shown) - dropped, "message")]
        if dropped:
            parts.append(f"{dropped:,} dropped")
        if self.mask is not None:
            parts.append(f"{sum(self.mask):,} trained")
        if self.marks:
            parts.append(counted(len(self.marks), "repair"))
        return f"{self.title} · {' · '.join(parts)}"


def with_gaps(blocks: list[Block], tokens: Sequence[int]) -> list[Block]:
    """The blocks with another for the tokens between them: each token is in one block."""
    begins = [the_encoding().special_token(name) for name in ("<|start|>", "<|channel|>")]

    def gap(start: int, end: int) -> Block:
        return Block(start, start, end, end, is_header=tokens[start] in begins)

    filled: list[Block] = []
    at = 0
    for block in blocks:
        if block.start > at:
            filled.append(gap(at, block.start))
        filled.append(replace(block, start=max(block.start, at)))
        at = max(block.end, at)
    if at < len(tokens):
        filled.append(gap(at, len(tokens)))
    return filled


def preview(picture: Picture, block: Block, most: int = 90) -> str:
    """The beginning of the content, in a line."""
    tokens = block.tokens if block.is_dropped else picture.tokens
    some = tokens[block.content : min(block.stop, block.content + most)]
    text = " ".join("".join(cell.text for cell in cells(some)).split())
    return text if len(text) <= most else f"{text[:most]}…"


def _limit(most: Any) -> int | None:
    if most is None:
        return None
    if isinstance(most, bool) or not hasattr(most, "__index__"):
        raise WrongTypeError(f"max_tokens: expected an int or None, got {type(most).__name__}")
    number = operator.index(most)
    if number < 0:
        raise ValueError(f"max_tokens: expected a whole number, got {number}")
    return number


__all__ = [
    "Block",
    "Mark",
    "Meeting",
    "Picture",
    "Speaker",
    "preview",
    "the_encoding",
    "with_gaps",
]
