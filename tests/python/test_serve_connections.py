"""Connections of clients that hold up: half heads, bodies that never come, readers that do not read."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from gateways import BODIES, HELLO
from running_gateways import command

CHAT = "/v1/chat/completions"
LONG = "<|channel|>final<|message|>" + "word " * 200_000 + "<|return|>"


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[int]:
    records = folder / "recorded.jsonl"
    lines = [{"match": "Long", "text": LONG, "size": 2}, {"match": "", "text": HELLO}]
    records.write_text("\n".join(map(json.dumps, lines)))
    with command("--engine", f"replay={records}", *options) as (url, _):
        yield int(url.rpartition(":")[2])


def connected(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(sent)
    return connection


def head(length: int) -> bytes:
    return f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {length}\r\n\r\n".encode()


def is_answered(port: int) -> None:
    body = json.dumps(BODIES[CHAT]).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{CHAT}", body)
    with urllib.request.urlopen(request, timeout=60) as response:
        assert b"Hi there." in response.read()


def test_half_a_head_has_its_time(tmp_path: Path) -> None:
    with serving(tmp_path, "--body-timeout", "1") as port, ExitStack() as stack:
        half = [connected(port, b"POST / HTTP/1.1\r\nhost: ") for _ in range(20)]
        for one in half:
            stack.enter_context(one)
        is_answered(port)
        assert [one.recv(10) for one in half] == [b""] * 20


def test_the_next_head_on_a_connection_has_its_time(tmp_path: Path) -> None:
    asked = b"GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with serving(tmp_path, "--body-timeout", "1") as port, connected(port, asked) as kept:
        answer = b""
        while not answer.endswith(b"live"):
            answer += kept.recv(1000)
        kept.sendall(b"GET /live HT")
        assert kept.recv(10) == b""


def test_the_rest_of_a_body_that_is_answered_is_no_head(tmp_path: Path) -> None:
    """The connection is kept for the next request, however long that takes to come."""
    refused = b"POST /none HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 4\r\n\r\n"
    with serving(tmp_path, "--body-timeout", "1") as port, connected(port, refused) as kept:
        assert b"404" in kept.recv(10_000)
        kept.sendall(b"body")
        time.sleep(1.5)
        kept.sendall(b"GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        assert b"200" in kept.recv(10_000)


def test_bodies_that_never_come_have_no_place(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--max-running", "1", "--max-waiting", "0") as port,
        ExitStack() as stack,
    ):
        for _ in range(8):
            stack.enter_context(connected(port, head(100) + b"{"))
        is_answered(port)


def test_a_client_that_reads_nothing_loses_its_place(tmp_path: Path) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "Long"}], "stream": True}).encode()
    options = ("--max-running", "1", "--client-timeout", "1", "--queue-timeout", "60")
    with serving(tmp_path, *options) as port, connected(port, head(len(body)) + body) as unread:
        is_answered(port)
        # What was sent is there, and then the connection is closed: it was not read for too long.
        with suppress(ConnectionResetError):
            while unread.recv(2**20):
                pass


def test_more_connections_than_descriptors(tmp_path: Path) -> None:
    """The oldest that ask for nothing are closed; what runs goes on."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, before[1]))
        try:
            port = stack.enter_context(
                serving(tmp_path, "--max-running", "20", "--max-waiting", "0")
            )
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for _ in range(700):
            stack.enter_context(connected(port, b"GET / HTTP/1.1\r\n"))
        is_answered(port)


def test_no_descriptors_at_all(tmp_path: Path) -> None:
    """New connections wait, and a line of the log a second says so; then they are answered."""
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system has no limits of other processes")
    records, log = tmp_path / "recorded.jsonl", tmp_path / "log"
    records.write_text(json.dumps({"match": "", "text": HELLO}))
    with command("--engine", f"replay={records}", log=log) as (url, process):
        port = int(url.rpartition(":")[2])
        used = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used + 5, used + 5))
        held = [connected(port, b"GET / HTTP/1.1\r\n") for _ in range(20)]
        deadline = time.monotonic() + 60
        while "out of file descriptors: new connections wait" not in log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for one in held:
            one.settimeout(0.01)
            with pytest.raises(TimeoutError):
                one.recv(1)  # none is closed
        for one in held:
            one.close()
        is_answered(port)


RAW: dict[str, tuple[bytes, list[bytes]]] = {
    "two lengths": (head(2)[:-2] + b"content-length: 3\r\n\r\n{}", [b"400"]),
    "a length and chunks": (
        head(2)[:-2] + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        [b"400"],
    ),
    "a length of two": (head(2).replace(b": 2\r", b": 2,2\r") + b"{}", [b"400"]),
    "a blank before the colon": (head(2).replace(b"length:", b"length :") + b"{}", [b"400"]),
    "a line that is no header": (b"GET /live HTTP/1.1\r\nnonsense\r\n\r\n", [b"400"]),
    "a header that goes on": (b"GET /live HTTP/1.1\r\nhost: a\r\n b\r\n\r\n", [b"400"]),
    "two hosts": (b"GET /live HTTP/1.1\r\nhost: localhost\r\nhost: a.example\r\n\r\n", [b"400"]),
    "another host": (b"GET /live HTTP/1.1\r\nhost: a.example\r\n\r\n", [b"403"]),
    "a target for proxies": (
        b"GET http://a.example/live HTTP/1.1\r\nhost: localhost\r\n\r\n",
        [b"400"],
    ),
    "a tunnel": (b"CONNECT a.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n", [b"400"]),
    "another protocol": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [b"400"]),
    "a large head": (b"GET /live HTTP/1.1\r\nx: " + b"a" * 3_000_000, [b"400"]),
    "two requests at once": (b"GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n" * 2, [b"200"] * 2),
    "a websocket": (
        b"GET /live HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
        [b"400"],  # without its key
    ),
}


def _answer(port: int, sent: bytes) -> bytes:
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with suppress(ConnectionError):  # it may close before all is sent: the answer is there
            connection.sendall(sent)
        with suppress(ConnectionError, TimeoutError):
            while part := connection.recv(2**16):
                answer += part
                connection.settimeout(1)  # for what follows, where it stays open
    return answer


def test_raw_requests(tmp_path: Path) -> None:
    """Smuggling, targets for proxies, odd heads: what is not one plain request is refused."""
    found = {}
    with serving(tmp_path, "--body-timeout", "2") as port:
        for name, (sent, _) in RAW.items():
            found[name] = re.findall(rb"HTTP/1\.1 (\d+)", _answer(port, sent))
        is_answered(port)
    assert found == {name: expected for name, (_, expected) in RAW.items()}
