"""What is delivered as a call satisfies the tool's schema, or is what the model wrote: Python's json and jsonschema judge."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from openai_harmony import HarmonyEncoding
from openai_harmony.interop import anthropic
from tables import table

TEXTS = ["", "a", "é\n\t", 'say "x"', "\\d+\\.", "C:\\temp", "{}", "[1]", "```", "\\u12", "a,}"]


def schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    kinds = ["string", "integer", "boolean", "enum", "union"] + ["array", "object"] * (depth < 2)
    kind = rng.choice(kinds) if depth else "object"
    if kind == "enum":
        return {"enum": rng.sample(["a", "b", 1, None, True], 2)}
    if kind == "union":
        return {rng.choice(["anyOf", "oneOf"]): [{"type": "string"}, {"type": "null"}]}
    if kind == "array":
        return {"type": "array", "items": schema(rng, depth + 1), "minItems": rng.choice([0, 1])}
    if kind == "object":
        names = rng.sample(["a", "b", "text"], rng.choice([1, 1, 2]))
        made: dict[str, Any] = {
            "type": "object",
            "required": rng.sample(names, rng.randint(0, len(names))),
        }
        made["properties"] = {name: schema(rng, depth + 1) for name in names}
        return made | ({"additionalProperties": False} if rng.random() < 0.3 else {})
    return {"type": kind}


def value(rng: random.Random, of: dict[str, Any]) -> Any:
    """One that satisfies the schema."""
    if "enum" in of:
        return rng.choice(of["enum"])
    if "type" not in of:
        return rng.choice([*TEXTS, None])
    if of["type"] == "array":
        return [value(rng, of["items"]) for _ in range(rng.randint(of["minItems"], 2))]
    if of["type"] == "object":
        members = of["properties"].items()
        return {
            name: value(rng, member)
            for name, member in members
            if name in of["required"] or rng.random() < 0.7
        }
    simple: dict[str, list[Any]] = {
        "string": TEXTS,
        "integer": [0, -7, 10**30],
        "boolean": [True, False],
    }
    return rng.choice(simple[of["type"]])


DAMAGE: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "a fence": lambda text: f"```json\n{text}\n```",
    "a name": lambda text: f"code={text}",
    "an array around it": lambda text: f"[{text}]",
    "a bracket too many": lambda text: text + "}",
    "a comma at the end": lambda text: text[:-1] + ",}",
    "lone backslashes": lambda text: text.replace("\\\\", "\\"),
    "raw line breaks": lambda text: text.replace("\\n", "\n").replace("\\t", "\t"),
    "escaped once more": lambda text: json.dumps(text)[1:-1],
    "as a string": json.dumps,
    "twice": lambda text: text + text,
    "cut": lambda text: text[:-1],
    "another quote": lambda text: text.replace('"', "'"),
    "only its first member": lambda text: json.dumps(next(iter(json.loads(text).values()), None)),
    "members in a list": lambda text: json.dumps(list(json.loads(text).values())),
}
KEEP = table("calls_meant", "keep")
"""Damage after which the value is always certain, unless the value is empty or several readings satisfy the schema."""


def delivered(encoding: HarmonyEncoding, of: dict[str, Any], text: str) -> list[Any] | None:
    """The inputs of the calls, or nothing for text."""
    tools = [{"name": "f", "input_schema": of}]
    body = {"max_tokens": 9, "messages": [{"role": "user", "content": "Q"}], "tools": tools}
    reply = anthropic.read(body).reply(encoding, model="m")
    tokens = encoding.encode(
        "<|channel|>commentary to=functions.f<|message|>", allowed_special="all"
    )
    reply.feed([*tokens, *encoding.encode(text), encoding.special_token("<|call|>")])
    reply.finish("stop")
    blocks = json.loads(reply.response_bytes())["content"]
    calls = [block["input"] for block in blocks if block["type"] == "tool_use"]
    assert calls or [block["text"] for block in blocks] == [text]
    return calls or None


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_law(damage: str, encoding: HarmonyEncoding) -> None:
    rng = random.Random(damage)
    seen: Counter[str] = Counter()
    for _ in range(150):
        of = schema(rng)
        meant = value(rng, of)
        text = DAMAGE[damage](json.dumps(meant, ensure_ascii=rng.random() < 0.5))
        calls = delivered(encoding, of, text)
        if calls is None:
            seen["text"] += 1
            continue
        for call in calls:
            is_right = call == meant
            fits = jsonschema.Draft202012Validator(of).is_valid(call)
            written = damage == "only its first member" and call == json.loads(text)
            # A backslash that is left alone may begin another escape.
            as_read = damage == "lone backslashes" and call.keys() == meant.keys()
            assert is_right or fits or written or as_read, (of, text, call)
            seen["meant" if is_right else "fits"] += 1
    if damage in KEEP or damage == "none":
        assert seen["meant"] > 120, seen
    if damage in ("cut", "another quote"):
        assert seen["meant"] < 75, seen
