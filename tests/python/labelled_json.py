"""Schemas, with JSON that fits them and JSON that does not; likewise regular expressions and choices."""

from __future__ import annotations

from typing import Any

from tables import table

TREE = {
    "$defs": {"node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
SHAPES = [
    {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
    {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
]  # fmt: skip
MEMBERS = {"a": {"type": "integer"}, "b": {"type": "string"}}

SCHEMAS: list[tuple[Any, list[str], list[str]]] = table("labelled_json", "schemas")

ANSWERS: list[tuple[dict[str, Any], list[str], list[str]]] = table("labelled_json", "answers")
