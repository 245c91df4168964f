"""A connection of the gateway in simulated time: what it waits for, how long, and which one is closed for another."""

from __future__ import annotations

import asyncio
import errno
import logging
import math
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("httptools")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from uvicorn import Config
from uvicorn.server import ServerState

from openai_harmony.serve import connections
from openai_harmony.serve.connections import (
    _LONGEST_HELD,
    _MOST_HEAD,
    Connection,
    OutOfDescriptors,
    _Outbox,
    _Together,
    limit,
)
from openai_harmony.serve.settings import Settings
from simulation.simulated_clock import run

ASKED = b"GET /%d HTTP/1.1\r\nhost: a\r\n\r\n"
"""A request whose answer takes this many seconds."""


class Wire(asyncio.Transport):
    """The other end of a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.aborted = 0
        self.closed = False

    def write(self, data: Any) -> None:
        self.sent += data

    def abort(self) -> None:
        self.aborted += 1

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed or self.aborted > 0

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(int(scope["path"][1:]))
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"Hi"})


class Server:
    """Accepts connections."""

    def __init__(self) -> None:
        self.state = ServerState()
        options: dict[str, Any] = {"lifespan": "off", "ws": "none", "timeout_keep_alive": 10**6}
        self.config = Config(answer, http=Connection, log_config=None, **options)

    def connect(self, sent: bytes = b"") -> Any:
        made = Connection(self.config, self.state, {}, _loop=asyncio.get_running_loop())
        made.wire = Wire()
        made.connection_made(made.wire)
        if sent:
            made.data_received(sent)
        return made

    def simulate(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs; then all clients leave, and all answers end."""

        async def whole() -> None:
            await work()
            for one in list(self.state.connections):
                one.connection_lost(None)  # type: ignore[union-attr]
            await asyncio.sleep(2000)

        run(whole())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(Connection, "header_timeout", 30.0)
    monkeypatch.setattr(Connection, "client_timeout", 60.0)
    monkeypatch.setattr(Connection, "most", math.inf)
    monkeypatch.setattr(Connection, "_open", set())
    monkeypatch.setattr(Connection, "_idle", {})
    return Server()


def test_half_a_head(server: Server) -> None:
    async def work() -> None:
        half = server.connect()
        await asyncio.sleep(20)
        half.data_received(b"GET /0 ")  # gives it no more time
        await asyncio.sleep(9)
        assert half.wire.aborted == 0
        await asyncio.sleep(2)
        assert (half.wire.aborted, half.wire.sent) == (1, b"")

    server.simulate(work)


def test_a_head_in_pieces_and_a_long_answer(server: Server) -> None:
    """Its time is that of the head; after the answer, the next one has its own."""

    async def work() -> None:
        kept = server.connect()
        for piece in (b"GET /10", b"0 HTTP/1.1\r\nho", b"st: a\r\n\r\n"):
            await asyncio.sleep(5)
            kept.data_received(piece)
        await asyncio.sleep(99)
        assert (kept.wire.sent, kept.wire.aborted) == (b"", 0)
        await asyncio.sleep(200)
        assert (kept.wire.sent[-2:], kept.wire.aborted) == (b"Hi", 0)
        kept.data_received(b"GET ")
        await asyncio.sleep(29)
        assert kept.wire.aborted == 0
        await asyncio.sleep(2)
        assert kept.wire.aborted == 1

    server.simulate(work)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_large_head(server: Server, before: int) -> None:
    """What requests before it had counts for none of it."""

    async def work() -> None:
        kept = server.connect()
        for _ in range(before):
            kept.data_received(ASKED % 0)
            await asyncio.sleep(1)
        kept.wire.sent = b""
        head = b"GET / HTTP/1.1\r\nx: "
        kept.data_received(head)
        kept.data_received(b"a" * (_MOST_HEAD - len(head)))
        await asyncio.sleep(1)
        assert (kept.wire.sent, kept.wire.closed) == (b"", False)
        kept.data_received(b"a")
        assert kept.wire.sent.startswith(b"HTTP/1.1 400 ")
        assert kept.wire.sent.endswith(b"The head of the request is too large.")
        kept.data_received(b"a")
        assert (kept.wire.sent.count(b"HTTP/1.1"), kept.wire.closed) == (1, True)

    server.simulate(work)


def test_a_target_for_proxies(server: Server) -> None:
    async def work() -> None:
        for target, status in ((b"/0", b"200"), (b"http://a/0", b"400"), (b"a", b"400")):
            one = server.connect(b"GET %s HTTP/1.1\r\nhost: a\r\n\r\n" % target)
            await asyncio.sleep(1)
            assert one.wire.sent.split()[1] == status

    server.simulate(work)


def test_a_client_that_does_not_read(server: Server) -> None:
    async def work() -> None:
        reads, stops, leaves = (server.connect(ASKED % 1000) for _ in range(3))
        for one in (reads, stops, leaves):
            one.pause_writing()
            assert one.flow.write_paused
        await asyncio.sleep(50)
        reads.resume_writing()
        assert not reads.flow.write_paused
        leaves.connection_lost(None)
        reads.pause_writing()
        await asyncio.sleep(11)
        assert [one.wire.aborted for one in (reads, stops, leaves)] == [0, 1, 0]
        reads.resume_writing()
        await asyncio.sleep(500)
        assert [one.wire.aborted for one in (reads, stops, leaves)] == [0, 1, 0]

    server.simulate(work)


def test_a_client_that_leaves(server: Server) -> None:
    """Nothing waits for it any more, and the server forgets it."""

    async def work() -> None:
        one = server.connect(b"GET ")
        one.connection_lost(None)
        await asyncio.sleep(100)
        assert (one.wire.aborted, one.wire.sent) == (0, b"")
        assert not Connection._open
        assert not Connection._idle
        assert not server.state.connections

    server.simulate(work)


def aborted(*of: Any) -> list[int]:
    return [one.wire.aborted for one in of]


def test_the_oldest_idle_connection_is_closed_for_another(server: Server) -> None:
    async def work() -> None:
        Connection.most = 3
        a, b, c = (server.connect() for _ in range(3))
        assert aborted(a, b, c) == [0, 0, 0]
        a.data_received(ASKED % 50)
        d = server.connect()
        assert aborted(a, b, c, d) == [0, 1, 0, 0]
        # One that is being closed counts no more, and is not closed again.
        e = server.connect()
        assert aborted(a, b, c, d, e) == [0, 1, 1, 0, 0]
        for one in (b, c):
            one.connection_lost(None)
        d.data_received(ASKED % 1000)
        await asyncio.sleep(51)
        # Since its answer, it is idle, after the one that came meanwhile.
        server.connect(ASKED % 1000)
        assert aborted(a, d, e) == [0, 0, 1]
        server.connect(ASKED % 1000)
        assert aborted(a, d) == [1, 0]
        # None is idle but the new one.
        assert server.connect().wire.aborted == 1

    server.simulate(work)


@pytest.mark.parametrize("how", ["abort", "connection_lost"])
def test_one_that_is_gone_is_not_closed_for_another(server: Server, how: str) -> None:
    async def work() -> None:
        Connection.most = 2
        a, b = server.connect(), server.connect()
        a.abort() if how == "abort" else a.connection_lost(None)
        before = a.wire.aborted
        c = server.connect()
        assert aborted(a, b, c) == [before, 0, 0]
        server.connect()
        assert aborted(a, b, c) == [before, 1, 0]

    server.simulate(work)


def test_two_requests_in_one_go(server: Server) -> None:
    """Between the two answers, the connection is not idle."""

    async def work() -> None:
        one = server.connect(ASKED % 10 + ASKED % 10)
        await asyncio.sleep(15)
        assert (one.wire.sent.count(b"Hi"), one in Connection._idle) == (1, False)
        await asyncio.sleep(10)
        assert (one.wire.sent.count(b"Hi"), one in Connection._idle) == (2, True)

    server.simulate(work)


def test_an_answer_that_ends_after_its_connection(server: Server) -> None:
    async def work() -> None:
        one = server.connect(ASKED % 10)
        one.abort()
        await asyncio.sleep(20)
        assert one not in Connection._idle

    server.simulate(work)


@pytest.mark.parametrize(
    ("descriptors", "running", "most"),
    [(1000, 100, 772), (293, 100, 65), (292, 100, 64), (100, 1000, 64), (math.inf, 1024, math.inf)],
)
def test_limits_of_connections(
    server: Server, descriptors: float, running: int, most: float
) -> None:
    limit(Settings(max_running=running, header_timeout=7, client_timeout=8), descriptors)
    assert (Connection.header_timeout, Connection.client_timeout) == (7, 8)
    assert Connection.most == most


def test_a_lack_of_descriptors_is_logged_once_a_second(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    others: list[Any] = []
    loop: Any = SimpleNamespace(default_exception_handler=others.append)
    handle = OutOfDescriptors()
    said = "out of file descriptors: new connections wait"
    for clock[0], number, count in (
        (100.0, errno.EMFILE, 1),
        (100.5, errno.ENFILE, 1),
        (101.0, errno.ENFILE, 2),
        (101.9, errno.EMFILE, 2),
    ):
        handle(loop, {"exception": OSError(number, "x")})
        assert [record.getMessage() for record in caplog.records] == [said] * count
    assert (others, caplog.records[0].levelno) == ([], logging.ERROR)
    odd: list[dict[str, Any]] = [
        {"exception": OSError(errno.EPIPE, "x")},
        {"exception": KeyError()},
    ]
    odd.append({"message": "x"})
    for context in odd:
        handle(loop, context)
    assert (others, len(caplog.records)) == (odd, 2)


class Loop:
    """Counts its turns, and has the time that a test sets."""

    now = 0.0

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def time(self) -> float:
        return self.now

    def call_soon(self, work: Callable[[], None]) -> None:
        self.soon.append(work)

    def turn(self) -> None:
        due, self.soon = self.soon, []
        for work in due:
            work()


HELD = _LONGEST_HELD
WAITS: dict[str, tuple[list[float | str], list[list[int]], int]] = {
    "a turn": ([0, HELD / 3, HELD / 2, "turn"], [[], [], [], [0, 1, 2]], 1),
    "just not too long": ([0, HELD], [[], []], 1),
    "the first one's time counts": ([0, HELD * 0.8, HELD * 1.2], [[], [], [0, 1]], 2),
    "after a turn": (
        [0, "turn", HELD * 9, HELD * 9.5, "turn"],
        [[], [0], [0], [0], [0, 1, 2]],
        2,
    ),
}


@pytest.mark.parametrize(("steps", "sent", "turns"), WAITS.values(), ids=WAITS)
def test_when_what_waits_is_sent(
    steps: list[float | str], sent: list[list[int]], turns: int
) -> None:
    loop: Any = Loop()
    outbox, found, asked = _Outbox(), [], 0

    def sender(number: int) -> Any:
        return SimpleNamespace(send=lambda: found.append(number))

    for step, expected in zip(steps, sent, strict=True):
        if isinstance(step, str):
            loop.turn()
        else:
            loop.now = step
            before = len(loop.soon)
            outbox.add(
                sender(sum(not isinstance(one, str) for one in steps[: steps.index(step)])), loop
            )
            asked += len(loop.soon) - before
        assert found == expected
    assert asked == turns


def test_one_that_waits_is_not_added_again() -> None:
    added: list[Any] = []
    outbox: Any = SimpleNamespace(add=lambda transport, loop: added.append(transport))
    together = _Together(Wire(), Loop(), outbox)  # type: ignore[arg-type]
    for _ in range(3):
        together.write(b"x")
    assert added == [together]
    together.send()
    together.write(b"x")
    assert added == [together] * 2
