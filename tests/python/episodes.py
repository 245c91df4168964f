"""Random episodes: what a model may sample, well-formed or damaged in the ways that models damage it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from openai_harmony import load_harmony_encoding
from tables import table

ENCODING = load_harmony_encoding("HarmonyGptOss")
RETURN, CALL = 200002, 200012
SPECIAL = [199998, 199999, 200002, 200003, 200005, 200006, 200007, 200008, 200012, 200019, 201087]
"""Of each kind one: markers, ends of text, reserved ids."""
RECIPIENTS = [
    *("functions.f", "functions.g", "functions", "functions.f.g", "f", "python", "browser.search"),
    *(
        "browser",
        "functions.unknown",
        "unknown",
        "functions.get f",
        "functions.F",
        "multi_tool_use",
    ),
    *(
        "functions.f<|constrain|>json",
        "user",
        "assistant",
        "all",
        "functions.é",
        "a:b",
        "functions.",
    ),
]
CHANNELS = ["analysis", "commentary", "final", "Final", "comment", "commentary?", "", "final json"]
TYPES = table("episodes", "types")
TEXTS = [
    *(
        "",
        "Hi.",
        '{"a": 1}',
        "{}",
        '{"a": ',
        "[1]",
        "é🤷🏽日本語",
        "to=functions.f",
        "<|end|>",
        " ",
        "\n\n",
    ),
    "A text of more than thirty-two tokens, so that it is an answer wherever it is found: " * 3,
]
SPOKEN = ["assistant", "assistant", "assistant", "", "user", "tool", "functions.f", "system", "bob"]


def encoded(text: str) -> list[int]:
    """The ids of a text with markers."""
    return ENCODING.encode(text, allowed_special="all")


def sampled(random: Random) -> list[int]:
    """A sample: up to where sampling stops, at least one token."""
    messages = [_message(random) for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4]))]
    ends = [random.choice(["<|end|>"] * 9 + [""]) for _ in messages[1:]]
    ends.append(random.choice(["<|return|>", "<|call|>", "<|call|>", "<|end|>", ""]))
    begins = ["", *(f"<|start|>{random.choice(SPOKEN)}" for _ in messages[1:])]
    tokens = encoded("".join(b + m + e for b, m, e in zip(begins, messages, ends)))
    for _ in range(random.choice([0, 0, 1, 1, 2, 5])):
        _damage(tokens, random)
    stops = [index + 1 for index, token in enumerate(tokens) if token in (RETURN, CALL)]
    return tokens[: min(stops, default=len(tokens))] or [random.choice(SPECIAL)]


def _message(random: Random) -> str:
    text = random.choice(TEXTS)
    kind = random.randrange(6)
    if kind == 0:
        return f"<|channel|>analysis<|message|>{text}"
    if kind == 1:
        return f"<|channel|>final<|message|>{text}"
    if kind < 4:
        to, channel = random.choice(RECIPIENTS[:9]), random.choice(["commentary", "analysis"])
        text = json.dumps({"a": random.randrange(9)}) if random.random() < 0.7 else text
        return f"<|channel|>{channel} to={to} <|constrain|>json<|message|>{text}"
    channel, to = random.choice(CHANNELS), random.choice(["", f" to={random.choice(RECIPIENTS)}"])
    header = (
        [f"<|channel|>{channel}", to] if random.random() < 0.7 else [to, f"<|channel|>{channel}"]
    )
    marker = "<|message|>" if random.random() < 0.9 else ""
    return "".join([*header, random.choice(TYPES), marker, text])


def _damage(tokens: list[int], random: Random) -> None:
    """Changes tokens in one place: inserts, drops, doubles, cuts, also inside a character."""
    at = random.randrange(len(tokens) + 1)
    kind = random.randrange(6)
    if kind == 0:
        tokens.insert(at, random.choice(SPECIAL))
    elif kind == 1:
        tokens[at:at] = encoded(random.choice([*TEXTS, *RECIPIENTS, *CHANNELS, *TYPES]))
    elif kind == 2:
        del tokens[at : at + random.randrange(1, 4)]
    elif kind == 3:
        tokens[at:at] = tokens[at : at + random.randrange(1, 9)]
    elif kind == 4:
        del tokens[at:]
    else:
        tokens[at:] = encoded("🤷🏽")[: random.randrange(1, 4)]


def episodes(count: int, seed: int = 0) -> Iterator[Random]:
    """For each episode its source of chance."""
    return (Random(f"{seed}.{index}") for index in range(count))
