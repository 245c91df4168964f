"""Lines on a terminal: by rich if it is installed, else without colours."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any

from openai_harmony.show.lines import STYLES, Line, Piece


def plain(lines: Iterable[Line]) -> str:
    """The lines without styles."""
    return "".join(_plain_line(indent, pieces) for indent, pieces in lines)


TRAINED = ("«", "»")
"""What encloses trained tokens where there is no underline."""


def _plain_line(indent: int, pieces: list[Piece]) -> str:
    begin = " " * indent
    text = "".join(_marked(pieces))
    # Only ends of lines: what else `splitlines` knows is written out.
    return "".join(f"{begin}{line}".rstrip(" ") + "\n" for line in text.split("\n"))


def _marked(pieces: list[Piece]) -> Iterator[str]:
    """The texts, those that are underlined between marks; token ids are with their texts."""
    is_open = False
    for piece in pieces:
        is_trained = "underline" in piece.styles or (is_open and "id" in piece.styles)
        if is_trained != is_open:
            yield TRAINED[is_open]
            is_open = is_trained
        yield piece.text
    if is_open:
        yield TRAINED[1]


def write(lines: Iterable[Line], file: IO[str] | None = None) -> None:
    """Writes the lines to a stream, by default standard output.

    With rich's rules: colours only on terminals and never where ``NO_COLOR`` is set, lines
    broken at the width of the terminal.
    """
    file = sys.stdout if file is None else file
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        file.write(plain(lines))
        return
    console = Console(file=file)
    if not console.is_terminal:
        file.write(plain(lines))
        return
    write_styled(lines, console)


def write_styled(lines: Iterable[Line], console: Any) -> None:
    """Writes the lines to a console of rich."""
    from rich.padding import Padding
    from rich.text import Text

    for indent, pieces in lines:
        text = Text(overflow="fold")
        for piece in pieces:
            text.append(piece.text, " ".join(STYLES.get(name, name) for name in piece.styles))
        console.print(Padding.indent(text, indent))
