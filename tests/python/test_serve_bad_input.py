"""Bodies, engines and clients at their worst: the form of each API, and the others go on."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import random
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

import fake_engines
from fake_engines import running
from gateways import BODIES, HELLO, Answer, Engine, ask, says, tokens
from openai_harmony import serve
from openai_harmony.interop import Body
from openai_harmony.serve.bodies import LARGE, is_quick
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest
from simulation import simulated_clock
from tables import table

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES


def error_of(path: str, answer: Answer) -> tuple[str, str | None]:
    """The text of an error and its type, in the form that the API has."""
    body = answer.json()
    if path in (OLLAMA, GENERATE):
        assert set(body) == {"error"}
        return body["error"], None
    if path == ANTHROPIC:
        assert body["type"] == "error"
        return body["error"]["message"], body["error"]["type"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    return body["error"]["message"], body["error"]["type"]


async def goes_on(app: Any) -> None:
    """The server still answers."""
    answer = await ask(app, "/v1/models")
    assert answer.status == 200


def asked(app: Any, path: str, body: Any = None, **options: Any) -> Answer:
    async def run() -> Answer:
        answer = await ask(app, path, body, **options)
        await goes_on(app)
        return answer

    return asyncio.run(run())


BODIES_THAT_ARE_NONE = [
    (b"", "not JSON"),
    (b'{"seed": ' + b"1" * 5_000 + b"}", "the body is not JSON: number out of range"),
    (b"{", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"[]", "not an object"),
    (b'"text"', "not an object"),
    (b'{"messages":' + b"[" * 100_000, "nested more than 127 levels deep"),
    (b'{"x":' * 50_000 + b"1" + b"}" * 50_000, "nested more than 127 levels deep"),
    (b'{"seed": NaN}', "not JSON: expected value at line 1 column 10"),
    (b"[" + b"[]," * 1_000_000 + b"[]]", "too many values"),
]


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("body", "said"), BODIES_THAT_ARE_NONE, ids=range(len(BODIES_THAT_ARE_NONE))
)
def test_a_body_that_is_none(path: str, body: bytes, said: str) -> None:
    answer = asked(serve.app(says()), path, body)
    assert answer.status == 400
    text, kind = error_of(path, answer)
    assert said in text
    assert kind in ("invalid_request_error", None)


@pytest.mark.parametrize(
    ("path", "body", "right"),
    table("serve_bad_input", "a body of another api"),
)
def test_a_body_of_another_api(path: str, body: Any, right: str) -> None:
    paths = fake_engines.vllm(tokens(HELLO))

    async def run() -> Answer:
        async with running(paths) as fake:
            return await ask(serve.app(f"vllm={fake.url}"), path, body)

    answer = asyncio.run(run())
    assert answer.status == 400
    text, _ = error_of(path.removesuffix("/count_tokens"), answer)
    assert text.endswith(f": this is a body of another API: send it to {right}")


@pytest.mark.parametrize("path", [OLLAMA, GENERATE])
def test_a_body_that_loads_the_model(path: str) -> None:
    """Ollama's clients ask so; what is not empty is no such body."""
    field = "messages" if path == OLLAMA else "prompt"
    for body in ({}, {field: None}, {field: [] if path == OLLAMA else ""}):
        answer = asked(serve.app(says()), path, body)
        assert (answer.status, answer.json()["done_reason"]) == (200, "load")
    answer = asked(serve.app(says()), path, {"keep_alive": 0})
    assert answer.json()["done_reason"] == "unload"
    for wrong in (3, 0, False, {}):
        answer = asked(serve.app(says()), path, {field: wrong})
        assert answer.status == 400
        assert f"{field}: expected a " in error_of(path, answer)[0]


FIELDS = (
    "background conversation context format frequency_penalty images include input instructions "
    "keep_alive logit_bias max_completion_tokens max_output_tokens max_tokens messages metadata model n "
    "options output_config parallel_tool_calls presence_penalty previous_response_id prompt raw reasoning "
    "prefix_token_ids reasoning_effort response_format return_token_ids seed stop stop_sequences store stream stream_options suffix system "
    "temperature template text think thinking tool_choice tools top_k top_p truncation user"
).split()
VALUES: list[Any] = [
    *table("serve_bad_input", "values"),
    *(None, True, False, 0, 1, -1, 1.5, 1e300, 10**30, "", "x", "auto", "none", "required"),
    *("\ud800", "\0", "a" * 3000, [], [None], [1], ["x"], [[]], [{}], {}, {"x": "y"}),
]


OTHERS: dict[str, dict[str, Any]] = dict(table("serve_bad_input", "others"))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("path", [*BODIES, *OTHERS])
def test_odd_bodies_are_no_fault_of_the_server(path: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    app = serve.app(says(), store=str(tmp_path / "s.sqlite"), log_contents=True)

    async def run() -> None:
        for _ in range(60):
            body = dict((BODIES | OTHERS)[path])
            for name in chance.sample(FIELDS, chance.randint(1, 4)):
                body[name] = chance.choice(VALUES)
            answer = await ask(app, path, body, headers={"content-type": "application/json"})
            # Of those who ask for rendering, a model that is not there is an error, as in vLLM.
            assert answer.status in (200, 400, 404 if path.endswith("/render") else 400), body
            assert b"the server failed" not in answer.body, body

    asyncio.run(run())
    app.state.store.close()


@pytest.mark.parametrize("path", [*BODIES, *OTHERS])
def test_a_client_that_leaves_within_its_body(path: str) -> None:
    sent: list[Any] = []
    parts = [{"type": "http.request", "body": b'{"mess', "more_body": True}]

    async def receive() -> dict[str, Any]:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message.get("status"))

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 5),
    }
    # What it raises would be a trace in the log.
    asyncio.run(serve.app(says())(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0] == 499


@pytest.mark.parametrize("tools", [None, "auto", 3, [None], {"x": "y"}, [{"strict": True}]])
def test_generate_reads_no_tools(tools: Any) -> None:
    answer = asked(serve.app(says()), GENERATE, {**BODIES[GENERATE], "tools": tools})
    assert (answer.status, answer.json()["response"]) == (200, "Hi there.")


def test_names_of_models_with_half_a_character() -> None:
    for path in (*BODIES, "/api/show"):
        body = {**BODIES.get(path, {}), "model": "a\ud800"}
        assert asked(serve.app(says()), path, body).status == 200
        assert asked(serve.app(says()), path, {**body, "stream": True}).status == 200
    app = serve.app(failing(0, EngineError("broke: \ud800")))
    for path in BODIES:
        answer = asked(app, path, BODIES[path])
        assert (answer.status, error_of(path, answer)[0]) == (502, "broke: ?")


@pytest.mark.parametrize("path", BODIES)
def test_a_compressed_body(path: str) -> None:
    raw = gzip.compress(json.dumps(BODIES[path]).encode())
    answer = asked(serve.app(says()), path, raw, headers={"content-encoding": "gzip"})
    assert answer.status == 415
    assert error_of(path, answer)[0] == "the body is compressed (gzip): send it as it is"


def test_bodies_as_strangers_write_them() -> None:
    """Another type, a mark of the byte order, UTF-16, and the last of two equal keys counts."""
    text = json.dumps(BODIES[CHAT])
    for raw in (
        text.encode("utf-8-sig"),
        text.encode("utf-16"),
        b'{"messages": [], ' + text.encode()[1:],
        text.replace("Hello", "Hello \\ud800 \\u0000").encode(),
    ):
        answer = asked(serve.app(says()), CHAT, raw, headers={"content-type": "text/plain"})
        assert answer.status == 200


@pytest.mark.parametrize(
    ("field", "wrong"), [("previous_response_id", 5), ("store", "yes"), ("store", 1)]
)
@pytest.mark.parametrize("kept", [False, True])
def test_fields_of_the_store(field: str, wrong: Any, kept: bool, tmp_path: Path) -> None:
    app = serve.app(says(), store=str(tmp_path / "s.sqlite") if kept else "none")
    answer = asked(app, RESPONSES, {"input": "Hello", field: wrong})
    assert answer.status == 400
    assert error_of(RESPONSES, answer)[0].startswith(f"Invalid request: {field}: expected ")
    assert answer.json()["error"]["param"] == field
    null = asked(app, RESPONSES, {"input": "Hello", field: None})
    if kept:
        app.state.store.close()
    assert (null.status, null.json()["store"]) == (200, kept)


@pytest.mark.parametrize("says_so", [True, False])
def test_a_body_as_large_as_allowed_is_taken(says_so: bool) -> None:
    raw = json.dumps(BODIES[CHAT]).encode()
    headers = {"content-length": str(len(raw))} if says_so else {}
    for most, status in ((len(raw), 200), (len(raw) - 1, 413)):
        assert asked(serve.app(says(), max_body=most), CHAT, raw, headers=headers).status == status


@pytest.mark.parametrize("at", [0, 5])
def test_errors_of_the_engine_are_counted_once(at: int) -> None:
    """Those before an answer, and those within one."""
    app = serve.app(failing(at, EngineError("out of memory", 503)))

    async def run() -> str:
        for stream in (False, True):
            await ask(app, CHAT, {**BODIES[CHAT], "stream": stream})
        return (await ask(app, "/metrics")).body.decode()

    assert 'harmony_engine_errors_total{status="503"} 2.0' in asyncio.run(run())


PASSED: list[tuple[str, dict[str, Any], Any]] = [
    *table("serve_bad_input", "passed"),
    ("c", {"max_tokens": None, "prompt": [1] * 200}, {"max_tokens": 1}),
    ("c", {"prompt": ["a"] * 2000}, "n: 2000 answers, of which this server gives 2"),
    *(
        ("c", {name: wrong}, f"{name}: expected an integer of at least 0")
        for name in ("n", "best_of", "max_tokens")
        for wrong in (-1, 1e6, 2.0, "2", True, [2], {})
    ),
    *(
        ("c", {"prompt": "a", name: wrong}, f"{name}: .*only for trusted keys")
        for name, wrong in (
            ("kv_transfer_params", {"remote_host": "10.0.0.1"}),
            ("ec_transfer_params", {}),
            ("vllm_xargs", {"a": 1}),
            ("prompt_embeds", "gAR9"),
            ("priority", -1),
            ("priority", "-1"),
        )
    ),
]
PASSED_PATHS = {
    "c": "/v1/completions",
    "g": "/inference/v1/generate",
    "a": "/inference/v1/abort_requests",
}


def test_what_is_passed_on_is_held_to_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha name=alice, beta name=router trusted")
    engine, told = says(), []

    async def pass_on(path: str, body: bytes, _: Any) -> Any:
        async def parts() -> Any:
            yield b"{}"

        told.append(json.loads(body))
        return 200, "application/json", parts()

    engine.pass_on, engine.context = pass_on, 100  # type: ignore[attr-defined]
    app = serve.app(engine, max_output_tokens=8, max_answers=2)
    for kind, body, expected in PASSED:
        answer = asyncio.run(ask(app, PASSED_PATHS[kind], body, headers={"x-api-key": "alpha"}))
        if isinstance(expected, str):
            assert answer.status in (400, 403), body
            assert re.match(f"{expected}$", answer.json()["error"]["message"]), body
            continue
        assert answer.status == 200, (body, answer.body)
        assert {name: told[-1][name] for name in expected} == expected, body
    # A router says what it likes, within the limits.
    trusted = {"kv_transfer_params": {"remote_host": "10.0.0.1"}, "priority": -1, "request_id": "x"}
    body = {"token_ids": [1], "sampling_params": {"max_tokens": 5}, **trusted}
    assert (
        asyncio.run(ask(app, PASSED_PATHS["g"], body, headers={"x-api-key": "beta"})).status == 200
    )
    assert told[-1] == body


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("says_so", [True, False])
def test_a_body_that_is_too_large(path: str, says_so: bool) -> None:
    app = serve.app(says(), max_body=1000)
    large = b'{"x": "' + b"x" * 100_000_000 + b'"}' if path == CHAT else b" " * 1001
    headers = {"content-length": str(len(large))} if says_so else {}
    answer = asked(app, path, large, headers=headers)
    assert answer.status == 413
    assert error_of(path, answer)[0] == "the body is larger than 1,000 bytes"


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("sends", [[], [b'{"messages": [', b'{"role"']])
def test_half_a_body(path: str, sends: list[bytes]) -> None:
    app = serve.app(says(), body_timeout=0.05, max_running=1, max_waiting=0)

    async def run() -> tuple[Answer, Answer]:
        late = asyncio.ensure_future(ask(app, path, sends=sends))
        await asyncio.sleep(0)
        # Who has sent no body has no place.
        return await ask(app, path, BODIES[path]), await late

    other, answer = simulated_clock.run(run())
    assert (other.status, answer.status) == (200, 408)
    assert error_of(path, answer)[0] == "the body did not arrive in time"


@pytest.mark.parametrize("path", BODIES)
def test_more_bodies_than_there_is_room_for(path: str) -> None:
    """Other clients' large bodies are refused until one that never comes has had its time."""
    full = json.dumps(BODIES[path]).encode().ljust(60_000)

    async def run() -> None:
        app = serve.app(says(), body_timeout=1, max_bodies=100_000)
        late = asyncio.ensure_future(ask(app, CHAT, sends=[b" " * 60_000]))

        async def begun() -> None:
            while not app.state.gateway.bodies.held:
                await asyncio.sleep(0)

        await asyncio.wait_for(begun(), 60)
        refused = await ask(app, path, full)
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert "bytes of bodies" in error_of(path, refused)[0]
        assert (await late).status == 408
        assert (await ask(app, path, full)).status == 200
        assert app.state.gateway.bodies.held == 0

    asyncio.run(run())


def test_paths_and_methods_that_there_are_not() -> None:
    app = serve.app(says())
    for path, status in (
        ("/v1/nothing", 404),
        (CHAT, 405),
        ("/v1/messages/x", 404),
        ("/api/x", 404),
    ):
        answer = asked(app, path)
        assert answer.status == status
        assert answer.headers.get("allow") == ("POST" if status == 405 else None)
        assert error_of(
            path
            if path == CHAT
            else {"/api/x": OLLAMA, "/v1/messages/x": ANTHROPIC}.get(path, CHAT),
            answer,
        )


def failing(at: int, error: Exception) -> Engine:
    """An engine that fails behind so many tokens."""

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if at:
            yield Sampled(tokens(HELLO)[:at])
        await asyncio.sleep(0)
        raise error

    return Engine(sample)


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EngineError("cannot be reached", 503), 503),
        (EngineError("too slow", 504), 504),
        (EngineError("speaks HTML"), 502),
        (EngineError("busy", 429, 3), 429),
        (EngineError("refused", 400), 400),
        (RuntimeError("a bug, with contents"), 500),
    ],
)
def test_an_engine_that_says_nothing(
    path: str, stream: bool, error: Exception, status: int
) -> None:
    answer = asked(serve.app(failing(0, error)), path, {**BODIES[path], "stream": stream})
    assert answer.status == status
    text, _ = error_of(path, answer)
    expected = "the server failed; its log says how" if status == 500 else str(error)
    assert text == expected
    assert answer.headers.get("retry-after") == {429: "3", 503: "1"}.get(status)


@pytest.mark.parametrize("path", BODIES)
def test_an_engine_that_breaks_off(path: str) -> None:
    engine = failing(9, EngineError("broke"))
    answer = asked(serve.app(engine), path, BODIES[path] | {"stream": False})
    assert (answer.status, error_of(path, answer)[0]) == (502, "broke")
    streamed = asked(serve.app(engine), path, BODIES[path] | {"stream": True})
    assert streamed.status == 200
    if path in (OLLAMA, GENERATE):
        last = json.loads(streamed.body.splitlines()[-1])
        assert last == {"error": "broke"}
    elif path == CHAT:
        assert streamed.events()[-1]["error"]["message"] == "broke"
        assert b"[DONE]" not in streamed.body
        assert b'"finish_reason":"' not in streamed.body
    elif path == RESPONSES:
        assert streamed.events()[-1]["type"] == "response.failed"
        assert streamed.events()[-1]["response"]["error"]["message"] == "broke"
    else:
        last = streamed.events()[-1]
        assert (last["type"], last["error"]["message"]) == ("error", "broke")
        assert b"message_stop" not in streamed.body
    assert engine.closed == 2


def test_an_engine_that_ends_without_a_reason() -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        yield Sampled(tokens(HELLO)[:5])

    answer = asked(serve.app(Engine(sample)), CHAT, BODIES[CHAT])
    assert (answer.status, "without a finish reason" in answer.json()["error"]["message"]) == (
        502,
        True,
    )

    async def nothing(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        for _ in range(3):
            yield Sampled([])

    answer = asked(serve.app(Engine(nothing)), CHAT, BODIES[CHAT])
    assert (answer.status, answer.json()["error"]["message"]) == (
        502,
        "the engine broke off: its stream ended without a finish reason",
    )


@pytest.mark.parametrize("log_contents", [False, True])
def test_ids_that_do_not_exist(log_contents: bool, caplog: pytest.LogCaptureFixture) -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        yield Sampled([*tokens("<|channel|>final<|message|>Hi"), 201_088, 4_000_000_000])
        yield Sampled(tokens(" there.<|return|>"), "stop")

    caplog.set_level("INFO", "openai_harmony.serve")
    answer = asked(serve.app(Engine(sample), log_contents=log_contents), CHAT, BODIES[CHAT])
    assert answer.status == 200
    content = answer.json()["choices"][0]["message"]["content"]
    assert content.startswith("Hi")
    assert content.endswith(" there.")
    [logged] = [record for record in caplog.records if record.message == "request"]
    if log_contents:
        [output] = logged.fields["output"]  # type: ignore[attr-defined]
        assert output.endswith("Hi<|reserved_201088|>[no token 4000000000] there.<|return|>")


@pytest.mark.parametrize(
    ("say", "status"),
    [
        (lambda _: [b"<html>Bad Gateway</html>"], 502),
        (lambda _: fake_engines.choices(tokens(HELLO))[:1], 502),
        (lambda _: [5.0], 504),
        (lambda _: [{"choices": [{"token_ids": [2**40]}]}], 502),
        (500, 502),
        (503, 503),
        (429, 429),
        (400, 400),
        (None, 503),
    ],
    ids="html broken silent wrong_ids 500 503 429 400 gone".split(),
)
@pytest.mark.parametrize("path", BODIES)
def test_an_engine_over_http(path: str, say: Any, status: int) -> None:
    paths = fake_engines.vllm(tokens(HELLO), generates=False)
    paths |= {} if say is None else {"/v1/completions": say}

    async def run() -> Answer:
        async with running(paths) as fake:
            app = serve.app(f"vllm={fake.url}", engine_timeout=0.3)
            answer = await ask(app, path, BODIES[path])
            await goes_on(app)
        if say is None:  # Nobody listens at its address any more.
            answer = await ask(app, path, BODIES[path])
        await app.state.gateway.engine.aclose()
        return answer

    answer = asyncio.run(run())
    assert answer.status == status
    assert "the engine" in error_of(path, answer)[0]
    assert ("retry-after" in answer.headers) == (status in (429, 503))


def test_an_engine_that_never_ends() -> None:
    async def silent(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        yield Sampled(tokens("<|channel|>final<|message|>Hi"))
        await asyncio.Event().wait()

    engine = Engine(silent)
    app = serve.app(engine, request_timeout=0.1)
    answer = simulated_clock.run(ask(app, CHAT, BODIES[CHAT]))
    assert (answer.status, answer.json()["error"]["message"]) == (504, "the answer takes too long")
    streamed = simulated_clock.run(ask(app, RESPONSES, {**BODIES[RESPONSES], "stream": True}))
    assert streamed.events()[-1]["type"] == "response.failed"
    assert engine.closed == 2


@pytest.mark.parametrize("when", ["at once", "before the first token", "in the middle"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves(when: str, stream: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if when != "in the middle":
            await asyncio.Event().wait()
        yield Sampled(tokens("<|channel|>final<|message|>Hi"))
        while True:
            await asyncio.sleep(0.001)
            yield Sampled(tokens(" word"))

    engine = Engine(sample)

    def leaves(answer: Answer) -> bool:
        if when == "in the middle" and stream:
            return len(answer.parts) > 3
        return True

    async def run() -> None:
        app = serve.app(engine)
        await ask(app, CHAT, {**BODIES[CHAT], "stream": stream}, leaves=leaves)
        assert engine.closed == len(engine.asked)
        gateway = app.state.gateway
        assert (gateway.limits.running, gateway.limits.waiting) == (0, 0)

    simulated_clock.run(run())
    [record] = [record for record in caplog.records if record.getMessage() == "request"]
    assert record.fields["client_left"] is True  # type: ignore[attr-defined]


def test_a_client_that_reads_slowly_holds_up_nobody() -> None:
    engine = says("<|channel|>final<|message|>" + "word " * 2000 + "<|return|>", size=1)

    async def run() -> None:
        app = serve.app(engine)
        stream = {**BODIES[CHAT], "stream": True}
        slow = asyncio.ensure_future(ask(app, CHAT, stream, pause=0.05))
        await asyncio.sleep(0)
        for _ in range(20):
            answer = await ask(app, CHAT, {**BODIES[CHAT], "max_tokens": 20})
            assert answer.status == 200
        assert (engine.closed, slow.done()) == (20, False)
        slow.cancel()
        await asyncio.wait((slow,))
        assert engine.closed == 21

    simulated_clock.run(run())


def test_completions_that_are_passed_on_are_limited_and_may_break_off() -> None:
    begun, release = asyncio.Event(), asyncio.Event()
    path, body = "/v1/completions", {"prompt": "x", "stream": True}

    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"data: {}\n\n"
        begun.set()
        await release.wait()
        raise EngineError("broke")

    async def pass_on(
        path: str, body: bytes, headers: Any
    ) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        return 200, "text/event-stream", parts()

    engine = says()
    engine.pass_on = pass_on  # type: ignore[attr-defined]

    async def run() -> None:
        app = serve.app(engine, max_running=1, max_waiting=0)
        first = asyncio.ensure_future(ask(app, path, body))
        await begun.wait()
        assert (await ask(app, path, body)).status == 429
        release.set()
        answer = await first
        assert (answer.status, answer.parts[0]) == (200, b"data: {}\n\n")
        assert answer.events()[-1]["error"]["message"] == "broke"
        figures = (await ask(app, "/metrics")).body.decode()
        assert 'harmony_engine_errors_total{status="502"} 1.0' in figures
        left = asyncio.ensure_future(ask(app, path, body, leaves=lambda answer: bool(answer.parts)))
        release.clear()
        await asyncio.wait_for(left, 60)
        assert app.state.gateway.limits.running == 0

    asyncio.run(run())


def test_what_ends_requests_waits_for_none_of_them() -> None:
    """It has places of its own, as many as others have."""
    held, release = asyncio.Event(), asyncio.Event()

    async def parts() -> AsyncGenerator[bytes, None]:
        held.set()
        await release.wait()
        yield b"{}"

    async def pass_on(*_: Any) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        return 200, "application/json", parts()

    engine = says()
    engine.pass_on = pass_on  # type: ignore[attr-defined]

    async def run() -> None:
        app = serve.app(engine, max_running=1, max_waiting=0)
        given = {"g": {"token_ids": [1]}, "a": {"request_ids": ["x"]}}
        running = []
        for kind, body in given.items():
            held.clear()
            running.append(asyncio.ensure_future(ask(app, PASSED_PATHS[kind], body)))
            await held.wait()
        for kind, body in given.items():
            assert (await ask(app, PASSED_PATHS[kind], body)).status == 429
        release.set()
        assert [(await one).status for one in running] == [200, 200]
        assert (await ask(app, PASSED_PATHS["a"], given["a"])).status == 200

    asyncio.run(run())


@pytest.mark.parametrize("server_ends", [False, True])
def test_a_client_that_stops_to_read_does_not_keep_its_turn(
    server_ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = says("<|channel|>final<|message|>" + "word " * 2000 + "<|return|>", size=1)

    async def run() -> None:
        app = serve.app(engine, request_timeout=60 if server_ends else 1)
        stream = {**BODIES[CHAT], "stream": True}
        begun = asyncio.Event()

        def leaves(answer: Answer) -> bool:
            if answer.status:
                begun.set()
            return False

        # Its first part is never taken.
        stuck = asyncio.ensure_future(ask(app, CHAT, stream, leaves=leaves, pause=3600))
        gateway = app.state.gateway
        await begun.wait()
        assert gateway.limits.running == 1
        if server_ends:
            gateway.ending.set_result(None)
        await asyncio.wait_for(stuck, 60)
        assert (gateway.limits.running, engine.closed) == (0, 1)

    simulated_clock.run(run())


def test_a_request_that_leaves_does_not_take_the_turn_of_its_key(tmp_path: Path) -> None:
    begun: list[int] = []

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        begun.append(request.sampling["seed"])
        await asyncio.sleep(1)
        yield Sampled(tokens(HELLO), "stop")

    async def run() -> None:
        (tmp_path / "keys").write_text("alpha\nbeta\n")
        app = serve.app(Engine(sample), api_key_file=str(tmp_path / "keys"), max_running=1)
        doing = []
        for seed, key in enumerate(("beta", "alpha", "alpha", "beta", "alpha")):
            headers = {"authorization": f"Bearer {key}"}
            asking = ask(app, CHAT, {**BODIES[CHAT], "seed": seed}, headers=headers)
            doing.append(asyncio.ensure_future(asking))
            await asyncio.sleep(0.1)
        doing[1].cancel()
        await asyncio.wait(doing)
        assert begun == [0, 2, 3, 4]

    simulated_clock.run(run())


def test_no_more_requests_than_allowed() -> None:
    release = asyncio.Event()

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        await release.wait()
        yield Sampled(tokens(HELLO), "stop")

    async def run() -> None:
        app = serve.app(Engine(sample), max_running=2, max_waiting=1, queue_timeout=30)
        tasks = [asyncio.ensure_future(ask(app, CHAT, BODIES[CHAT])) for _ in range(3)]
        while app.state.gateway.limits.waiting < 1:
            await asyncio.sleep(0)
        for path in BODIES:
            refused = await ask(app, path, BODIES[path])
            assert (refused.status, refused.headers["retry-after"]) == (429, "10")
            error_of(path, refused)
        release.set()
        assert [answer.status for answer in await asyncio.gather(*tasks)] == [200, 200, 200]

    simulated_clock.run(run())


def test_no_turn_in_time() -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        await asyncio.Event().wait()
        yield Sampled([])

    async def run() -> None:
        app = serve.app(Engine(sample), max_running=1, queue_timeout=0.05)
        first = asyncio.ensure_future(ask(app, CHAT, BODIES[CHAT]))
        await asyncio.sleep(0.01)
        refused = await ask(app, CHAT, BODIES[CHAT])
        assert refused.status == 429
        assert "no free slot within 0.05 s" in error_of(CHAT, refused)[0]
        first.cancel()
        await asyncio.wait((first,))

    simulated_clock.run(run())


@pytest.mark.parametrize("n", [1, 3])
def test_one_of_several_answers_fails(n: int) -> None:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if request.index == n - 1:
            raise EngineError("no memory")
        await asyncio.sleep(0.001)
        yield Sampled(tokens(HELLO), "stop")

    engine = Engine(sample)
    answer = asked(serve.app(engine), CHAT, {**BODIES[CHAT], "n": n})
    assert (answer.status, error_of(CHAT, answer)[0]) == (502, "no memory")
    assert engine.closed == n


TOOLS: list[Any] = [{"type": "function", "function": {"name": "f"}}]
QUICK: dict[str, tuple[dict[str, Any], bool]] = {
    "a text": ({"messages": [{"role": "user", "content": "x"}]}, True),
    "as much text as a thread is for": (
        {"messages": [{"role": "user", "content": "x" * LARGE}]},
        False,
    ),
    "tools": ({"tools": TOOLS}, False),
    "no tools": ({"tools": None}, True),
    "a format": ({"response_format": {"type": "json_object"}}, False),
    "parts of a text": (
        {"input": [{"type": "message", "content": [{"type": "text", "text": "x"}]}]},
        True,
    ),
    "tools that an item brings": ({"input": [{"type": "additional_tools", "tools": TOOLS}]}, False),
    "a request within": ({"chat_request": {"messages": []}}, True),
    "a request with tools within": ({"chat_request": {"tools": TOOLS}}, False),
}


@pytest.mark.parametrize(("body", "quick"), QUICK.values(), ids=QUICK)
@pytest.mark.parametrize("escape", [False, True])
def test_what_has_schemas_is_work_for_a_thread(
    body: dict[str, Any], quick: bool, escape: bool
) -> None:
    raw = json.dumps(body)
    raw = raw.replace('"tools"', r'"\u0074ools"') if escape else raw
    assert is_quick(Body(raw.encode()), len(raw)) is quick
