"""Rendered tokens with the position of each message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from openai_harmony import _lowlevel
from openai_harmony._arrays import IntArray
from openai_harmony._notebook import InNotebooks
from openai_harmony.errors import WrongTypeError
from openai_harmony.stream import ContentDelta, Event, MessageEnd, MessageStart, Repair

if TYPE_CHECKING:
    from typing_extensions import Never, Self

    from openai_harmony.loss_mask import LossMask


class MessageSpan(NamedTuple):
    """The position of a message, as token indices.

    Its header is ``start:content``, its content ``content:stop``, its stop token ``stop:end``.
    """

    message: int | None
    """Its index in the rendered conversation, counting dropped messages, or among the parsed
    messages. ``None`` for a message that only begins, at the end of a prompt or of a stream."""
    start: int
    """The first token of the header."""
    content: int
    """The first token of the content, after ``<|message|>``."""
    stop: int
    """The stop token, or the end if there is none."""
    end: int
    """After the last token."""
    source: str | None = None
    """In the spans of ``Turn.render_with_spans``, the path of the message's source in the request's
    body: ``messages[3]``, ``input[2]``. :attr:`openai_harmony.interop.turn.Turn.sources` explains
    which messages have none."""

    def __repr__(self) -> str:
        known = self._asdict()
        if self.source is None:
            del known["source"]
        return f"MessageSpan({', '.join(f'{name}={value!r}' for name, value in known.items())})"

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> list[MessageSpan]:
        """The spans of the messages in a stream's events.

        Args:
            events: All events of the stream, from its first ``feed`` to ``finish``.

        Returns:
            The spans of rendering the same tokens, except that messages are counted as they are
            parsed.

        Raises:
            ValueError: The events before the first one are missing.
            WrongTypeError: One is not an event.

        >>> from openai_harmony import StreamableParser, load_harmony_encoding
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> parser = StreamableParser(encoding, "assistant")
        >>> sampled = encoding.encode("<|message|>Yes.<|return|>", allowed_special="all")
        >>> MessageSpan.from_events(parser.feed(sampled) + parser.finish())
        [MessageSpan(message=0, start=0, content=1, stop=3, end=4)]
        """
        spans: list[MessageSpan] = []
        for index, event in enumerate(events):
            match event:
                case MessageStart(span=(first, end)):
                    spans.append(cls(None, first, end, end, end))
                case Repair():
                    pass
                case ContentDelta() | MessageEnd() if not spans:
                    raise ValueError(
                        f"events[{index}]: its message has no MessageStart; give all events of a "
                        "stream"
                    )
                case ContentDelta(span=(_, end)):
                    spans[-1] = spans[-1]._replace(stop=end, end=end)
                case MessageEnd(index=message, span=(first, end)):
                    spans[-1] = spans[-1]._replace(message=message, stop=first, end=end)
                case _:
                    got = type(event).__name__
                    raise WrongTypeError(f"events[{index}]: expected an event, got {got}")
        return spans


class Rendered(InNotebooks, IntArray):
    """The tokens of a rendering, an array of uint32, with the spans of its messages.

    NumPy, and anything else that reads the buffer protocol, takes it without a copy.

    >>> from openai_harmony import Conversation, Message, load_harmony_encoding
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> hi = Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
    >>> rendered = encoding.render_with_spans(hi)
    >>> rendered.tokens
    [200006, 1428, 200008, 12194, 200007, 200006, 173781]
    >>> rendered.spans[0]
    MessageSpan(message=0, start=0, content=3, stop=4, end=5)
    """

    spans: list[MessageSpan]
    """One span for each rendered message, in order, and one for the message that the end of a
    prompt begins. Together they cover every token once."""
    _speakers: list[tuple[str, str | None]]

    def __new__(
        cls,
        tokens: bytes | Iterable[int] = b"",
        spans: Iterable[MessageSpan] = (),
        speakers: Iterable[tuple[str, str | None]] = (),
    ) -> Self:
        """From token ids, or their bytes as native uint32, their spans, and the speaker of each.

        ``speakers`` are the role and the channel of each span's message, which a loss mask needs.
        """
        # Typeshed says that it is an `array`; it is one of `cls`.
        made: Self = super().__new__(cls, "I", tokens)  # type: ignore[assignment]
        made.spans = list(spans)
        made._speakers = list(speakers)
        return made

    @property
    def tokens(self) -> list[int]:
        """The token ids as a new list."""
        return self.tolist()

    def loss_mask(self, mask: LossMask | None = None, **unknown: Never) -> bytearray:
        """Marks the tokens to train on: those that the model itself would have sampled.

        Args:
            mask: Which of these to leave out; none by default.
            unknown: Always an error.

        Returns:
            A byte for each token: 1 if it is trained, else 0. NumPy takes them as uint8 without a
            copy. A mask may leave nothing to train: check with ``any``.

        Raises:
            ValueError: The tokens or spans were changed after ``render_with_spans``.
            TypeError: ``mask`` is not a ``LossMask``, or one of its options was passed directly.

        >>> from openai_harmony import Conversation, Message, load_harmony_encoding
        >>> encoding = load_harmony_encoding("HarmonyGptOss")
        >>> question = Message.from_role_and_content("user", "2 + 2?")
        >>> answer = Message.from_role_and_content("assistant", "4.").with_channel("final")
        >>> example = Conversation.from_messages([question, answer])
        >>> rendered = encoding.render_with_spans(example, ending="training")
        >>> mask = rendered.loss_mask()
        >>> encoding.decode([token for token, trained in zip(rendered, mask) if trained])
        '<|channel|>final<|message|>4.<|return|>'
        >>> any(encoding.render_with_spans(Conversation.from_messages([question])).loss_mask())
        False
        """
        for name in unknown:
            raise TypeError(
                f"{name}: expected one argument, a LossMask: loss_mask(LossMask({name}=...))"
            )
        return _lowlevel.loss_mask(self, [span[:5] for span in self.spans], self._speakers, mask)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{len(self)} tokens>, spans={self.spans!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.tobytes(), self.spans, self._speakers)

    def __copy__(self) -> Self:
        return type(self)(self.tobytes(), self.spans, self._speakers)

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()


__all__ = ["MessageSpan", "Rendered"]
