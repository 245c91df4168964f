"""The conversation: messages in order."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Mapping, Union

from pydantic import BaseModel, Field
from typing_extensions import Self

from openai_harmony.chat.json_form import (
    error_inside,
    json_text,
    parse_json,
    require_field,
    require_list,
    require_object,
)
from openai_harmony.chat.message import Message


class Conversation(BaseModel):
    """Messages in the order in which they were said."""

    messages: List[Message] = Field(default_factory=list)
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

    def to_dict(self) -> Dict[str, Any]:
        """The conversation in canonical JSON form."""
        return {"messages": [message.to_dict() for message in self.messages]}

    def to_json(self) -> str:
        """The canonical JSON form as text.

        >>> Conversation.from_messages([Message.from_role_and_contents("user", [])]).to_json()
        '{"messages": [{"role": "user", "name": null, "content": []}]}'
        """
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads the canonical JSON form; ``ValueError`` says what is wrong in which message."""
        fields = require_object(data, "conversation")
        entries = require_list(require_field(fields, "messages", "conversation"), "messages")
        messages = []
        for index, entry in enumerate(entries):
            try:
                messages.append(Message.from_dict(entry))
            except ValueError as error:
                raise error_inside(error, "messages", index) from None
        return cls(messages=messages)

    @classmethod
    def from_json(cls, payload: Union[str, bytes]) -> Self:
        """Reads :meth:`to_json`'s text; ``ValueError`` as :meth:`from_dict`, or for no JSON.

        >>> Conversation.from_json('{"messages": [{"role": "user", "content": "Hi"}]}') == (
        ...     Conversation.from_messages([Message.from_role_and_content("user", "Hi")])
        ... )
        True
        """
        return cls.from_dict(parse_json(payload))
