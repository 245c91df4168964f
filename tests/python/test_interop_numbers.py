"""The numbers in a call's arguments are those that the model wrote, where an API has an object of them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from openai_harmony import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop import Reply, anthropic, ollama

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
MESSAGES = [{"role": "user", "content": "Double it."}]
ANTHROPIC = {"messages": MESSAGES, "max_tokens": 9, "tools": [{"name": "f", "input_schema": {}}]}
OLLAMA = {"messages": MESSAGES, "tools": [{"type": "function", "function": {"name": "f"}}]}

BIG = 2**70
FRACTION = "0.100000000000000000000000000001"
ARGUMENTS = f'{{"big":{BIG},"in":[{-BIG},{{"zero":-0.0}}],"fraction":{FRACTION},"list":[]}}'
EXPECTED = {"big": BIG, "in": [-BIG, {"zero": -0.0}], "fraction": 0.1, "list": []}


def sampled(arguments: str) -> list[int]:
    header = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
    return ENCODING.encode(f"{header}{arguments}<|call|>", allowed_special="all")


def ended(read: Any, body: Any, arguments: str) -> Reply:
    reply: Reply = read(body).reply(ENCODING, model="m")
    reply.feed(sampled(arguments))
    reply.finish("stop")
    return reply


def exact(arguments: Any) -> None:
    """Equal as values, as types, and in the sign of zero, also after the way over the wire."""
    for each in (arguments, json.loads(json.dumps(arguments))):
        assert each == EXPECTED
        assert [type(each["big"]), type(each["in"][0])] == [int, int]
        assert math.copysign(1, each["in"][1]["zero"]) == -1


def test_of_anthropics_whole_messages() -> None:
    response = ended(anthropic.read, ANTHROPIC, ARGUMENTS).response()
    exact(response["content"][0]["input"])
    types = pytest.importorskip("anthropic.types")
    exact(types.Message.model_validate(response).content[0].input)
    exact(types.Message.model_validate_json(json.dumps(response)).content[0].input)


def test_of_ollamas_lines_and_answers() -> None:
    response = ended(ollama.read, OLLAMA, ARGUMENTS).response()
    turn = ollama.read(OLLAMA)
    lines = turn.reply(ENCODING, model="m").feed(sampled(ARGUMENTS))
    line = turn.reply(ENCODING, model="m").feed_bytes(sampled(ARGUMENTS))
    # On the wire, also the digits that no float has.
    assert f'"arguments":{ARGUMENTS}'.encode() in line
    for answer in (response, *lines, json.loads(line)):
        exact(answer["message"]["tool_calls"][0]["function"]["arguments"])
    chat = pytest.importorskip("ollama").ChatResponse
    for answer in (
        chat.model_validate(response),
        chat.model_validate(json.loads(line)),
    ):
        exact(answer.message.tool_calls[0].function.arguments)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" + 309 * "0"])
def test_one_that_no_double_holds_makes_text_of_the_call(number: str) -> None:
    arguments = f'{{"a": {number}}}'
    reply = ended(anthropic.read, ANTHROPIC, arguments)
    assert reply.response()["content"] == [{"type": "text", "text": arguments}]
    assert [repair.kind for repair in reply.repairs] == ["call_as_text"]
    reply = ended(ollama.read, OLLAMA, arguments)
    assert reply.response()["message"]["content"] == arguments
    assert [repair.kind for repair in reply.repairs] == ["call_as_text"]


def test_the_longest_that_a_double_holds() -> None:
    longest = 10**308
    response = ended(anthropic.read, ANTHROPIC, f'{{"a": {longest}}}').response()
    assert response["content"][0]["input"] == {"a": longest}


def test_they_come_back_as_they_were() -> None:
    """What a client sends back in its next request renders what the model sampled."""
    response = ended(anthropic.read, ANTHROPIC, f'{{"a":{BIG}}}').response()
    said = {"role": "assistant", "content": response["content"]}
    call = response["content"][0]["id"]
    result = [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]
    body = {**ANTHROPIC, "messages": [*MESSAGES, said, {"role": "user", "content": result}]}
    prompt = ENCODING.decode(anthropic.read(body).prompt(ENCODING))
    assert f'{{"a":{BIG}}}<|call|>' in prompt
