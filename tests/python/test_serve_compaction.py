"""``POST /v1/responses/compact`` and ``compaction_trigger``: what is kept fits, and the reader opens it again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from openai.types.responses import CompactedResponse, Response, ResponseStreamEvent
from pydantic import TypeAdapter

from gateways import ENCODING, Answer, Engine, ask, says
from openai_harmony import serve

PATH = "/v1/responses"
TURN = [
    {"role": "user", "content": "user said. " * 9},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "result said. " * 9},
    {"role": "assistant", "content": "assistant said. " * 9},
]
HEAD: list[Any] = [{"role": "developer", "content": "Be brief."}]


def asked(engine: Engine, path: str, body: Any) -> Answer:
    return asyncio.run(ask(serve.app(engine), path, body))


def compacted(items: list[Any], context: int = 600) -> dict[str, Any]:
    engine = says()
    engine.context = context
    answer = asked(engine, f"{PATH}/compact", {"model": "m", "input": items})
    assert answer.status == 200, answer.body
    assert engine.asked == []
    found = answer.json()
    CompactedResponse.model_validate(found)
    [item] = found["output"]
    assert item["type"] == "compaction"
    return dict(item)


def prompt(items: list[Any]) -> str:
    engine = says()
    assert asked(engine, PATH, {"input": items}).status == 200
    return str(ENCODING.decode(engine.asked[-1].prompt))


def test_the_oldest_turns_are_left_out() -> None:
    items = [*HEAD, *TURN * 10, {"role": "user", "content": "Last?"}]
    kept = prompt([compacted(items)])
    assert len(ENCODING.encode(kept, allowed_special="all")) <= 300
    assert "Be brief." in kept
    assert "Last?" in kept
    left_out = 40 - 4 * kept.count("functions.f to=assistant")
    assert f"[{left_out} earlier items of this conversation were left out]" in kept
    assert kept.count("result said. ") % 9 == 0


def test_what_fits_is_kept() -> None:
    items = [*HEAD, *TURN]
    assert prompt([compacted(items, 131_072)]) == prompt(items)


def test_a_turn_that_is_too_long_loses_its_oldest_steps() -> None:
    call, result = TURN[1:3]
    steps = [{**item, "call_id": f"c{at}"} for at in range(30) for item in (call, result)]
    kept = prompt([compacted([*HEAD, {"role": "user", "content": "Do it."}, *steps])])
    assert "Do it." in kept
    assert "Be brief." in kept
    assert 0 < kept.count("to=functions.f") == kept.count("functions.f to=assistant") < 30


def test_a_compaction_can_be_compacted() -> None:
    first = compacted([*HEAD, *TURN * 10])
    second = compacted([first, *TURN * 10])
    kept = prompt([second])
    assert kept.count("earlier items") == 1
    count = int(kept.split(" earlier items")[0].rpartition("[")[2])
    assert count + 4 * kept.count("functions.f to=assistant") == 80


def test_a_message_that_is_too_long_is_refused() -> None:
    engine = says()
    engine.context = 100
    body = {"input": [{"role": "user", "content": "word " * 200}]}
    refused = asked(engine, f"{PATH}/compact", body)
    assert refused.status == 400
    assert refused.json()["error"]["code"] == "context_length_exceeded"


@pytest.mark.parametrize("stream", [False, True])
def test_the_last_item_can_ask_for_it(stream: bool) -> None:
    engine = says()
    engine.context = 600
    items = [*TURN * 10, {"type": "compaction_trigger"}]
    answer = asked(engine, PATH, {"input": items, "stream": stream})
    assert (answer.status, engine.asked) == (200, [])
    if not stream:
        response = answer.json()
    else:
        data = [
            json.loads(part.partition("data: ")[2])
            for part in answer.body.decode().split("\n\n")[:-1]
        ]
        for event in data:
            TypeAdapter[Any](ResponseStreamEvent).validate_python(event)
        assert [event["sequence_number"] for event in data] == list(range(5))
        assert [event["type"].partition(".")[2] for event in data] == [
            "created",
            "in_progress",
            "output_item.added",
            "output_item.done",
            "completed",
        ]
        response = data[-1]["response"]
    Response.model_validate(response)
    [item] = response["output"]
    assert response["status"] == "completed"
    assert "user said." in prompt([item])


def test_a_cache_can_be_warmed() -> None:
    engine = says()
    body = {"input": "Hello", "prompt_cache_options": {"prewarm": True}}
    response = asked(engine, PATH, body).json()
    assert (response["status"], response["output"]) == ("completed", [])
    assert [request.max_tokens for request in engine.asked] == [1]
    assert response["usage"]["output_tokens"] == 0 < response["usage"]["input_tokens"]
