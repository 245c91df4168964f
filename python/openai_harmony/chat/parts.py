"""Content parts by their kind, in validation, dumps and JSON Schema.

pydantic on its own would read and write a list of :class:`Content` as that base class has it,
with no fields at all.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from openai_harmony.chat.content import Content, DeveloperContent, SystemContent, TextContent
from openai_harmony.chat.unknown_fields import CHAT_HINT
from openai_harmony.errors import quoted

KINDS: dict[str, type[Content]] = {
    "text": TextContent,
    "system_content": SystemContent,
    "developer_content": DeveloperContent,
}
"""The kinds of content by their ``type`` in JSON."""


class _ByKind:
    """Marks a :class:`Content` that is read and written as the kind that it is."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = [handler.generate_schema(kind) for kind in KINDS.values()]
        return core_schema.no_info_before_validator_function(
            read_part,
            # The last is for subclasses of `Content` itself.
            core_schema.union_schema([*kinds, handler(source)]),
            serialization=core_schema.wrap_serializer_function_ser_schema(
                write_part, schema=core_schema.any_schema()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        choices = handler(schema)["anyOf"]
        return {
            "oneOf": [
                {"allOf": [choice], "properties": {"type": {"const": kind}}, "required": ["type"]}
                for kind, choice in zip(KINDS, choices)
            ]
        }


class _OrText:
    """Marks a list of parts that is written as a plain string if it is a single text."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(read_parts, handler(source))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        parts = handler(schema)
        # Parts are always written as a list.
        return parts if handler.mode == "serialization" else {"anyOf": [parts, {"type": "string"}]}


ContentPart = Annotated[Content, _ByKind]
"""A content part of any kind, as a field of a pydantic model."""

ContentParts = Annotated[list[ContentPart], _OrText]
"""A message's content: parts, or a plain string instead of a single text."""


_OF_OPENAI = ("image_url", "input_text", "input_image", "output_text", "input_audio", "input_file")


def read_part(value: Any) -> Content:
    """A part from an instance or from its JSON form."""
    if isinstance(value, Content):
        return value
    if not isinstance(value, dict):
        raise PydanticKnownError("model_type", {"class_name": "Content"})
    kind = value.get("type", "text" if "text" in value else None)
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        hint = f"; {CHAT_HINT}" if kind in _OF_OPENAI else ""
        raise ValueError(f"Unknown content variant: {quoted(value)} (known: {known}){hint}")
    return KINDS[kind].model_validate(value)


def write_part(part: Content, dump: core_schema.SerializerFunctionWrapHandler) -> Any:
    """A part's fields, all of them, with its kind under ``type``."""
    fields = dump(part)
    for kind, model in KINDS.items():
        if isinstance(part, model):
            return {"type": kind, **fields}
    return fields


def read_parts(value: Any) -> Any:
    """The parts as a list: a plain string becomes a single text."""
    return [TextContent(text=value)] if isinstance(value, str) else value
