"""The conversations and the streams of tokens' text, in the JSON form that every version reads."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from . import texts
from . import vocabulary_of_prose as words

Json = dict[str, Any]


def seven_messages() -> Json:
    """System, developer with four tools, user, thought, call, result, answer."""
    random = Random(7)
    tool = "functions.get_current_weather"
    return {
        "messages": [
            _system(),
            _developer(random, 4),
            _said("user", "What is the weather like in Tokyo and in San Francisco? Answer in °C."),
            _said("assistant", _sentences(random, 3), channel="analysis"),
            _call(tool, '{"location": "Tokyo", "format": "celsius"}'),
            _result(tool, '{"location": "Tokyo", "temperature": 20, "sunny": true}'),
            _said("assistant", "It is 20 °C and sunny in Tokyo ☀️.", channel="final"),
        ]
    }


def hundred_and_two_messages() -> Json:
    """System and developer, then 25 turns of question, thought or call, result and answer.

    About 4,000 tokens: mostly short messages, as in a support chat.
    """
    random = Random(102)
    messages = [_system(), _developer(random, 2)]
    while len(messages) < 102:
        messages.append(_said("user", _sentences(random, random.randint(1, 2))))
        if random.random() < 0.5:
            tool = f"functions.{random.choice(_TOOLS)}"
            arguments = {"query": texts.sentence(random), "limit": random.randint(1, 50)}
            messages.append(_call(tool, json.dumps(arguments)))
            messages.append(_result(tool, json.dumps(_short_record(random), ensure_ascii=False)))
        else:
            messages.append(_said("assistant", _sentences(random, 1), channel="analysis"))
            messages.append(_said("assistant", _sentences(random, 1), channel="commentary"))
        messages.append(_said("assistant", _sentences(random, 2), channel="final"))
    return {"messages": messages[:102]}


def one_long_message() -> str:
    """A completion of one message, more than 16,000 tokens of mixed chat long."""
    writer = texts.chat(Random(16))
    return "<|channel|>final<|message|>" + texts.of_size(writer, 80_000)


def thought_and_answer() -> str:
    """A completion of a thought and an answer, more than 2,000 tokens in all."""
    writer = texts.chat(Random(17))
    thought, answer = texts.of_size(writer, 4_000), texts.of_size(writer, 8_000)
    return (
        f"<|channel|>analysis<|message|>{thought}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{answer}<|return|>"
    )


def many_short_messages() -> str:
    """A completion of thoughts and tool calls, more than 16,000 tokens in all."""
    random = Random(61)
    written: list[str] = []
    while len(written) < 500:
        if random.random() < 0.5:
            written.append(f"<|channel|>analysis<|message|>{_sentences(random, 2)}<|end|>")
        else:
            written.append(
                f"<|channel|>commentary to=functions.{random.choice(_TOOLS)} <|constrain|>json"
                f"<|message|>{json.dumps(_short_record(random))}<|call|>"
            )
    return "<|start|>assistant".join(written)


def eight_messages() -> str:
    """A completion of eight messages: thoughts, two calls, the answer."""
    random = Random(8)
    written = []
    for kind in ["analysis", "call", "analysis", "commentary", "call", "analysis", "commentary"]:
        if kind == "call":
            written.append(
                f"<|channel|>commentary to=functions.{random.choice(_TOOLS)} <|constrain|>json"
                f"<|message|>{json.dumps(texts.record(random))}<|call|>"
            )
        else:
            written.append(f"<|channel|>{kind}<|message|>{_sentences(random, 6)}<|end|>")
    written.append(f"<|channel|>final<|message|>{_sentences(random, 12)}<|return|>")
    return "<|start|>assistant".join(written)


_TOOLS = ["get_current_weather", "search_orders", "list_files", "lookup_customer"]


def _sentences(random: Random, count: int) -> str:
    return " ".join(texts.sentence(random) for _ in range(count))


def _short_record(random: Random) -> Json:
    record = texts.record(random)
    return {key: record[key] for key in ("url", "price", "in_stock", "tags")}


def _said(role: str, text: str, **fields: str) -> Json:
    return {"role": role, "content": [{"type": "text", "text": text}], **fields}


def _call(tool: str, arguments: str) -> Json:
    return _said(
        "assistant",
        arguments,
        channel="commentary",
        recipient=tool,
        content_type="<|constrain|>json",
    )


def _result(tool: str, text: str) -> Json:
    return _said("tool", text, name=tool, channel="commentary", recipient="assistant")


def _system() -> Json:
    content = {
        "type": "system_content",
        "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
        "reasoning_effort": "Medium",
        "conversation_start_date": "2025-06-28",
        "knowledge_cutoff": "2024-06",
        "channel_config": {
            "valid_channels": ["analysis", "commentary", "final"],
            "channel_required": True,
        },
    }
    return {"role": "system", "content": [content]}


def _developer(random: Random, tools: int) -> Json:
    content = {
        "type": "developer_content",
        "instructions": _sentences(random, 3),
        "tools": {
            "functions": {
                "name": "functions",
                "tools": [_tool(random, tool) for tool in _TOOLS[:tools]],
            }
        },
    }
    return {"role": "developer", "content": [content]}


def _tool(random: Random, name: str) -> Json:
    parameters = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": texts.sentence(random)},
            "format": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
            "limit": {"type": "integer", "description": texts.sentence(random), "default": 10},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {
                "type": "object",
                "properties": {
                    random.choice(words.PLAIN): {"type": "string"},
                    "since": {"type": ["string", "null"], "description": texts.sentence(random)},
                },
                "required": ["since"],
            },
        },
        "required": ["query"],
    }
    return {"name": name, "description": texts.sentence(random), "parameters": parameters}
