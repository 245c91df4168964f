"""Writes the inputs as files that every peer's process reads.

An input is a JSON file: {"texts": [...]}, {"stream": text}, {"conversation": {...}},
{"request": text} or {"rows": [...], "rendered": [...]}.
`python -m comparison.corpora` writes the few that the Rust benches read, in benches/corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from . import conversations, datasets, requests, texts

#: Bytes of each text and how many texts there are.
SIZES = {"400 B": (400, 250), "20 KB": (20_000, 20), "2 MB": (2_000_000, 1)}

HOSTILE_LENGTHS = (20_000, 40_000)


def text_input(kind: str, size: str) -> str:
    return f"{kind}, {size}"


def hostile_input(kind: str, length: int) -> str:
    return f"{length:,} {kind}"


def inputs() -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the data of every input."""
    for kind, writer in texts.KINDS.items():
        for size, (length, count) in SIZES.items():
            pieces = writer(Random(f"{kind} {size}"))
            made = [texts.of_size(pieces, length) for _ in range(count)]
            yield text_input(kind, size), {"texts": made}
    for kind, hostile in texts.HOSTILE.items():
        for length in HOSTILE_LENGTHS:
            yield hostile_input(kind, length), {"texts": [hostile(length)]}
    yield "one long message", {"stream": conversations.one_long_message()}
    yield "a thought and an answer", {"stream": conversations.thought_and_answer()}
    yield "many short messages", {"stream": conversations.many_short_messages()}
    yield "8 messages", {"stream": conversations.eight_messages()}
    yield "7 messages, 4 tools", {"conversation": conversations.seven_messages()}
    body = requests.seven_messages_and_four_tools()
    yield "request of 7 messages, 4 tools", {"request": body}
    yield "10,000 conversations", datasets.ten_thousand_conversations()
    yield "102 messages", {"conversation": conversations.hundred_and_two_messages()}


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(',', '').replace(' ', '-')}.json"


def write(folder: Path) -> None:
    """Writes every input into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs():
        # Not pure ASCII, which would double the reading time of what is not English.
        file_of(folder, name).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def ship(folder: Path) -> None:
    """Writes what the Rust benches read."""
    folder.mkdir(exist_ok=True)
    prose = texts.of_size(texts.prose(Random("prose")), 100_000)
    shipped = {
        "prose.txt": prose,
        "seven_messages.json": json.dumps(conversations.seven_messages(), indent=1),
        "hundred_and_two_messages.json": json.dumps(
            conversations.hundred_and_two_messages(), indent=1
        ),
    }
    for name, text in shipped.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    ship(Path(__file__).parents[1] / "corpus")
