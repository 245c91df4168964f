"""What 0.0.8's users do to models: forms of their own, dicts instead of models, fields left out."""

from __future__ import annotations

from typing import Any

import pytest

import openai_harmony
from openai_harmony import (
    Content,
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    Message,
    MissingFieldError,
    Role,
    SystemContent,
    TextContent,
    WrongTypeError,
)


class Redacted(TextContent):
    def to_dict(self) -> dict[str, Any]:
        return {"type": "text", "text": "***"}


class Picture(Content):
    width: int

    def to_dict(self) -> dict[str, Any]:
        return {"type": "text", "text": f"a picture of {self.width} pixels"}


class Nothing(Content):
    pass


class Final(Message):
    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "channel": "final"}


class Spoken(Message):
    def to_json(self) -> str:
        return Message.from_role_and_content(Role.USER, "spoken").to_json()


class Window(Conversation):
    def to_dict(self) -> dict[str, Any]:
        return {"messages": [message.to_dict() for message in self.messages[-1:]]}


class Told:
    """Not a model, but it has a JSON form."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def to_json(self) -> str:
        return self.conversation.to_json()


class TestFormsOfTheirOwn:
    """What a class's own `to_dict` or `to_json` gives is what is rendered."""

    @pytest.mark.parametrize(
        ("content", "text"),
        [(Redacted(text="secret"), "***"), (Picture(width=3), "a picture of 3 pixels")],
    )
    def test_contents(self, encoding: HarmonyEncoding, content: Content, text: str) -> None:
        message = Message.from_role_and_content(Role.USER, content)
        assert encoding.decode(encoding.render(message)) == f"<|start|>user<|message|>{text}<|end|>"

    def test_messages(self, encoding: HarmonyEncoding) -> None:
        message = Final.from_role_and_content(Role.ASSISTANT, "4")
        expected = Message.from_role_and_content(Role.ASSISTANT, "4").with_channel("final")
        assert encoding.render(message) == encoding.render(expected)

    def test_messages_as_json(self, encoding: HarmonyEncoding) -> None:
        """Which 0.0.8 asks for where a message is rendered by itself, and only there."""
        message = Spoken.from_role_and_content(Role.USER, "written")
        assert "spoken" in encoding.decode(encoding.render(message))
        conversation = Conversation.from_messages([message])
        assert "written" in encoding.decode(encoding.render_conversation(conversation))

    def test_conversations(self, encoding: HarmonyEncoding) -> None:
        texts = [Message.from_role_and_content(Role.USER, text) for text in "ab"]
        window = Window(messages=texts)
        expected = Conversation(messages=texts[1:])
        assert encoding.render_conversation(window) == encoding.render_conversation(expected)
        told = Told(expected)
        assert encoding.render_conversation(told) == encoding.render_conversation(expected)  # type: ignore[arg-type]

    def test_a_part_without_a_form(self, encoding: HarmonyEncoding) -> None:
        with pytest.raises(NotImplementedError, match="Nothing has no canonical JSON form"):
            encoding.render(Message.from_role_and_content(Role.USER, Nothing()))


def test_dicts_instead_of_models_are_rendered(encoding: HarmonyEncoding) -> None:
    content, expected = SystemContent.new(), SystemContent.new()
    content.channel_config = {"valid_channels": ["a"], "channel_required": True}  # type: ignore[assignment]
    expected = expected.with_required_channels(["a"])
    for one in (content, expected):
        one.tools = {"p": {"name": "p", "tools": [{"name": "f"}]}}  # type: ignore[dict-item]
    ours, theirs = (Message.from_role_and_content(Role.SYSTEM, c) for c in (content, expected))
    assert encoding.render(ours) == encoding.render(theirs)
    assert "type f" in encoding.decode(encoding.render(ours))
    content.channel_config = {"valid_channels": 3}  # type: ignore[assignment]
    with pytest.raises(ValueError, match="valid_channels"):
        encoding.render(ours)


def test_a_reasoning_effort_may_be_missing(encoding: HarmonyEncoding) -> None:
    content = SystemContent.new().with_reasoning_effort(None)
    text = encoding.decode(encoding.render(Message.from_role_and_content(Role.SYSTEM, content)))
    assert "Reasoning" not in text


def test_an_encoding_is_made_from_an_encoding(encoding: HarmonyEncoding) -> None:
    assert HarmonyEncoding(encoding._inner).encode("hi") == encoding.encode("hi")


def test_errors_are_exported() -> None:
    assert issubclass(WrongTypeError, (TypeError, ValueError))
    assert issubclass(MissingFieldError, KeyError)
    assert {"MissingFieldError", "WrongTypeError"} <= set(openai_harmony.__all__)
    with pytest.raises(ValueError, match="channels"):
        SystemContent.new().with_required_channels(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (1.602176634e-19, "1.6021766340000001e-19"),
        (3.4028234663852886e38, "3.402823466385289e38"),
        (2**100, "1.2676506002282293e30"),
        (0.1, "0.1"),
    ],
)
def test_numbers_are_written_as_in_0_0_8(
    encoding: HarmonyEncoding, given: Any, written: str
) -> None:
    """What 0.0.8 writes: its JSON reader now and then takes the nearest number but one."""
    parameters = {"type": "object", "properties": {"q": {"type": "number", "default": given}}}
    tool = openai_harmony.ToolDescription.new("f", "d", parameters)
    content = DeveloperContent.new().with_function_tools([tool])
    text = encoding.decode(encoding.render(Message.from_role_and_content(Role.DEVELOPER, content)))
    assert f"// default: {written}\n" in text
