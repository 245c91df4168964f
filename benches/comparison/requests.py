"""A request of chat completions to the tokens of its prompt.

This project reads it; for 0.0.8 there is what every server writes itself, as short as it can be:
it knows nothing but what this request has.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from . import conversations, texts

Json = dict[str, Any]
DATE = "2025-06-28"


def seven_messages_and_four_tools() -> str:
    """The body as JSON text."""
    random = Random(77)
    developer = conversations.seven_messages()["messages"][1]["content"][0]
    tools = [
        {"type": "function", "function": tool} for tool in developer["tools"]["functions"]["tools"]
    ]
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_current_weather", "arguments": '{"location": "Tokyo"}'},
    }
    messages = [
        {"role": "system", "content": developer["instructions"]},
        {"role": "user", "content": texts.sentence(random)},
        {"role": "assistant", "content": None, "reasoning_content": "Look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"temperature": 20, "sunny": true}'},
        {"role": "assistant", "content": texts.sentence(random)},
        {"role": "user", "content": texts.sentence(random)},
        {"role": "user", "content": texts.sentence(random)},
    ]
    body = {"model": "gpt-oss-20b", "messages": messages, "tools": tools, "temperature": 0.5}
    return json.dumps(body, ensure_ascii=False)


def by_interop(module: Any, encoding: Any, text: str) -> list[int]:
    """By this project, rendered as 0.0.8 renders."""
    from openai_harmony.interop import chat_completions

    config = module.RenderConversationConfig()
    turn: Any = chat_completions.read(text, date=DATE, config=config)
    prompt: list[int] = turn.prompt(encoding)
    return prompt


def by_hand(module: Any, encoding: Any, text: str) -> list[int]:
    """By 0.0.8, and the lines that its users write around it."""
    body = json.loads(text)
    message, role = module.Message, module.Role
    developer = module.DeveloperContent.new().with_instructions(body["messages"][0]["content"])
    developer = developer.with_function_tools(
        [
            module.ToolDescription.new(tool["name"], tool["description"], tool["parameters"])
            for tool in (declared["function"] for declared in body["tools"])
        ]
    )
    system = module.SystemContent.new().with_conversation_start_date(DATE)
    messages = [
        message.from_role_and_content(role.SYSTEM, system),
        message.from_role_and_content(role.DEVELOPER, developer),
    ]
    called: dict[str, str] = {}
    for said in body["messages"][1:]:
        messages += _by_hand(module, said, called)
    conversation = module.Conversation.from_messages(messages)
    prompt: list[int] = encoding.render_conversation_for_completion(conversation, role.ASSISTANT)
    return prompt


def _by_hand(module: Any, said: Json, called: dict[str, str]) -> list[Any]:
    message, role = module.Message, module.Role
    if said["role"] == "user":
        return [message.from_role_and_content(role.USER, said["content"])]
    if said["role"] == "tool":
        author = module.Author.new(role.TOOL, called[said["tool_call_id"]])
        result = message.from_author_and_content(author, said["content"])
        return [result.with_recipient("assistant").with_channel("commentary")]
    messages = []
    if said.get("reasoning_content"):
        thought = message.from_role_and_content(role.ASSISTANT, said["reasoning_content"])
        messages.append(thought.with_channel("analysis"))
    for call in said.get("tool_calls", ()):
        called[call["id"]] = "functions." + call["function"]["name"]
        made = message.from_role_and_content(role.ASSISTANT, call["function"]["arguments"])
        made = made.with_channel("commentary").with_recipient(called[call["id"]])
        messages.append(made.with_content_type("<|constrain|>json"))
    if said["content"]:
        answer = message.from_role_and_content(role.ASSISTANT, said["content"])
        messages.append(answer.with_channel("final"))
    return messages
