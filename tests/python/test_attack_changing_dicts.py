"""Dicts that change while they are read: each is read as it was, and nothing panics."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from openai_harmony import (
    Conversation,
    DeveloperContent,
    HarmonyEncoding,
    Message,
    Role,
    ToolDescription,
    ToolNamespaceConfig,
)
from openai_harmony.interop import chat_completions
from openai_harmony.training import render

HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


def namespace(name: str) -> ToolNamespaceConfig:
    return ToolNamespaceConfig(name=name, tools=[ToolDescription.new("run")])


def developer(tools: dict[str, Any]) -> Message:
    content = DeveloperContent.new()
    content.tools = tools
    return Message.from_role_and_content(Role.DEVELOPER, content)


class TestNamespaces:
    @pytest.mark.parametrize("change", ["add", "remove", "replace"])
    def test_changed_by_a_property(self, encoding: HarmonyEncoding, change: str) -> None:
        tools: dict[str, Any] = {}

        class Changing:
            description = None

            def __init__(self, name: str) -> None:
                self.name = name

            @property
            def tools(self) -> list[ToolDescription]:
                if change != "add":
                    tools.pop("last", None)
                if change != "remove":
                    tools[f"other{len(tools)}"] = namespace("other")
                return []

        tools["first"] = Changing("first")
        tools["last"] = namespace("last")
        text = encoding.decode(encoding.render(developer(tools)))
        assert "namespace last" in text
        assert "other" not in text

    def test_changed_by_another_thread(self, encoding: HarmonyEncoding) -> None:
        tools: dict[str, Any] = {}

        class Waiting:
            name, description = "first", None

            @property
            def tools(self) -> list[ToolDescription]:
                thread = threading.Thread(target=tools.update, args=[{"other": namespace("other")}])
                thread.start()
                thread.join()
                return []

        tools["first"] = Waiting()
        tools["last"] = namespace("last")
        conversation = Conversation.from_messages([developer(tools)])
        text = encoding.decode(encoding.render_conversation(conversation))
        assert "namespace last" in text
        assert "other" not in text


class TestSchemas:
    @pytest.mark.skipif(HAS_GIL, reason="with the GIL no other thread runs while a schema is read")
    def test_changed_by_another_thread(self, encoding: HarmonyEncoding) -> None:
        properties: dict[str, Any] = {f"p{index:02}": {"type": "string"} for index in range(99)}
        tool = ToolDescription.new("run", "Runs.", {"type": "object", "properties": properties})
        tools = {"functions": ToolNamespaceConfig(name="functions", tools=[tool])}
        message = developer(tools)
        # Whatever copies pydantic made.
        assert tool.parameters is not None
        properties = tool.parameters["properties"]
        done = threading.Event()

        def change() -> None:
            while not done.is_set():
                properties["other"] = {"type": "null"}
                del properties["other"]

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(300):
                assert "p98?: string" in encoding.decode(encoding.render(message))
        finally:
            done.set()
            thread.join()


class TestBodies:
    @pytest.mark.parametrize("change", ["add", "remove"])
    def test_changed_by_a_model(self, change: str) -> None:
        """Reading an SDK's object runs its code, which may change what is around it."""
        message: dict[str, Any] = {"role": "user"}

        class Part:
            def model_dump(self, **how: Any) -> dict[str, str]:
                if change == "add":
                    message.update((f"other{index}", index) for index in range(100))
                else:
                    message.pop("last", None)
                return {"type": "text", "text": "Hi"}

        message["content"] = [Part()]
        message["last"] = "?"
        turn = chat_completions.read({"messages": [message]})
        assert [unused.path for unused in turn.unused] == ["messages[0].last"]
        message["last"] = "?"
        answer = {"role": "assistant", "content": "Hi"}
        batch = render([{"messages": [message, answer]}], format="chat")
        assert len(batch) == 1
