"""A model that knows nothing calls a tool when it must, in all four APIs; `make test-engines`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="make test-engines installs starlette")
pytest.importorskip("llguidance", reason="make test-engines installs llguidance")

from gateways import ENCODING, USER, ask
from openai_harmony import serve
from openai_harmony.serve.engines import Sampled, SampleRequest

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


class Hurried:
    """The tiny model, which likes to end what it writes: else it would go on at random for ever."""

    name, address, model, constrains = "transformers", "here", "tiny", True

    def __init__(self, engine: Any) -> None:
        self.engine, self.context = engine, engine.context
        ends = ENCODING.encode(
            '<|end|><|call|><|return|><|channel|><|message|>", } "} "]', allowed_special="all"
        )
        # Between calling at once and thinking first, it mostly calls.
        self.bias = dict.fromkeys(ends, 14.0) | dict.fromkeys(ENCODING.encode(" to"), 15.0)
        self.seed = 0

    async def check(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        self.seed += 1
        sampling = {**request.sampling, "logit_bias": self.bias, "seed": self.seed}
        sampled = self.engine.sample(replace(request, sampling=sampling))
        try:
            async for some in sampled:
                yield some
        finally:
            await sampled.aclose()


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


def is_valid(arguments: dict[str, Any]) -> bool:
    days, note = arguments.get("days", []), arguments.get("note", "")
    return (
        arguments.keys() <= {"city", "days", "note"}
        and arguments["city"] in ("Oslo", "Bergen")
        and len(days) <= 3
        and all(type(day) is bool for day in days)
        and type(note) is str
    )


@pytest.mark.parametrize("path", BODIES)
def test_fifty_of_fifty(engine: Any, path: str) -> None:
    app = serve.app(Hurried(engine))
    names = []

    async def run() -> None:
        for _ in range(50):
            answer = await ask(app, path, BODIES[path])
            assert answer.status == 200, answer.body
            found = calls(path, answer.json())
            assert len(found) == 1, answer.body
            [(name, arguments)] = found
            is_right = arguments == {} if name == "now" else is_valid(arguments)
            assert is_right, (name, arguments)
            names.append(name)

    asyncio.run(run())
    assert len(names) == 50
    assert "rain" in names


def test_a_strict_tool_that_llguidance_cannot_hold(engine: Any) -> None:
    schema = {"type": "object", "not": {"required": ["a"]}}
    function = {"name": "a", "parameters": schema, "strict": True}
    body = {"messages": USER, "tools": [{"type": "function", "function": function}]}
    answer = asyncio.run(ask(serve.app(Hurried(engine)), "/v1/chat/completions", body))
    assert answer.status in (400, 502)
    assert "llguidance" in answer.body.decode()
