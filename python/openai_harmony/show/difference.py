"""Two sequences of tokens side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from openai_harmony._counted import counted
from openai_harmony._notebook import InNotebooks
from openai_harmony.show.cells import cells
from openai_harmony.show.lines import Line, Piece
from openai_harmony.show.picture import Picture

_MOST_PAIRS = 4_000_000
"""Longer stretches are compared as wholes: the time grows with the product of their lengths."""
_CONTEXT = 12
"""How many equal tokens are shown around a difference."""


class Run(NamedTuple):
    """A stretch of both sides that is equal, or differs."""

    equal: bool
    a: range
    b: range


@dataclass(frozen=True, slots=True)
class Difference(InNotebooks):
    """Where two pictures' tokens differ; :func:`openai_harmony.show.diff` makes it."""

    a: Picture
    b: Picture
    runs: list[Run]
    names: tuple[str, str] = ("a", "b")

    @property
    def equal(self) -> bool:
        """Whether the tokens are the same."""
        return all(run.equal for run in self.runs)

    @property
    def first(self) -> int | None:
        """The index of the first token that differs; ``None`` if none does."""
        return next((run.a.start for run in self.runs if not run.equal), None)

    @property
    def summary(self) -> str:
        """What differs, in a line."""
        a, b = len(self.a.tokens), len(self.b.tokens)
        if self.equal:
            return f"equal · {counted(a, 'token')}"
        places = sum(not run.equal for run in self.runs)
        return (
            f"{self.names[0]}: {counted(a, 'token')} · {self.names[1]}: {counted(b, 'token')} · "
            f"{counted(places, 'difference')}, the first at token {self.first:,}"
        )

    def __repr__(self) -> str:
        return f"<Difference: {self.summary}>"

    def lines(self, *, ids: bool = False) -> Iterator[Line]:
        """Its lines on a terminal."""
        yield 0, [Piece(self.summary, ("title",))]
        for run in self.runs:
            if run.equal:
                yield from _equal_lines(self.a.tokens, run.a, ids)
                continue
            for tokens, place, sign, style in (
                (self.a.tokens, run.a, "- ", "removed"),
                (self.b.tokens, run.b, "+ ", "added"),
            ):
                if place:
                    at = f"{sign}{place.start}: "
                    yield 0, [Piece(at, (style, "title")), *_pieces(tokens, place, style, ids)]


def compare(a: Picture, b: Picture, names: tuple[str, str]) -> Difference:
    """Aligns the tokens of two pictures."""
    head, tail = _common(a.tokens, b.tokens)
    runs: list[Run] = []
    if head:
        runs.append(Run(True, range(head), range(head)))
    ends = len(a.tokens) - tail, len(b.tokens) - tail
    for run in _aligned(a.tokens, b.tokens, range(head, ends[0]), range(head, ends[1])):
        runs.append(run)
    if tail:
        runs.append(Run(True, range(ends[0], ends[0] + tail), range(ends[1], ends[1] + tail)))
    return Difference(a, b, runs, names)


def _common(a: Sequence[int], b: Sequence[int]) -> tuple[int, int]:
    """How many tokens are equal at the beginning, and of the others at the end."""
    least = min(len(a), len(b))
    head = next((i for i in range(least) if a[i] != b[i]), least)
    left = least - head
    tail = next((i for i in range(left) if a[-1 - i] != b[-1 - i]), left)
    return head, tail


def _aligned(a: Sequence[int], b: Sequence[int], in_a: range, in_b: range) -> Iterator[Run]:
    if len(in_a) * len(in_b) > _MOST_PAIRS:
        yield Run(False, in_a, in_b)
        return
    mine, theirs = [a[i] for i in in_a], [b[i] for i in in_b]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        yield Run(
            tag == "equal",
            range(in_a.start + a0, in_a.start + a1),
            range(in_b.start + b0, in_b.start + b1),
        )


def folded(place: range, context: int = _CONTEXT) -> tuple[range, int, range]:
    """A stretch as its beginning, how many tokens are left out, and its end."""
    if len(place) <= 3 * context:
        return place, 0, range(place.stop, place.stop)
    head = range(place.start, place.start + context)
    tail = range(place.stop - context, place.stop)
    return head, tail.start - head.stop, tail


def _equal_lines(tokens: Sequence[int], place: range, ids: bool) -> Iterator[Line]:
    head, left_out, tail = folded(place)
    pieces = [Piece("  "), *_pieces(tokens, head, "same", ids)]
    if left_out:
        pieces.append(Piece(f" … {counted(left_out, 'equal token')} … ", ("same",)))
        pieces += _pieces(tokens, tail, "same", ids)
    yield 0, pieces


def _pieces(tokens: Sequence[int], place: range, style: str, ids: bool) -> Iterator[Piece]:
    for cell in cells(tokens[place.start : place.stop], place.start):
        yield Piece(cell.text, (style,))
        if ids:
            yield Piece(f"[{' '.join(map(str, cell.ids))}]", ("id",))
