"""Servers that end: a rolling restart loses nothing, and what cannot be answered is refused, not left to hang."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from gateways import BODIES, HELLO
from running_gateways import command, is_up

CHAT = "/v1/chat/completions"
REQUESTS = int(os.environ.get("ROLLING_REQUESTS", "600"))
"""How many the rolling restart takes; 10,000 were tried."""


@pytest.fixture
def records(tmp_path: Path) -> Path:
    file = tmp_path / "recorded.jsonl"
    slow = {"match": "Slow", "text": "<|channel|>final<|message|>" + "word " * 60 + "<|return|>"}
    lines = [{**slow, "size": 1, "delay": 0.05}, {"match": "", "text": HELLO, "delay": 0.01}]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Rolling:
    """Two servers, and a balancer that never tries again."""

    def __init__(self, options: list[str]) -> None:
        self.ports = [free_port(), free_port()]
        self._options = options
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self.ready: set[int] = set()
        self.ended: Counter[str] = Counter()
        self.restarts = 0

    def start(self, port: int) -> None:
        line = [sys.executable, "-m", "openai_harmony", "serve", "--port", str(port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._processes[port] = subprocess.Popen([*line, *self._options], **quiet)  # type: ignore[call-overload]

    async def watch(self) -> None:
        """Asks each server often whether it is ready, as balancers do."""
        while True:
            for port in self.ports:
                with suppress(OSError, asyncio.IncompleteReadError):
                    answer = await self._once(port, b"GET /ready HTTP/1.1\r\nhost: localhost\r\n")
                    (self.ready.add if b" 200 " in answer[:20] else self.ready.discard)(port)
                    continue
                self.ready.discard(port)
            await asyncio.sleep(0.05)

    async def _once(self, port: int, head: bytes, body: bytes = b"") -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            length = b"content-length: %d\r\n" % len(body) if body else b""
            writer.write(head + length + b"connection: close\r\n\r\n" + body)
            return await reader.read()
        finally:
            writer.close()

    async def restart(self) -> None:
        """One after the other ends, and begins again."""
        for port in self.ports:
            process = self._processes[port]
            process.send_signal(signal.SIGTERM)
            while process.poll() is None:
                await asyncio.sleep(0.05)
            assert process.returncode == 0
            self.start(port)
            while port not in self.ready:
                await asyncio.sleep(0.05)
            self.restarts += 1

    async def client(self, at: int, left: Iterator[int]) -> None:
        """Asks again and again: by one connection as long as it is kept, or by a new one each time."""
        kept: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\n".encode()
        for number in left:
            while not self.ready:
                await asyncio.sleep(0.01)
            port = sorted(self.ready)[number % len(self.ready)]
            body = json.dumps({**BODIES[CHAT], "stream": number % 3 == 0}).encode()
            try:
                if at % 2:
                    answer = await self._once(port, head, body)
                    is_whole = b"Hi" in answer
                else:
                    # The connection of the server before may be there, which has closed it.
                    if port in kept and kept[port][0].at_eof():
                        kept.pop(port)[1].close()
                    if port not in kept:
                        kept[port] = await asyncio.open_connection("127.0.0.1", port)
                    reader, writer = kept.pop(port)
                    writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
                    start = await reader.readuntil(b"\r\n\r\n")
                    if b"chunked" in start:
                        is_whole = b"[DONE]" in await reader.readuntil(b"\r\n0\r\n\r\n")
                    else:
                        length = int(start.partition(b"content-length: ")[2].split(b"\r\n")[0])
                        is_whole = b"Hi there." in await reader.readexactly(length)
                    if b"connection: close" in start:
                        writer.close()
                    else:
                        kept[port] = reader, writer
                self.ended["answered" if is_whole else "cut off"] += 1
            except (OSError, asyncio.IncompleteReadError) as error:
                self.ended[type(error).__name__] += 1
        for _, writer in kept.values():
            writer.close()

    async def run(self, requests: int) -> None:
        for port in self.ports:
            self.start(port)
        watching = asyncio.ensure_future(self.watch())
        while len(self.ready) < 2:
            await asyncio.sleep(0.05)
        left = iter(range(requests))
        clients = [asyncio.ensure_future(self.client(at, left)) for at in range(8)]
        while not all(client.done() for client in clients):
            await self.restart()
        await asyncio.gather(*clients)
        watching.cancel()

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_rolling_restart_loses_nothing(records: Path, workers: str) -> None:
    given = ["--engine", f"replay={records}", "--workers", workers, "--shutdown-delay", "2"]
    rolling = Rolling(given)
    try:
        asyncio.run(rolling.run(REQUESTS))
    finally:
        rolling.stop()
    assert dict(rolling.ended) == {"answered": REQUESTS}
    assert rolling.restarts >= 2


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_comes_after_the_end_is_refused(records: Path, workers: str) -> None:
    """And what runs is answered."""
    slow = json.dumps({"messages": [{"role": "user", "content": "Slow"}], "stream": True}).encode()
    with command("--engine", f"replay={records}", "--workers", workers) as (url, process):
        with urllib.request.urlopen(f"{url}{CHAT}", slow, timeout=60) as running:
            running.readline()
            process.send_signal(signal.SIGTERM)
            port, deadline = int(url.rpartition(":")[2]), time.monotonic() + 60
            while True:
                assert time.monotonic() < deadline
                try:
                    with socket.create_connection(("127.0.0.1", port), timeout=60) as late:
                        late.sendall(
                            b"GET /live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
                        )
                        # Either it is answered, or it ends.
                        while late.recv(1000):
                            pass
                except ConnectionRefusedError:
                    break
                except ConnectionError:
                    pass
            assert b"[DONE]" in running.read()
        assert process.wait(60) == 0


def test_a_full_disk(records: Path, tmp_path: Path) -> None:
    """What cannot be stored is refused before anything is sampled; `/health` says so, and others are answered."""
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system has no limits of other processes")
    file, log = tmp_path / "responses.sqlite", tmp_path / "log"
    given = ("--engine", f"replay={records}", "--store", str(file))
    with command(*given, log=log) as (url, process):

        def posted(path: str, body: object) -> int:
            request = urllib.request.Request(f"{url}{path}", json.dumps(body).encode())
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                return error.code

        assert posted("/v1/responses", {"input": "Hello"}) == 200
        size = os.stat(f"{file}-wal").st_size + 300_000
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, size))
        found = [posted("/v1/responses", {"input": "Hello"}) for _ in range(12)]
        assert found == sorted(found)
        assert found[-1] == 503
        assert posted("/v1/responses", {"input": "Hello", "store": False}) == 200
        assert posted(CHAT, BODIES[CHAT]) == 200
        deadline = time.monotonic() + 60
        while is_up(url):  # an answer counts for a second
            assert time.monotonic() < deadline
            time.sleep(0.1)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    asked = [line for line in lines if line.get("path") == "/v1/responses"]
    sampled = [line["completion_tokens"] for line in asked if line["status"] == 503]
    # The room may end between the write that tries it and the answer's.
    assert sampled[1:] == [0] * (found.count(503) - 1)
    with closing(sqlite3.connect(file)) as connection:
        [stored] = connection.execute(
            "SELECT count(*) FROM harmony_responses WHERE used > 0"
        ).fetchone()
    assert stored == 1 + found.count(200)


@contextmanager
def served(*options: str) -> Iterator[subprocess.Popen[str]]:
    line = [sys.executable, "-m", "openai_harmony", "serve", *options]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_unix_socket_and_tls(records: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    openssl = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    openssl += [
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(certificate),
        "-out",
        f"{certificate}.x",
    ]
    try:
        subprocess.run(openssl, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    with open(certificate, "ab") as both:
        both.write(Path(f"{certificate}.x").read_bytes())
    path = tmp_path / "socket"
    given = (
        "--engine",
        f"replay={records}",
        "--uds",
        str(path),
        "--ssl-certfile",
        str(certificate),
    )
    for workers in ("1", "2"):  # the second finds the socket of the first, which has ended
        with served(*given, "--workers", workers) as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(
                f"harmony serve: https://localhost at {path} "
            )
            context, answer = ssl.create_default_context(cafile=str(certificate)), b""
            with socket.socket(socket.AF_UNIX) as plain:
                plain.settimeout(60)
                plain.connect(str(path))
                with context.wrap_socket(plain, server_hostname="localhost") as asking:
                    asking.sendall(
                        b"GET /live HTTP/1.1\r\nhost: any.example\r\nconnection: close\r\n\r\n"
                    )
                    while more := asking.recv(1000):
                        answer += more
            assert answer.startswith(b"HTTP/1.1 200")
            assert answer.endswith(b"live")


@pytest.mark.parametrize("stream", [True, False])
def test_http_1_0_gets_no_chunks(records: Path, stream: bool) -> None:
    body = json.dumps({**BODIES[CHAT], "stream": stream}).encode()
    head = (
        f"POST {CHAT} HTTP/1.0\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    )
    with command("--engine", f"replay={records}") as (url, _):
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(head + body)
            answer = b""
            while more := connection.recv(1000):
                answer += more
    start, _, content = answer.partition(b"\r\n\r\n")
    assert (b"chunked" in start, b"content-length" in start) == (False, not stream)
    assert content.endswith(b"data: [DONE]\n\n" if stream else b"}")
    assert json.loads(content) if not stream else content.startswith(b"data: {")
