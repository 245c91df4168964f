"""Rows of chats for the tests of whole data sets."""

from __future__ import annotations

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
