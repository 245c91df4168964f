"""What few bytes of a request can make a server do."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

SIZES = (1000, 8000, 30_000)


def _references(count: int) -> dict[str, Any]:
    """Each names the next one twice."""
    count = min(count, 60)
    two = {
        f"d{at}": {"properties": {key: {"$ref": f"#/$defs/d{at + 1}"} for key in "ab"}}
        for at in range(count)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**two, f"d{count}": {"type": "string"}}}


def _fields(one: Callable[[int], Any]) -> Callable[[int], dict[str, Any]]:
    return lambda count: {
        "type": "object",
        "properties": {f"p{at}": one(at) for at in range(count)},
    }


SCHEMAS: dict[str, Callable[[int], dict[str, Any]]] = {
    "references": _references,
    "fields": _fields(lambda _: {}),
    "bounds": _fields(
        lambda at: {"type": "integer", "minimum": at - 10**14, "maximum": 10**17 + at}
    ),
    "patterns": _fields(lambda _: {"type": "string", "pattern": "^(a{1,50}){1,50}$"}),
    "classes": lambda count: {"type": "string", "pattern": "|".join([r"\w{1,9}[^\d]"] * count)},
    "names": lambda count: {
        "type": "object",
        "patternProperties": {f"^x{at}[a-z]{{1,20}}$": {"type": "string"} for at in range(count)},
    },
    "all": lambda count: {"allOf": [{"properties": {f"q{at}": {}}} for at in range(count)]},
    "values": lambda count: {"enum": [f"v{at}" for at in range(count)]},
}
TEXTS = ("x", "word ", "7", "\n", "水", "\u0301", "👩‍👩‍👧", "<|start|>", "𝔘 ")


def text(chance: random.Random) -> str:
    """A long one."""
    one = chance.choice(TEXTS)
    return one * (chance.choice(SIZES) // len(one.encode()))


def fields(path: str, chance: random.Random) -> dict[str, Any]:
    """Fields for a body of this path: a tool or a format with one of the schemas, or a grammar."""
    size, name = chance.choice(SIZES), chance.choice((*SCHEMAS, "grammar"))
    if name == "grammar":
        rules = " | ".join(f'"a{at}"' for at in range(size // 9))
        grammar = {"syntax": "lark", "definition": f"start: {rules}"}
        if path.startswith("/v1/responses"):
            custom = {"type": "custom", "name": "g", "format": {"type": "grammar", **grammar}}
            return {"tools": [custom]}
        named = {"name": "g", "format": {"type": "grammar", "grammar": grammar}}
        return (
            {"tools": [{"type": "custom", "custom": named}]} if "/chat/completions" in path else {}
        )
    count = 1
    while len(json.dumps(SCHEMAS[name](2 * count))) < size and count < size:
        count *= 2
    schema = SCHEMAS[name](count)
    if path.startswith("/v1/messages"):
        return {"tools": [{"name": "f", "input_schema": schema}]}
    if path.startswith("/api/"):
        return {"format": schema}
    if path.startswith("/v1/responses"):
        return {"text": {"format": {"type": "json_schema", "name": "f", "schema": schema}}}
    described = {"name": "f", "parameters": schema, "strict": True}
    return {"tools": [{"type": "function", "function": described}]}
