"""Streams that end early, clients that do not read, and what an engine's own answers become."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import BODIES, HELLO, Answer, Engine, ask, says, tokens
from openai_harmony import serve
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest
from openai_harmony.serve.sampling import held
from openai_harmony.serve.threads import in_thread
from simulation.simulated_clock import run

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES
STREAM = {**BODIES[CHAT], "stream": True}
FINAL = "<|channel|>final<|message|>"
Parts = AsyncGenerator[bytes, None]
Sampling = AsyncGenerator[Sampled, None]


async def silent(request: SampleRequest) -> Sampling:
    """Says something, and then nothing any more."""
    yield Sampled(tokens(f"{FINAL}Hi"))
    await asyncio.Event().wait()


def passes_on(parts: Callable[[], Parts], kind: str = "text/event-stream") -> Engine:
    engine = says()

    async def pass_on(path: str, body: bytes, headers: Any) -> tuple[int, str, Parts]:
        return 200, kind, parts()

    engine.pass_on = pass_on  # type: ignore[attr-defined]
    return engine


def fields(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """What the log has of the last request."""
    *_, last = (one for one in caplog.records if one.getMessage() == "request")
    found: dict[str, Any] = last.fields  # type: ignore[attr-defined]
    return found


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")


def test_a_client_that_reads_nothing_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    engine = says(FINAL + "word " * 50)

    async def use() -> None:
        app = serve.app(engine, client_timeout=0.05, max_running=1, max_waiting=0)
        # The first part of the answer is never taken.
        await ask(app, CHAT, STREAM, pause=3600)
        assert (app.state.gateway.limits.running, engine.closed) == (0, 1)
        await ask(app, CHAT, {**BODIES[CHAT], "max_tokens": 9})

    run(use())
    first, _ = (one for one in caplog.records if one.getMessage() == "request")
    assert first.fields["client_left"] is True  # type: ignore[attr-defined]


def test_a_client_that_has_nothing_to_read_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def slow(request: SampleRequest) -> Sampling:
        yield Sampled(tokens(f"{FINAL}Hi"))
        await asyncio.sleep(0.1)
        yield Sampled(tokens("<|return|>"), "stop")

    async def use() -> None:
        answer = await ask(serve.app(Engine(slow), client_timeout=0.02), CHAT, STREAM)
        assert answer.body.endswith(b"data: [DONE]\n\n")

    run(use())
    assert "client_left" not in fields(caplog)


def test_a_client_that_does_not_take_the_end_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    app = serve.app(says(), request_timeout=0.05)
    run(ask(app, CHAT, STREAM, pause=3600))
    assert fields(caplog)["client_left"] is True


@pytest.mark.parametrize("server_ends", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_is_ended_is_told_to_its_client(
    server_ends: bool, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(silent)
    said, status = ("the server ends", 503) if server_ends else ("the answer takes too long", 504)

    async def use() -> Answer:
        app = serve.app(engine, request_timeout=60 if server_ends else 0.1)
        asking = asyncio.ensure_future(ask(app, CHAT, {**STREAM, "stream": stream}))
        while server_ends and not engine.asked:
            await asyncio.sleep(0)
        if server_ends:
            app.state.gateway.ending.set_result(None)
        return await asking

    answer = run(use())
    assert "client_left" not in fields(caplog)
    if answer.status == 200:
        assert answer.events()[-1]["error"]["message"] == said
    else:
        assert (answer.status, answer.json()["error"]["message"]) == (status, said)


def test_what_is_passed_on_is_closed_within_its_request(caplog: pytest.LogCaptureFixture) -> None:
    at_the_end: list[int] = []

    async def parts() -> Parts:
        try:
            yield b"data: {}\n\n"
            await asyncio.Event().wait()
        finally:
            at_the_end.append(len(app.state.gateway.journal.running()))

    app = serve.app(passes_on(parts))

    async def use() -> None:
        await ask(app, "/v1/completions", {}, leaves=lambda answer: bool(answer.parts))

    asyncio.run(use())
    assert at_the_end == [1]


@pytest.mark.parametrize("stream", [True, False, None])
def test_what_is_passed_on_ends_with_its_time(
    stream: bool | None, caplog: pytest.LogCaptureFixture
) -> None:
    async def parts() -> Parts:
        yield b"data: {}\n\n"
        await asyncio.Event().wait()

    app = serve.app(passes_on(parts), request_timeout=1)
    answer = asyncio.run(ask(app, "/v1/completions", {"stream": stream}))
    assert (answer.status, answer.parts[0]) == (200, b"data: {}\n\n")
    assert answer.events()[-1]["error"]["message"] == "the answer takes too long"
    assert fields(caplog)["stream"] is (stream is True)


@pytest.mark.parametrize("why", ["broke", "the answer takes too long"])
def test_what_is_passed_on_and_is_no_stream_has_no_end_if_it_breaks_off(
    why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def parts() -> Parts:
        yield b'{"choices"'
        if why != "broke":
            await asyncio.Event().wait()
        raise EngineError(why)

    app = serve.app(passes_on(parts, "application/json"), request_timeout=1)
    answer = asyncio.run(ask(app, "/v1/completions", {}, pause=0.001))
    assert answer.body == b'{"choices"'
    assert (fields(caplog)["error"], fields(caplog)["client_left"]) == (why, True)


def test_what_a_stop_string_holds_back_is_in_the_form_of_generate() -> None:
    engine = says(f"{FINAL}Hi there", reason="abort")
    body = {**BODIES[GENERATE], "stream": True, "options": {"stop": ["there is"]}}
    lines = run(ask(serve.app(engine), GENERATE, body)).body.splitlines()
    *said, last = (json.loads(line) for line in lines)
    assert last == {"error": "the engine gave up"}
    assert "".join(one["response"] for one in said) == "Hi there"


def test_generate_writes_characters_as_they_are() -> None:
    answer = run(ask(serve.app(says(f"{FINAL}東京<|return|>")), GENERATE, BODIES[GENERATE]))
    assert "東京".encode() in answer.body


@pytest.mark.parametrize("stream", [True, False])
def test_several_answers_end_before_their_request_does(stream: bool) -> None:
    async def sample(request: SampleRequest) -> Sampling:
        try:
            yield Sampled(tokens(f"{FINAL}Hi"))
            await asyncio.sleep(0.01)
            if request.index == 1:
                raise EngineError("no memory")
            await asyncio.Event().wait()
        finally:
            for _ in range(9):
                await asyncio.sleep(0)

    engine = Engine(sample)

    async def use() -> Answer:
        answer = await ask(serve.app(engine), CHAT, {**STREAM, "n": 3, "stream": stream})
        assert engine.closed == 3
        return answer

    answer = run(use())
    if not stream:
        assert (answer.status, answer.json()["error"]["message"]) == (502, "no memory")
        return
    assert b"[DONE]" not in answer.body
    assert answer.events()[-1]["error"]["message"] == "no memory"


def test_several_answers_each_have_a_reason() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        more = " and on" * request.index
        thought = f"<|channel|>analysis<|message|>Hm{more}<|end|><|start|>assistant"
        yield Sampled(tokens(f"{thought}{FINAL}Hi{more}"))
        yield Sampled([], "length" if request.index else "stop")

    app = serve.app(Engine(sample))
    streamed = run(ask(app, CHAT, {**STREAM, "n": 3, "stream_options": {"include_usage": True}}))
    choices = [choice for event in streamed.events() for choice in event["choices"]]
    reasons = {one["index"]: one["finish_reason"] for one in choices if one["finish_reason"]}
    assert reasons == {0: "stop", 1: "length", 2: "length"}
    whole = run(ask(app, CHAT, {**BODIES[CHAT], "n": 3})).json()
    # 9 tokens around a thought of one and an answer of one, and two more for each later one.
    usage = whole["usage"]
    prompt, sampled = usage["prompt_tokens"], 3 * 11 + (1 + 2) * 4
    assert (usage["completion_tokens"], usage["total_tokens"]) == (sampled, prompt + sampled)
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 3 + (1 + 2) * 2
    assert streamed.events()[-1]["usage"] == usage


def test_of_several_answers_all_have_ended_if_one_cannot_begin() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        try:
            if request.index == 1:
                raise EngineError("no memory")
            if request.index == 2:
                await asyncio.Event().wait()
            yield Sampled(tokens(HELLO), "stop")
        finally:
            for _ in range(9):
                await asyncio.sleep(0)

    engine = Engine(sample)

    async def use() -> None:
        answer = await ask(serve.app(engine), CHAT, {**STREAM, "n": 3})
        assert (answer.status, answer.json()["error"]["message"]) == (502, "no memory")
        assert engine.closed == 3

    run(use())


@pytest.mark.parametrize(("most", "status"), [(2, 200), (1, 400)])
def test_the_number_of_answers_has_a_limit(most: int, status: int) -> None:
    answer = run(ask(serve.app(says(), max_answers=most), CHAT, {**BODIES[CHAT], "n": 2}))
    assert answer.status == status


@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_prompt_leaves_room_for_a_token_at_least(room: int) -> None:
    engine = says(FINAL + "a b c d")
    app = serve.app(engine)
    run(ask(app, CHAT, BODIES[CHAT]))
    engine.context = len(engine.asked[0].prompt) + room
    answer = run(ask(app, CHAT, BODIES[CHAT]))
    assert answer.status == (200 if room else 400)
    assert room == 0 or answer.json()["usage"]["completion_tokens"] == room


LIMITS: dict[str, tuple[list[Sampled], str, int]] = {
    "the limit and the reason at once": ([Sampled([5, 6, 7], "stop")], "stop", 3),
    "no reason is waited for": ([Sampled([5, 6, 7])], "length", 3),
    "more than the limit": ([Sampled([5, 6, 7, 8], "stop")], "length", 3),
    "more after the reason": ([Sampled([5], "stop"), Sampled([6])], "stop", 1),
    "nothing at all": ([Sampled([], "stop")], "stop", 0),
    "nothing at first": ([Sampled([]), Sampled([5], "stop")], "stop", 1),
}


@pytest.mark.parametrize(("sampled", "reason", "count"), LIMITS.values(), ids=LIMITS)
def test_what_an_engine_gives_is_held_to_the_limit(
    sampled: list[Sampled], reason: str, count: int
) -> None:
    async def sample(request: SampleRequest) -> Sampling:
        for some in sampled:
            yield some
        await asyncio.Event().wait()

    answer = run(ask(serve.app(Engine(sample)), CHAT, {**BODIES[CHAT], "max_tokens": 3})).json()
    assert answer["choices"][0]["finish_reason"] == reason
    assert answer["usage"]["completion_tokens"] == count


def test_nothing_is_asked_for_after_a_reason() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        yield Sampled([5], "stop")
        yield Sampled([6])

    async def use() -> None:
        request = SampleRequest([1], 9, [])
        assert [some.tokens async for some in held(Engine(sample), request)] == [[5]]

    run(use())


def test_an_engine_that_holds_is_believed() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        yield Sampled([5, 6, 7, 8], "stop")

    engine = Engine(sample)
    engine.holds = True  # type: ignore[attr-defined]
    answer = run(ask(serve.app(engine), CHAT, {**BODIES[CHAT], "max_tokens": 3})).json()
    assert answer["usage"]["completion_tokens"] == 4


def test_an_error_before_the_first_token_is_no_stream() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        yield Sampled([])
        raise EngineError("no memory", 503)

    answer = run(ask(serve.app(Engine(sample)), CHAT, STREAM))
    assert (answer.status, answer.json()["error"]["message"]) == (503, "no memory")


def test_a_client_that_leaves_before_the_first_piece_ends_the_sampling() -> None:
    async def sample(request: SampleRequest) -> Sampling:
        yield Sampled(tokens(FINAL))
        await asyncio.Event().wait()

    engine = Engine(sample)
    at_the_end: list[int] = []

    async def use() -> None:
        app = serve.app(engine)
        end = app.state.gateway.journal.end

        def counted(record: Any) -> None:
            at_the_end.append(engine.closed)
            end(record)

        app.state.gateway.journal.end = counted
        # It leaves once the head is there, and before anything is read of the answer.
        await ask(app, CHAT, STREAM, leaves=lambda answer: answer.status == 200)

    run(use())
    assert at_the_end == [1]


def test_a_request_that_is_cancelled_within_its_body_is_cancelled() -> None:
    async def use() -> None:
        sent: list[int] = []
        half = ask(
            serve.app(says()), CHAT, sends=[b"{"], leaves=lambda one: sent.append(one.status)
        )  # type: ignore[func-returns-value]
        asking = asyncio.ensure_future(half)
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert sent == [0]  # no answer was begun

    run(use())


def test_the_time_of_a_body_ends_with_it() -> None:
    async def slow(request: SampleRequest) -> Sampling:
        await asyncio.sleep(0.1)
        yield Sampled(tokens(HELLO), "stop")

    app = serve.app(Engine(slow), body_timeout=0.02)
    assert run(ask(app, CHAT, BODIES[CHAT])).status == 200


@pytest.mark.parametrize(
    ("length", "status"),
    [("1000", 408), ("1001", 413), ("9" * 5000, 413), ("000001000", 408), ("x", 408)],
)
def test_a_body_that_says_that_it_is_too_large_is_not_waited_for(length: str, status: int) -> None:
    app = serve.app(says(), max_body=1000, body_timeout=0.05)
    answer = run(ask(app, CHAT, sends=[], headers={"content-length": length}))
    assert answer.status == status


@pytest.mark.parametrize(("less", "status"), [(0, 200), (1, 429)])
def test_the_room_for_bodies_is_used_up(less: int, status: int) -> None:
    raw = json.dumps(BODIES[CHAT]).encode() + b" " * 50_000  # small ones always come through

    async def use() -> None:
        room = {"max_body": len(raw), "max_bodies": 2 * len(raw) - less}
        app = serve.app(says(), body_timeout=1, **room)
        half = asyncio.ensure_future(ask(app, CHAT, sends=[raw]))
        await asyncio.sleep(0)
        assert (await ask(app, CHAT, raw)).status == status
        assert (await half).status == 408
        assert app.state.gateway.bodies.held == 0

    asyncio.run(use())


def replay(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(json.dumps({"match": "", "text": f"{FINAL}{text}<|return|>"}), "utf-8")
    return f"replay={file}"


def test_other_settings_count_from_the_next_request_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = serve.app(
        replay(tmp_path, "a", "Alpha"), max_running=1, max_waiting=0, request_timeout=0.2
    )
    gateway = app.state.gateway

    async def said() -> str:
        answer = (await ask(app, CHAT, BODIES[CHAT])).json()
        return str(answer["choices"][0]["message"]["content"])

    async def two() -> set[int]:
        both = (ask(app, CHAT, BODIES[CHAT]) for _ in range(2))
        return {answer.status for answer in await asyncio.gather(*both)}

    def take(**named: Any) -> None:
        gateway.take(Configuration(gateway.settings.with_(**named), ()))

    async def use() -> None:
        first = gateway.engine
        closed = asyncio.Event()

        async def aclose() -> None:
            closed.set()

        first.aclose = aclose
        assert await said() == "Alpha"
        assert "prompt" not in fields(caplog)
        assert await two() == {200, 429}
        take(log_contents=True, max_running=2)
        assert gateway.engine is first
        assert await two() == {200}
        take(engine=replay(tmp_path, "b", "Beta"))
        assert await said() == "Beta"
        assert "Hello" in fields(caplog)["prompt"]
        # Answers that run may need the engine that was.
        assert not closed.is_set()
        await closed.wait()
        take(log_contents=False)
        assert await said() == "Beta"
        assert "prompt" not in fields(caplog)

    run(use())


def test_work_in_a_thread_ends_before_a_cancelled_caller_goes_on() -> None:
    """The journal of a request reads the reply, which a thread may still write."""
    may_end = threading.Event()

    async def use() -> None:
        asked = asyncio.ensure_future(in_thread(may_end.wait, 60))
        for _ in range(3):
            await asyncio.sleep(0.05)
            asked.cancel()
        await asyncio.sleep(0.05)
        assert not asked.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(use())
