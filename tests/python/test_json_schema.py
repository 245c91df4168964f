"""What other programs see of the models: JSON Schema and OpenAPI."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI

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
