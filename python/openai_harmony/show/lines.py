"""A picture as lines of styled text; rich colours them, and without it they are plain."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from openai_harmony._counted import counted
from openai_harmony.show.cells import visible
from openai_harmony.show.picture import Block, Meeting, Picture, Speaker

STYLES = {
    "system": "bright_black",
    "developer": "magenta",
    "user": "blue",
    "analysis": "yellow",
    "commentary": "cyan",
    "final": "green",
    "tool": "bright_red",
    "other": "default",
    "stray": "red",
    "dropped": "dim strike",
    "special": "dim",
    "repair": "bold red",
    "id": "dim",
    "title": "bold",
    "same": "dim",
    "removed": "red",
    "added": "green",
}
"""What rich draws each kind of text with: the terminal's own colours, so that dark and light
terminals both have them."""


class Piece(NamedTuple):
    """A text and the names of its styles."""

    text: str
    styles: tuple[str, ...] = ()


Line = tuple[int, list[Piece]]
"""How far a paragraph is indented, and its pieces."""


def kind_of(block: Block) -> str:
    """What colours a block: the channel of an assistant's message, the role of others."""
    if block.speaker is None:
        return "other" if block.is_header else "stray"
    name = block.speaker.role
    if name == "assistant":
        name = block.speaker.channel or "other"
    return name if name in STYLES else "other"


def label(block: Block) -> str:
    """Who speaks, and to whom."""
    if block.speaker is None:
        return "header" if block.is_header else "between messages"
    return label_of(block.speaker, block.message)


@lru_cache(maxsize=4096)
def label_of(speaker: Speaker, message: int | None) -> str:
    """The label of a message, by its index."""
    author = speaker.name if speaker.role == "tool" and speaker.name else speaker.role
    if speaker.name and speaker.role != "tool":
        author = f"{author}:{speaker.name}"
    number = "" if message is None else f"{message} "
    parts = [f"{number}{author}"]
    parts += [speaker.channel] if speaker.channel else []
    parts += [f"to {speaker.recipient}"] if speaker.recipient else []
    parts += [speaker.content_type] if speaker.content_type else []
    return visible(" · ".join(parts)).replace("\n", "⏎")


def heading(block: Block) -> str:
    """Who speaks, to whom, and how many tokens it takes."""
    said = f"{label(block)} · {counted(block.end - block.start, 'token')}"
    if block.is_dropped:
        return f"{said} · dropped, not in the tokens"
    is_open = block.is_header or (block.speaker and block.stop == block.end)
    return f"{said} · open" if is_open else said


def lines(picture: Picture, *, ids: bool = False, max_tokens: int | None = None) -> Iterator[Line]:
    """The lines of a picture."""
    yield 0, [Piece(picture.summary, ("title",))]
    blocks, room = picture.within(max_tokens)
    for block in blocks:
        if isinstance(block, int):
            yield 0, [Piece(f"… {counted(block, 'message')} left out …", ("special",))]
            continue
        kind = kind_of(block)
        yield 0, [Piece("● ", (kind,)), Piece(heading(block), (kind, "title"))]
        yield 2, list(_pieces(picture, block, kind, ids, room))
        for mark in picture.marks_of(block):
            where = f"tokens {mark.start} to {mark.end}"
            yield 2, [Piece(f"▲ {mark.reason} ({where})", ("repair",))]
    for note in picture.notes:
        yield 0, [Piece(note, ("repair",))]


def _pieces(
    picture: Picture, block: Block, kind: str, ids: bool, room: int | None
) -> Iterator[Piece]:
    meeting = Meeting(picture.marks_of(block))
    for cell in picture.cells_of(block, room):
        if isinstance(cell, int):
            yield Piece(f" … {counted(cell, 'token')} left out … ", ("special",))
            continue
        styles = ["special"] if cell.is_special else [kind]
        if block.is_dropped:
            styles.append("dropped")
        elif picture.is_trained(cell):
            styles.append("underline")
        if meeting.at(cell):
            styles.append("repair")
        yield Piece(cell.text, tuple(styles))
        if ids:
            yield Piece(f"[{' '.join(map(str, cell.ids))}]", ("id",))


__all__ = ["label", "label_of"]
