"""The canonical JSON form: kept as 0.0.8 writes it, and errors that say what and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    Message,
    Role,
    SystemContent,
    ToolDescription,
)

HI = {"role": "user", "content": "Hi"}


def test_a_message_keeps_its_form() -> None:
    message = Message.from_role_and_content("user", "é")
    assert message.to_json() == (
        '{"role": "user", "name": null, "content": [{"type": "text", "text": "\\u00e9"}]}'
    )
    full = (
        Message.from_author_and_content(Author.new(Role.TOOL, "f"), "x")
        .with_content_type("t")
        .with_recipient("r")
        .with_channel("c")
    )
    assert list(full.to_dict()) == [
        "role",
        "name",
        "content",
        "channel",
        "recipient",
        "content_type",
    ]
    assert full.to_dict()["role"] is Role.TOOL
    assert Message.from_json(full.to_json()) == full


def test_system_and_developer_content_keep_their_forms() -> None:
    assert json.dumps(SystemContent.new().to_dict()) == (
        '{"model_identity": "You are ChatGPT, a large language model trained by OpenAI.", '
        '"reasoning_effort": "Medium", "knowledge_cutoff": "2024-06", '
        '"channel_config": {"valid_channels": ["analysis", "commentary", "final"], '
        '"channel_required": true}, "type": "system_content"}'
    )
    empty = SystemContent(
        model_identity=None, reasoning_effort=None, knowledge_cutoff=None, channel_config=None
    )
    # Readers, those of 0.0.8 too, take a missing field for its default.
    fields = ["model_identity", "reasoning_effort", "knowledge_cutoff", "channel_config"]
    assert empty.to_dict() == {**dict.fromkeys(fields), "type": "system_content"}
    assert SystemContent.from_dict(empty.to_dict()) == empty
    assert DeveloperContent.new().to_dict() == {"type": "developer_content"}
    # A `None` within a schema is the schema's own.
    tool = ToolDescription.new("f", "d", parameters={"default": None})
    developer = DeveloperContent.new().with_instructions("i").with_function_tools([tool])
    assert json.dumps(developer.to_dict()) == (
        '{"instructions": "i", "tools": {"functions": {"name": "functions", "tools": '
        '[{"name": "f", "description": "d", "parameters": {"default": null}}]}}, '
        '"type": "developer_content"}'
    )


def test_what_a_builder_sets_counts_as_set() -> None:
    developer = DeveloperContent.new().with_response_format("f", {}).with_response_format("g", {})
    kept = DeveloperContent.model_validate(developer.model_dump(exclude_unset=True))
    assert [form.name for form in kept.response_formats] == ["f", "g"]


def test_response_formats_come_last_and_only_if_there_are_any() -> None:
    developer = DeveloperContent.new().with_response_format("f", {"b": 1, "a": 2})
    assert json.dumps(developer.to_dict()) == (
        '{"response_formats": [{"name": "f", "schema": {"b": 1, "a": 2}}], '
        '"type": "developer_content"}'
    )
    assert DeveloperContent.from_dict(developer.to_dict()) == developer


def test_from_dict_reads_what_model_dump_writes() -> None:
    message = Message.from_dict(HI)
    assert Message.from_dict(message.model_dump()) == message


def test_from_dict_sets_every_field() -> None:
    assert Message.from_dict(HI).model_fields_set == {
        "author",
        "content",
        "channel",
        "recipient",
        "content_type",
    }


def test_a_missing_field_is_a_key_error_too() -> None:
    with pytest.raises(KeyError):
        Message.from_dict({"role": "user"})


def test_validation_errors_keep_the_whole_path() -> None:
    wrong = {"role": "user", "content": [{"type": "text", "text": 3}]}
    with pytest.raises(ValidationError) as caught:
        Conversation.from_dict({"messages": [HI, wrong]})
    assert caught.value.errors()[0]["loc"] == ("messages", 1, "content", 0, "text")
    with pytest.raises(ValidationError, match=r"messages.0.content.0\n  Value error, Unknown"):
        Conversation.from_dict({"messages": [{"role": "user", "content": [{"type": "zz"}]}]})


def test_deep_schemas_are_refused_when_written() -> None:
    schema: dict[str, Any] = {}
    for _ in range(10_000):
        schema = {"items": schema}
    developer = DeveloperContent.new().with_response_format("f", schema)
    message = Message.from_role_and_content("developer", developer)
    # pydantic refuses them, or the JSON writer does: that depends on pydantic's version.
    with pytest.raises(ValueError, match="depth exceeded|nested too deeply"):
        message.to_json()
    with pytest.raises(ValueError, match="depth exceeded|nested too deeply"):
        Conversation.from_messages([message]).to_json()
