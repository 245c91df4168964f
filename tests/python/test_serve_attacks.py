"""One key does its worst with each thing that requests share, and a small request of another key is answered meanwhile.

On an idle machine that takes less than a second. A busy one gets 20, where a server without the bound takes 60 or more.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from databases import postgresql
from gateways import HELLO
from running_gateways import command

PATIENCE = 20
KEYS = "sk-alpha name=alpha\nsk-beta name=beta\n"
SLOW = "<|channel|>final<|message|>" + "word " * 9000 + "<|return|>"
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def chat(said: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": said}], **more}


Options = tuple[str, ...]


class Attacked:
    """A server of two keys."""

    def __init__(self, url: str, pid: int) -> None:
        self.port, self.pid = int(url.rpartition(":")[2]), pid

    def sent(self, path: str, body: bytes, length: int | None = None) -> socket.socket:
        """A request of the attacker, of which nobody reads the answer; a part of the body, if it is longer."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: sk-alpha\r\n"
        head += f"content-length: {length or len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection

    def asked(self, path: str, body: Any = None) -> tuple[int, bytes]:
        """The answer to the other key, if it comes in time."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with closing(connection):
            raw = None if body is None else json.dumps(body)
            method = "GET" if body is None else "POST"
            connection.request(method, path, raw, {"x-api-key": "sk-beta"})
            answer = connection.getresponse()
            return answer.status, answer.read()

    @contextmanager
    def socket(self, key: str) -> Iterator[ClientConnection]:
        """A WebSocket of a key."""
        url, headers = f"ws://127.0.0.1:{self.port}{RESPONSES}", {"x-api-key": key}
        made = connect(url, additional_headers=headers, compression=None, close_timeout=0.1)
        with made:
            yield made
        made.socket.close()  # if the server took longer


def event(connection: ClientConnection, said: str, **more: Any) -> dict[str, Any]:
    """The last event of the answer to a request."""
    connection.send(json.dumps({"type": "response.create", "input": said, **more}))
    while True:
        found: dict[str, Any] = json.loads(connection.recv(PATIENCE))
        if found["type"] in ("response.completed", "error"):
            return found


Attack = Callable[[Attacked], Iterator[None]]
"""Begins, and ends after the other key's requests."""


def many(count: int, path: str, body: Any, length: int | None = None) -> Attack:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    def attack(server: Attacked) -> Iterator[None]:
        with ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(server.sent(path, raw, length))
            yield

    return attack


def idle(server: Attacked) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(700):
            with suppress(ConnectionError):
                made = socket.create_connection(("127.0.0.1", server.port), timeout=60)
                stack.enter_context(made)
                made.sendall(b"GET / HTTP/1.1\r\n")
        yield


def running(server: Attacked) -> Iterator[None]:
    """Large bodies whose answers run, and repeat them: they count until their ends."""
    body = {"input": "Slow", "stream": True, "store": False, "user": "x" * 1_000_000}
    with ExitStack() as stack:
        made = (
            stack.enter_context(server.sent(RESPONSES, json.dumps(body).encode())) for _ in range(9)
        )
        assert [one.recv(12)[9:] for one in made] == [b"200"] * 6 + [b"429"] * 3
        yield


def sockets(server: Attacked) -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(server.socket("sk-alpha"))
        with pytest.raises(InvalidStatus):
            stack.enter_context(server.socket("sk-alpha"))
        yield


def messages(server: Attacked) -> Iterator[None]:
    """Messages of 3 MB that never end: the server closes connections."""
    with ExitStack() as stack:
        made = [stack.enter_context(server.socket("sk-alpha")) for _ in range(9)]
        for connection in made:
            raw = Frame(Opcode.TEXT, b" " * 3_000_000).serialize(mask=True)
            connection.socket.sendall(raw[:2_000_000])
        yield
        closed = [one.protocol.close_rcvd for one in made]
        codes = [close.code for close in closed if close is not None]
        assert len(codes) >= 6
        assert set(codes) == {1013}


DEEP = b'{"messages":' + b"[" * 400_000 + b"]" * 400_000 + b"}"
WIDE = (
    b'{"messages":['
    + b'{"role":"user","content":"a"},' * 40_000
    + b'{"role":"user","content":"b"}]}'
)
SCHEMA = json.dumps(
    chat("Hello", tools=[{"type": "function", "function": {"name": f"f{at}"}} for at in range(900)])
).encode()

NESTED = {f"d{at}": {"anyOf": [{"$ref": f"#/$defs/d{to}"} for to in range(20)]} for at in range(20)}
COSTLY = {"name": "f", "strict": True, "parameters": {"$defs": NESTED, "$ref": "#/$defs/d0"}}
"""Ten kilobytes, of which a grammar takes most of a second."""

ATTACKS: dict[str, tuple[Options, Attack]] = {
    "many slow requests": (
        ("--max-running", "8", "--max-waiting", "8", "--queue-timeout", "90"),
        many(40, CHAT, chat("Slow")),
    ),
    "large bodies, unfinished": (
        ("--max-bodies", "8388608", "--body-timeout", "90", "--body-rate", "0"),
        many(9, CHAT, b"[" + b" " * 2_000_000, 3_000_000),
    ),
    "large bodies that are answered": (("--max-bodies", "8388608"), running),
    "bodies that never come": (
        ("--max-running", "1", "--max-waiting", "0", "--body-timeout", "90"),
        many(50, CHAT, b"{", 100),
    ),
    "hostile bodies": ((), many(30, CHAT, DEEP)),
    "bodies of many messages": ((), many(30, CHAT, WIDE)),
    "bodies of many tools": ((), many(30, CHAT, SCHEMA)),
    "bodies of costly schemas": (
        (),
        many(60, CHAT, chat("Hello", tools=[{"type": "function", "function": COSTLY}])),
    ),
    "WebSockets": (("--max-running", "20", "--max-waiting", "20"), sockets),
    "messages, unfinished": (
        ("--max-bodies", "8388608", "--body-timeout", "90"),
        messages,
    ),
    "idle connections": (("--max-running", "20", "--max-waiting", "0"), idle),
}


@contextmanager
def attacked(folder: Path, *options: str, files: int | None = None) -> Iterator[Attacked]:
    (folder / "keys").write_text(KEYS)
    records = folder / "recorded.jsonl"
    lines = [{"match": "Slow", "text": SLOW, "size": 1, "delay": 0.5}, {"match": "", "text": HELLO}]
    records.write_text("\n".join(map(json.dumps, lines)))
    with ExitStack() as stack:
        resource = pytest.importorskip("resource")
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files or before[0], before[1]))
        given = ("--engine", f"replay={records}", "--api-key-file", str(folder / "keys"), *options)
        try:
            url, process = stack.enter_context(command(*given))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        yield Attacked(url, process.pid)


def others_are_answered(server: Attacked) -> None:
    for body in (chat("Hello"), chat("Hello", tools=[TOOL]), chat("x" * 100_000)):
        status, said = server.asked(CHAT, body)
        assert (status, b"Hi there." in said) == (200, True), said[:300]
    assert server.asked(RESPONSES, {"input": "Hello", "store": False})[0] == 200
    with server.socket("sk-beta") as connection:
        assert event(connection, "Hello", store=False)["type"] == "response.completed"
    assert server.asked("/ready") == (200, b"ready")
    status, figures = server.asked("/metrics")
    assert (status, b"sk-alpha" in figures) == (200, False)


@pytest.mark.parametrize("name", ATTACKS)
def test_another_key_is_answered(name: str, tmp_path: Path) -> None:
    options, attack = ATTACKS[name]
    files = 300 if name == "idle connections" else None
    with attacked(tmp_path, *options, files=files) as server:
        for _ in attack(server):
            time.sleep(0.3)  # so that what was sent is there
            others_are_answered(server)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def refuses_what_needs_the_store(server: Attacked, attack: Attack) -> None:
    assert server.asked(RESPONSES, {"input": "Hello"})[0] == 200
    for _ in attack(server):
        for _ in many(45, RESPONSES, {"input": "Hello"})(server):
            time.sleep(0.3)
            others_are_answered(server)
            until(lambda: server.asked("/health")[0] == 503)  # an answer counts for a second
            assert server.asked(RESPONSES, {"input": "Hello"})[0] == 503
            # What is counted is not kept.
            assert server.asked(f"{RESPONSES}/input_tokens", {"input": "Hello"})[0] == 200
    until(lambda: server.asked("/health")[0] == 200)
    until(lambda: server.asked(RESPONSES, {"input": "Hello"})[0] == 200)


def stopped(process: int) -> Iterator[None]:
    """A process and its children, of which each serves a connection, do nothing for a while."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    everyone = [process, *map(int, children)]
    for one in everyone:
        os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in everyone:
            os.kill(one, signal.SIGCONT)


def test_a_database_that_hangs(tmp_path: Path) -> None:
    with (
        postgresql() as (address, process),
        attacked(tmp_path, "--store", address, "--store-timeout", "2") as server,
    ):
        refuses_what_needs_the_store(server, lambda _: stopped(process))


def test_a_server_ends_although_its_database_hangs(tmp_path: Path) -> None:
    with (
        postgresql() as (address, database),
        attacked(tmp_path, "--store", address, "--store-timeout", "1") as server,
    ):
        for _ in stopped(database):
            assert server.asked(RESPONSES, {"input": "Hello"})[0] == 503
            os.kill(server.pid, signal.SIGTERM)
            until(lambda: Path(f"/proc/{server.pid}/stat").read_text().split()[2] == "Z")


def test_a_file_that_another_process_locks(tmp_path: Path) -> None:
    def locked(_: Attacked) -> Iterator[None]:
        with closing(sqlite3.connect(file, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
            lock.execute("ROLLBACK")

    file = tmp_path / "responses.sqlite"
    with attacked(tmp_path, "--store", str(file), "--store-timeout", "2") as server:
        refuses_what_needs_the_store(server, locked)


def test_what_a_socket_remembers_has_a_bound(tmp_path: Path) -> None:
    """A little is always remembered."""
    with attacked(tmp_path, "--max-bodies", "300000") as server, ExitStack() as stack:
        made = [stack.enter_context(server.socket("sk-alpha")) for _ in range(3)]
        for said, kinds in (
            ("x" * 120_000, {"response.completed": 1, "error": 2}),
            ("Hello", {"response.completed": 3}),
        ):
            before = [event(one, said, store=False)["response"]["id"] for one in made]
            again = zip(made, before, strict=True)
            found = Counter(
                event(one, "And now?", previous_response_id=identity, store=False)["type"]
                for one, identity in again
            )
            assert found == kinds


def test_a_slow_body_is_not_waited_for(tmp_path: Path) -> None:
    """Large ones have a least rate; what they held is free again."""
    options = ("--max-bodies", "1000000", "--body-timeout", "90", "--body-rate", "10000")
    with (
        attacked(tmp_path, *options) as server,
        server.sent(CHAT, b"[" + b" " * 700_000, 900_000) as slow,
    ):
        slow.settimeout(60)
        assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert server.asked(CHAT, chat("x" * 700_000))[0] == 200


@pytest.mark.parametrize("says", ["a length", "chunks"])
def test_a_body_that_is_too_large_is_told_so(says: str, tmp_path: Path) -> None:
    """And not by a reset: what a client still sends is read."""
    head = "content-length: 40000000" if says == "a length" else "transfer-encoding: chunked"
    with attacked(tmp_path) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as sending:
            start = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\nx-api-key: sk-beta\r\n{head}\r\n"
            sending.sendall(start.encode() + b"connection: close\r\n\r\n")
            part = b" " * 1_000_000
            for _ in range(40):
                sending.sendall(part if says == "a length" else b"%x\r\n%b\r\n" % (len(part), part))
            sending.sendall(b"" if says == "a length" else b"0\r\n\r\n")
            answer = b""
            while more := sending.recv(2**16):
                answer += more
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"the body is larger than 33,554,432 bytes" in answer
