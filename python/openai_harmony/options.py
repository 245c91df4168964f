"""Options of rendering and parsing. Each default does what openai-harmony 0.0.8 does."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel

from openai_harmony._new_fields import WithNewFields
from openai_harmony._published import published
from openai_harmony._shadowing import field_named


class ThoughtPolicy(str, Enum):
    """Which chains of thought of earlier turns are rendered."""

    KEEP = "keep"
    """All of them."""
    DROP_BEFORE_FIRST_FINAL = "drop_before_first_final"
    """Version 0.0.8's rule: if the last assistant message is on ``final``, analysis before the
    first ``final`` is dropped. In a single turn that is the reasoning of the answer itself."""
    DROP = "drop"
    """Analysis is dropped once a user message follows its turn's final answer (guide, section
    "Handling reasoning output in subsequent sampling"). The last turn keeps its reasoning."""


class HeaderStyle(str, Enum):
    """Where an assistant's header names its recipient."""

    RECIPIENT_IN_ROLE = "recipient_in_role"
    """``assistant to=functions.f<|channel|>commentary``, as version 0.0.8 writes."""
    RECIPIENT_IN_CHANNEL = "recipient_in_channel"
    """``assistant<|channel|>commentary to=functions.f``, as the model itself writes."""


class ToolSchemaStyle(str, Enum):
    """How a tool's JSON Schema becomes TypeScript."""

    COMPAT = "compat"
    """Version 0.0.8's text, oddities included."""
    FULL = "full"
    """The whole of JSON Schema, always valid TypeScript."""


class _MessageOptions(WithNewFields, extra="forbid", validate_assignment=True):
    """The options of a single message and of a conversation, except ``validate``.

    The oldest allowed pydantic mistakes an inherited field of that name for its own method.
    """

    header_style: HeaderStyle = HeaderStyle.RECIPIENT_IN_ROLE
    """Where an assistant's header names its recipient."""
    tool_schema: ToolSchemaStyle = ToolSchemaStyle.COMPAT
    """How a tool's JSON Schema is written."""

    @classmethod
    def _new_fields(cls) -> tuple[str, ...]:
        old = ("auto_drop_analysis", "conversation_has_function_tools")
        return tuple(name for name in cls.model_fields if name not in old)


with field_named("validate"):

    @published
    class RenderConversationConfig(_MessageOptions):
        """Options for rendering a conversation; a wrong name or value is an error.

        >>> RenderConversationConfig(thoughts="drop").thoughts
        <ThoughtPolicy.DROP: 'drop'>
        """

        auto_drop_analysis: bool = True
        """Drop analysis by version 0.0.8's rule, unless ``thoughts`` is set."""
        thoughts: ThoughtPolicy | None = None
        """Which chains of thought to drop; ``None`` leaves it to ``auto_drop_analysis``."""
        validate: bool = False  # type: ignore[assignment]
        """Refuse names, recipients, channels and content types that could be read as another
        header."""

    @published
    class RenderOptions(_MessageOptions):
        """Options for rendering a single message.

        >>> RenderOptions(header_style="recipient_in_channel").tool_schema
        <ToolSchemaStyle.COMPAT: 'compat'>
        """

        conversation_has_function_tools: bool = False
        """Whether a system message states that calls of functions go to ``commentary``."""
        validate: bool = False  # type: ignore[assignment]
        """Refuse a name, recipient, channel or content type that could be read as another
        header."""


class Prefill(BaseModel, extra="forbid", validate_assignment=True):
    """The beginning of the next message, which the model continues.

    Pass it to ``render_conversation_for_completion`` and to the parser of the sampled tokens. Any
    field or text, even an empty one, completes the header, which ends with ``<|message|>``;
    ``Prefill()`` writes nothing. Both refuse fields that could be read as another header.

    >>> from openai_harmony import Conversation, Role, load_harmony_encoding
    >>> encoding = load_harmony_encoding("HarmonyGptOss")
    >>> call = Prefill(channel="commentary", recipient="functions.f")
    >>> empty = Conversation.from_messages([])
    >>> prompt = encoding.render_conversation_for_completion(empty, "assistant", prefill=call)
    >>> encoding.decode(prompt)
    '<|start|>assistant to=functions.f<|channel|>commentary<|message|>'
    >>> sampled = encoding.encode("{}<|call|>", allowed_special="all")
    >>> [message] = encoding.parse_messages_from_completion_tokens(
    ...     sampled, Role.ASSISTANT, prefill=call
    ... )
    >>> message.recipient, message.text
    ('functions.f', '{}')
    """

    channel: str | None = None
    """The message's channel."""
    recipient: str | None = None
    """Its recipient: the tool that has to be called."""
    content_type: str | None = None
    """Its content type, ``<|constrain|>json``."""
    text: str | None = None
    """The beginning of its content. It is encoded on its own, and the model continues after its
    last token. Do not end it inside a word or with a space: the model rarely saw such tokens."""
