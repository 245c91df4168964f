"""Token ids to cells: the smallest runs of tokens that can be shown as whole characters.

A character can take several tokens, an emoji made of several characters even more. Such tokens
share a cell. Characters that a reader would not see, or that would change what is around them
(escapes of terminals, marks that turn the direction of text), are written by their code points.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from openai_harmony.encoding import HarmonyEncoding, load_harmony_encoding
from openai_harmony.errors import HarmonyError

_JOINER = "\u200d"
_MOST_TOKENS = 32
"""The most tokens of a cell: any number of marks may follow a letter."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Tokens that are shown together."""

    start: int
    """The index of the first."""
    ids: tuple[int, ...]
    text: str
    """As it is to be shown."""
    raw: bytes
    """The bytes of the tokens; the name of a special token."""
    is_special: bool = False
    is_unknown: bool = False
    """The vocabulary has no such id."""

    @property
    def end(self) -> int:
        """The index after the last token."""
        return self.start + len(self.ids)


@cache
def the_encoding() -> HarmonyEncoding:
    """The only one that there is."""
    return load_harmony_encoding("HarmonyGptOss")


def cells(tokens: Sequence[int], start: int = 0) -> list[Cell]:
    """The cells of tokens, the first of which has this index. Together they have every token."""
    made: list[Cell] = []
    for cell in _characters(tokens, start):
        if made and _belongs_to(made[-1], cell):
            last = made.pop()
            joined = last.text + cell.text
            cell = Cell(last.start, last.ids + cell.ids, joined, last.raw + cell.raw)
        made.append(cell)
    return [replace(cell, text=visible(cell.text)) for cell in made]


def visible(text: str) -> str:
    """The text with what cannot be seen written out, ``⟦U+202E⟧``; line ends and tabs stay."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        one if one in "\n\t" or _can_be_seen(one, text) else f"⟦U+{ord(one):04X}⟧" for one in text
    )


def _can_be_seen(one: str, text: str) -> bool:
    if one == _JOINER:
        # Within an emoji it joins the parts; elsewhere it is invisible.
        return len(text) > 1
    return unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _belongs_to(last: Cell, cell: Cell) -> bool:
    """Whether a cell continues the glyph of the one before it."""
    if last.is_special or cell.is_special or cell.is_unknown or len(last.ids) >= _MOST_TOKENS:
        return False
    before, after = last.text[-1:], cell.text[:1]
    if not before or not after or before.isspace():
        return False
    if after == _JOINER or before == _JOINER or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # a skin's colour
        return True
    # Two letters that are a flag.
    return _is_flag_letter(after) and sum(map(_is_flag_letter, last.text)) == 1


def _is_flag_letter(one: str) -> bool:
    return "\U0001f1e6" <= one <= "\U0001f1ff"


def _characters(tokens: Sequence[int], start: int) -> Iterator[Cell]:
    """Cells of whole characters; bytes that are not text are shown as Python writes them."""
    encoding = the_encoding()
    waiting: tuple[int, ...] = ()
    raw = b""
    for index, token in enumerate(tokens, start):
        piece = _bytes_of(encoding, token)
        if piece is None or encoding.is_special_token(token):
            yield from _broken(waiting, raw, index)
            waiting, raw = (), b""
            if piece is None:
                yield Cell(index, (token,), f"⟦no token {token}⟧", b"", is_unknown=True)
            else:
                yield Cell(index, (token,), piece.decode(), piece, is_special=True)
            continue
        if not _may_become_text(raw + piece):
            yield from _broken(waiting, raw, index)
            waiting, raw = (), b""
        waiting, raw = (*waiting, token), raw + piece
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            continue
        yield Cell(index + 1 - len(waiting), waiting, text, raw)
        waiting, raw = (), b""
    yield from _broken(waiting, raw, start + len(tokens))


def _bytes_of(encoding: HarmonyEncoding, token: int) -> bytes | None:
    """The bytes of a token; ``None`` if the vocabulary has no such id."""
    try:
        return encoding.decode_bytes([token])
    except (HarmonyError, ValueError, OverflowError):
        return None


def _may_become_text(raw: bytes) -> bool:
    """Whether bytes are text, but for a last character that is not complete."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _broken(tokens: tuple[int, ...], raw: bytes, end: int) -> Iterator[Cell]:
    """Bytes that are not text: of an incomplete character, say."""
    if tokens:
        text = raw.decode(errors="backslashreplace")
        yield Cell(end - len(tokens), tokens, text, raw)


__all__ = ["cells", "the_encoding"]
