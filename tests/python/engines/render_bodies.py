"""Random bodies of chat completions as clients send them, for the comparison of prompts with vLLM's own."""

from __future__ import annotations

import json
import random
from typing import Any

from tables import table

WORDS = "rain wind sun in Oslo Rome über 東京 a b?! \n \n\n 17 x=1 {} <|end|> don't 😀 / ,".split(
    " "
)
SCHEMAS: list[Any] = table("engines_render_bodies", "schemas")
NAMES = ["rain", "get_wind", "sun-set", "lookup2"]


def text(rng: random.Random, least: int = 1) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(least, 8)))


def content(rng: random.Random) -> Any:
    if rng.random() < 0.7:
        return text(rng)
    return [{"type": "text", "text": text(rng)} for _ in range(rng.randint(1, 3))]


def tool(rng: random.Random, name: str) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name}
    if rng.random() < 0.8:
        function["description"] = text(rng)
    if rng.random() < 0.9:
        function["parameters"] = rng.choice(SCHEMAS)
    return {"type": "function", "function": function}


def exchange(rng: random.Random, names: list[str], number: int) -> list[dict[str, Any]]:
    """A question, calls with their results in some order, and mostly an answer."""
    said: list[dict[str, Any]] = [{"role": "user", "content": content(rng)}]
    for step in range(rng.choice([0, 0, 1, 1, 2]) if names else 0):
        calls = [
            {
                "id": f"call_{number}_{step}_{at}",
                "type": "function",
                "function": {
                    "name": rng.choice(names),
                    "arguments": json.dumps({"city": text(rng)}, ensure_ascii=rng.random() < 0.5),
                },
            }
            for at in range(rng.choice([1, 1, 2, 3]))
        ]
        message: dict[str, Any] = {"role": "assistant", "tool_calls": calls}
        if rng.random() < 0.5:
            message["content"] = text(rng)
        if rng.random() < 0.5:
            message[rng.choice(["reasoning", "reasoning_content"])] = text(rng)
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": content(rng)} for call in calls
        ]
        rng.shuffle(results)
        said += [message, *results]
    if rng.random() < 0.85:
        answer: dict[str, Any] = {"role": "assistant", "content": text(rng)}
        if rng.random() < 0.4:
            answer["reasoning"] = text(rng)
        said.append(answer)
    return said


def body(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(NAMES, rng.randint(1, 3)) if rng.random() < 0.6 else []
    messages: list[dict[str, Any]] = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        messages.append({"role": rng.choice(["system", "developer"]), "content": content(rng)})
    for number in range(rng.choice([0, 0, 1, 2])):
        messages += exchange(rng, names, number)
        if rng.random() < 0.1:
            messages.append({"role": "developer", "content": text(rng)})
    messages.append({"role": "user", "content": content(rng)})
    made: dict[str, Any] = {"model": "gpt-oss-20b", "messages": messages}
    if names:
        made["tools"] = [tool(rng, name) for name in names]
        choice = rng.choice(["auto", "none", "required", "named", None, None])
        if choice == "named":
            made["tool_choice"] = {"type": "function", "function": {"name": names[0]}}
        elif choice:
            made["tool_choice"] = choice
    if rng.random() < 0.4:
        made["reasoning_effort"] = rng.choice(["low", "medium", "high"])
    if rng.random() < 0.2:
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        made["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "made", "schema": schema},
        }
    if rng.random() < 0.2:
        made["max_tokens"] = rng.choice([1, 16, 500])
    if rng.random() < 0.2:
        made |= {"temperature": 0.5, "seed": 7, "stop": ["x"], "top_k": 5}
    if rng.random() < 0.1:
        messages[-1]["name"] = "bob"
    return made
