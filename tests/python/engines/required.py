"""Requests that promise a call, or a schema, in each API, and whether an answer keeps it."""

from __future__ import annotations

import json
from typing import Any

from gateways import USER

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Oslo", "Bergen"]},
        "days": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
        "note": {"type": "string"},
    },
    "required": ["city"],
    "additionalProperties": False,
}
FUNCTION = {"name": "rain", "description": "?", "parameters": SCHEMA}
OTHER = {"name": "now", "parameters": {"type": "object", "additionalProperties": False}}

BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": USER,
        "tools": [{"type": "function", "function": one} for one in (FUNCTION, OTHER)],
        "tool_choice": "required",
    },
    "/v1/responses": {
        "input": "?",
        "tools": [{"type": "function", **one} for one in (FUNCTION, OTHER)],
        "tool_choice": "required",
    },
    "/v1/messages": {
        "messages": USER,
        "max_tokens": 500,
        "tools": [{"name": one["name"], "input_schema": one["parameters"]} for one in (FUNCTION, OTHER)],
        "tool_choice": {"type": "any"},
    },
    # Ollama has no tool_choice; a schema is what it promises.
    "/api/chat": {"messages": USER, "format": SCHEMA, "stream": False},
}  # fmt: skip


def calls(path: str, answer: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and arguments of what is called; Ollama's answer as if it were a call."""
    if path == "/api/chat":
        return [("rain", json.loads(answer["message"]["content"]))]
    if path == "/v1/messages":
        return [(c["name"], c["input"]) for c in answer["content"] if c["type"] == "tool_use"]
    if path == "/v1/responses":
        found = [one for one in answer["output"] if one["type"] == "function_call"]
        return [(one["name"], json.loads(one["arguments"])) for one in found]
    found = answer["choices"][0]["message"]["tool_calls"] or []
    return [(one["function"]["name"], json.loads(one["function"]["arguments"])) for one in found]


def valid_call(path: str, answer: dict[str, Any]) -> str | None:
    """The name of the one call, if there is one and its arguments fit."""
    found = calls(path, answer)
    if len(found) != 1:
        return None
    [(name, arguments)] = found
    return name if (arguments == {} if name == "now" else is_valid(arguments)) else None


def is_valid(arguments: dict[str, Any]) -> bool:
    days, note = arguments.get("days", []), arguments.get("note", "")
    return (
        arguments.keys() <= {"city", "days", "note"}
        and arguments["city"] in ("Oslo", "Bergen")
        and len(days) <= 3
        and all(type(day) is bool for day in days)
        and type(note) is str
    )
