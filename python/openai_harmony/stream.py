"""The incremental parser and what it reports."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from openai_harmony import _lowlevel
from openai_harmony._counted import counted
from openai_harmony._lowlevel import ContentDelta, MessageEnd, MessageStart, Repair
from openai_harmony._notebook import InNotebooks
from openai_harmony._published import published

if TYPE_CHECKING:
    from typing_extensions import Self

    from openai_harmony.chat import Message


@published
class StreamState(Enum):
    """Where in a message an incremental parser is."""

    EXPECT_START = "ExpectStart"
    HEADER = "Header"
    CONTENT = "Content"


class StreamableParser(InNotebooks, _lowlevel.StreamableParser):
    """Reads tokens as they arrive and returns messages as they become complete.

    Feed it one token at a time with ``process`` or any number with ``feed``. The cost of a property
    depends on what it returns: ``messages``, ``current_content``, ``tokens``, ``repairs`` and
    ``state_data`` grow with the stream, the others do not.

    >>> from openai_harmony import load_harmony_encoding
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> text = "<|channel|>final<|message|>Hello!<|return|>"
    >>> parser = StreamableParser(encoding, "assistant")
    >>> for event in parser.feed(encoding.encode(text, allowed_special="all")):
    ...     print(event)
    MessageStart(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), channel='final', \
recipient=None, content_type=None, span=(0, 3), index=0)
    ContentDelta(text='Hello!', span=(3, 5), index=0)
    MessageEnd(stop_token=200002, span=(5, 6), index=0)
    """

    def __repr__(self) -> str:
        where = self.state.name.lower().replace("_", " ")
        if self.state is StreamState.CONTENT and self.current_role is not None:
            fields = (self.current_role.value, self.current_channel, self.current_recipient)
            where = "in content of " + " ".join(filter(None, fields))
        counts = [counted(len(self.messages), "message"), counted(len(self.repairs), "repair")]
        return f"<{type(self).__name__}: {where}, {', '.join(counts)}>"

    @classmethod
    def from_bytes(cls, encoding: _lowlevel.HarmonyEncoding, saved: bytes) -> Self:
        """Resumes a parser that ``to_bytes`` saved, for example in another process.

        The cost is that of parsing its tokens. ``HarmonyError`` (``invalid_state``) for bytes of
        another version, or that ``to_bytes`` did not write.

        >>> from openai_harmony import load_harmony_encoding
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> tokens = encoding.encode("<|channel|>final<|message|>2 + 2 = 4.", allowed_special="all")
        >>> parser = StreamableParser(encoding, "assistant")
        >>> events = parser.feed(tokens[:7])
        >>> parser = StreamableParser.from_bytes(encoding, parser.to_bytes())
        >>> [event.text for event in parser.feed(tokens[7:])]
        [' = 4.']
        """
        resumed = cls.__new__(cls)
        resumed._resume(encoding, saved)
        return resumed

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied._become(self)
        vars(copied).update(vars(self))
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        copied = type(self).__new__(type(self))
        copied._become(self)
        # Before the attributes, which may lead back to the parser.
        memo[id(self)] = copied
        vars(copied).update(deepcopy(vars(self), memo))
        return copied

    @property
    def _inner(self) -> Self:
        """Itself, for callers written for version 0.0.8."""
        return self


class Parsed(NamedTuple):
    """What ``HarmonyEncoding.parse_with_repairs`` reads from a whole sequence of tokens."""

    messages: list[Message]
    """The messages, in order."""

    repairs: list[Repair]
    """The repairs, in the order in which they were found."""

    stop_tokens: list[int | None]
    """For each message the token that ended it. ``None``: the next message began without one, or
    the tokens ended. Such a call may be incomplete, so do not run it."""


Event: TypeAlias = MessageStart | ContentDelta | MessageEnd | Repair
"""What ``StreamableParser.feed`` and ``finish`` report."""

__all__ = [
    "ContentDelta",
    "Event",
    "MessageEnd",
    "MessageStart",
    "Parsed",
    "Repair",
    "StreamState",
    "StreamableParser",
]
