"""How connections to an engine are used again, and when they are closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("starlette")

from gateways import HELLO, tokens
from openai_harmony.serve.engines import EngineError, SampleRequest, client, connect

TOKENS = tokens(HELLO)
REQUEST = SampleRequest([200006, 1428, 200008], 50, [200002, 200012])
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def event(part: list[int], reason: str | None) -> bytes:
    found = {"choices": [{"index": 0, "text": "", "token_ids": part, "finish_reason": reason}]}
    data = b"data: %b\n\n" % json.dumps(found).encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


Writer = asyncio.StreamWriter


async def ends_well(writer: Writer) -> None:
    """The last token, and then HTTP's end by itself, as servers send it."""
    writer.write(HEAD + event(TOKENS[:-1], None))
    writer.write(event(TOKENS[-1:], "stop"))
    await writer.drain()
    await asyncio.sleep(0.01)
    writer.write(END)


async def never_ends(writer: Writer) -> None:
    """The answer's end, and not HTTP's."""
    writer.write(HEAD + event(TOKENS, "stop"))
    await writer.drain()


async def goes_on(writer: Writer) -> None:
    """Text after the end, for ever."""
    writer.write(HEAD + event(TOKENS, "stop"))
    with suppress(OSError):
        while not writer.is_closing():
            writer.write(event(TOKENS, None))
            await writer.drain()
            await asyncio.sleep(0.001)


class Engine:
    """An engine that answers as it is told, and counts."""

    def __init__(self) -> None:
        self.answers = ends_well
        self.connections = self.closed = 0
        self.waits = False
        self.url = ""
        self.writers: list[Writer] = []

    async def connected(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        self.writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readline():
                length = 0
                while (line := await reader.readline()).strip():
                    if line.lower().startswith(b"content-length:"):
                        length = int(line[15:])
                await reader.readexactly(length)
                if head.startswith(b"POST"):
                    self.waits = False
                    await self.answers(writer)
                    self.waits = True
                    continue
                about = b'{"data": [{"id": "m"}], "paths": {}}'
                if b"model_info" in head:
                    about = b'{"model_path": "m"}'
                head = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
                writer.write(head % len(about) + about)
                break
            else:
                self.closed += 1
        writer.close()


@asynccontextmanager
async def engine() -> AsyncIterator[Engine]:
    made = Engine()
    async with await asyncio.start_server(made.connected, "127.0.0.1", 0) as server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield made
        for writer in made.writers:
            writer.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes its time."""
    monkeypatch.setattr(client, "IDLE_SECONDS", 60.0)
    monkeypatch.setattr(client, "LAST_SECONDS", 60.0)


def run(use: Callable[[Engine, Any], Awaitable[None]], kind: str = "completions") -> None:
    async def at() -> None:
        async with engine() as made, aclosing(connect(f"{kind}={made.url}", timeout=60)) as asked:
            await asked.check()
            made.connections = 0
            await use(made, asked)

    asyncio.run(asyncio.wait_for(at(), 60))


async def answered(asked: Any) -> list[int]:
    async with aclosing(asked.sample(REQUEST)) as sampled:
        return [token async for some in sampled for token in some.tokens]


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.005)


async def one_waits(made: Engine) -> None:
    """Until a connection waits for its next request: HTTP's end comes later than the answer's."""
    await until(lambda: made.waits)
    await asyncio.sleep(0.02)  # the client has it in the next turns of this loop


def test_answers_one_after_the_other_take_one_connection() -> None:
    async def use(made: Engine, asked: Any) -> None:
        for _ in range(20):
            assert await answered(asked) == TOKENS
            await one_waits(made)
        assert made.connections == 1

    run(use)


def test_a_server_of_few_threads_gets_a_connection_for_each() -> None:
    async def answer(writer: Writer) -> None:
        about = {"content": "", "tokens": TOKENS, "stop": True, "stop_type": "eos"}
        data = b"data: %b\n\n" % json.dumps(about).encode()
        writer.write(HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data))

    async def use(made: Engine, asked: Any) -> None:
        made.answers = answer
        for at in range(3):
            assert await answered(asked) == TOKENS
            await until(lambda at=at: made.closed == at + 1)  # type: ignore[misc]
        assert made.connections == 3

    run(use, "llama.cpp")


@pytest.mark.parametrize("answers", [never_ends, goes_on], ids=lambda one: one.__name__)
def test_an_engine_that_does_not_end_is_left(
    answers: Callable[[Writer], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LAST_SECONDS", 0.05)

    async def use(made: Engine, asked: Any) -> None:
        made.answers = answers  # type: ignore[assignment]
        assert await answered(asked) == TOKENS
        first = made.writers[-1]
        await until(lambda: first.is_closing() or made.closed == 1)
        made.answers = ends_well
        assert await answered(asked) == TOKENS
        assert made.connections == 2

    run(use)


def test_a_client_that_leaves_closes_the_connection() -> None:
    async def begins(writer: Writer) -> None:
        writer.write(HEAD + event(TOKENS[:2], None))
        await writer.drain()

    async def use(made: Engine, asked: Any) -> None:
        made.answers = begins
        async with aclosing(asked.sample(REQUEST)) as sampled:
            assert (await anext(sampled)).tokens == TOKENS[:2]
        await until(lambda: made.closed == 1)

    run(use)


def test_a_connection_is_used_for_some_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "REUSED_SECONDS", 0.0)

    async def use(made: Engine, asked: Any) -> None:
        for used in range(1, 6):
            assert await answered(asked) == TOKENS
            await one_waits(made)
            assert await answered(asked) == TOKENS
            await until(lambda used=used: made.closed == used)  # type: ignore[misc]
            assert made.connections == used

    run(use)


def test_an_engine_that_closes_idle_connections_is_asked_on_a_new_one() -> None:
    async def use(made: Engine, asked: Any) -> None:
        for _ in range(3):
            assert await answered(asked) == TOKENS
            await one_waits(made)
            made.writers[-1].close()
        assert made.connections == 3

    run(use)


def test_a_connection_that_is_closed_when_it_is_used_again_costs_no_answer() -> None:
    async def use(made: Engine, asked: Any) -> None:
        async def closes(writer: Writer) -> None:
            writer.close()
            made.answers = ends_well

        for _ in range(3):
            made.answers = ends_well
            assert await answered(asked) == TOKENS
            await one_waits(made)
            made.answers = closes
            assert await answered(asked) == TOKENS
            await one_waits(made)
        assert made.connections == 4

    run(use)


def test_a_new_connection_that_is_closed_is_an_error_at_once() -> None:
    async def use(made: Engine, asked: Any) -> None:
        async def closes(writer: Writer) -> None:
            writer.close()

        made.answers = closes
        with pytest.raises(EngineError, match="closed the connection"):
            await answered(asked)
        assert made.connections == 1

    run(use)


def test_what_an_engine_sets_for_one_client_is_not_sent_for_another() -> None:
    asked_with: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: Writer) -> None:
        asked_with.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 400 No\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    async def use() -> None:
        async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
            # A name: cookies of addresses are not kept anyway.
            url = f"http://localhost:{server.sockets[0].getsockname()[1]}"
            async with aclosing(connect(f"completions={url}", timeout=60)) as asked:
                for _ in range(2):
                    with pytest.raises(EngineError):
                        await answered(asked)

    asyncio.run(use())
    assert len(asked_with) == 2
    assert b"cookie" not in asked_with[1].lower()
