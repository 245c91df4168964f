"""Rows of chats for the tests of whole data sets."""

from __future__ import annotations

import json
import random
from typing import Any

WORDS = "rain sun wind Oslo Bergen 42 naïve 雨 is was not very, good. why? ⛅".split()


def chats(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows with an `id`, and `messages` of one to three turns with thoughts."""
    chosen = random.Random(seed)

    def text() -> str:
        return " ".join(chosen.choices(WORDS, k=chosen.randint(1, 30)))

    rows = []
    for index in range(count):
        messages = []
        for _ in range(chosen.randint(1, 3)):
            messages.append({"role": "user", "content": text()})
            messages.append({"role": "assistant", "thinking": text(), "content": text()})
        rows.append({"id": f"chat-{index}", "messages": messages})
    return rows


def mixed_chats(count: int) -> list[dict[str, Any]]:
    """Rows as files of chats have them: with and without tools, contents as texts and as parts.

    Arguments have other fields in each row, some rows have a system message, and ids and scores
    are numbers here and texts there.
    """
    rows: list[dict[str, Any]] = []
    for index, row in enumerate(chats(count, seed=1)):
        messages = row["messages"]
        if index % 3 == 0:
            messages.insert(0, {"role": "system", "content": f"Be brief, {index}."})
        if index % 4 == 1:
            messages[0]["content"] = [{"type": "text", "text": messages[0]["content"]}]
        row = {"id": index if index % 2 else f"chat-{index}", "messages": messages}
        if index % 5 == 2:
            arguments: Any = {f"place{index % 7}": "Oslo", "days": index}
            call = {"name": "rain", "arguments": arguments if index % 2 else json.dumps(arguments)}
            messages += [
                {"role": "user", "content": "Rain?"},
                {"role": "assistant", "content": None, "tool_calls": [{"function": call}]},
                {"role": "tool", "content": "yes"},
                {"role": "assistant", "content": "Yes."},
            ]
            row["tools"] = [{"type": "function", "function": {"name": "rain"}}]
        rows.append(row)
    return rows
