"""The gateway's APIs, in this process: whole, streamed, and what stands around them."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import BODIES, ENCODING, HELLO, USER, Answer, Engine, ask, says, tokens
from openai_harmony import serve
from openai_harmony.serve.application import open_store
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest
from openai_harmony.serve.settings import Settings
from tables import table

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES
RAIN = {"type": "function", "name": "rain"}
DAMAGED = "<|channel|>final Hi there.<|return|>"


def asked(engine: Any, path: str, body: Any = None, **options: Any) -> Answer:
    settings = options.pop("settings", {})
    return asyncio.run(ask(serve.app(engine, **settings), path, body, **options))


def text_of(path: str, answer: dict[str, Any]) -> tuple[str, str]:
    """The visible text and the thought of an answer."""
    if path == CHAT:
        message = answer["choices"][0]["message"]
        return message["content"], message["reasoning_content"]
    if path == RESPONSES:
        thought, said = answer["output"]
        return said["content"][0]["text"], thought["content"][0]["text"]
    if path == ANTHROPIC:
        return answer["content"][-1]["text"], "Hm."
    if path == OLLAMA:
        return answer["message"]["content"], answer["message"]["thinking"]
    return answer["response"], answer["thinking"]


@pytest.mark.parametrize("path", BODIES)
def test_each_api_answers(path: str) -> None:
    engine = says()
    answer = asked(engine, path, BODIES[path], headers={"x-request-id": "mine"})
    assert answer.status == 200, answer.body
    assert text_of(path, answer.json()) == ("Hi there.", "Hm.")
    [request] = engine.asked
    assert ENCODING.decode(request.prompt).endswith("Hello<|end|><|start|>assistant")
    assert request.stop_token_ids == [200002, 200012]
    assert not {"n", "max_tokens", "logprobs"} & request.sampling.keys()
    assert engine.closed == 1
    # Anthropic's clients read the id of a request under a name of its own.
    ids = {"x-request-id": "mine", "request-id": "mine" if path == ANTHROPIC else None}
    assert {name: answer.headers.get(name) for name in ids} == ids
    assert request.headers == {"x-request-id": "mine"}


@pytest.mark.parametrize("path", BODIES)
def test_each_api_streams(path: str) -> None:
    answer = asked(says(size=1), path, {**BODIES[path], "stream": True})
    kind = answer.headers["content-type"]
    if path in (OLLAMA, GENERATE):
        assert kind.startswith("application/x-ndjson")
        chunks = [json.loads(line) for line in answer.body.splitlines()]
        texts = [
            text_of(path, {"thinking": "", **chunk})[0] for chunk in chunks if path == GENERATE
        ]
        texts = texts or [chunk["message"]["content"] for chunk in chunks]
        assert chunks[-1]["done_reason"] == "stop"
    else:
        assert kind.startswith("text/event-stream")
        events = answer.events()
        texts = [
            found
            for event in events
            for found in (
                event.get("delta") if event.get("type") == "response.output_text.delta" else None,
                event["delta"].get("text") if event.get("type") == "content_block_delta" else None,
                *(choice["delta"].get("content") for choice in event.get("choices") or ()),
            )
            if found
        ]
    assert "".join(texts) == "Hi there."
    assert len(answer.parts) >= 5
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", BODIES)
def test_damaged_output_is_an_answer(path: str) -> None:
    answer = asked(says(DAMAGED), path, BODIES[path])
    assert answer.status == 200
    assert "Hi there." in json.dumps(answer.json())


def test_names_of_models() -> None:
    assert asked(says(), CHAT, {**BODIES[CHAT], "model": "any"}).json()["model"] == "any"
    assert asked(says(), CHAT, BODIES[CHAT]).json()["model"] == "gpt-oss-test"
    named = {"settings": {"model": "mine"}}
    assert asked(says(), CHAT, BODIES[CHAT], **named).json()["model"] == "mine"
    [one] = asked(says(), "/v1/models", **named).json()["data"]
    assert (one["id"], one["object"], one["type"]) == ("mine", "model", "model")
    assert asked(says(), "/v1/models/openai/gpt-oss").json()["id"] == "openai/gpt-oss"
    strict = {"settings": {**named["settings"], "aliases": "a, b", "strict_model_names": True}}
    lists = {"/v1/models": ("data", "id"), "/api/tags": ("models", "name")}
    for path, (key, name) in lists.items():
        listed = asked(says(), path, **strict).json()[key]
        assert [one[name] for one in listed] == ["mine", "a", "b"]
    for model in ("mine", "a", "b", "gpt-oss-test", "", None):
        assert asked(says(), CHAT, {**BODIES[CHAT], "model": model}, **strict).status == 200
    for path, body in BODIES.items():
        refused = asked(says(), path, {**body, "model": "any"}, **strict)
        assert (refused.status, "any" in refused.body.decode()) == (404, True)
    assert refused.json() == {"error": "The model 'any' does not exist"}
    assert asked(says(), "/v1/models/b", **strict).status == 200
    refused = asked(says(), "/v1/models/any", **strict)
    assert (refused.status, refused.json()["error"]["code"]) == (404, "model_not_found")


def test_ollamas_other_endpoints() -> None:
    assert asked(says(), "/").body == b"openai-harmony is running"
    assert asked(says(), "/api/version").json()["version"].count(".") == 2
    [listed] = asked(says(), "/api/tags").json()["models"]
    assert (listed["name"], listed["model"], listed["size"]) == ("gpt-oss-test", "gpt-oss-test", 0)
    [running] = asked(says(), "/api/ps").json()["models"]
    assert (running["size_vram"], running["expires_at"][:4]) == (0, "2318")
    shown = asked(says(), "/api/show", {"model": "m"}).json()
    assert shown["capabilities"] == ["completion", "tools", "thinking"]
    assert shown["model_info"]["gptoss.context_length"] == 131_072
    engine = says()
    same = {"model": "m", "done": True, "done_reason": "load"}
    empty: dict[str, dict[str, Any]] = {
        OLLAMA: {"message": {"role": "assistant", "content": ""}},
        GENERATE: {"response": ""},
    }
    times = [shown["modified_at"], listed["modified_at"], running["modified_at"]]
    for path, said in empty.items():
        found = asked(engine, path, {"model": "m"}).json()
        times.append(found.pop("created_at"))
        assert found == {**same, **said}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", one) for one in times)
    assert engine.asked == []


def test_generate_is_a_chat_of_one_message() -> None:
    engine = says()
    body = {"prompt": "Hello", "system": "Be brief.", "stream": False, "options": {"seed": 3}}
    assert asked(engine, GENERATE, body).json()["done_reason"] == "stop"
    prompt = ENCODING.decode(engine.asked[0].prompt)
    assert "# Instructions\n\nBe brief.<|end|><|start|>user<|message|>Hello<|end|>" in prompt
    assert engine.asked[0].sampling["seed"] == 3
    for name in ("raw", "template", "suffix", "context"):
        refused = asked(engine, GENERATE, {**body, name: "x"})
        assert (refused.status, refused.json()["error"][: len(name)]) == (400, name)
    assert asked(engine, GENERATE, {"prompt": ["x"]}).json() == {
        "error": "prompt: expected a string"
    }
    assert asked(engine, GENERATE, {**body, "images": ["aGk="]}).status == 400


def test_counts_tokens() -> None:
    engine = says()
    counted = asked(engine, f"{ANTHROPIC}/count_tokens", {"messages": USER})
    asked(engine, ANTHROPIC, BODIES[ANTHROPIC])
    assert counted.json() == {"input_tokens": len(engine.asked[0].prompt)}
    assert "request-id" in counted.headers
    assert "request-id" not in asked(engine, f"{RESPONSES}/input_tokens", {"input": "x"}).headers


def test_what_is_sampled_is_held_to_the_limits() -> None:
    async def endless(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        yield Sampled(tokens("<|channel|>final<|message|>"))
        while True:
            await asyncio.sleep(0)
            yield Sampled(tokens(" word word"))

    engine = Engine(endless)
    answer = asked(engine, CHAT, {**BODIES[CHAT], "max_tokens": 10}).json()
    assert answer["usage"]["completion_tokens"] == 10
    assert answer["choices"][0]["finish_reason"] == "length"
    answer = asked(engine, CHAT, BODIES[CHAT], settings={"max_output_tokens": 7}).json()
    assert answer["usage"]["completion_tokens"] == 7
    engine.context = len(engine.asked[0].prompt) + 5
    assert asked(engine, CHAT, BODIES[CHAT]).json()["usage"]["completion_tokens"] == 5
    assert engine.closed == 3


@pytest.mark.parametrize(("limit", "reason"), [(6, "length"), (7, "length"), (8, "stop")])
def test_a_stop_token_beyond_the_limit_is_not_taken(limit: int, reason: str) -> None:
    """However many tokens an engine gives at once."""
    text = "<|channel|>final<|message|>a b c d<|return|>"
    for size in (1, 3, 100):
        answer = asked(says(text, size), CHAT, {**BODIES[CHAT], "max_tokens": limit}).json()
        assert answer["usage"]["completion_tokens"] == limit
        assert answer["choices"][0]["finish_reason"] == reason


def test_of_several_answers_none_runs_on_if_one_cannot_begin() -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if request.index:
            raise EngineError("the engine is out of memory", 503)
        yield Sampled([])
        await asyncio.sleep(600)

    engine = Engine(sample)
    answer = asked(engine, CHAT, {**BODIES[CHAT], "n": 2})
    assert (answer.status, b"out of memory" in answer.body) == (503, True)
    assert engine.closed == 2


def test_a_store_is_opened_only_where_one_is_set(tmp_path: Path) -> None:
    settings = Settings(engine="none")
    assert open_store(settings) is None
    store = open_store(settings.with_(store=str(tmp_path / "responses.db")))
    assert store is not None
    store.close()


def test_nothing_behind_a_stop_token_is_taken() -> None:
    more = HELLO + "<|start|>user<|message|>And now?<|end|>"
    for size in (1, 3, 100):
        answer = asked(says(more, size), CHAT, BODIES[CHAT]).json()
        assert answer["choices"][0]["message"]["content"] == "Hi there."
        assert answer["usage"]["completion_tokens"] == len(tokens(HELLO))
        assert answer["choices"][0]["finish_reason"] == "stop"


def test_a_stop_string_ends_the_sampling() -> None:
    engine = says(size=1)
    answer = asked(engine, CHAT, {**BODIES[CHAT], "stop": "there"}).json()
    assert answer["choices"][0]["message"]["content"] == "Hi "
    assert answer["usage"]["completion_tokens"] < len(tokens(HELLO))
    assert engine.closed == 1


def test_a_prompt_that_is_too_long() -> None:
    engine = says()
    engine.context = 20
    refused = asked(engine, CHAT, BODIES[CHAT])
    assert refused.status == 400
    error = refused.json()["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", "messages")
    assert asked(engine, RESPONSES, BODIES[RESPONSES]).json()["error"]["param"] == "input"
    error = asked(engine, ANTHROPIC, BODIES[ANTHROPIC]).json()["error"]
    assert error["type"] == "invalid_request_error"


def thinks() -> Engine:
    """Thinks without end, unless the prompt ends the thought for it."""

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if ENCODING.decode(request.prompt).endswith("<|channel|>final<|message|>"):
            yield Sampled(tokens("Short.<|return|>"), "stop")
            return
        yield Sampled(tokens("<|channel|>analysis<|message|>"))
        while True:
            await asyncio.sleep(0)
            yield Sampled(tokens(" hm hm"))

    return Engine(sample)


THINKING = {"thinking": {"type": "enabled", "budget_tokens": 20}}


@pytest.mark.parametrize("stream", [False, True])
def test_a_thinking_budget_that_is_spent(stream: bool) -> None:
    engine = thinks()
    body = {**BODIES[ANTHROPIC], **THINKING, "stream": stream}
    answer = asked(engine, ANTHROPIC, body)
    if stream:
        deltas = [
            event["delta"]
            for event in answer.events()
            if "content_block" in event["type"] and "delta" in event
        ]
        assert "".join(delta.get("text", "") for delta in deltas) == "Short."
        assert answer.events()[-1]["type"] == "message_stop"
    else:
        thought, said = answer.json()["content"]
        assert (thought["thinking"], said["text"]) == (" hm" * 20, "Short.")
        assert answer.json()["stop_reason"] == "end_turn"
    first, second = engine.asked
    assert ENCODING.decode(second.prompt[len(first.prompt) :]).endswith(
        " hm hm<|end|><|start|>assistant<|channel|>final<|message|>"
    )
    assert second.prompt[: len(first.prompt)] == first.prompt
    assert first.max_tokens - second.max_tokens == len(second.prompt) - len(first.prompt)
    assert engine.closed == 2


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("usage", [False, True])
def test_a_stream_of_several_answers_has_one_end(count: int, usage: bool) -> None:
    options = {"stream": True, "n": count, "stream_options": {"include_usage": usage}}
    answer = asked(says(), CHAT, {**BODIES[CHAT], **options})
    assert answer.body.count(b"[DONE]") == answer.body.endswith(b"data: [DONE]\n\n") == 1
    choices = [choice for event in answer.events() for choice in event["choices"]]
    whole = asked(says(), CHAT, {**BODIES[CHAT], "n": count}).json()
    for one in whole["choices"]:
        own = [choice for choice in choices if choice["index"] == one["index"]]
        reasons = [choice["finish_reason"] for choice in own]
        assert (reasons[-1], reasons.count(None)) == ("stop", len(own) - 1)
        said = "".join(choice["delta"].get("content") or "" for choice in own)
        assert said == one["message"]["content"] == "Hi there."
    found = [event["usage"] for event in answer.events() if event.get("usage")]
    assert found == ([whole["usage"]] if usage else [])


def test_the_servers_own_thinking_budget() -> None:
    engine = thinks()
    settings = {"thinking_budget": 10}
    answer = asked(engine, CHAT, {**BODIES[CHAT], "n": 2}, settings=settings).json()
    for choice in answer["choices"]:
        message = choice["message"]
        assert (message["reasoning_content"], message["content"]) == (" hm" * 10, "Short.")
    streamed = asked(engine, CHAT, {**BODIES[CHAT], "n": 2, "stream": True}, settings=settings)
    assert streamed.body.count(b'"finish_reason":"stop"') == 2
    assert engine.closed == len(engine.asked)


@pytest.mark.parametrize(
    ("limit", "count", "said"),
    [(12, 12, ""), (14, 13, ""), (15, 13, ""), (19, 13, ""), (20, 20, "Short"), (22, 22, "Short.")],
)
def test_what_ends_a_thought_counts_against_the_limit(limit: int, count: int, said: str) -> None:
    """Three tokens begin the thought, ten are its budget, and six end it."""
    engine = thinks()
    body = {**BODIES[CHAT], "max_tokens": limit}
    answer = asked(engine, CHAT, body, settings={"thinking_budget": 10}).json()
    [choice] = answer["choices"]
    assert (answer["usage"]["completion_tokens"], choice["message"]["content"]) == (count, said)
    assert choice["finish_reason"] == ("stop" if limit == 22 else "length")
    assert engine.closed == len(engine.asked)


@pytest.mark.parametrize("path", [CHAT, ANTHROPIC])
def test_a_model_that_always_thinks_again_is_stopped_once(path: str) -> None:
    engine = says(size=1)
    body = {**BODIES[path], "max_tokens": 99}
    answer = asked(engine, path, body, settings={"thinking_budget": 1})
    assert "Hi there." in answer.body.decode()
    assert len(engine.asked) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_markers_spelled_by_ordinary_tokens(stream: bool) -> None:
    """Their stop token is none to the engine, so the gateway ends the sampling."""

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        for token in ENCODING.encode(HELLO, disallowed_special=()):
            await asyncio.sleep(0)
            yield Sampled([token])
        while True:
            await asyncio.sleep(0)
            yield Sampled(tokens(" on"))

    engine = Engine(sample)
    body = {**BODIES[CHAT], "stream": stream}
    answer = asked(engine, CHAT, body, settings={"spelled_markers": True})
    if stream:
        deltas = [event["choices"][0]["delta"] for event in answer.events() if event["choices"]]
        assert "".join(delta.get("content") or "" for delta in deltas) == "Hi there."
    else:
        assert text_of(CHAT, answer.json())[0] == "Hi there."
        assert answer.json()["choices"][0]["finish_reason"] == "stop"
    assert engine.closed == 1
    # They are text unless the server is told.
    text = asked(engine, CHAT, {**body, "stream": False, "max_tokens": 80}).json()
    assert text["choices"][0]["message"]["content"].startswith("<|channel|>")


def test_health() -> None:
    engine = says()
    assert asked(engine, "/health").json() == {
        "status": "ok",
        "engine": "test",
        "model": "gpt-oss-test",
    }


def test_what_is_running_is_known_with_its_time() -> None:
    seen: list[Any] = []

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        seen.extend(app.state.gateway.journal.running())
        yield Sampled(tokens(HELLO), "stop")

    app = serve.app(Engine(sample))
    assert asyncio.run(ask(app, CHAT, BODIES[CHAT])).status == 200
    [one] = seen
    assert (one["path"], 0 <= one["seconds"] < 60) == (CHAT, True)
    assert app.state.gateway.journal.running() == []


def test_metrics() -> None:
    app = serve.app(says(DAMAGED))

    async def run() -> str:
        for path in (CHAT, CHAT, RESPONSES):
            await ask(app, path, BODIES[path])
        await ask(app, CHAT, {**BODIES[CHAT], "stream": True})
        await ask(app, CHAT, {"messages": "x"})
        return (await ask(app, "/metrics")).body.decode()

    found = asyncio.run(run())
    lines = dict(line.rsplit(" ", 1) for line in found.splitlines() if line[0] != "#")
    assert lines['harmony_requests_total{api="chat_completions",key="",status="200"}'] == "3.0"
    assert lines['harmony_requests_total{api="chat_completions",key="",status="400"}'] == "1.0"
    assert lines['harmony_requests_total{api="responses",key="",status="200"}'] == "1.0"
    assert lines['harmony_repairs_total{kind="missing_message"}'] == "4.0"
    assert (
        lines['harmony_completion_tokens_total{key="",model="gpt-oss-test"}']
        == f"{4.0 * len(tokens(DAMAGED))}"
    )
    assert lines["harmony_time_to_first_token_seconds_count"] == "4.0"
    assert lines["harmony_requests_running"] == "0.0"


def test_refused_requests_are_logged_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever a request is refused: at the door, by its path, its body or the store."""
    (tmp_path / "keys").write_text("alpha\n")
    app = serve.app(says(), api_key_file=str(tmp_path / "keys"))
    key = {"x-api-key": "alpha"}
    asking: list[tuple[str, Any, dict[str, str], str, int]] = [
        ("/v1/models", None, {}, "chat_completions", 401),
        (CHAT, BODIES[CHAT], {"authorization": "Bearer guess"}, "chat_completions", 401),
        (ANTHROPIC, BODIES[ANTHROPIC], {}, "anthropic", 401),
        ("/metrics", None, {}, "chat_completions", 401),
        ("/v1/nothing", None, key, "chat_completions", 404),
        ("/v1/responses/x", None, key, "responses", 404),
        ("/api/show", {}, {**key, "content-encoding": "gzip"}, "ollama", 415),
        (f"{ANTHROPIC}/count_tokens", {"messages": 1}, key, "anthropic", 400),
        ("/v1/completions", {}, key, "chat_completions", 501),
        (f"{CHAT}/render", {}, {}, "render", 401),
    ]
    caplog.set_level(logging.INFO, "openai_harmony.serve")

    async def run() -> str:
        for path, body, headers, api, status in asking:
            caplog.clear()
            answer = await ask(app, path, body, headers=headers)
            [record] = [one for one in caplog.records if one.getMessage() == "request"]
            fields: dict[str, Any] = record.fields  # type: ignore[attr-defined]
            found = fields["path"], fields["api"], fields["status"], answer.status
            assert found == (path, api, status, status)
            assert fields["request"] == answer.headers["x-request-id"]
            assert fields["error"]
            assert "guess" not in json.dumps(fields)
            # It is no fault of the server.
            assert not [one for one in caplog.records if one.levelname == "ERROR"]
        return (await ask(app, "/metrics", headers=key)).body.decode()

    found = asyncio.run(run())
    for (api, status), count in Counter((api, status) for *_, api, status in asking).items():
        line = (
            rf'harmony_requests_total{{api="{api}",key="(key-\w+)?",status="{status}"}} {count}.0\n'
        )
        assert re.search(line, found)


@pytest.mark.parametrize("contents", [False, True])
def test_logs(contents: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    answer = asked(says(DAMAGED), CHAT, BODIES[CHAT], settings={"log_contents": contents})
    [record] = [record for record in caplog.records if record.getMessage() == "request"]
    fields: dict[str, Any] = record.fields  # type: ignore[attr-defined]
    assert fields["request"] == answer.headers["x-request-id"]
    assert (fields["api"], fields["status"], fields["stop"]) == ("chat_completions", 200, ["stop"])
    assert fields["completion_tokens"] == len(tokens(DAMAGED))
    assert fields["repairs"] == {"missing_message": 1}
    assert 0 <= fields["first_token"] <= fields["seconds"] < 60
    assert ("Hello" in json.dumps(fields)) is ("Hi there" in json.dumps(fields)) is contents


@pytest.mark.parametrize(
    ("path", "asked_for", "where", "why"),
    table("serve", "what no answer would meet is refused"),
)
def test_what_no_answer_would_meet_is_refused(
    path: str, asked_for: dict[str, Any], where: str, why: str
) -> None:
    refused = asked(engine := says(), path, {**BODIES[path], **asked_for})
    error = refused.json()["error"]
    assert (refused.status, engine.asked) == (400, [])
    assert where in error["message"]
    assert why in error["message"]
    assert error.get("param", where) == where


def test_what_is_left_out_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    app = serve.app(says())
    tools = [RAIN, {"type": "mcp"}, {"type": "web_search"}]
    body = {**BODIES[RESPONSES], "tools": tools, "imput": 1, "tool_choice": "auto"}

    async def run() -> tuple[Answer, str]:
        answer = await ask(app, RESPONSES, body)
        many = {f"x{index}": 1 for index in range(2_000)}
        assert (await ask(app, CHAT, {**BODIES[CHAT], **many})).status == 200
        return answer, (await ask(app, "/metrics")).body.decode()

    answer, metrics = asyncio.run(run())
    assert [tool["type"] for tool in answer.json()["tools"]] == ["function"]
    told, many = (
        record.fields["unused"]  # type: ignore[attr-defined]
        for record in caplog.records
        if record.getMessage() == "request"
    )
    assert sorted(told) == [
        "imput: not used",
        'tools[]: this server does not run tools of type "mcp"',
        'tools[]: this server does not run tools of type "web_search"',
    ]
    assert len(many) == 20
    assert 'harmony_unused_fields_total{path="imput",reason="not used"} 1.0' in metrics


def test_an_id_that_is_under_way_is_not_sent_twice() -> None:
    async def run() -> list[str]:
        engine = says()
        app, headers = serve.app(engine), {"x-request-id": "mine"}
        answers = [ask(app, CHAT, {**BODIES[CHAT], "n": 2}, headers=headers) for _ in range(2)]
        for answer in await asyncio.gather(*answers):
            assert answer.headers["x-request-id"].startswith("mine")
        await ask(app, CHAT, BODIES[CHAT], headers={"x-request-id": "no id"})
        return [request.headers["x-request-id"] for request in engine.asked]

    *ids, other = asyncio.run(run())
    assert len(set(ids)) == 4
    assert {"mine", "mine-1"} <= set(ids)
    assert other.startswith("req_")


def test_a_fault_of_the_server_is_logged_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        raise RuntimeError("a bug")
        yield Sampled([])

    assert asked(Engine(sample), CHAT, BODIES[CHAT]).status == 500
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (record.getMessage(), bool(record.exc_info)) == ("a fault of this server", True)


def test_the_package_loads_nothing_of_it() -> None:
    code = (
        "import sys, openai_harmony, openai_harmony.serve; "
        "print([m for m in ('starlette', 'aiohttp', 'sqlalchemy', 'uvicorn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_old_turns_are_left_out_where_the_body_lets_the_server() -> None:
    engine = says()
    said = [{"role": role, "content": f"{role} said. " * 9} for role in ("user", "assistant") * 20]
    body = {"input": [*said, {"role": "user", "content": "Hello"}], "truncation": "auto"}
    assert asked(engine, RESPONSES, body).status == 200
    whole = engine.asked[-1].prompt
    engine.context = 600
    assert asked(engine, RESPONSES, body).status == 200
    request = engine.asked[-1]
    assert len(request.prompt) <= 300 < len(whole)
    assert request.max_tokens == 600 - len(request.prompt)
    assert ENCODING.decode(request.prompt).count("user said. ") % 9 == 0
    assert asked(engine, RESPONSES, {**body, "max_output_tokens": 50}).status == 200
    assert 500 < len(engine.asked[-1].prompt) <= 550
    refused = asked(engine, RESPONSES, {**body, "truncation": "disabled"})
    assert refused.json()["error"]["code"] == "context_length_exceeded"
    engine.context = 60
    refused = asked(engine, RESPONSES, body)
    assert refused.status == 400
    error = refused.json()["error"]
    assert (error["code"], error["param"]) == ("context_length_exceeded", "input")
