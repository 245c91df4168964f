"""A file that is one JSON list, item by item: it may be larger than the memory.

The standard library's decoder finds where an item ends. It is given the bytes as Latin-1, in which
each byte is a character: so its places are those of bytes, and what it makes of an item is not
used.
"""

from __future__ import annotations

import json
import re
from typing import IO

_MEBIBYTE = 2**20
_BLANKS = re.compile(r"[ \t\r\n]*")
_BOM = b"\xef\xbb\xbf"
_LONGEST_WORD = 16
"""No word or number's sign of JSON that is cut at the end of what was read is as long."""


def is_list(file: IO[bytes]) -> bool:
    """Whether a file, at its beginning, is a JSON list. Nothing is read."""
    begin: bytes = file.peek(64)  # type: ignore[attr-defined]
    return begin.replace(_BOM, b"").lstrip()[:1] == b"["


class ListReader:
    """Reads the items of a list, from its beginning or from after an item."""

    def __init__(self, file: IO[bytes], byte: int, longest: int) -> None:
        """``byte``: where the file stands. An item has at most ``longest`` bytes."""
        self._file = file
        self._longest = longest
        self._text = ""
        self._at = 0
        self._before = byte
        """The bytes in front of the text."""
        self._has_ended = False
        self._decoder = json.JSONDecoder(parse_int=str, parse_float=str)

    def next(self) -> tuple[bytes, int] | None:
        """The next item and the byte after it; ``None`` at the end of the list.

        ``OSError`` if this is not a list.
        """
        if self._has_ended:
            return None
        is_first = self._before + self._at == 0
        if is_first:
            self._skip_begin()
        sign = self._sign()
        if sign == "]":
            self._end()
            return None
        if not is_first and sign != ",":
            raise self._wrong("expected a comma or the end of the list")
        if not is_first:
            self._at += 1
            self._sign()
        end = self._item_end()
        item = self._text[self._at : end].encode("latin-1")
        self._at = end
        return item, self._before + end

    def _skip_begin(self) -> None:
        while len(self._text) < len(_BOM) and self._more():
            pass
        if self._text.startswith(_BOM.decode("latin-1")):
            self._at += len(_BOM)
        if self._sign() != "[":
            raise self._wrong("expected its beginning")
        self._at += 1

    def _end(self) -> None:
        self._has_ended = True
        self._at += 1
        if self._sign():
            raise self._wrong("more follows the list; rows on lines are in files .jsonl")

    def _sign(self) -> str:
        """The next character that is not blank; none at the end of the file."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _item_end(self) -> int:
        while True:
            try:
                _, end = self._decoder.raw_decode(self._text, self._at)
                # What ends a number is what follows it: 1 could be 1e-5.
                if end + len("e-") < len(self._text) or not self._more():
                    return end
            except json.JSONDecodeError as error:
                if not (self._is_cut(error.pos) and self._more()):
                    # Some of Python's texts end with "at", since a position follows there.
                    raise self._wrong(error.msg.removesuffix(" at"), error.pos) from None
            except RecursionError:
                raise self._wrong("nested too deeply") from None

    def _is_cut(self, at: int) -> bool:
        """Whether what the decoder could not read may be whole once more has been read."""
        if at >= len(self._text) - _LONGEST_WORD:
            return True
        if self._text[at] != '"':
            return False
        try:
            self._decoder.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            # Whatever else a string can have is wrong behind its quote.
            return error.pos == at
        return False

    def _more(self) -> bool:
        """Reads as much again as there is of the item, and forgets what was in front of it.

        At the end of the file nothing changes.
        """
        rest = self._text[self._at :]
        if len(rest) >= self._longest:
            raise self._wrong(f"an item has {self._longest >> 20} MiB or more")
        read = self._file.read(max(_MEBIBYTE, len(rest)))
        if read:
            self._before += self._at
            self._text, self._at = rest + read.decode("latin-1"), 0
        return bool(read)

    def _wrong(self, reason: str, at: int | None = None) -> OSError:
        byte = self._before + (self._at if at is None else at)
        return OSError(f"not a JSON list, byte {byte}: {reason}")
