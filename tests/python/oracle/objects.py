"""An object of each public class of 0.0.8, and what is done with it: the same code on either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openai_harmony import (
    Author,
    ChannelConfig,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    HarmonyEncodingName,
    HarmonyError,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    RenderOptions,
    Role,
    StreamState,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
)

Json = Any


def _tool() -> ToolDescription:
    return ToolDescription.new(
        "f", "Does.", {"type": "object", "properties": {"a": {"type": "string"}}}
    )


def _developer() -> DeveloperContent:
    return DeveloperContent.new().with_instructions("Be brief.").with_function_tools([_tool()])


def _system() -> SystemContent:
    return SystemContent.new().with_reasoning_effort(ReasoningEffort.HIGH).with_browser_tool()


def _conversation() -> Conversation:
    call = Message.from_role_and_content(Role.ASSISTANT, "{}").with_channel("commentary")
    result = Message.from_author_and_content(Author.new(Role.TOOL, "functions.f"), "1")
    return Conversation.from_messages(
        [
            Message.from_role_and_content(Role.SYSTEM, _system()),
            Message.from_role_and_content(Role.DEVELOPER, _developer()),
            call.with_recipient("functions.f").with_content_type("<|constrain|>json"),
            result.with_channel("commentary"),
        ]
    )


_MADE: dict[str, Callable[[], Any]] = {
    "Author": lambda: Author.new(Role.USER, "bob"),
    "ChannelConfig": lambda: ChannelConfig.require_channels(["final"]),
    "Conversation": _conversation,
    "DeveloperContent": _developer,
    "DeveloperContent, empty": DeveloperContent.new,
    "HarmonyEncodingName": lambda: HarmonyEncodingName.HARMONY_GPT_OSS,
    "HarmonyError": lambda: HarmonyError("text"),
    "Message": lambda: Message.from_role_and_contents(Role.DEVELOPER, [_developer()]),
    "ReasoningEffort": lambda: ReasoningEffort.LOW,
    "RenderConversationConfig": RenderConversationConfig,
    "RenderConversationConfig, set": lambda: RenderConversationConfig(auto_drop_analysis=False),
    "RenderOptions": RenderOptions,
    "RenderOptions, set": lambda: RenderOptions(conversation_has_function_tools=True),
    "Role": lambda: Role.TOOL,
    "StreamState": lambda: StreamState.CONTENT,
    "SystemContent": _system,
    "TextContent": lambda: TextContent(text="a"),
    "ToolDescription": _tool,
    "ToolNamespaceConfig": ToolNamespaceConfig.browser,
}
NAMES = list(_MADE)


def made(name: str) -> Any:
    """A new one."""
    return _MADE[name]()


def seen(value: Any) -> Any:
    """What of it can be compared: errors have no equality."""
    return (type(value), str(value)) if isinstance(value, Exception) else value


def used(encoding: HarmonyEncoding, value: Any) -> dict[str, Json]:
    """What a program sees of it, and the tokens that are made of it or with it."""
    shown: dict[str, Json] = {"repr": repr(value)}
    if hasattr(value, "model_dump"):
        shown["set"] = sorted(value.model_fields_set)
        is_message = isinstance(value, (Message, Conversation))
        # The difference `model-dump-json`.
        shown["dump"] = None if is_message else value.model_dump(mode="json")
    if hasattr(value, "to_dict"):
        shown["dict"] = value.to_dict()
    if isinstance(value, Message):
        value = Conversation.from_messages([value])
    if isinstance(value, DeveloperContent):
        value = Message.from_role_and_content(Role.DEVELOPER, value)
    if isinstance(value, Message):
        value = Conversation.from_messages([value])
    if isinstance(value, Conversation):
        shown["tokens"] = encoding.render_conversation(value)
    if isinstance(value, RenderConversationConfig):
        shown["tokens"] = encoding.render_conversation(_conversation(), value)
    if isinstance(value, RenderOptions):
        message = Message.from_role_and_content(Role.SYSTEM, _system())
        shown["tokens"] = encoding.render(message, value)
    return shown
