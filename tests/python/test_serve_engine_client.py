"""What goes wrong on the way to an engine, and what its answers about itself are good for."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("starlette")

import aiohttp
from aiohttp.client_reqrep import ConnectionKey

import fake_engines
from fake_engines import MODELS, running
from gateways import HELLO, tokens
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest, connect
from openai_harmony.serve.engines.client import Client, ClientError, errors
from openai_harmony.serve.engines.engine import CONTEXT
from openai_harmony.serve.engines.vllm import GENERATE

TOKENS = tokens(HELLO)
REQUEST = SampleRequest([200006, 1428, 200008], 50, [200002, 200012])
WRITE = Callable[[asyncio.StreamWriter], Awaitable[None]]
MOST_QUOTED = 300
"""So many characters of an error's text are passed on."""
SERVER = ConnectionKey("host", 80, False, True, None, None, None)


@asynccontextmanager
async def serving(answer: WRITE, about: WRITE | None = None) -> AsyncIterator[str]:
    """The address of a server that gives this answer to each request, or ``about`` to ``GET``."""
    tasks: list[asyncio.Task[None]] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                if b"POST" in head:
                    await reader.readuntil(b"}")
                await (answer if b"POST" in head or about is None else about)(writer)
                await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.gather(*tasks)


def at(use: Callable[[str], Awaitable[Any]], answer: WRITE, about: WRITE | None = None) -> Any:
    async def run() -> Any:
        async with serving(answer, about) as url:
            return await asyncio.wait_for(use(url), 60)

    return asyncio.run(run())


def says(head: str, *parts: bytes, is_open: bool = False) -> WRITE:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {head}\r\n".encode())
        length = sum(map(len, parts))
        if not is_open:
            writer.write(b"content-length: %d\r\n" % length)
        writer.write(b"\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer


def asked(engine: Any) -> Callable[[], Awaitable[list[Sampled]]]:
    async def ask() -> list[Sampled]:
        async with aclosing(engine.sample(REQUEST)) as sampled:
            return [some async for some in sampled]

    return ask


def refused(answer: WRITE) -> EngineError:
    """The error of an engine to a request."""

    async def use(url: str) -> EngineError:
        async with aclosing(connect(f"completions={url}", timeout=60)) as engine:
            with pytest.raises(EngineError) as caught:
                await asked(engine)()
            return caught.value

    about = says("200 OK", b'{"data": [{"id": "m"}]}')
    found: EngineError = at(use, answer, about)
    return found


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (aiohttp.ConnectionTimeoutError(), 503, "cannot be reached: no connection in time"),
        (aiohttp.SocketTimeoutError(), 504, "is too slow: no answer in time"),
        (asyncio.TimeoutError(), 504, "is too slow: no answer in time"),
        (
            aiohttp.ClientConnectorError(SERVER, OSError(errno.ECONNREFUSED, "at 10.0.0.1")),
            503,
            f"cannot be reached: {os.strerror(errno.ECONNREFUSED)}",
        ),
        (
            aiohttp.ClientConnectorDNSError(SERVER, socket.gaierror(-2, "Name is not known")),
            503,
            "cannot be reached: Name is not known",
        ),
        (
            aiohttp.ClientConnectorError(
                SERVER, OSError("Multiple exceptions: [Errno 101] at ::1, [Errno 111] at 10.0.0.1")
            ),
            503,
            f"cannot be reached: {os.strerror(errno.ECONNREFUSED)}",
        ),
        (aiohttp.ClientResponseError(None, ()), 502, "sent invalid HTTP"),  # type: ignore[arg-type]
        (aiohttp.ClientPayloadError("x"), 502, "closed the connection"),
        (aiohttp.ServerDisconnectedError(), 502, "closed the connection"),
        (ConnectionResetError(errno.ECONNRESET, "x"), 502, "closed the connection"),
        (BrokenPipeError(errno.EPIPE, "x"), 502, "closed the connection"),
        (OSError("x"), 502, "closed the connection"),
        (OSError(errno.EHOSTUNREACH, "x"), 502, f"broke off: {os.strerror(errno.EHOSTUNREACH)}"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else None,
)
def test_errors_of_connections(error: Exception, status: int, said: str) -> None:
    """None names an address, which strangers read."""
    with pytest.raises(ClientError) as caught, errors():
        raise error
    assert (caught.value.status, str(caught.value)) == (status, said)


@pytest.mark.parametrize(
    ("status", "given"),
    [
        *((400, 400), (413, 400), (422, 400), (429, 429), (529, 429), (503, 503)),
        *((201, 502), (302, 502), (401, 502), (403, 502), (404, 502), (409, 502), (412, 502)),
        *((414, 502), (421, 502), (423, 502), (430, 502), (500, 502), (502, 502), (504, 502)),
    ],
)
def test_what_becomes_of_an_engines_status(status: int, given: int) -> None:
    error = refused(says(f"{status} X\r\nretry-after: 7", b"no"))
    assert (error.status, str(error)) == (given, f"the engine completions says {status}: no")
    assert error.retry_after == (7 if given in (429, 503) else None)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("999999", 999_999), ("1000000", None), ("soon", None), ("-1", None), ("", None)],
)
def test_when_to_ask_again(header: str, seconds: int | None) -> None:
    assert refused(says(f"503 X\r\nretry-after: {header}")).retry_after == seconds
    assert refused(says("503 X")).retry_after is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"a  b\n\tc", "a b c"),
        (b"x" * MOST_QUOTED, "x" * MOST_QUOTED),
        (b"x" * (MOST_QUOTED + 1), "x" * MOST_QUOTED + "…"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        (b'{"error": {"message": "m", "detail": "d"}}', "m"),
        (b'{"error": "e", "message": "m"}', "e"),
        (b'{"error": null, "message": "m"}', "m"),
        (b'{"detail": [1]}', "[1]"),
        (b"[1]", "[1]"),
        (b"{}", "{}"),
        (b"[" * 9000, "[" * MOST_QUOTED + "…"),
    ],
    ids=range(11),
)
def test_texts_of_errors(body: bytes, said: str) -> None:
    assert str(refused(says("500 X", body))).endswith(f" says 500: {said}")


def test_an_error_that_comes_in_parts_or_never_ends() -> None:
    assert str(refused(says("500 X", b'{"detail": ', b'"two"}'))).endswith("says 500: two")
    # No more of it is waited for than is quoted.
    endless = says("500 X", *[b"x" * 2**16] * 2, is_open=True)
    assert str(refused(endless)).endswith("xx…")


def test_an_error_that_breaks_off() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 X\r\ncontent-length: 9\r\n\r\nhalf")
        writer.close()

    error = refused(answer)
    assert (error.status, str(error)) == (502, "the engine completions closed the connection")


def test_no_redirect_is_followed() -> None:
    """It could lead anywhere, with the prompt and the key."""

    async def run() -> None:
        async with running(fake_engines.vllm(TOKENS)) as other:
            there = says(f"307 X\r\nlocation: {other.url}/v1/completions")
            async with serving(there) as url, aclosing(connect(f"completions={url}")) as engine:
                for _ in range(2):  # the first asks for the model before
                    with pytest.raises(EngineError, match="says 307"):
                        await asked(engine)()
            assert (other.asked, other.headers) == ([], [])

    asyncio.run(run())


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    async def run() -> None:
        async with (
            running(fake_engines.vllm(TOKENS)) as fake,
            aclosing(connect(f"vllm={fake.url}", timeout=60)) as engine,
        ):
            found = await asked(engine)()
            assert [token for some in found for token in some.tokens] == TOKENS

    asyncio.run(run())


def test_questions_may_share_a_connection() -> None:
    async def use(url: str) -> tuple[str | None, int]:
        async with aclosing(connect(f"llama.cpp={url}", timeout=60)) as engine:
            await engine.check()
            await engine.check()
            return engine.model, engine.context

    assert at(use, says("200 OK", json.dumps(MODELS).encode())) == ("openai/gpt-oss-20b", 4096)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp", "completions", "auto"])
def test_an_engine_that_was_never_asked_is_closed(kind: str) -> None:
    asyncio.run(connect(f"{kind}=http://127.0.0.1:9").aclose())


ODD: list[Any] = [
    *(b"<html>", b"[" * 100_000, [], "x", None, {"data": None}, {"data": {}}, {"data": {"0": {}}}),
    *(
        {"data": []},
        {"data": [3]},
        {"data": [{}]},
        {"data": [{"id": None}]},
        {"data": [{"id": ""}]},
    ),
    *({"data": [{"id": 3, "max_model_len": "4096"}]}, {"data": [{"max_model_len": 0}]}),
    *({"data": [{"max_model_len": True}]}, {"data": [{"max_model_len": 4.5}]}, {"paths": None}),
    *({"default_generation_settings": 3}, {"default_generation_settings": {"n_ctx": 0}}),
]


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp", "completions"])
def test_odd_answers_about_an_engine_teach_nothing(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with running({}) as fake, aclosing(connect(f"{kind}={fake.url}")) as engine:
            for odd in ODD:
                paths = ("/health", "/v1/models", "/props", "/openapi.json")
                fake.paths |= dict.fromkeys(paths, odd)
                await engine.check()
                assert (engine.model, engine.context) == (None, CONTEXT), odd

    asyncio.run(run())
    assert len(caplog.records) == (kind == "vllm")


def test_two_are_answered_at_once_on_connections_that_are_closed_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[Client] = []
    aclose = Client.aclose

    async def counted(self: Client) -> None:
        await aclose(self)
        closed.append(self)

    monkeypatch.setattr(Client, "aclose", counted)
    first = fake_engines.choices(TOKENS)[0]
    paths = {**fake_engines.vllm(TOKENS), GENERATE: lambda _: [first, 60.0]}

    async def run() -> None:
        async with running(paths) as fake:
            async with aclosing(connect(fake.url, key="secret")) as engine:
                for _ in range(2):
                    await engine.check()
                # Its kind is asked for once.
                assert len(closed) == 1
                both = [engine.sample(REQUEST) for _ in range(2)]
                assert [(await anext(one)).tokens for one in both] == [TOKENS[:2]] * 2
                for one in both:
                    await one.aclose()
            assert len(closed) == 2
            assert {one.get("authorization") for one in fake.headers} == {"Bearer secret"}

    asyncio.run(run())


def test_after_an_error_of_one_request_nothing_is_asked_again() -> None:
    async def run() -> None:
        paths = fake_engines.vllm(TOKENS, generates=False)
        async with running({**paths, "/v1/completions": 400}) as fake:
            async with aclosing(connect(f"vllm={fake.url}")) as engine:
                for _ in range(3):
                    with pytest.raises(EngineError, match="says 400"):
                        await asked(engine)()
            assert len(fake.headers) == 3 + 3
            assert "authorization" not in fake.headers[-1]

    asyncio.run(run())


def test_half_a_character_in_the_name_of_a_model() -> None:
    async def run() -> None:
        models = {"/v1/models": {"data": [{"id": "a\ud800", "max_model_len": 1}]}}
        async with running(models) as fake, aclosing(connect(f"completions={fake.url}")) as engine:
            await engine.check()
            assert (engine.model, engine.context) == ("a?", 1)

    asyncio.run(run())


@pytest.mark.parametrize(("kind", "path"), [("vllm", "/health"), ("completions", "/v1/models")])
@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_an_engine_that_is_not_healthy(kind: str, path: str, status: int) -> None:
    async def run() -> None:
        async with (
            running({path: status}) as fake,
            aclosing(connect(f"{kind}={fake.url}")) as engine,
        ):
            said = f"^the engine {kind} says {status} to {path}$"
            with pytest.raises(EngineError, match=said) as caught:
                await engine.check()
            assert caught.value.status == 503

    asyncio.run(run())


@pytest.mark.parametrize("length", [8191, 8192])
def test_long_prompts_are_sent_whole(length: int) -> None:
    async def run() -> None:
        async with (
            running(fake_engines.vllm(TOKENS)) as fake,
            aclosing(connect(f"vllm={fake.url}")) as engine,
        ):
            request = SampleRequest([*range(length)], 50, [200002])
            [*_] = [some async for some in engine.sample(request)]
            assert fake.asked[-1][1]["token_ids"] == [*range(length)]

    asyncio.run(run())


def test_two_that_ask_at_once_find_one_engine() -> None:
    async def run() -> None:
        async with (
            running(fake_engines.vllm(TOKENS)) as fake,
            aclosing(connect(fake.url)) as engine,
        ):
            assert engine.constrains is False
            await asyncio.gather(*(engine.check() for _ in range(2)))
            assert (engine.constrains, engine.holds) == (True, True)  # type: ignore[attr-defined]
        async with running({"/v1/models": MODELS}) as fake, aclosing(connect(fake.url)) as engine:
            await engine.check()
            assert engine.constrains is False

    asyncio.run(run())


def test_two_that_find_out_at_once_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    paths = {**fake_engines.vllm(TOKENS), GENERATE: 501}

    async def run() -> None:
        async with running(paths) as fake, aclosing(connect(f"vllm={fake.url}")) as engine:
            await engine.check()
            await asyncio.gather(*(asked(engine)() for _ in range(2)))
            assert len(fake.asked) == 4

    asyncio.run(run())
    assert len(caplog.records) == 1
