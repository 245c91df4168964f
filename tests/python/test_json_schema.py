"""What other programs see of the models: JSON Schema and OpenAPI."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter
from typing_extensions import Required, TypedDict

from openai_harmony import Conversation, Message


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_content_is_one_of_the_three_kinds(mode: Any) -> None:
    schema = Message.model_json_schema(mode=mode)
    content = schema["properties"]["content"]
    if mode == "validation":
        content, text = content["anyOf"]
        assert text == {"type": "string"}
    kinds = {
        kind["properties"]["type"]["const"]: kind["allOf"][0]["$ref"]
        for kind in content["items"]["oneOf"]
    }
    assert kinds == {
        "text": "#/$defs/TextContent",
        "system_content": "#/$defs/SystemContent",
        "developer_content": "#/$defs/DeveloperContent",
    }
    assert schema["$defs"]["TextContent"]["required"] == ["text"]
    assert "Content" not in schema["$defs"]


@pytest.mark.parametrize("ours_first", [False, True])
def test_messages_of_other_libraries_keep_their_type(ours_first: bool) -> None:
    """Servers take a chat message of another library's type or one of ours, in one field."""

    class Chat(TypedDict, total=False):
        role: Required[str]
        content: str | list[dict[str, Any]] | None
        name: str
        tool_calls: list[Any]
        tool_call_id: str

    either: Any = Message | Chat if ours_first else Chat | Message
    adapter = TypeAdapter(either)
    chats: list[dict[str, Any]] = [
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "Bob"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
    ]
    for chat in chats:
        assert adapter.validate_python(chat) == chat
        assert adapter.validate_json(json.dumps(chat)) == chat
    message = Message.from_role_and_content("user", "Hi")
    assert adapter.validate_python(message) is message
    assert adapter.validate_json(message.model_dump_json()) == message


def test_a_response_format_requires_its_schema() -> None:
    schema = Conversation.model_json_schema()["$defs"]["ResponseFormat"]
    assert set(schema["required"]) == {"name", "schema"}


@pytest.mark.filterwarnings("ignore:Using extra keyword:DeprecationWarning")  # old pydantic's
def test_fastapi_describes_requests_and_answers() -> None:
    app = FastAPI()

    @app.post("/echo")
    def echo(conversation: Conversation) -> Conversation:
        return conversation

    described = app.openapi()
    operation = described["paths"]["/echo"]["post"]
    body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    for reference in (body, answer):
        name = reference.rpartition("/")[2]
        assert name.startswith("Conversation")
        assert "messages" in described["components"]["schemas"][name]["properties"]
