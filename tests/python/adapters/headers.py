"""The twenty calls of the conformance corpus, and the turn that offers their tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openai_harmony import load_harmony_encoding

ENCODING = load_harmony_encoding("HarmonyGptOss")
CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "conformance" / "headers.json").read_text(encoding="utf-8")
)["cases"]
NAMES = [case["name"] for case in CASES]
ARGUMENTS = {"city": "Lima", "days": [1, 2]}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its name"},
                "days": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["city", "days"],
        },
    },
}


def tokens_of(text: str) -> list[int]:
    """The ids of a text with markers."""
    return ENCODING.encode(text, allowed_special="all")
