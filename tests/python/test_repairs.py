"""Malformed outputs, read leniently; tests/repairs.rs reads the same cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openai_harmony import (
    ContentDelta,
    Event,
    Message,
    MessageEnd,
    MessageStart,
    Repair,
    StreamableParser,
    WrongTypeError,
    load_harmony_encoding,
)

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "repairs" / "cases.jsonl")
    .read_text("utf-8")
    .splitlines()
]
NAMES = {MessageStart: "start", ContentDelta: "content", MessageEnd: "end", Repair: "repair"}


def shown(repair: Repair) -> dict[str, Any]:
    return {
        "kind": repair.kind,
        "span": list(repair.span),
        "index": repair.index,
        "text": repair.text,
    }


def counted(events: list[Event]) -> list[list[Any]]:
    """The spans that cover the tokens: a repair with an index lies inside its message's."""
    return [
        [NAMES[type(event)], *event.span]
        for event in events
        if not (isinstance(event, Repair) and event.index is not None)
    ]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_case_gives_its_messages_repairs_and_spans_in_any_chunks(
    case: dict[str, Any], size: int
) -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    tokens = case.get("tokens") or encoding.encode(case["text"], allowed_special="all")
    parser = StreamableParser(encoding, case["role"], strict=False)
    events: list[Event] = []
    for start in range(0, len(tokens), size):
        events += parser.feed(tokens[start : start + size])
    events += parser.finish()
    assert parser.messages == [Message.from_dict(message) for message in case["messages"]]
    assert [shown(repair) for repair in parser.repairs] == case["repairs"]
    assert [event for event in events if isinstance(event, Repair)] == parser.repairs
    if size >= len(tokens):
        assert counted(events) == case["spans"]
    assert encoding.parse_messages_from_completion_tokens(tokens, case["role"], strict=False) == (
        parser.messages
    )

    if size == 1:
        whole = encoding.parse_with_repairs(tokens, case["role"])
        assert whole == (parser.messages, parser.repairs)


def test_well_formed_tokens_have_no_repairs() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = "<|channel|>final<|message|>Hi<|return|>"
    messages, repairs = encoding.parse_with_repairs(
        iter(encoding.encode(text, allowed_special="all")), "assistant"
    )
    assert [message.text for message in messages] == ["Hi"]
    assert repairs == []
    assert encoding.parse_with_repairs([]) == ([], [])
    with pytest.raises(WrongTypeError, match="role"):
        encoding.parse_with_repairs([], 3)  # type: ignore[arg-type]
