"""Answers as engines and clients have them, whole or as the log of a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from openai_harmony.chat import Message, Role
from openai_harmony.interop import anthropic, chat_completions, ollama, responses

READERS: dict[str, tuple[Any, str]] = {
    "chat_completions": (chat_completions.read, "messages"),
    "responses": (responses.read, "input"),
    "anthropic": (anthropic.read, "messages"),
    "ollama": (ollama.read, "messages"),
}
"""The reader of each API's requests, and the field that has the messages. They are tried in this
order: if several readers use all of a body, the first is taken."""
_OLLAMA = re.compile(r'{"model":.*"message":.*"done":\s*false')
_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The deltas of Anthropic's blocks, with the member that each continues."""


def whole_answer(text: str) -> Any:
    """The answer that the log of a stream adds up to; ``None`` if the text is not such a log.

    Raises:
        ValueError: An event that is not JSON, or no event of an answer.
    """
    if not text.lstrip().startswith(("data:", "event:", "id:", ":")):
        return _joined_lines(text)
    events = [*_events(text)]
    if not events:
        raise ValueError("the stream has no events")
    if "choices" in events[0]:
        return {"choices": [_joined_choice(events)]}
    for event in reversed(events):
        if isinstance(event.get("response"), dict) and event["response"].get("output"):
            return event["response"]
    if any(event.get("type") == "content_block_start" for event in events):
        return {"type": "message", "role": "assistant", "content": _joined_blocks(events)}
    raise ValueError("the stream has no answer of chat completions, Responses or Anthropic")


def answered(data: Mapping[str, Any]) -> list[int] | list[Message] | None:
    """The sampled token ids of an answer, or its messages if it has no ids.

    Of several choices it reads the first. ``None`` if the object is not an answer.

    Raises:
        ValueError: A message that its API cannot have.
    """
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and isinstance(choice.get("token_ids"), list):
        ids: list[int] = choice["token_ids"]
        return ids
    if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
        return _messages("chat_completions", [choice["message"]])
    if data.get("object") == "response" and isinstance(data.get("output"), list):
        return _messages("responses", data["output"])
    if data.get("type") == "message" and isinstance(data.get("content"), list):
        return _messages("anthropic", [{"role": "assistant", "content": data["content"]}])
    if "done" in data and isinstance(data.get("message"), dict):
        return _messages("ollama", [data["message"]])
    return None


def _messages(dialect: str, said: list[Any]) -> list[Message]:
    """What the assistant says, read as the next request would bring it."""
    read, field = READERS[dialect]
    turn = read({field: said}, date=None)
    if turn.prefill is not None:  # The last message would be continued: another one follows.
        turn = read({field: [*said, {"role": "user", "content": "…"}]}, date=None)
    own = (Role.ASSISTANT, Role.TOOL)
    return [one for one in turn.conversation.messages if one.author.role in own]


def _events(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data in ("", "[DONE]"):
            continue
        try:
            event = json.loads(data)
        except ValueError as error:
            raise ValueError(f"line {number}: not JSON: {error}") from None
        if not isinstance(event, dict):
            raise ValueError(f"line {number}: expected an object")
        yield event


def _joined_lines(text: str) -> Any:
    """Ollama's stream: a line of JSON for each chunk."""
    lines = text.split("\n")
    if len(lines) < 2 or not _OLLAMA.match(lines[0]):
        return None
    chunks = [json.loads(line).get("message") or {} for line in lines if line.strip()]
    message: dict[str, Any] = {"role": "assistant"}
    for name in ("content", "thinking"):
        message[name] = "".join(one.get(name) or "" for one in chunks)
    message["tool_calls"] = [call for one in chunks for call in one.get("tool_calls") or []]
    return {"done": True, "message": message}


def _joined_choice(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The first choice: its token ids if chunks have them, else its message."""
    choices = [
        one for event in events for one in event.get("choices") or [] if not one.get("index")
    ]
    if any(one.get("token_ids") for one in choices):
        return {"token_ids": [token for one in choices for token in one.get("token_ids") or []]}
    message: dict[str, Any] = {"role": "assistant"}
    calls: dict[int, dict[str, Any]] = {}
    for delta in (one.get("delta") or {} for one in choices):
        for name in ("content", "reasoning_content", "reasoning"):
            if delta.get(name):
                message[name] = message.get(name, "") + delta[name]
        for part in delta.get("tool_calls") or []:
            function = part.get("function") or {}
            blank = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            call = calls.setdefault(part.get("index", 0), blank)
            call["id"] = part.get("id") or call["id"]
            call["function"]["name"] = function.get("name") or call["function"]["name"]
            call["function"]["arguments"] += function.get("arguments") or ""
    if calls:
        message["tool_calls"] = [call for _, call in sorted(calls.items())]
    return {"message": message}


def _joined_blocks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Anthropic's content blocks."""
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for event in events:
        index, delta = event.get("index", 0), event.get("delta") or {}
        if event.get("type") == "content_block_start":
            blocks[index] = dict(event.get("content_block") or {})
        elif delta.get("type") == "input_json_delta":
            inputs[index] = inputs.get(index, "") + delta.get("partial_json", "")
        elif (name := _TEXTS.get(delta.get("type", ""))) and index in blocks:
            blocks[index][name] = (blocks[index].get(name) or "") + delta.get(name, "")
    for index, text in inputs.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return [block for _, block in sorted(blocks.items())]
