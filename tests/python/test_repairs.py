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
        assert whole == (parser.messages, parser.repairs, parser.stop_tokens)
        ends = [event.stop_token for event in events if isinstance(event, MessageEnd)]
        assert parser.stop_tokens == ends


def test_a_call_that_was_cut_off_has_no_stop_token() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    thought = "<|channel|>analysis<|message|>t<|end|><|start|>assistant"
    call = "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
    tokens = encoding.encode(thought + call, allowed_special="all")
    assert encoding.parse_with_repairs(tokens, "assistant").stop_tokens == [200007, 200012]
    assert encoding.parse_with_repairs(tokens[:-1], "assistant").stop_tokens == [200007, None]
    # The next message begins without it, and a header has no <|message|>.
    text = "<|channel|>analysis<|message|>t<|start|>assistant<|channel|>final Yes<|return|>"
    tokens = encoding.encode(text, allowed_special="all")
    assert encoding.parse_with_repairs(tokens, "assistant").stop_tokens == [None, 200002]
    parser = StreamableParser(encoding, "assistant")
    parser.feed(tokens[:4])
    assert parser.stop_tokens == []
    assert parser.reset().stop_tokens == []


def test_well_formed_tokens_have_no_repairs() -> None:
    encoding = load_harmony_encoding("HarmonyGptOss")
    text = "<|channel|>final<|message|>Hi<|return|>"
    messages, repairs, stop_tokens = encoding.parse_with_repairs(
        iter(encoding.encode(text, allowed_special="all")), "assistant"
    )
    assert [message.text for message in messages] == ["Hi"]
    assert repairs == []
    assert stop_tokens == [200002]
    assert encoding.parse_with_repairs([]) == ([], [], [])
    with pytest.raises(WrongTypeError, match="role"):
        encoding.parse_with_repairs([], 3)  # type: ignore[arg-type]
