"""Answers, put together and validated by the clients' own SDKs."""

from __future__ import annotations

import inspect
import itertools
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from openai_harmony import (
    HarmonyEncoding,
    HarmonyEncodingName,
    HarmonyError,
    load_harmony_encoding,
)
from openai_harmony.interop import (
    BuiltinCall,
    Reply,
    Turn,
    anthropic,
    chat_completions,
    ollama,
    responses,
)
from oracle.seeds import share
from tables import table

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS}
MESSAGES = [{"role": "user", "content": "Weather?"}]
CHAT_TOOLS = [{"type": "function", "function": FUNCTION}]
THINKING = {"type": "enabled", "budget_tokens": 2000}
FORMAT = {"type": "json_schema", "json_schema": {"name": "w", "schema": PARAMETERS}}

CHAT = table("interop_reply", "chat")
RESPONSES = table("interop_reply", "responses")
ANTHROPIC = table("interop_reply", "anthropic")
OLLAMA = [
    {"messages": MESSAGES},
    {"messages": MESSAGES, "tools": CHAT_TOOLS, "options": {"stop": ["ab"]}},
    {"messages": MESSAGES, "think": False, "format": "json"},
]

TEXTS = ["", "Hm.", "a b ab", "one\n\ntwo", "好\u2028é😀", '{"city": "Oslo"}', " "]
ARGUMENTS = ['{"city":"Oslo"}', '{"input": "ls \\"a\\"\\n"}', '{"city": "Os', "[1]", "", "ls"]
RECIPIENTS = ["functions.get_weather", "functions.shell", "functions.crm.find", "python", "x"]


def sampled_turns(count: int) -> Iterator[list[int]]:
    """Random turns: well-formed, damaged, any tokens."""
    choose = random.Random(17)
    yield []
    for number in range(count):
        messages = []
        for _ in range(choose.randrange(1, 4)):
            end = choose.choice(["<|end|>", "<|return|>", "<|call|>", ""])
            if choose.random() < 0.5:
                header = f"commentary to={choose.choice(RECIPIENTS)} <|constrain|>json"
                text = choose.choice(ARGUMENTS)
            else:
                header = choose.choice(["analysis", "commentary", "final"])
                text = choose.choice(TEXTS)
            messages.append(f"<|channel|>{header}<|message|>{text}{end}")
        tokens = ENCODING.encode("<|start|>assistant".join(messages), allowed_special="all")
        if number % 3 == 1 and tokens:
            tokens[choose.randrange(len(tokens))] = choose.randrange(199_990, 200_020)
        if number % 3 == 2:
            tokens = [choose.randrange(201_100) for _ in tokens]
        yield tokens


def sent(turn: Turn, tokens: list[int], size: int, reason: Any) -> Any:
    reply = turn.reply(
        ENCODING,
        model="m",
        id="id-1",
        created=5,
        prompt_tokens=9,
        cached_tokens=4,
    )
    chunks = []
    for start in range(0, len(tokens), size):
        chunks += reply.feed(tokens[start : start + size])
    chunks += reply.finish(reason)
    return chunks, reply


def said(value: Any) -> Any:
    """The value without the fields that the SDK's models have and nobody set."""
    if isinstance(value, dict):
        return {key: said(member) for key, member in value.items() if member is not None}
    return [said(item) for item in value] if isinstance(value, list) else value


def cases(read: Callable[..., Turn], bodies: list[dict[str, Any]]) -> Iterator[Any]:
    """Chunks and the whole response of many turns to each request."""
    for body in bodies:
        turn = read(body)
        for number, tokens in enumerate(sampled_turns(share(60))):
            reason = ("stop", "length", "abort")[number % 3 if number % 2 else 0]
            if reason == "abort" and turn.dialect != "responses":
                reason = "length"  # streams that fail make the SDKs raise: test_serve_sdks.py
            chunks, reply = sent(turn, tokens, number % 5 + 1, reason)
            yield body, chunks, reply.response()


UNTYPED = table("interop_reply", "untyped")[0]
"""Members that the SDKs' types do not have, and why they are sent."""


def untyped(read: Any) -> Iterator[str]:
    """The members of what an SDK read that its types do not have."""
    if isinstance(read, BaseModel):
        yield from (f"{type(read).__name__}.{name}" for name in read.model_extra or ())
        read = [getattr(read, name) for name in type(read).model_fields]
    if isinstance(read, dict):
        read = [*read.values()]
    for one in read if isinstance(read, list) else ():
        yield from untyped(one)


adapter = cache(TypeAdapter)
"""Of a union of fifty types: its making takes longer than all of its reading here."""


def checked(kind: Any, sent: Any) -> Any:
    """What is sent, as this type of an SDK, which has all of its members."""
    read = adapter(kind).validate_python(sent)
    assert {*untyped(read)} <= {*UNTYPED}
    return read


def test_chat_completions_by_the_sdk() -> None:
    pytest.importorskip("openai")
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    for body, chunks, response in cases(chat_completions.read, CHAT):
        checked(ChatCompletion, response)
        state = ChatCompletionStreamState()
        for chunk in chunks:
            list(state.handle_chunk(checked(ChatCompletionChunk, chunk)))
        together = state.current_completion_snapshot.to_dict()
        whole = json.loads(json.dumps(response))
        message, streamed = whole["choices"][0]["message"], together["choices"][0]["message"]
        message["content"] = message["content"] or ""
        assert message.pop("refusal") is None
        streamed = said(streamed)
        for call in streamed.get("tool_calls", []):
            call.pop("index")
        assert streamed == message
        assert together["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
        if body.get("stream_options"):
            assert together["usage"] == whole["usage"]


def test_responses_by_the_sdk() -> None:
    pytest.importorskip("openai")
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import Response, ResponseStreamEvent

    for _, events, response in cases(responses.read, RESPONSES):
        checked(Response, response)
        state: Any = ResponseStreamState(input_tools=[], text_format=omit)
        for event in events:
            read = checked(ResponseStreamEvent, event)
            assert read.type == event["type"]
            state.handle_event(read)
        assert events[-1]["response"] == response
        done = [event["item"] for event in events if event["type"].endswith("output_item.done")]
        assert done == [item for item in response["output"] if item in done]
        if response["status"] == "completed":
            together = state._completed_response.to_dict()
            for item in together["output"]:
                item.pop("parsed_arguments", None)
                for part in item.get("content", []):
                    part.pop("parsed", None)
            assert together["output"] == response["output"]


def test_anthropic_by_the_sdk() -> None:
    pytest.importorskip("anthropic")
    import anthropic as sdk
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import Message, RawMessageStreamEvent

    assert sdk
    # The SDK's last versions for older Pythons keep what they gather of a call's input elsewhere.
    has_buffers = "json_bufs" in inspect.signature(accumulate_event).parameters
    for _, events, response in cases(anthropic.read, ANTHROPIC):
        checked(Message, response)
        snapshot: Any = None
        buffers: dict[str, Any] = {"json_bufs": {}} if has_buffers else {}
        for event in events:
            read = checked(RawMessageStreamEvent, event)
            snapshot = accumulate_event(event=read, current_snapshot=snapshot, **buffers)
        together = snapshot.to_dict()
        for name in ("stop_details", "container"):
            together.pop(name, None)
        assert together == response


def test_ollama_by_the_sdk() -> None:
    pytest.importorskip("ollama")
    from ollama import ChatResponse

    for _, lines, response in cases(ollama.read, OLLAMA):
        ChatResponse.model_validate(response)
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        for line in lines:
            ChatResponse.model_validate(line)
            for field, value in line["message"].items():
                if field != "role":
                    message[field] = message[field] + value if field in message else value
        assert {**lines[-1], "message": message} == response


def timeless(wire: bytes) -> bytes:
    """The bytes with zero for each of Ollama's durations."""
    return re.sub(rb'_duration":\d+', b'_duration":0', wire)


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (chat_completions.read, CHAT[1]),
        (responses.read, RESPONSES[1]),
        (anthropic.read, ANTHROPIC[1]),
        (ollama.read, OLLAMA[1]),
    ],
)
def test_bytes_are_the_frames_of_the_chunks(read: Any, body: Any) -> None:
    turn = read(body)
    for tokens in sampled_turns(20):
        chunks, reply = sent(turn, tokens, 2, "stop")
        frames = timeless(b"".join(map(reply.frame, chunks)) + reply.frame())
        again = turn.reply(
            ENCODING,
            model="m",
            id="id-1",
            created=5,
            prompt_tokens=9,
            cached_tokens=4,
        )
        wire = b"".join(again.feed_bytes(tokens[at : at + 2]) for at in range(0, len(tokens), 2))
        wire += again.finish_bytes("stop")
        assert timeless(wire) == frames
        assert again.finish_bytes("stop") == b""


def test_a_chunk_may_be_deeper_than_a_body() -> None:
    def chunk(levels: int) -> dict[str, Any]:
        inner: Any = 1
        for _ in range(levels - 1):
            inner = [inner]
        return {"x": inner}

    reply = chat_completions.read({"messages": [{"role": "user", "content": "Hi"}]}).reply(
        ENCODING, model="m"
    )
    assert json.loads(reply.frame(chunk(254)).removeprefix(b"data: ")) == chunk(254)
    with pytest.raises(ValueError, match="nested more than 254 levels deep"):
        reply.frame(chunk(255))


@pytest.mark.parametrize("kind", [{}, {"type": 5}, {"type": "a\nb"}])
def test_a_chunk_without_a_name_is_an_event_without_one(kind: dict[str, Any]) -> None:
    reply = anthropic.read(
        {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    ).reply(ENCODING, model="m")
    assert reply.frame(kind) == f"data: {json.dumps(kind, separators=(',', ':'))}\n\n".encode()


def test_the_face() -> None:
    made = []

    def make_id(prefix: str) -> str:
        made.append(prefix)
        return f"{prefix}{len(made)}"

    body = {**CHAT[1], "tools": [*CHAT[1]["tools"], {"type": "code_interpreter"}]}
    turn = chat_completions.read(body, builtin_tools=("python",))
    reply = turn.reply(ENCODING, model="m", created=5, make_id=make_id, reasoning_field="reasoning")
    sampled = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis to=python code"
        "<|message|>1<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather"
        " <|constrain|>json<|message|>{}<|call|>"
    )
    reply.feed(ENCODING.encode(sampled, allowed_special="all"))
    assert reply.builtin_calls == [BuiltinCall("python", "1", True)]
    assert [message.channel for message in reply.messages] == ["analysis", "analysis", "commentary"]
    assert reply.usage.prompt_tokens == len(turn.prompt(ENCODING))
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.reasoning_tokens == 2
    assert reply.repairs == []
    assert reply.stop_sequence is None
    assert reply.media_type == "text/event-stream"
    response = reply.response()
    assert response["id"] == "chatcmpl-1"
    assert response["choices"][0]["message"]["tool_calls"][0]["id"] == "call_2"
    assert response["choices"][0]["message"]["reasoning"] == "Hm."
    assert response["choices"][0]["finish_reason"] is None
    reply.finish("stop")
    assert reply.finish("abort") == []
    with pytest.raises(HarmonyError):
        reply.feed([1])


def test_what_a_function_raises_is_passed_on() -> None:
    turn = chat_completions.read(CHAT[0])

    def fail(prefix: str) -> str:
        raise KeyError(prefix)

    with pytest.raises(KeyError):
        turn.reply(ENCODING, model="m", make_id=fail)


def test_a_reply_shows_its_state(encoding: HarmonyEncoding) -> None:
    turn = chat_completions.read({"messages": [{"role": "user", "content": "?"}], "stop": "END"})
    reply = turn.reply(encoding, model="m")
    assert repr(reply) == "<Reply of chat_completions: 0 tokens, 0 messages, 0 repairs>"
    text = "<|channel|>analysis Hm<|end|><|start|>assistant<|channel|>final<|message|>YesEND more"
    tokens = encoding.encode(text, allowed_special="all")
    reply.feed(tokens)
    expected = f"stopped at 'END', {len(tokens)} tokens, 1 message, 1 repair>"
    assert repr(reply) == f"<Reply of chat_completions: {expected}"


def test_a_thinking_budget_is_the_bodys_or_the_servers() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2}
    messages = [{"role": "user", "content": "Hi"}]
    turn = anthropic.read({"max_tokens": 9, "messages": messages, "thinking": thinking})
    assert turn.thinking_budget == 2
    encode = partial(ENCODING.encode, allowed_special="all")
    sampled = encode("<|channel|>analysis<|message|>One two")
    end = encode("<|end|><|start|>assistant<|channel|>final<|message|>")
    for budget, expected in ((None, end), (2, end), (3, [])):
        reply = turn.reply(ENCODING, model="m", thinking_budget=budget)
        assert reply.force == []
        reply.feed(sampled)
        assert reply.force == expected
        assert reply.budget_spent == (budget != 3)
    with pytest.raises(ValueError, match="thinking_budget: expected an int of at least 0"):
        turn.reply(ENCODING, model="m", thinking_budget=-1)


_OTHER_PROCESS = """
import sys
from openai_harmony import load_harmony_encoding
from openai_harmony.interop import Reply, responses
encoding = load_harmony_encoding("HarmonyGptOss")
reply = Reply.from_bytes(responses.read({"input": "Hi"}), encoding, sys.stdin.buffer.read())
reply.feed(encoding.encode("ur.<|return|>", allowed_special="all"))
reply.finish("stop")
print(reply.response()["output"][0]["content"][0]["text"])
"""


def test_a_reply_goes_on_in_another_process() -> None:
    turn = responses.read({"input": "Hi"})
    reply = turn.reply(ENCODING, model="m")
    reply.feed(ENCODING.encode("<|channel|>final<|message|>Fo", allowed_special="all"))
    command = [sys.executable, "-c", _OTHER_PROCESS]
    done = subprocess.run(command, input=reply.to_bytes(), capture_output=True, check=True)
    assert done.stdout.strip() == b"Four."


def _ids(_: int) -> tuple[str, str]:
    reply = responses.read({"input": "Hi"}).reply(ENCODING, model="m", prompt_tokens=1)
    reply.feed(ENCODING.encode("<|channel|>final<|message|>Four.<|return|>", allowed_special="all"))
    reply.finish("stop")
    response = reply.response()
    return response["id"], response["output"][0]["id"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process of this system forks")
def test_forked_processes_make_ids_of_their_own() -> None:
    """Each of four processes inherits what this one has, which has made an id already."""
    _ids(0)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        made = pool.map(_ids, range(16), chunksize=1)
    assert len({*itertools.chain(*made)}) == 32


@pytest.mark.parametrize(
    ("saved", "kind", "said"),
    [
        (b"{}", HarmonyError, "not a saved reply: missing field `version`"),
        ("{}", TypeError, "saved: expected bytes, got str"),
    ],
)
def test_other_bytes_are_no_reply(saved: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        Reply.from_bytes(responses.read({"input": "Hi"}), ENCODING, saved)


def test_functions_are_given_anew_to_a_reply_that_moves() -> None:
    turn = responses.read({"input": "Hi"})
    reply = turn.reply(ENCODING, model="m", make_id=lambda prefix: f"{prefix}first")
    encode = partial(ENCODING.encode, allowed_special="all")
    reply.feed(encode("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"))
    reply = Reply.from_bytes(
        turn, ENCODING, reply.to_bytes(), make_id=lambda prefix: f"{prefix}then"
    )
    reply.feed(encode("<|channel|>final<|message|>Four."))
    response = reply.response()
    assert response["id"] == "resp_first"
    assert [item["id"] for item in response["output"]] == ["rs_first", "msg_then"]

    def fails(prefix: str) -> str:
        raise KeyError(prefix)

    moved = Reply.from_bytes(turn, ENCODING, reply.to_bytes(), make_id=fails)
    with pytest.raises(KeyError):
        moved.feed(encode("<|end|><|start|>assistant<|channel|>final<|message|>More"))
