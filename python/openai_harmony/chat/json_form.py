"""Reading the canonical JSON form: whatever is wrong is a ValueError that says what and where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from openai_harmony.errors import MissingFieldError, WrongTypeError


def parse_json(payload: str | bytes) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(payload)
    except RecursionError:
        raise ValueError("Invalid JSON: nested too deeply") from None


def json_text(value: Any) -> str:
    """The JSON text of a value."""
    try:
        return json.dumps(value)
    except RecursionError:
        raise ValueError("No JSON: nested too deeply, or within itself") from None


def require_object(value: Any, what: str) -> Mapping[str, Any]:
    """The value, if it is an object in JSON's sense."""
    if not isinstance(value, Mapping):
        raise WrongTypeError(f"Invalid {what}: expected an object, got {_name(value)}")
    return value


def require_list(value: Any, what: str, expected: str = "a list") -> list[Any]:
    """The value, if it is a list; ``expected`` says what else the caller takes."""
    if not isinstance(value, (list, tuple)):
        raise WrongTypeError(f"Invalid {what}: expected {expected}, got {_name(value)}")
    return list(value)


def require_field(fields: Mapping[str, Any], name: str, what: str) -> Any:
    """The value of a field that must be there."""
    try:
        return fields[name]
    except KeyError:
        raise MissingFieldError(f"Invalid {what}: {name!r} is missing") from None


def error_inside(error: ValueError, field: str, index: int) -> ValueError:
    """The same error, which says in which entry of which field it arose."""
    if isinstance(error, ValidationError):
        return ValidationError.from_exception_data(
            error.title,
            [
                {
                    "type": line["type"],
                    "loc": (field, index, *line["loc"]),
                    "input": line["input"],
                    "ctx": line.get("ctx", {}),
                }
                for line in error.errors()
            ],
        )
    ours = isinstance(error, (MissingFieldError, WrongTypeError))
    kind = type(error) if ours else ValueError
    return kind(f"{error} (in {field}[{index}])")


def _name(value: Any) -> str:
    return "null" if value is None else type(value).__name__
