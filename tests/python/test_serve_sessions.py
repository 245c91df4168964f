"""What must not end a session: images that stay in the history, and a conversation that grows too long."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import BODIES, ENCODING, Answer, Engine, ask, says
from openai_harmony import serve

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES
# By this Claude Code finds what to take out of its messages.
OF_CLAUDE_CODE = re.compile(r"messages[.[](\d+)[\].]+content[.[](\d+)[\].]+(image|document|pdf)")


def asked(engine: Engine, path: str, body: Any, **settings: Any) -> Answer:
    return asyncio.run(ask(serve.app(engine, **settings), path, body))


def image_of(path: str) -> Any:
    if path == RESPONSES:
        return {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    if path == ANTHROPIC:
        source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
        return {"type": "image", "source": source}
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def shown(path: str, *, then: bool) -> dict[str, Any]:
    """A body whose first message has an image; ``then``: it was answered, and another one follows."""
    if path == GENERATE:
        return {**BODIES[GENERATE], "images": ["aGk="]}
    text = "input_text" if path == RESPONSES else "text"
    message: dict[str, Any] = {"role": "user", "content": [{"type": text, "text": "See"}]}
    message["content"].append(image_of(path))
    if path == OLLAMA:
        message = {"role": "user", "content": "See", "images": ["aGk="]}
    messages = [message]
    if then:
        messages += [
            {"role": "assistant", "content": "I see nothing."},
            {"role": "user", "content": "Go on."},
        ]
    return {**BODIES[path], "input" if path == RESPONSES else "messages": messages}


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC, OLLAMA])
def test_an_image_of_an_older_message_is_a_placeholder(path: str) -> None:
    engine = says()
    assert asked(engine, path, shown(path, then=True)).status == 200
    assert "[image omitted]" in ENCODING.decode(engine.asked[0].prompt)


@pytest.mark.parametrize("path", BODIES)
def test_an_image_of_the_newest_message_is_the_error_that_clients_look_for(path: str) -> None:
    refused = asked(says(), path, shown(path, then=False))
    assert refused.status == 400
    error = refused.json()["error"]
    words = error if path in (OLLAMA, GENERATE) else error["message"]
    if path == ANTHROPIC:
        found = OF_CLAUDE_CODE.search(words)
        assert found is not None
        assert found.groups() == ("0", "1", "image")
    elif path == CHAT:
        assert "image_url is only supported by certain models" in words
        assert error["param"] == "messages[0].content[1].image_url"
    elif path == RESPONSES:
        # By this Codex knows that it has to take images out.
        assert "The image data you provided does not represent a valid image" in words
        assert error["param"] == "input[0].content[1].image_url"
    else:
        assert "this model is missing data required for image input" in words


@pytest.mark.parametrize("path", BODIES)
def test_a_server_can_omit_all_images(path: str) -> None:
    engine = says()
    answer = asked(engine, path, shown(path, then=False), unsupported="placeholder")
    assert answer.status == 200
    assert "[image omitted]" in ENCODING.decode(engine.asked[0].prompt)


def test_the_setting_has_two_words() -> None:
    with pytest.raises(ValueError, match="unsupported\n.*should be 'error' or 'placeholder'"):
        serve.Settings(unsupported="drop")


WORDS = {
    CHAT: "maximum context length is 20 tokens. However, your messages resulted in {} tokens",
    RESPONSES: "exceeds the context window of this model: {} tokens > 20 maximum",
    ANTHROPIC: "prompt is too long: {} tokens > 20 maximum",
    # It may be truncated, so half of the context is kept for the answer.
    OLLAMA: "the input length exceeds the context length: {} tokens > 10 maximum",
}


def narrow() -> Engine:
    engine = says()
    engine.context = 20
    return engine


@pytest.mark.parametrize("path", WORDS)
def test_a_prompt_that_is_too_long_is_each_apis_own_error(path: str) -> None:
    wide = says()
    asked(wide, path, BODIES[path])
    words = WORDS[path].format(len(wide.asked[0].prompt))
    for stream in (False, True):
        if stream and path == RESPONSES:
            continue
        refused = asked(narrow(), path, {**BODIES[path], "stream": stream})
        error = refused.json()["error"]
        assert refused.status == 400
        assert words in (error if path == OLLAMA else error["message"])
        if path in (CHAT, RESPONSES):
            assert error["code"] == "context_length_exceeded"
            assert error["param"] == ("messages" if path == CHAT else "input")


@pytest.mark.parametrize("truncation", ["disabled", "auto"])
def test_a_stream_of_responses_fails_with_the_code_that_codex_knows(truncation: str) -> None:
    body = {**BODIES[RESPONSES], "stream": True, "truncation": truncation}
    answer = asked(narrow(), RESPONSES, body)
    assert answer.status == 200
    events = answer.events()
    kinds = ["response.created", "response.in_progress", "response.failed"]
    assert [event["type"] for event in events] == kinds
    response = events[-1]["response"]
    assert (response["status"], response["output"]) == ("failed", [])
    assert response["error"]["code"] == "context_length_exceeded"
    assert re.search(r"\d+ tokens > \d+ maximum", response["error"]["message"])


def test_a_model_may_have_a_slash_but_no_empty_name() -> None:
    def found(path: str) -> Answer:
        return asyncio.run(ask(serve.app(says()), path, method="GET"))

    assert found("/v1/models/org/gpt-oss").json()["id"] == "org/gpt-oss"
    missing = found("/v1/models/")
    assert (missing.status, missing.json()["error"]["type"]) == (404, "invalid_request_error")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (BODIES[ANTHROPIC], 200),
        ({**BODIES[ANTHROPIC], "stream": True}, 200),
        ({"messages": 3}, 400),
        (b"{", 400),
    ],
)
def test_anthropics_clients_show_the_id_of_a_request(body: Any, status: int) -> None:
    for path in (ANTHROPIC, "/v1/messages/count_tokens"):
        answer = asked(says(), path, body)
        assert answer.status == status
        assert re.fullmatch(r"req_[0-9a-f]{32}", answer.headers["request-id"])
    missing = asyncio.run(ask(serve.app(says()), "/v1/messages/none", method="GET"))
    assert (missing.status, "request-id" in missing.headers) == (404, True)


@pytest.mark.parametrize("path", [CHAT, RESPONSES, ANTHROPIC])
def test_the_model_of_an_answer_is_the_one_that_was_asked(path: str) -> None:
    answer = asked(says(), path, {**BODIES[path], "model": "mine"}).json()
    assert answer["model"] == "mine"
    for body in ({**BODIES[path], "model": ""}, BODIES[path]):
        assert asked(says(), path, body).json()["model"] == "gpt-oss-test"


FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
TWO = '{"tool_uses":[{"recipient_name":"functions.f","parameters":{"a":"1"}},{"recipient_name":"functions.f","parameters":{"a":"2"}}]}'
TOOL_OF: dict[str, dict[str, Any]] = {
    CHAT: {"type": "function", "function": FUNCTION},
    RESPONSES: {"type": "function", **FUNCTION},
    ANTHROPIC: {"name": "f", "input_schema": FUNCTION["parameters"]},
    OLLAMA: {"type": "function", "function": FUNCTION},
}


def calls(path: str, answer: Any) -> list[tuple[str, Any]]:
    if path == RESPONSES:
        return [(item["name"], item["arguments"]) for item in answer["output"]]
    if path == ANTHROPIC:
        return [(block["name"], block["input"]) for block in answer["content"]]
    message = answer["message"] if path == OLLAMA else answer["choices"][0]["message"]
    functions = [call["function"] for call in message["tool_calls"]]
    return [(function["name"], function["arguments"]) for function in functions]


@pytest.mark.parametrize("path", TOOL_OF)
def test_two_calls_in_one(path: str) -> None:
    """Calls are objects in two of the APIs; the others carry the text as the model wrote it."""
    text = f"<|channel|>commentary to=multi_tool_use.parallel <|constrain|>json<|message|>{TWO}"
    body = {**BODIES[path], "tools": [TOOL_OF[path]], "parallel_tool_calls": True}
    answer = asked(says(text + "<|call|>"), path, body)
    if path in (ANTHROPIC, OLLAMA):
        assert calls(path, answer.json()) == [("f", {"a": "1"}), ("f", {"a": "2"})]
    else:
        assert calls(path, answer.json()) == [("multi_tool_use.parallel", TWO)]
