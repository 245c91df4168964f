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


def models(name: str, context: int) -> dict[str, Any]:
    """All models: the engine has one."""
    one = model(name, context)
    return {"object": "list", "data": [one], "has_more": False, "first_id": name, "last_id": name}
