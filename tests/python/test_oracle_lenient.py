"""Lenient parsing against 0.0.8, where 0.0.8 is lenient: a first message without <|message|>.

What is more than that is this project's own, see docs/parsing.md; but a well-formed stream is read
as strict parsing reads it.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from random import Random
from typing import Any

from oracle import streams
from oracle.client import Oracle
from oracle.operations import Session
from oracle.seeds import randoms, share

WORDS = ["I", "must", "refuse.", "Sorry,", "no", "é", "🤷🏽", "1,000", "…", "user"]
CHANNELS = ["", "<|channel|>analysis", "<|channel|>commentary", "<|channel|>final"]


def test_a_first_message_without_marker_is_read_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    """The words are the content, and the messages after it are read."""
    for seed, random in randoms(200):
        stop = random.choice(["<|end|>", "<|return|>", "<|call|>"])
        text = headless(random, stop)
        tokens = oracle.ask("encode", text, "all", [])
        role = random.choice(["assistant", "assistant", "tool"])
        expected = oracle.ask("parse", tokens, role, False)
        assert isinstance(expected, list), f"{seed}: {text!r}"
        first = expected[0]
        if first["role"] == "assistant" and "channel" not in first and stop != "<|end|>":
            # The difference `lenient-channel` of docs/compatibility.md.
            first["channel"] = "final"
        assert ours.ask("parse", tokens, role, False) == expected, f"{seed}: {text!r}"


def headless(random: Random, stop: str) -> str:
    words = " ".join(random.choice(WORDS) for _ in range(random.randint(1, 8)))
    role = random.choice(["", "", "assistant"])
    behind = random.choice(
        [
            "",
            "<|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
            "<|start|>user<|message|>?",
        ]
    )
    return f"{role}{random.choice(CHANNELS)} {words}{stop}{behind}"


def test_well_formed_streams_are_read_as_strictly(oracle: Oracle, ours: Session) -> None:
    """Lenient and strict parsing see the same in each moment, and lenient parsing repairs nothing."""
    compared = 0
    for seed, random in randoms(200):
        role = random.choice(streams.ROLES)
        parts = streams.well_formed(random, role, markers=False)
        tokens = streams.to_tokens(parts, lambda text: oracle.ask("encode", text, "all", []))
        strict, messages = watched(ours, tokens, role, strict=True)
        # A stream that ends within a character is not well-formed.
        if all(snapshot["error"] is None for snapshot in strict) and not is_cut(ours, tokens):
            compared += 1
            assert watched(ours, tokens, role, strict=False) == (strict, messages), (
                f"{seed}: {tokens}, role {role}"
            )
            assert ours.parser is not None
            assert ours.parser.repairs == [], f"{seed}: {tokens}, role {role}"
    assert compared > share(100)


def is_cut(ours: Session, tokens: list[int]) -> bool:
    """Whether the tokens end within a character."""
    decoder = getincrementaldecoder("utf-8")("replace")
    decoder.decode(ours.encoding.decode_bytes(tokens))
    return bool(decoder.getstate()[0])


def watched(
    ours: Session, tokens: list[int], role: str | None, *, strict: bool
) -> tuple[list[Any], list[Any]]:
    """All snapshots, and the messages."""
    first = ours.ask("start_parser", role, strict)
    snapshots = [first, *ours.ask("feed_each", tokens), ours.ask("end_of_stream")]
    return snapshots, ours.ask("messages")
