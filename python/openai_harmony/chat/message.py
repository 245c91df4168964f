"""Messages, their authors and roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar, cast

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self

from openai_harmony import _lowlevel
from openai_harmony._elsewhere import WAYS_OF_MESSAGES, NamesTheWay
from openai_harmony._notebook import InNotebooks
from openai_harmony._published import published
from openai_harmony.chat.content import Content, TextContent
from openai_harmony.chat.json_form import (
    json_text,
    parse_json,
    require_field,
    require_list,
    require_object,
)
from openai_harmony.chat.parts import ContentParts
from openai_harmony.chat.unknown_fields import (
    CHAT_HINT,
    UnknownField,
    chat_hint,
    report,
    unknown_fields,
)
from openai_harmony.errors import MissingFieldError, WrongTypeError
from openai_harmony.roles import Role, RoleName


@published
class Author(BaseModel):
    """The role of a message and the author's name, if it has one.

    A header has a tool's name instead of its role, so a tool message needs a name to be
    rendered; any other name follows its role after a colon.
    """

    role: Role
    name: str | None = None

    @classmethod
    def new(cls, role: Role | RoleName, name: str) -> Self:
        """An author with a name.

        >>> Author.new("tool", "functions.get_current_weather").role
        <Role.TOOL: 'tool'>
        """
        return cls(role=cast(Role, role), name=name)


@published
class Message(NamesTheWay, InNotebooks, BaseModel):
    """One message of a conversation (guide, section "Message format").

    :meth:`from_dict` reads the flat form, ``{"role": "user", "content": "Hello"}``. Validation by
    pydantic takes only the nested form that ``model_dump`` writes, ``{"author": {"role": "user"},
    "content": "Hello"}``: messages of other libraries are flat too, and such a model may be in a
    union with this one.

    >>> call = Message.from_role_and_content("assistant", '{"place": "Oslo"}')
    >>> call.with_channel("commentary").with_recipient("functions.weather").text
    '{"place": "Oslo"}'
    """

    _ways: ClassVar[dict[str, str]] = WAYS_OF_MESSAGES

    author: Author
    content: ContentParts = Field(default_factory=list)
    """The parts, rendered one after the other with nothing between."""
    channel: str | None = None
    """``analysis``, ``commentary`` or ``final`` (guide, section "Channels")."""
    recipient: str | None = None
    """Who the message goes to: the tool of a call, ``assistant`` for a tool's result."""
    content_type: str | None = None
    """What the content is, ``<|constrain|>json`` for a tool call's arguments."""

    @model_validator(mode="before")
    @classmethod
    def _is_nested(cls, value: Any) -> Any:
        if isinstance(value, dict) and "role" in value and "author" not in value:
            flat = "expected the nested form, got a flat message: Message.from_dict reads it"
            raise ValueError(f"{flat}; {CHAT_HINT}")
        return value

    @classmethod
    def from_author_and_content(cls, author: Author, content: str | Content) -> Self:
        """A message with one content part; a string is text.

        >>> bob = Author.new("user", "bob")
        >>> Message.from_author_and_content(bob, "Hi").author.name
        'bob'
        """
        if cls is Message and type(author) is Author and type(content) is str:
            # Nothing is left to validate, and without validation it is five times as fast.
            message: Self = _lowlevel.text_message(author, content)
            return message
        return cls(author=author, content=[_part(content)])

    @classmethod
    def from_role_and_content(cls, role: Role | RoleName, content: str | Content) -> Self:
        """A message of an author without a name.

        >>> Message.from_role_and_content("user", "What is 2 + 2?").author.role
        <Role.USER: 'user'>
        """
        if cls is Message and type(role) is Role and type(content) is str:
            message: Self = _lowlevel.text_message(role, content)
            return message
        return cls.from_author_and_content(_nameless(role), content)

    @classmethod
    def from_role_and_contents(
        cls, role: Role | RoleName, contents: Iterable[str | Content]
    ) -> Self:
        """A message with any number of content parts; each string is a text.

        ``WrongTypeError`` if ``contents`` is itself a string.

        >>> len(Message.from_role_and_contents("user", ["What is ", "2 + 2?"]).content)
        2
        """
        if isinstance(contents, str):
            raise WrongTypeError("contents: expected a list of parts, got str")
        return cls(author=_nameless(role), content=[_part(content) for content in contents])

    @property
    def text(self) -> str:
        """The texts of the content parts, joined.

        System and developer content are not text and add nothing.

        >>> Message.from_role_and_contents("user", ["What is ", "2 + 2?"]).text
        'What is 2 + 2?'
        """
        return "".join(part.text for part in self.content if isinstance(part, TextContent))

    def adding_content(self, content: str | Content) -> Self:
        """Adds a content part at the end; returns self, as all builders do."""
        self.content.append(_part(content))
        return self

    def with_channel(self, channel: str) -> Self:
        """Puts the message on a channel, such as ``final``; returns self, as all builders do."""
        self.channel = channel
        return self

    def with_recipient(self, recipient: str) -> Self:
        """Sends the message to a recipient, such as ``functions.get_weather``; returns self."""
        self.recipient = recipient
        return self

    def with_content_type(self, content_type: str) -> Self:
        """Says what the content is, such as ``<|constrain|>json``; returns self."""
        self.content_type = content_type
        return self

    def to_dict(self) -> dict[str, Any]:
        """The message in canonical JSON form.

        Role and name are next to the other fields, a missing name is ``None``, and header fields
        that are ``None`` are left out.

        >>> Message.from_role_and_content("user", "Hello").to_dict()
        {'role': <Role.USER: 'user'>, 'name': None, 'content': [{'type': 'text', 'text': 'Hello'}]}
        """
        out: dict[str, Any] = {
            "role": self.author.role,
            "name": self.author.name,
            "content": [part.to_dict() for part in self.content],
        }
        for field in _HEADER_FIELDS:
            value = getattr(self, field)
            if value is not None:
                out[field] = value
        return out

    def to_json(self) -> str:
        """The canonical JSON form as text."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Reads the canonical JSON form, or what ``model_dump`` writes.

        ``ValueError`` says what is wrong, and where: a missing field, an unknown role or kind of
        content, a wrong type. An unknown field is an ``UnknownFieldWarning``, or with ``strict``
        an ``UnknownFieldError``.

        >>> Message.from_dict({"role": "user", "content": "Hello"}).text
        'Hello'
        """
        if cls is Message:
            plain: Self | None = _lowlevel.plain_message(data)
            if plain is not None:
                return plain
        message, unknown = read_validated(cls, data)
        report(unknown, "message", strict=strict)
        return message

    @classmethod
    def from_json(cls, payload: str | bytes, *, strict: bool = False) -> Self:
        """Reads :meth:`to_json`'s text; ``ValueError`` as :meth:`from_dict`, or for wrong JSON."""
        data = parse_json(payload)
        # A subclass's own `from_dict` may be older than `strict`.
        return cls.from_dict(data, strict=True) if strict else cls.from_dict(data)


_Message = TypeVar("_Message", bound=Message)
_HEADER_FIELDS = ("channel", "recipient", "content_type")
_FIELDS = ("role", "name", "content", *_HEADER_FIELDS)
"""The fields of the canonical form, in which the author is flat."""


def read_validated(
    model: type[_Message], data: Mapping[str, Any]
) -> tuple[_Message, list[UnknownField]]:
    """A message from its JSON form by validation, and the fields of it that are unknown."""
    fields = require_object(data, "message")
    try:
        content = require_field(fields, "content", "message")
        if not isinstance(content, str):
            content = require_list(content, "content of a message", "a string or a list of parts")
    except (MissingFieldError, WrongTypeError) as error:
        raise type(error)(f"{error}{chat_hint(fields)}") from None
    if "author" in fields:
        message = model.model_validate(fields)
        return message, unknown_fields(fields, message)
    role = Role(require_field(fields, "role", "message"))
    message = model(
        author=Author(role=role, name=fields.get("name")),
        content=content,
        channel=fields.get("channel"),
        recipient=fields.get("recipient"),
        content_type=fields.get("content_type"),
    )
    return message, unknown_fields({**fields, "content": content}, message, _FIELDS)


def _nameless(role: Role | RoleName) -> Author:
    return Author(role=cast(Role, role))


def _part(content: str | Content) -> Content:
    return TextContent(text=content) if isinstance(content, str) else content
