"""Tools to be written as TypeScript: by topic for the golden cases, and random ones.

A case is a list of namespaces: {"name", "description", "tools": [{"name", "description",
"parameters"}]}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

Json = Any
Namespaces = list[dict[str, Json]]

STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
TEXTS = ["", "\n", "one", "one\ntwo", "one\r\ntwo\n", "one\n\ntwo", "one\rtwo", "\u2028"]
TEXTS += ['"', "\\", " x "]
OBJECT = {
    "type": "object",
    "description": "Outer",
    "properties": {
        "near": {"type": "string", "description": "Near", "default": "x"},
        "far": {"type": "object", "description": "Far", "properties": {"deep": {"type": "number"}}},
    },
    "required": ["near"],
}


def developer_message(namespaces: Namespaces) -> Json:
    """The message that holds them, under keys in this order."""
    tools = {f"{index:02}": namespace for index, namespace in enumerate(namespaces)}
    return {"role": "developer", "content": [{"type": "developer_content", "tools": tools}]}


def tool(parameters: Json = None, name: str = "f", description: str = "") -> dict[str, Json]:
    result = {"name": name, "description": description}
    return result if parameters is None else {**result, "parameters": parameters}


def namespace(
    *tools: Json, name: str = "functions", description: str | None = None
) -> dict[str, Json]:
    return {"name": name, "description": description, "tools": list(tools)}


def prop(schema: Json, **more: Json) -> dict[str, Json]:
    return {"type": "object", "properties": {"a": schema}, **more}


def default_schemas() -> Iterator[Json]:
    values = [None, True, 0, -1, 1.0, -0.0, 1e16, 1e15, 1e-7, 0.1, 2**64 - 1, -(2**63)]
    values += [2**64, -(2**63) - 1, 10**25, 5e-324, 1.7976931348623157e308]
    values += [
        "",
        "x",
        'a"b\\c',
        "x\ny",
        [],
        {},
        ["a", {"b": 1}],
        {"z": [1.0, None], "a": "\u2028\n\x7f\u00e9"},
    ]
    yield from ({"default": value} for value in values)
    for enum in [["x"], [1], [None], [], None, "x", {"x": 1}]:
        yield {"type": "string", "enum": enum, "default": "x"}
        yield {"enum": enum, "default": "x", "oneOf": [{"enum": enum, "default": "x"}]}
    yield {"type": "string", "enum": ["x"], "default": ["x"]}
    yield {"type": "object", "default": {}}


def one_of_schemas() -> Iterator[Json]:
    enum = {"type": "string", "enum": ["a", "b"], "default": "a"}
    yield from ({"oneOf": variants} for variants in [[], 3, {}, [NULL], [STRING], [STRING, NULL]])
    yield from (
        {"oneOf": value, "title": "T", "description": "D", "default": "x"}
        for value in [{}, "x", []]
    )
    yield {"oneOf": [True, 3, None, "x", [], {}]}
    yield {
        "oneOf": [STRING, INTEGER],
        "title": "T",
        "description": "D",
        "examples": ["e"],
        "default": 3,
    }
    described = [{**enum, "description": text} for text in "VW"]
    yield from ({"oneOf": described, "description": text} for text in ["", "V", "W"])
    yield from [{"oneOf": described}, {"oneOf": described, "title": "T"}]
    yield {"oneOf": [enum, {**enum, "description": "D"}], "default": "a", "enum": ["a"]}
    yield {"oneOf": [{"oneOf": [enum, OBJECT], "description": "Inner", "default": 1}]}
    yield {"oneOf": [{"type": "array", "items": {"oneOf": [enum, {**enum, "description": "D"}]}}]}
    yield {"oneOf": [OBJECT, {"type": "object"}], "nullable": True}
    yield {"oneOf": [{**STRING, "nullable": True}, {"type": ["string", "null"], "nullable": True}]}
    yield {"oneOf": [{"type": "object", "nullable": True, "properties": {"null": STRING}}]}
    yield {"oneOf": [{"description": text, "default": text} for text in TEXTS]}
    yield {"type": "array", "items": {"oneOf": [OBJECT, STRING], "nullable": True}}
    yield {"type": "string", "enum": ["a"], "oneOf": [STRING], "properties": {"x": STRING}}
    yield {"oneOf": [{"title": "T", "examples": ["e"], "type": "string"}]}


def type_schemas() -> Iterator[Json]:
    names = ["string", "number", "integer", "boolean", "null", "object", "array", "any", "foo"]
    for name in [*names, "", 3, None, True, {}, {"type": "string"}]:
        yield {"type": name}
        yield {"type": name, "nullable": True}
    nullables = [["string", "null"], ["array", "null"]]
    for several in [names, [], ["integer"], [3, "string"], [3], *nullables]:
        yield {"type": several, "items": STRING, "properties": {"x": STRING}, "enum": ["a"]}
        yield {"type": several, "nullable": True}
    for values in [["a", "b"], [], [1, "a", None], [1, 2], "ab", ["null"], [""], ['a"b\\c\nd']]:
        yield {"type": "string", "enum": values}
        yield {"type": "string", "enum": values, "nullable": True}
        yield {"type": "number", "enum": values}
        yield {"enum": values}
    yield from ({"type": "string", "nullable": value} for value in ["true", 1, None, False])
    yield from [{"anyOf": [STRING, NULL]}, {"allOf": [STRING]}, {"$ref": "#/x"}, {"const": 3}]
    yield from [True, False, None, 3, 1.5, "x", [], [STRING]]


def array_schemas() -> Iterator[Json]:
    items = [{}, STRING, True, None, 3, [STRING], {"type": ["string", "null"]}, {"type": "array"}]
    items += [{"type": "string", "enum": ["a", "b"], "nullable": True}, OBJECT, {"type": "object"}]
    items += [{"type": "array", "items": OBJECT}]
    items += [{**STRING, "title": "T", "description": "D", "default": "x"}]
    for item in items:
        yield {"type": "array", "items": item}
        yield {"type": "array", "items": item, "nullable": True, "description": "D", "default": []}


def object_schemas() -> Iterator[Json]:
    yield from ({"type": "object", "properties": value} for value in [None, [], 3, {}])
    for required in ["a", ["a", "nope"], [1, "a", "a"], {"a": 1}, None, []]:
        yield prop(STRING, required=required)
    for names in [["", "a b", "a-b", "1", 'a"', "a\nb", "é"], "zyxwvutsrqponmlkjihgfedcba"]:
        properties = {name: {} for name in names}
        yield {"type": "object", "properties": properties, "required": list("abcdefghijklmnopqr")}
    for additional in [True, False, STRING]:
        yield {"type": "object", "additionalProperties": additional}
    yield from ({"type": "object", "title": text, "description": text} for text in TEXTS)
    yield {**OBJECT, "nullable": True, "title": "T", "default": {}, "examples": [{}, "e"]}
    yield {"properties": {"a": STRING}}
    yield {"type": ["object"], "properties": {"a": STRING}}
    yield prop(prop(prop(OBJECT)))


def text_schemas() -> Iterator[Json]:
    yield from ({"title": text} for text in TEXTS)
    yield from ({"description": text} for text in TEXTS)
    yield from ({"type": "string", "enum": ["x", text], "default": text} for text in TEXTS)
    for examples in [TEXTS, [], ["a"], "a", [1, {"a": 2}, None], {"a": 1}, None]:
        yield {"examples": examples, "title": "T", "description": "D"}
    yield {"title": 3, "description": ["x"], "example": "x"}


def as_parameters_and_property(schemas: Iterable[Json]) -> Iterator[Namespaces]:
    """Each schema at both places where it is read, many in one case to keep the files small."""
    schemas = list(schemas)
    for start in range(0, len(schemas), 10):
        some = schemas[start : start + 10]
        # As parameters, 0.0.8 takes nothing but a dict.
        tools = [tool(schema) for schema in some if isinstance(schema, dict)]
        yield [namespace(*tools)]
        named = {f"p{index}": schema for index, schema in enumerate(some)}
        yield [namespace(tool({"type": "object", "properties": named}))]


def namespace_cases() -> Iterator[Namespaces]:
    f = tool(prop(STRING), description="Does f")
    for text in TEXTS:
        yield [namespace(name="python", description=text), namespace(f, description=text)]
        yield [namespace(tool(name="g", description=text))]
    for name in ["", "a b", "é", "x\n", "<|start|>", "string"]:
        yield [namespace(tool(name=name), name=name)]
    yield [namespace(), namespace(name="b", description="B"), namespace(f, f, name="a")]
    yield [namespace(f, f, name="z"), namespace(name="y"), namespace(name="x", description="x\n\n")]


TOPICS: dict[str, Callable[[], Iterator[Namespaces]]] = {
    "arrays": lambda: as_parameters_and_property(array_schemas()),
    "defaults": lambda: as_parameters_and_property(default_schemas()),
    "namespaces": namespace_cases,
    "objects": lambda: as_parameters_and_property(object_schemas()),
    "one_of": lambda: as_parameters_and_property(one_of_schemas()),
    "random": lambda: random_cases(20, Random(0)),
    "texts": lambda: as_parameters_and_property(text_schemas()),
    "types": lambda: as_parameters_and_property(type_schemas()),
}


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
        return tool(parameters if isinstance(parameters, dict) else None, self.word(), self.word())

    def namespace(self) -> dict[str, Json]:
        description = None if self.chance(3) else self.word()
        tools = [self.tool() for _ in range(self.rng.randrange(4))]
        return namespace(*tools, name=self.word(), description=description)


def random_cases(count: int, rng: Random) -> Iterator[Namespaces]:
    schemas = RandomSchema(rng)
    for _ in range(count):
        yield [schemas.namespace() for _ in range(rng.randrange(1, 4))]
