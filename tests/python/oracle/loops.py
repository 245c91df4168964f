"""Loops over a parser as servers have them, run on either side.

Each differs in what it does with errors and with fields: `skipping` like vLLM, `unguarded` like exo,
`stopping` like a router that gives up parsing, `cutting` like lmdeploy and gpt-oss's own server. An
outcome is what the user of such a server gets:

* `chunks`: the text as it streams, [channel, recipient, text], one entry per message
* `raw`: all of the tokens' text, where the loop saves it because a message was never read, else None
* `errors`: the indices of the tokens at which the parser raised; the number of tokens for the end
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openai_harmony import HarmonyEncoding, Role, StreamableParser

Json = Any


class _Loop:
    """A parser, and what was collected from it."""

    def __init__(self, encoding: HarmonyEncoding, role: Role | None, strict: bool) -> None:
        self.parser = StreamableParser(encoding, role, strict=strict)
        self.encoding = encoding
        self.chunks: list[list[str | None]] = []
        self.errors: list[int] = []
        self.raw: str | None = None
        #: The message that the last chunk is of.
        self.open = -1

    def collect(self, recipient: str | None) -> None:
        """Takes the delta as it comes; the fields are those of this moment."""
        parser = self.parser
        delta = parser.last_content_delta
        if not delta:
            return
        # The token that completes a message may bring its last text.
        ends = parser.state.value != "Content"
        message = len(parser.messages) - ends
        if message != self.open:
            self.open = message
            self.chunks.append([parser.current_channel, recipient, ""])
        self.chunks[-1][2] = (self.chunks[-1][2] or "") + delta

    def process(self, token: int, index: int) -> bool:
        try:
            self.parser.process(token)
        except Exception:
            self.errors.append(index)
            return False
        return True

    def end(self, index: int) -> bool:
        try:
            self.parser.process_eos()
        except Exception:
            self.errors.append(index)
            return False
        return True

    def messages(self) -> list[Json]:
        """Complete messages, [channel, recipient, text]."""
        return [
            [message.channel, message.recipient, "".join(part.text for part in message.content)]
            for message in self.parser.messages
        ]

    def outcome(self) -> Json:
        return {"chunks": self.chunks, "raw": self.raw, "errors": self.errors}


def skipping(encoding: HarmonyEncoding, tokens: list[int], role: Role | None, strict: bool) -> Json:
    """Skips what `process` raises and continues; saves the raw text when `process_eos` raises."""
    loop = _Loop(encoding, role, strict)
    for index, token in enumerate(tokens):
        if loop.process(token, index):
            loop.collect(loop.parser.current_recipient)
    if not loop.end(len(tokens)):
        loop.raw = encoding.decode([token for token in tokens if token <= 201088])
    # What is shown in the end comes from the messages.
    loop.chunks = loop.messages()
    return loop.outcome()


def unguarded(
    encoding: HarmonyEncoding, tokens: list[int], role: Role | None, strict: bool
) -> Json:
    """Handles nothing: what streamed until the error is all."""
    loop = _Loop(encoding, role, strict)
    for index, token in enumerate(tokens):
        if not loop.process(token, index):
            break
        loop.collect(loop.parser.current_recipient)
    else:
        loop.end(len(tokens))
    return loop.outcome()


def stopping(encoding: HarmonyEncoding, tokens: list[int], role: Role | None, strict: bool) -> Json:
    """Stops at the first error, and takes the messages and the open content."""
    loop = _Loop(encoding, role, strict)
    all(loop.process(token, index) for index, token in enumerate(tokens))
    loop.chunks = loop.messages()
    parser = loop.parser
    if parser.current_content:
        loop.chunks.append(
            [parser.current_channel, parser.current_recipient, parser.current_content]
        )
    return loop.outcome()


def cutting(encoding: HarmonyEncoding, tokens: list[int], role: Role | None, strict: bool) -> Json:
    """Cuts a recipient at its first marker, and tells calls by what is left; skips errors."""
    loop = _Loop(encoding, role, strict)
    for index, token in enumerate(tokens):
        if loop.process(token, index):
            loop.collect((loop.parser.current_recipient or "").partition("<")[0].strip() or None)
    return loop.outcome()


LOOPS: dict[str, Callable[[HarmonyEncoding, list[int], Role | None, bool], Json]] = {
    "skipping": skipping,
    "unguarded": unguarded,
    "stopping": stopping,
    "cutting": cutting,
}
