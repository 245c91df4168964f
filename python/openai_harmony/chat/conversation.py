"""The conversation: messages in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, Field
from typing_extensions import Self

from openai_harmony import _lowlevel
from openai_harmony._notebook import InNotebooks
from openai_harmony._published import published
from openai_harmony.chat.json_form import (
    error_inside,
    json_text,
    parse_json,
    require_field,
    require_list,
    require_object,
)
from openai_harmony.chat.message import Message, read_validated
from openai_harmony.chat.unknown_fields import (
    CHAT_HINT,
    UnknownField,
    chat_hint,
    report,
    unknown_fields,
)
from openai_harmony.errors import MissingFieldError, WrongTypeError


@published
class Conversation(InNotebooks, BaseModel):
    """Messages in the order in which they were said.

    >>> conversation = Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
    >>> [message.text for message in conversation]
    ['Hi']
    """

    messages: list[Message] = Field(default_factory=list)
    """The messages, oldest first."""

    @classmethod
    def from_messages(cls, messages: Iterable[Message]) -> Self:
        """A conversation of these messages; they are not copied."""
        return cls(messages=list(messages))

    def __iter__(self) -> Iterator[Message]:  # type: ignore[override]
        """The messages, oldest first, and not pydantic's pairs of field and value.

        >>> [message.author.role.value for message in Conversation.from_messages([])]
        []
        """
        return iter(self.messages)

    def to_dict(self) -> dict[str, Any]:
        """The conversation in canonical JSON form."""
        return {"messages": [message.to_dict() for message in self.messages]}

    def to_json(self) -> str:
        """The canonical JSON form as text.

        >>> Conversation.from_messages([Message.from_role_and_contents("user", [])]).to_json()
        '{"messages": [{"role": "user", "name": null, "content": []}]}'
        """
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Reads the canonical JSON form.

        ``ValueError`` says what is wrong, and in which message. An unknown field is an
        ``UnknownFieldWarning``, or with ``strict`` an ``UnknownFieldError``.

        >>> conversation = {"messages": [{"role": "user", "content": "Hi", "tool_calls": []}]}
        >>> Conversation.from_dict(conversation, strict=True)
        Traceback (most recent call last):
        openai_harmony.errors.UnknownFieldError: messages[0].tool_calls: unknown field (known: \
role, name, content, channel, recipient, content_type); requests of OpenAI's API are read by \
openai_harmony.interop.chat_completions.read and openai_harmony.interop.responses.read
        """
        if isinstance(data, (list, tuple)):
            raise WrongTypeError(
                "Invalid conversation: expected an object, got a list; its messages are in "
                f'{{"messages": [...]}}; {CHAT_HINT}'
            )
        fields = require_object(data, "conversation")
        if "messages" not in fields and (hint := chat_hint(fields)):
            raise MissingFieldError(f"Invalid conversation: 'messages' is missing{hint}")
        entries = require_list(require_field(fields, "messages", "conversation"), "messages")
        messages: list[Message] = []
        unknown: list[UnknownField] = []
        for index, entry in enumerate(entries):
            # Most messages are plain: read by one call, they are four times as fast.
            if (plain := _lowlevel.plain_message(entry)) is not None:
                messages.append(plain)
                continue
            try:
                message, unknown_there = read_validated(Message, entry)
            except ValueError as error:
                raise error_inside(error, "messages", index) from None
            messages.append(message)
            unknown.extend(field.inside(".messages", f"[{index}]") for field in unknown_there)
        conversation = cls(messages=messages)
        # The messages' own fields are there already.
        unknown.extend(unknown_fields(dict.fromkeys(fields), conversation, ("messages",)))
        report(unknown, "conversation", strict=strict)
        return conversation

    @classmethod
    def from_json(cls, payload: str | bytes, *, strict: bool = False) -> Self:
        """Reads :meth:`to_json`'s text; ``ValueError`` as :meth:`from_dict`, or for wrong JSON.

        >>> Conversation.from_json('{"messages": [{"role": "user", "content": "Hi"}]}') == (
        ...     Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
        ... )
        True
        """
        data = parse_json(payload)
        # A subclass's own `from_dict` may be older than `strict`.
        return cls.from_dict(data, strict=True) if strict else cls.from_dict(data)
