"""The input of a request to Responses as items, each with an id under which it can be kept."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from openai_harmony.interop import Body

MOST_ID = 128
"""So many characters may an id have."""
_PREFIXES = {
    "function_call": "fc",
    "function_call_output": "fc",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
    "reasoning": "rs",
}
"""What the API's own ids of items begin with; others, ``msg``."""


def is_identity(found: Any) -> bool:
    """Whether a response or an item can have this id: every database must be able to keep it."""
    return isinstance(found, str) and re.fullmatch(f"[!-~]{{1,{MOST_ID}}}", found) is not None


def input_of(body: Body) -> list[tuple[str, str | None, str]]:
    """The input of a body as items: an id, its own if that can be kept, the type, and the JSON."""
    if body.kind("input") == "string":
        content = [{"type": "input_text", "text": body.text("input")}]
        message = {"type": "message", "role": "user", "content": content, "id": _new_id("message")}
        return [(str(message["id"]), "message", json.dumps(message))]
    found: list[tuple[str, str | None, str]] = []
    for identity, kind, raw in body.items("input"):
        if identity is None or not is_identity(identity):
            identity = _new_id(kind)
            raw = Body(raw).with_member("id", json.dumps(identity).encode()).json() or b""
        found.append((identity, kind, raw.decode()))
    return found


def _new_id(kind: str | None) -> str:
    """For an item of this type."""
    return f"{_PREFIXES.get(kind or '', 'msg')}_{uuid.uuid4().hex}"
