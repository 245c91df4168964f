"""What a message says: text, or the structured content of system and developer messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, StrictBool
from typing_extensions import Self

from openai_harmony._new_fields import WithNewFields
from openai_harmony._published import published
from openai_harmony._shadowing import field_named
from openai_harmony.chat.json_form import require_object
from openai_harmony.chat.tools import ToolDescription, ToolNamespaceConfig
from openai_harmony.chat.unknown_fields import report, unknown_fields
from openai_harmony.errors import WrongTypeError, quoted


@published
class Content(BaseModel):
    """One part of a message's content; the base of the three kinds of content."""

    @classmethod
    def _only_in_json(cls) -> tuple[str, ...]:
        """What the JSON form has besides the fields: the kind of content.

        A method, since old versions of pydantic take a variable for a private attribute.
        """
        return ("type",)

    if TYPE_CHECKING:
        # So that `message.content[0].text` passes type checkers.
        @property
        def text(self) -> str:
            """The text of a :class:`TextContent`; ``AttributeError`` for the other kinds."""
            raise AttributeError

    def to_dict(self) -> dict[str, Any]:
        """The part in canonical JSON form, its kind under ``type``."""
        raise NotImplementedError(f"{type(self).__name__} has no canonical JSON form")


@published
class TextContent(Content):
    """Text, always rendered as ordinary tokens, whatever markers it may spell."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        """The part in canonical JSON form.

        >>> TextContent(text="Hello").to_dict()
        {'type': 'text', 'text': 'Hello'}
        """
        return {"type": "text", "text": self.text}


EffortName: TypeAlias = Literal["Low", "Medium", "High", "low", "medium", "high"]
"""The efforts by their names, which may be in any case of letters."""


@published
class ReasoningEffort(str, Enum):
    """How long the model thinks (guide, section "Reasoning").

    >>> ReasoningEffort("high")  # in any case of letters
    <ReasoningEffort.HIGH: 'High'>
    """

    LOW = "Low"
    MEDIUM = "Medium"
    HIGH = "High"

    @classmethod
    def _missing_(cls, value: object) -> ReasoningEffort:
        if isinstance(value, str):
            for effort in cls:
                if effort.value.lower() == value.lower():
                    return effort
        known = ", ".join(repr(effort.value) for effort in cls)
        raise ValueError(f"Unknown reasoning effort: {quoted(value)} is not one of {known}")


def effort_of(reasoning_effort: object) -> ReasoningEffort:
    """The effort that an option of this name gives; ``ValueError`` with the name for another."""
    try:
        return ReasoningEffort(reasoning_effort)
    except ValueError:
        known, got = "'low', 'medium' or 'high'", quoted(reasoning_effort)
        raise ValueError(f"reasoning_effort: expected {known}, got {got}") from None


@published
class ChannelConfig(BaseModel):
    """The channels that the system message names.

    >>> ChannelConfig.require_channels(["analysis", "final"]).channel_required
    True
    """

    valid_channels: list[str]
    """The channels, in the order in which the system message names them."""
    channel_required: bool
    """Whether every message must be on one of them."""

    @classmethod
    def require_channels(cls, channels: Iterable[str]) -> Self:
        """These channels, and every message must be on one."""
        # A string is not a list of channels, nor are things that cannot be iterated: validation
        # names them.
        given: Any = channels
        is_list = isinstance(given, Iterable) and not isinstance(given, str)
        names = list(given) if is_list else given
        return cls(valid_channels=names, channel_required=True)


class _HoldsTools(Content):
    """Content of system and developer messages: reading it, and builders for its ``tools``.

    The field itself is the subclass's, since its place among the others is the JSON form's order.
    """

    if TYPE_CHECKING:
        tools: dict[str, ToolNamespaceConfig] | None

    def with_tools(self, ns_config: ToolNamespaceConfig) -> Self:
        """Adds a namespace of tools, or replaces that of the same name; returns self."""
        name = getattr(ns_config, "name", None)
        if name is None:
            got = type(ns_config).__name__
            raise WrongTypeError(f"ns_config: expected a ToolNamespaceConfig, got {got}")
        if self.tools is None:
            self.tools = {}
        self.tools[name] = ns_config
        return self

    def with_browser_tool(self) -> Self:
        """Adds the browser (guide, section "Browser tool"); returns self."""
        return self.with_tools(ToolNamespaceConfig.browser())

    def with_python_tool(self) -> Self:
        """Adds the notebook (guide, section "Python tool"); returns self."""
        return self.with_tools(ToolNamespaceConfig.python())

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Reads the canonical JSON form; absent fields get their defaults.

        ``ValueError`` names what is wrong. An unknown field is an ``UnknownFieldWarning``, or with
        ``strict`` an ``UnknownFieldError``.

        >>> SystemContent.from_dict({"reasoning_effort": "high"}).reasoning_effort
        <ReasoningEffort.HIGH: 'High'>
        """
        fields = dict(require_object(raw, "content"))
        content = cls.model_validate(fields)
        report(unknown_fields(fields, content), "content", strict=strict)
        return content


def _guide_channels() -> ChannelConfig:
    return ChannelConfig.require_channels(["analysis", "commentary", "final"])


@published
class SystemContent(_HoldsTools, protected_namespaces=()):
    """The content of a system message (guide, section "System message format").

    A field that is ``None`` leaves its line out.

    >>> content = SystemContent.new().with_reasoning_effort("high")
    >>> content.with_conversation_start_date("2025-06-28").reasoning_effort
    <ReasoningEffort.HIGH: 'High'>
    """

    # The names that pydantic keeps for itself are not protected here: `model_identity` is the
    # format's.

    model_identity: str | None = "You are ChatGPT, a large language model trained by OpenAI."
    reasoning_effort: ReasoningEffort | None = ReasoningEffort.MEDIUM
    conversation_start_date: str | None = None
    """The current date, as the guide writes it: ``2025-06-28``."""
    knowledge_cutoff: str | None = "2024-06"
    channel_config: ChannelConfig | None = Field(default_factory=_guide_channels)
    tools: dict[str, ToolNamespaceConfig] | None = None
    """Built-in tools by namespace, rendered in the order of the names."""

    @classmethod
    def new(cls) -> Self:
        """The guide's identity, cutoff and channels, medium reasoning, no date."""
        return cls()

    def with_model_identity(self, model_identity: str | None) -> Self:
        """Replaces the identity, or leaves it out; returns self, as all builders do."""
        self.model_identity = model_identity
        return self

    def with_reasoning_effort(self, reasoning_effort: ReasoningEffort | EffortName | None) -> Self:
        """Sets the reasoning effort: a member, or its name in any case of letters, ``"high"``.

        ``None`` leaves the line out. ``ValueError`` for another name.
        """
        effort = reasoning_effort if reasoning_effort is None else ReasoningEffort(reasoning_effort)
        self.reasoning_effort = effort
        return self

    def with_conversation_start_date(self, conversation_start_date: str) -> Self:
        """Sets the current date, as the guide writes it: ``2025-06-28``."""
        self.conversation_start_date = conversation_start_date
        return self

    def with_knowledge_cutoff(self, knowledge_cutoff: str) -> Self:
        """Replaces the knowledge cutoff."""
        self.knowledge_cutoff = knowledge_cutoff
        return self

    def with_channel_config(self, channel_config: ChannelConfig) -> Self:
        """Replaces the channels."""
        self.channel_config = channel_config
        return self

    def with_required_channels(self, channels: Iterable[str]) -> Self:
        """Replaces the channels and requires them."""
        self.channel_config = ChannelConfig.require_channels(channels)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The content in canonical JSON form.

        A field that is ``None`` is left out, but for those that have another default: a reader
        would take the default for them.
        """
        fields = self.model_dump(exclude_none=True)
        defaults = SystemContent.model_fields.items()
        omitted = [name for name, field in defaults if field.get_default(call_default_factory=True)]
        nulls = {name: None for name in omitted if getattr(self, name) is None}
        return {**fields, **nulls, "type": "system_content"}


with field_named("schema"):

    class ResponseFormat(BaseModel):
        """A named JSON Schema that an answer must follow (guide, section "Structured output")."""

        name: str
        """The format's name, unique within its message."""
        description: str | None = None
        """What the format is for; becomes a comment above the schema."""
        # Without `Field()` pydantic 2.3 takes the shadowed method for a default.
        schema: dict[str, Any] | StrictBool = Field()  # type: ignore[assignment]
        """The JSON Schema, written out compactly with its keys in their order."""


@published
class DeveloperContent(_HoldsTools, WithNewFields):
    """The content of a developer message (guide, section "Developer message format").

    >>> tool = ToolDescription.new("get_time", "The time, now.")
    >>> content = DeveloperContent.new().with_instructions("Be brief.").with_function_tools([tool])
    >>> content.tools["functions"].tools[0].name
    'get_time'
    """

    instructions: str | None = None
    """What is elsewhere called the system prompt."""
    tools: dict[str, ToolNamespaceConfig] | None = None
    """Tools by namespace, rendered in the order of the names."""
    response_formats: list[ResponseFormat] = Field(default_factory=list)
    """Formats that an answer must follow, in the order in which they are declared."""

    @classmethod
    def _new_fields(cls) -> tuple[str, ...]:
        return ("response_formats",)

    @classmethod
    def new(cls) -> Self:
        """Empty content."""
        return cls()

    def with_instructions(self, instructions: str) -> Self:
        """Sets the instructions; returns self, as all builders do."""
        self.instructions = instructions
        return self

    def with_function_tools(self, tools: Iterable[ToolDescription]) -> Self:
        """Sets the tools of the namespace ``functions`` (guide, section "Function calling").

        Returns self. The model calls them by ``functions.`` and their names.
        """
        return self.with_tools(ToolNamespaceConfig(name="functions", tools=list(tools)))

    def with_response_format(
        self,
        name: str,
        schema: dict[str, Any] | bool,
        description: str | None = None,
    ) -> Self:
        """Adds a response format (guide, section "Structured output"); returns self."""
        added = ResponseFormat(name=name, description=description, schema=schema)
        # Assigned, not appended: what is only appended to a default, pydantic takes for not set.
        self.response_formats = [*self.response_formats, added]
        return self

    def to_dict(self) -> dict[str, Any]:
        """The content in canonical JSON form: what is ``None`` or empty left out."""
        fields = self.model_dump(exclude_none=True)
        if not self.response_formats:
            fields.pop("response_formats", None)
        return {**fields, "type": "developer_content"}
