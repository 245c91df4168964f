"""Random tools to be written as TypeScript.

A case is a list of namespaces: {"name", "description", "tools": [{"name", "description",
"parameters"}]}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Json = Any
Namespaces = list[dict[str, Json]]

TEXTS = ["", "\n", "one", "one\ntwo", "one\r\ntwo\n", "one\n\ntwo", "one\rtwo", "\u2028"]
TEXTS += ['"', "\\", " x "]


def developer_message(namespaces: Namespaces) -> Json:
    """The message that holds them, under keys in this order."""
    tools = {f"{index:02}": namespace for index, namespace in enumerate(namespaces)}
    return {"role": "developer", "content": [{"type": "developer_content", "tools": tools}]}


class RandomSchema:
    """Schemas that are now and then wrong in every way that JSON allows."""

    WORDS = (*TEXTS, "a", "b", "null", "nullable", "é", "celsius", "// x", "x\n// y", "*/", "}")
    TYPES = ("string", "number", "integer", "boolean", "null", "object", "array", "any", "foo")
    COMMON_TYPES = (*TYPES[:7], *("object", "array", "string") * 3)
    INTEGERS = (0, -1, 7, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30)
    FLOATS = (0.0, -0.0, 1.5, 1e16, 1e300)

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def chance(self, one_in: int) -> bool:
        return self.rng.randrange(one_in) == 0

    def word(self) -> str:
        return self.rng.choice(self.WORDS)

    def value(self, depth: int = 2) -> Json:
        rng = self.rng
        kind = rng.randrange(8 if depth else 5)
        if kind == 0:
            return rng.choice([None, True, False])
        if kind == 1:
            return rng.choice([*self.INTEGERS, rng.getrandbits(70)])
        if kind == 2:
            small, any_size = rng.uniform(-1e3, 1e3), rng.random() * 10 ** rng.randrange(-20, 30)
            return rng.choice([*self.FLOATS, small, any_size])
        if kind < 5:
            return self.word()
        if kind == 5:
            return [self.value(depth - 1) for _ in range(rng.randrange(3))]
        return {self.word(): self.value(depth - 1) for _ in range(rng.randrange(3))}

    def list_of(self, make: Callable[[], Json], most: int = 4) -> Json:
        count = self.rng.randrange(most)
        return [self.value() if self.chance(12) else make() for _ in range(count)]

    def map_of(self, make: Callable[[], Json], most: int = 4) -> Json:
        return {self.word(): make() for _ in range(self.rng.randrange(most))}

    def type(self) -> Json:
        if self.chance(5):
            return self.list_of(lambda: self.rng.choice(self.TYPES))
        return self.rng.choice(self.COMMON_TYPES)

    def schema(self, depth: int) -> Json:
        if self.chance(25):
            return self.value()

        def inner() -> Json:
            return self.schema(depth - 1)

        makers = {
            "type": (1.2, self.type),
            "properties": (3, lambda: self.map_of(inner)),
            "required": (4, lambda: self.list_of(self.word, 6)),
            "items": (3, inner),
            "oneOf": (9, lambda: self.list_of(inner)),
            "enum": (5, lambda: self.list_of(self.word)),
            "nullable": (6, lambda: not self.chance(4)),
            "title": (5, self.word),
            "description": (3, self.word),
            "examples": (6, lambda: self.list_of(self.word)),
            "default": (4, self.value),
            "anyOf": (20, lambda: self.list_of(inner)),
            "const": (20, self.value),
            "additionalProperties": (12, inner),
        }
        nested = {"properties", "items", "oneOf", "anyOf", "additionalProperties"}
        keywords = [k for k, (one_in, _) in makers.items() if self.rng.random() < 1 / one_in]
        self.rng.shuffle(keywords)
        keywords = [k for k in keywords if depth > 0 or k not in nested]
        return {k: self.value() if self.chance(30) else makers[k][1]() for k in keywords}

    def tool(self) -> dict[str, Json]:
        parameters = None if self.chance(10) else self.schema(self.rng.randrange(1, 6))
        named = {"name": self.word(), "description": self.word()}
        return {**named, "parameters": parameters} if isinstance(parameters, dict) else named

    def namespace(self) -> dict[str, Json]:
        description = None if self.chance(3) else self.word()
        tools = [self.tool() for _ in range(self.rng.randrange(4))]
        return {"name": self.word(), "description": description, "tools": tools}


def random_cases(count: int, rng: Random) -> Iterator[Namespaces]:
    schemas = RandomSchema(rng)
    for _ in range(count):
        yield [schemas.namespace() for _ in range(rng.randrange(1, 4))]
