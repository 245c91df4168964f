"""What each token of a content brings: the text that its bytes complete."""

from __future__ import annotations

import codecs


class Deltas:
    """Decodes a content token by token, as the Unicode standard recommends for broken UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        #: All deltas so far.
        self.text = ""

    def feed(self, its_bytes: list[int]) -> str:
        """The delta of a token; empty while a character is incomplete."""
        delta = self._decoder.decode(bytes(its_bytes))
        held, _ = self._decoder.getstate()
        if len(held) == 2 and held[0] == 0xED and held[1] >= 0xA0:
            # Python waits for a third byte, though none completes the first half of a surrogate.
            delta += self._decoder.decode(b"", final=True)
        self.text += delta
        return delta

    def end(self) -> str:
        """U+FFFD if a character stays incomplete, else nothing."""
        held = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        self.text += held
        return held
