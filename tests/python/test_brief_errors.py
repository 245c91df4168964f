"""Errors quote at most 200 characters of a value, wherever they are made."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    HarmonyEncodingName,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
    SystemContent,
    ToolDescription,
    ToolSchemaStyle,
    load_harmony_encoding,
)
from openai_harmony.interop import chat_completions
from openai_harmony.training import Batch
from openai_harmony.training import render as render_rows

LONG = "x" * 100_000
encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


def render(message: Message, **options: Any) -> None:
    config = RenderConversationConfig(**options)
    encoding.render_conversation(Conversation.from_messages([message]), config)


def render_tools(*tools: ToolDescription) -> None:
    content = DeveloperContent.new().with_function_tools(list(tools))
    message = Message.from_role_and_content(Role.DEVELOPER, content)
    render(message, tool_schema=ToolSchemaStyle.FULL)


def raise_first(batch: Batch) -> None:
    raise batch.errors[0][1]


MAKERS = {
    "role": lambda: Role(LONG),
    "effort": lambda: ReasoningEffort(LONG),
    "encoding": lambda: load_harmony_encoding(LONG),
    "role in a request": lambda: chat_completions.read(
        {"messages": [{"role": LONG, "content": "x"}]}
    ),
    "name in a request": lambda: chat_completions.read({"messages": [], "logit_bias": {LONG: "x"}}),
    "option of a reader": lambda: chat_completions.read({"messages": []}, history=[{LONG: {1}}]),
    "row": lambda: raise_first(render_rows([{"messages": [{LONG: 1}]}])),
    "role of a message": lambda: Message.from_dict({"role": LONG, "content": "x"}),
    "kind of content": lambda: Message.from_dict({"role": "user", "content": [{"type": LONG}]}),
    "role to render": lambda: encoding.render_conversation_for_completion(
        Conversation.from_messages([]), LONG
    ),
    "field of a header": lambda: render(
        Message.from_author_and_content(Author(role=Role.USER, name=f"{LONG} "), "x"),
        validate=True,
    ),
    "tool": lambda: render_tools(ToolDescription.new(f"{LONG} ", "d")),
    "key of a schema": lambda: render_tools(ToolDescription.new("f", "d", {LONG: object()})),
    "token": lambda: encoding.decode([10**300]),
    "effort of a system message": lambda: render(
        Message.from_role_and_content(
            Role.SYSTEM, SystemContent.new().model_copy(update={"reasoning_effort": LONG})
        )
    ),
    "role to parse for": lambda: encoding.parse_messages_from_completion_tokens([1], LONG),
    "words in a header": lambda: encoding.parse_messages_from_completion_tokens(
        encoding.encode(f"<|start|>user {LONG} b c d<|message|>x<|end|>", allowed_special="all")
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_at_most_200_characters_of_a_value_are_quoted(make: Callable[[], object]) -> None:
    with pytest.raises((ValueError, RuntimeError, TypeError)) as caught:
        make()
    # What pydantic itself quotes comes on top, and is shorter.
    assert max(map(len, re.findall("x+|0+", str(caught.value)))) <= 200
    assert len(str(caught.value)) < 600
