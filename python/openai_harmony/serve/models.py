"""``/v1/models``, in one form that the clients of OpenAI and of Anthropic read."""

from __future__ import annotations

from typing import Any


def model(name: str, context: int) -> dict[str, Any]:
    """One model."""
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "openai-harmony",
        "max_model_len": context,
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
    }


def models(names: list[str], context: int) -> dict[str, Any]:
    """The names of the one model that the engine has."""
    data = [model(name, context) for name in names]
    ends = {"first_id": names[0], "last_id": names[-1]}
    return {"object": "list", "data": data, "has_more": False, **ends}
