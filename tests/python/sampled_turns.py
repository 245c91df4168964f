"""Turns at random from what an engine's masks let through, and what each has to be."""

from __future__ import annotations

import json
import random
from typing import Any, Protocol

from labelled_turns import SCHEMA, Labelled
from openai_harmony import Message, Prefill, load_harmony_encoding
from openai_harmony.grammar import TurnGrammar
from tables import table

ENCODING = load_harmony_encoding("HarmonyGptOss")
END_OF_TEXT, END = 199999, 200007
RETURN, CALL = 200002, 200012

OPTIONS: list[dict[str, Any]] = [
    {},
    {"tool_choice": "required"},
    {"tool_choice": {"name": "rain"}, "thinking": "required"},
    {"header_forms": "all", "max_messages": 3},
    {"response_schema": SCHEMA, "thinking": "off", "json_space": "any"},
    {"prefill": Prefill(channel="commentary", recipient="functions.rain", text="")},
    {"prefill": Prefill(channel="analysis", text="Hm")},
]


class Masks(Protocol):
    """An engine at a place in a turn."""

    def mask(self) -> bytes:
        """A bit for each token, the lowest first: whether it may follow."""

    def take(self, token: int) -> bool:
        """Goes on with a token; false if it refuses it."""

    def is_ended(self) -> bool:
        """Whether the turn may end here."""


def sampled(engine: Masks, chosen: random.Random) -> list[int]:
    """A turn that a model might sample: mostly markers where they may stand, so that it ends."""
    tokens: list[int] = []
    wanted = ENCODING.encode('{"in": "Oslo", "days": 12}sum} to=functions.rain code print now')
    while len(tokens) < 400 and not (tokens and tokens[-1] in (RETURN, CALL)):
        mask = engine.mask()

        def may_follow(token: int, mask: bytes = mask) -> bool:
            return token < 8 * len(mask) and bool(mask[token >> 3] >> (token & 7) & 1)

        allowed = [n for n in range(200_000, 200_013) if may_follow(n)]
        if not allowed or chosen.random() < 0.6:
            likely = [n for n in wanted if may_follow(n)]
            if likely and chosen.random() < 0.9:
                allowed = likely
            else:
                byte = chosen.choice([i for i, byte in enumerate(mask) if byte])
                allowed = [8 * byte + bit for bit in range(8) if mask[byte] >> bit & 1]
        token = chosen.choice(allowed)
        if token == END_OF_TEXT:
            break
        assert engine.take(token)
        tokens.append(token)
    return tokens


def is_turn_with_any_stop(turn: Labelled, grammar: TurnGrammar) -> bool:
    """Its verdict of an engine that takes each of its stop tokens wherever the grammar ends."""
    tokens = ENCODING.encode(turn.text, allowed_special="all")
    if tokens[-1:] not in ([RETURN], [CALL]) or turn.only_schema:
        return turn.is_turn
    return any(grammar.accepts([*tokens[:-1], stop]).ok for stop in (RETURN, CALL))


def strictly(tokens: list[int], prefill: Prefill | None = None) -> list[Message]:
    """What a turn says; the engine's stop token after ``<|end|>`` is none of its text."""
    said = tokens[:-1] if tokens[-2:-1] == [END] else tokens
    return ENCODING.parse_messages_from_completion_tokens(said, "assistant", prefill=prefill)


def check(tokens: list[int], grammar: TurnGrammar, options: dict[str, Any]) -> None:
    """A whole turn: `accepts` says so, and it parses strictly to what it was meant to be."""
    verdict = grammar.accepts(tokens)
    assert verdict.ok, (ENCODING.decode(tokens), verdict)
    parsed = strictly(tokens, options.get("prefill"))
    last = parsed[-1]
    if tokens[-1] == CALL:
        assert last.recipient in ("functions.rain", "functions.now", "python")
        assert last.channel in ("commentary", "analysis")
        if last.recipient == "functions.rain":
            assert isinstance(json.loads(last.text)["in"], str)
    else:
        assert last.channel == "final"
        assert "tool_choice" not in options
        if "response_schema" in options:
            assert isinstance(json.loads(last.text)["sum"], int)
    for message in parsed[:-1]:
        assert (message.channel, message.recipient) in (("analysis", None), ("commentary", None))


def eight_fields(count: int) -> list[dict[str, Any]]:
    """Tools of eight fields each, by the same names."""
    text = {"type": "string", "description": "A text of any length."}
    fields = {f"field{n}": text for n in range(8)}
    parameters = {"type": "object", "properties": fields, "required": ["field0"]}
    return [{"name": f"tool{n}", "parameters": parameters} for n in range(count)]


def different_fields(count: int) -> list[dict[str, Any]]:
    """Tools of eight fields each, of other names and types in each tool."""
    kinds: list[dict[str, Any]] = table("sampled_turns", "different fields, kinds")
    return [
        {
            "name": f"tool{n}",
            "parameters": {
                "type": "object",
                "properties": {f"{at}_field_{n}": kind for at, kind in enumerate(kinds)},
                "required": [f"0_field_{n}"],
            },
        }
        for n in range(count)
    ]
