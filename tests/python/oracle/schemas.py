"""Random JSON Schemas, made of what people write and of what they get wrong."""

from __future__ import annotations

from random import Random
from typing import Any

from tables import table

from . import texts

TYPES = ["string", "number", "integer", "boolean", "array", "object", "null", "any", "date", ""]
DEFAULTS = [None, True, "x", 'q"uote', "", "é\n", 0, -1, [], [1, "a"], {}, {"a": None}]
NUMBERS = table("oracle_schemas", "numbers")
ENUMS = [["a"], ["celsius", "fahrenheit"], [], ['a"b', "c\nd", "é"], [1, 2], ["a", 1, None, True]]
BOUNDS = table("oracle_schemas", "bounds")[0]


def tool_parameters(random: Random) -> Any:
    """The schema of a tool's arguments: mostly an object, sometimes anything, sometimes none."""
    kind = random.randrange(10)
    if kind == 0:
        return None
    if kind == 1:
        return {}
    if kind == 2:
        return schema(random, 2)
    return object_schema(random, 3)


def schema(random: Random, depth: int) -> Any:
    """A schema nested at most `depth` deep."""
    made = _bare_schema(random, depth)
    if random.random() < 0.4:
        made["description"] = description(random)
    if random.random() < 0.2:
        made["default"] = random.choice(DEFAULTS + NUMBERS)
    if random.random() < 0.15:
        made["nullable"] = random.choice([True, False])
    if random.random() < 0.1:
        made["title"] = description(random)
    if random.random() < 0.15:
        key = random.choice(sorted(BOUNDS))
        made[key] = BOUNDS[key]
    return _shuffled(random, made)


def _bare_schema(random: Random, depth: int) -> dict[str, Any]:
    kind = random.randrange(12)
    if depth > 0 and kind < 2:
        return object_schema(random, depth - 1)
    if depth > 0 and kind < 4:
        return {"type": "array", **_items(random, depth - 1)}
    if depth > 0 and kind == 4:
        union = random.choice(["anyOf", "oneOf", "oneOf", "allOf"])
        return {union: [schema(random, depth - 1) for _ in range(random.randint(0, 3))]}
    if kind == 5:
        return {"type": random.choice(["string", "integer", None]), "enum": random.choice(ENUMS)}
    if kind == 6:
        return {"type": [random.choice(TYPES) for _ in range(random.randint(0, 3))]}
    if kind == 7:
        return random.choice([{"$ref": "#/$defs/a"}, {"const": "a"}, {}, {"type": 3}, {"not": {}}])
    return {"type": random.choice(TYPES)}


def _items(random: Random, depth: int) -> dict[str, Any]:
    if random.random() < 0.15:
        return random.choice([{}, {"items": True}, {"items": [{"type": "string"}]}])
    return {"items": schema(random, depth)}


def object_schema(random: Random, depth: int) -> dict[str, Any]:
    names = [
        random.choice(["a", "location", "format", "two words", "$ref", "ünï", "x-y", "1", ""])
        for _ in range(random.randint(0, 4))
    ]
    properties = {name: schema(random, depth) for name in names}
    made: dict[str, Any] = {"type": "object"}
    if random.random() < 0.95:
        made["properties"] = properties
    if random.random() < 0.7:
        made["required"] = random.sample(names, random.randint(0, len(names)))
    if random.random() < 0.2:
        made["description"] = description(random)
    return _shuffled(random, made)


def description(random: Random) -> str:
    return random.choice(
        [
            "",
            "One line.",
            "Two\nlines.",
            "Ends with a break\n",
            "*/ } // not",
            texts.text(random, 2),
        ]
    )


def _shuffled(random: Random, made: dict[str, Any]) -> dict[str, Any]:
    """The order of keys decides the tokens."""
    items = list(made.items())
    random.shuffle(items)
    return dict(items)
