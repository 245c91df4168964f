"""Parsing and streaming against 0.0.8: random token streams, compared after each token."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

from oracle import streams
from oracle.client import Oracle
from oracle.differences import IN_PARSING, fixed_part
from oracle.expectation import Expected, expect
from oracle.operations import Session
from oracle.seeds import randoms, share
from oracle.streams import Stream


def test_random_streams_are_parsed_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    """State, delta, properties and errors after each token, then messages and tokens."""
    met: set[str] = set()
    undiffering = 0
    for seed, random in randoms(400):
        stream = streams.stream(random, lambda text: oracle.ask("encode", text, "all", []))
        expected = expect(oracle, stream)
        compare(seed, stream, expected, oracle, ours)
        met |= expected.differences
        undiffering += not expected.differences - {"content-tokens-as-fed"}
    # The random streams are neither all odd nor all well-formed.
    assert undiffering >= share(100)
    assert len(met) > len(IN_PARSING) / 2


def compare(seed: str, stream: Stream, expected: Expected, oracle: Oracle, ours: Session) -> None:
    snapshots = [
        ours.ask("start_parser", stream.role, True),
        *ours.ask("feed_each", stream.tokens),
        ours.ask("end_of_stream"),
    ]
    for place, (actual, wanted) in enumerate(zip(snapshots, expected.snapshots)):
        if actual["error"] is not None:
            known = wanted["error"] or {"error": ""}
            actual["error"]["error"] = fixed_part(actual["error"]["error"], known["error"])
        assert actual == wanted, said(seed, stream, place, wanted, actual, expected, oracle)
    assert len(snapshots) == len(expected.snapshots)
    messages = ours.ask("messages")
    assert messages == expected.messages, f"{seed}: {stream}\n{expected.differences}"
    assert ours.ask("tokens") == stream.tokens
    # Parsing all at once stops at the first error.
    errors = [snapshot["error"] for snapshot in snapshots if snapshot["error"] is not None]
    at_once = ours.ask("parse", stream.tokens, stream.role, True)
    if errors:
        first = errors[0]["error"]
        assert fixed_part(at_once["error"], first) == first, f"{seed}: {stream}"
    else:
        assert at_once == messages, f"{seed}: {stream}"


def said(
    seed: str,
    stream: Stream,
    place: int,
    wanted: dict[str, Any],
    actual: dict[str, Any],
    expected: Expected,
    oracle: Oracle,
) -> str:
    """What a reader of the failure needs: where it is, and which properties differ."""
    known = [token for token in stream.tokens[:place] if token <= 201088]
    lines = [
        f"{seed}: {stream}",
        f"after token {place - 1}, in text: {oracle.ask('decode', known)!r}",
        f"differences found in the stream: {sorted(expected.differences)}",
    ]
    lines += [
        f"{key}: expected {wanted[key]!r}, got {actual[key]!r}"
        for key in wanted
        if wanted[key] != actual[key]
    ]
    return "\n".join(lines)


PIECES = (
    "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|constrain|>",
    "assistant", "final", " to=functions.f", "{",
)  # fmt: skip
"""Those of tests/library/small_worlds.rs, which add a part of a character and an id that does not exist."""


def test_short_sequences_are_parsed_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    """All of up to two pieces; SMALL_WORLDS=4 tries those of up to four."""
    most = int(os.environ.get("SMALL_WORLDS", "2"))
    pieces = [oracle.ask("encode", piece, "all", []) for piece in PIECES]
    pieces += [oracle.ask("encode", "🦀", "all", [])[:1], [201_089]]
    for count in range(most + 1):
        for chosen in product(pieces, repeat=count):
            stream = Stream([token for piece in chosen for token in piece], "assistant")
            compare("small world", stream, expect(oracle, stream), oracle, ours)
