"""Random schemas of the keywords that grammars hold, and values that nearly fit them."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema

NAMES = ["a", "b", "ab"]
TEXTS = ["", "a", "b", "ab", "abc", "a1", "12", "7", "x-y", 'q"\nz', "å", "aaaa"]
PATTERNS = ["^a", "b$", "^[a-c]+$", "[0-9]", "^a?b{1,2}$", "^(a|12)$", "^[^a]*$", "^x-", "^.{2,3}$"]
NUMBERS: list[Any] = [0, 1, -1, 2, 3, 5, 7, 10, 12, -7, 99, 100, 0.5, 1.5, -0.25, 2.75, 0.1]
SCALARS: list[Any] = [None, True, False, *NUMBERS, *TEXTS]


def schema(chosen: random.Random, depth: int = 2) -> Any:
    """A schema of any kind; deeper ones are scalars."""
    kinds = [_text, _integer, _number, _listed]
    if depth > 0:
        kinds += [_array, _object, _object, _choice, _all]
    made = chosen.choice(kinds)(chosen, depth)
    if chosen.random() < 0.1 and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


def _some(chosen: random.Random, members: dict[str, Any], likely: float = 0.4) -> dict[str, Any]:
    return {key: value for key, value in members.items() if chosen.random() < likely}


def _text(chosen: random.Random, _: int) -> dict[str, Any]:
    least = chosen.randint(0, 3)
    bounds = {"minLength": least, "maxLength": least + chosen.randint(0, 3)}
    pattern = {"pattern": chosen.choice(PATTERNS)}
    return {"type": "string", **(_some(chosen, bounds) if chosen.random() < 0.6 else pattern)}


def _bounds(chosen: random.Random) -> dict[str, Any]:
    low = chosen.choice(NUMBERS)
    lower = chosen.choice(["minimum", "exclusiveMinimum"])
    upper = chosen.choice(["maximum", "exclusiveMaximum"])
    return _some(chosen, {lower: low, upper: low + chosen.choice([0, 1, 2.5, 13, 200])}, 0.6)


def _integer(chosen: random.Random, _: int) -> dict[str, Any]:
    if chosen.random() < 0.3:
        return {"type": "integer", "multipleOf": chosen.choice([1, 2, 3, 7])}
    return {"type": "integer", **_bounds(chosen)}


def _number(chosen: random.Random, _: int) -> dict[str, Any]:
    return {"type": "number", **_bounds(chosen)}


def _listed(chosen: random.Random, _: int) -> dict[str, Any]:
    if chosen.random() < 0.5:
        return {"const": chosen.choice(SCALARS)}
    values = [chosen.choice([*SCALARS, [1], {"a": 1}]) for _ in range(3)]
    return {"enum": [one for at, one in enumerate(values) if one not in values[:at]]}


def _array(chosen: random.Random, depth: int) -> dict[str, Any]:
    least = chosen.randint(0, 2)
    made = {
        "items": schema(chosen, depth - 1) if chosen.random() < 0.8 else False,
        "minItems": least,
        "maxItems": least + chosen.randint(0, 2),
        "prefixItems": [schema(chosen, depth - 1) for _ in range(chosen.randint(1, 2))],
    }
    return {"type": "array", **_some(chosen, made, 0.5)}


def _object(chosen: random.Random, depth: int) -> dict[str, Any]:
    named = chosen.sample(NAMES, chosen.randint(0, 3))
    made: dict[str, Any] = {"type": "object", "additionalProperties": False}
    if named:
        made["properties"] = {name: schema(chosen, depth - 1) for name in named}
        made["required"] = [name for name in named if chosen.random() < 0.4]
    elif chosen.random() < 0.4:
        made["patternProperties"] = {"^x-": schema(chosen, depth - 1)}
    else:
        made["additionalProperties"] = schema(chosen, depth - 1)
        made |= _some(chosen, {"minProperties": 1, "maxProperties": 2})
        names = {"enum": ["a", "q"]} if chosen.random() < 0.5 else {"pattern": "^[ab]+$"}
        made |= _some(chosen, {"propertyNames": names}, 0.3)
    if named and chosen.random() < 0.2:
        made["additionalProperties"] = schema(chosen, depth - 1)
    return made


def _choice(chosen: random.Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"anyOf": [schema(chosen, depth - 1) for _ in range(2)]}
    if chosen.random() < 0.3:
        made |= _object(chosen, depth - 1)
    return made


def _all(chosen: random.Random, depth: int) -> dict[str, Any]:
    one = schema(chosen, depth - 1)
    other = copy.deepcopy(one) if chosen.random() < 0.5 else schema(chosen, depth - 1)
    if chosen.random() < 0.5 and "properties" in other:
        other["required"] = list(other["properties"])[:1]
    return {"allOf": [one, other]}


def values(chosen: random.Random, of: Any, count: int = 12) -> list[Any]:
    """Values that fit it, or nearly, and have few spellings."""
    made = [_value(chosen, of) for _ in range(count)]
    made += [_changed(chosen, copy.deepcopy(value)) for value in made]
    few = 100
    return [
        value for value in made if sum(1 for _ in itertools.islice(spellings(value), few)) < few
    ]


def _value(chosen: random.Random, of: Any) -> Any:
    if not isinstance(of, dict):
        return chosen.choice(SCALARS)
    for key in ("anyOf", "allOf"):
        if key in of and chosen.random() < 0.7:
            return _value(chosen, chosen.choice(of[key]))
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return chosen.choice(of["enum"])
    kind = of.get("type")
    kind = chosen.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        named = of.get("properties", {})
        needed = of.get("required", ())
        made = {
            name: _value(chosen, one)
            for name, one in named.items()
            if name in needed or chosen.random() < 0.5
        }
        for name in ("x-1", "q", "abc", "b1"):
            if chosen.random() < 0.12:
                rest = of.get("patternProperties", {}).get("^x-", of.get("additionalProperties"))
                made[name] = _value(chosen, rest)
        return made
    if kind == "array":
        first = of.get("prefixItems", [])
        length = chosen.randint(0, 3)
        return [
            _value(chosen, first[at] if at < len(first) else of.get("items"))
            for at in range(length)
        ]
    if kind in ("integer", "number"):
        bounds = [of[key] for key in of if key.startswith(("min", "max", "excl"))]
        near = [bound + step for bound in bounds for step in (-1, 0, 1, 0.5, -0.5)]
        return _plain(chosen.choice([*NUMBERS, *near]))
    return chosen.choice(TEXTS) if kind == "string" else chosen.choice(SCALARS)


def _plain(number: Any) -> Any:
    """JSON Schema takes 1.0 for an integer, and grammars do not: whole numbers have no point here."""
    return int(number) if number == int(number) else number


def _changed(chosen: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and chosen.random() < 0.8:
        name = chosen.choice(list(value))
        if chosen.random() < 0.4:
            del value[name]
        else:
            value[name] = _changed(chosen, value[name])
        return value
    if isinstance(value, list) and chosen.random() < 0.8:
        if value and chosen.random() < 0.5:
            at = chosen.randrange(len(value))
            value[at] = _changed(chosen, value[at])
            return value
        return value[:-1] if chosen.random() < 0.5 else [*value, chosen.choice(SCALARS)]
    return chosen.choice(SCALARS)


def spellings(value: Any) -> Iterator[str]:
    """A value as JSON, its members in each order: grammars have one order."""
    if isinstance(value, dict):
        for order in itertools.permutations(value.items()):
            for inner in itertools.product(*(spellings(one) for _, one in order)):
                members = (f"{json.dumps(name)}:{text}" for (name, _), text in zip(order, inner))
                yield "{" + ",".join(members) + "}"
    elif isinstance(value, list):
        for inner in itertools.product(*map(spellings, value)):
            yield "[" + ",".join(inner) + "]"
    else:
        yield json.dumps(value, ensure_ascii=False)


def fits(of: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(of).is_valid(value))


def tagged(value: Any) -> Any:
    """An object with one member."""
    of_a = {"type": "object", "properties": {"a": value}, "required": ["a"]}
    return {**of_a, "additionalProperties": False}


_SMALL: list[tuple[str, list[Any]]] = [
    ("type", ["string", "integer", "number", "array", "object", ["string", "null"]]),
    ("enum", [["a", 1], [[], {}]]),
    ("const", ["b", 0.5]),
    ("minLength", [1, 2]),
    ("maxLength", [0, 1]),
    ("pattern", ["^a", "b$", "a|^$", "^(a*)$", "^a?b?$", "(^a|b)"]),
    ("minimum", [0, 0.5]),
    ("exclusiveMinimum", [0]),
    ("maximum", [1]),
    ("exclusiveMaximum", [1, 2.5]),
    ("multipleOf", [2, 0.5, 0.1]),
    ("items", [{"type": "integer"}, False]),
    ("prefixItems", [[{"type": "string"}], [False]]),
    ("minItems", [1, 2]),
    ("maxItems", [0, 1]),
    ("properties", [{"a": {"type": "integer"}}, {"a": False}, {"a": True, "b": True}]),
    ("required", [["a"], ["a", "b"]]),
    ("additionalProperties", [False, {"type": "string"}]),
    (
        "patternProperties",
        [
            {"^a": {"type": "string"}},
            {"b": False},
            {"^(a)": {"type": "string"}, "^b": {"type": "integer"}},
        ],
    ),
    ("propertyNames", [{"maxLength": 1}, {"enum": ["a"]}, {"pattern": "^b"}]),
    ("unevaluatedProperties", [False, {"type": "string"}]),
    ("dependentRequired", [{}, {"a": ["b"]}]),
    ("uniqueItems", [False, True]),
    ("minProperties", [1, 2]),
    ("maxProperties", [0, 1]),
    ("anyOf", [[{"type": "string"}, {"minimum": 1}], [{"required": ["a"]}, {"maxItems": 1}]]),
    (
        "oneOf",
        [
            [{"type": "string"}, {"type": "object"}],
            [{"const": True}, {"enum": ["a", None]}, {"type": "number"}],
            [{"type": "boolean"}, {"type": "null"}, {"enum": [1, "a"]}, {"const": "b"}],
            [tagged({"const": 0}), tagged({"enum": ["x"]}), tagged({"type": "boolean"})],
            [tagged({"const": 0}), tagged({"enum": [0, "x"]})],
        ],
    ),
    ("allOf", [[{"minLength": 1}, {"maximum": 1}]]),
    ("not", [{"type": "string"}]),
    ("$ref", ["#/$defs/a"]),
]

SMALL_VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 2, 3, 0.5, 1.5, -2.5),
    *("", "a", "b", "ab", "ba", "aab"),
    *([], [0], [1, 2], ["a"], ["a", 1], ["a", "b"], [None, 0], [[], {}]),
    *({}, {"a": 0}, {"a": "x"}, {"b": 1}, {"b": "x"}, {"ab": "x"}, {"c": 0}),
    *({"a": 0, "b": 1}, {"a": "x", "b": "y"}, {"a": 0, "c": "x"}, {"b": 0, "c": 1}),
]


def small(keywords: int = 2) -> Iterator[Any]:
    """Every schema of so many keywords, each with a few values that say something."""
    for chosen in itertools.combinations(_SMALL, keywords):
        names = [name for name, _ in chosen]
        for of in itertools.product(*(of for _, of in chosen)):
            made = dict(zip(names, of))
            yield (
                {**made, "$defs": {"a": {"type": ["integer", "object"]}}}
                if "$ref" in made
                else made
            )


_ROOMS = (
    {"type", "enum", "const", "multipleOf", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"},
    {"type", "minLength", "maxLength", "pattern"},
    {"items", "prefixItems", "minItems", "maxItems"},
    {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"},
    {"anyOf", "oneOf", "type", "const"},
)  # fmt: skip


def merged() -> Iterator[tuple[Any, Any]]:
    """Two schemas of one keyword each, about the same kind of values, and all that both ask as BNF means it: where
    they name members and say nothing of others, there are no others."""
    single = [{name: value} for name, values in _SMALL for value in values]
    for one, other in itertools.combinations(single, 2):
        [key, of_other] = *one, *other
        if any({key, of_other} <= room for room in _ROOMS):
            both = {"allOf": [one, other]}
            keys = {key, of_other}
            is_closed = bool(keys & {"properties", "patternProperties"}) and (
                "additionalProperties" not in keys
            )
            yield both, {**both, "unevaluatedProperties": False} if is_closed else both


def closed(of: Any) -> Any:
    """The schema as the BNF forms mean it: where it names members, there are none but those and its branches'."""
    if not isinstance(of, dict):
        return of
    made = {key: closed(value) for key, value in of.items()} if "allOf" not in of else of
    names = any(key in of for key in ("properties", "patternProperties"))
    if not names or "additionalProperties" in of:
        return made
    rest = "additional" if "unevaluatedProperties" in of else "unevaluated"
    return {**made, f"{rest}Properties": False}
