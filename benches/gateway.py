"""What the gateway adds: CPU for each streamed chunk, requests a second, memory of a silent stream.

    python benches/gateway.py [--tokens N] [--requests N]

Two servers of the same framework (starlette on uvicorn) run in processes of their own: the gateway before an
engine that has its tokens ready, one at a time, and an application that sends the same chunks, which are ready
bytes. The processes' own CPU time is measured, not the clock, so the client costs nothing. With `--requests
200000` the gateway answers that many, and its memory is read on the way: it must stay as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from openai_harmony import load_harmony_encoding, serve
from openai_harmony.interop import chat_completions
from openai_harmony.serve.engines import Sampled, SampleRequest

PROSE = Path(__file__).parent / "corpus" / "prose.txt"
PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {
    "model": "gpt-oss-20b",
    "messages": [{"role": "user", "content": "Tell me."}],
    "stream": True,
}
ENCODING = load_harmony_encoding("HarmonyGptOss")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def output(count: int) -> list[int]:
    """So many tokens of an answer."""
    text = ENCODING.encode(PROSE.read_text(encoding="utf-8"))
    start = ENCODING.encode("<|channel|>final<|message|>", allowed_special="all")
    return [*start, *text[: count - len(start) - 1], 200002]


class Ready:
    """An engine with its tokens at hand. `max_tokens: 1` is a request to stay silent."""

    name, address, model, context = "ready", "here", "gpt-oss-20b", 131_072

    def __init__(self, count: int) -> None:
        self._tokens = output(count)

    async def check(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        if request.max_tokens == 1:
            yield Sampled(self._tokens[:0], None)
            await asyncio.Event().wait()
        for token in self._tokens[: request.max_tokens]:
            await asyncio.sleep(0)
            yield Sampled([token])


def ready_bytes(count: int) -> Starlette:
    """An application that sends the chunks of the same answer as they are."""
    reply = chat_completions.read(BODY).reply(ENCODING, model="gpt-oss-20b")
    pieces = [piece for token in output(count) if (piece := reply.feed_bytes([token]))]
    pieces.append(reply.finish_bytes("stop"))

    async def endpoint(request: Request) -> StreamingResponse:
        asked = json.loads(await request.body())

        async def stream() -> AsyncIterator[bytes]:
            for piece in pieces[: asked.get("max_tokens", count)]:
                await asyncio.sleep(0)
                yield piece

        return StreamingResponse(stream(), media_type="text/event-stream")

    return Starlette(routes=[Route(PATH, endpoint, methods=["POST"])])


@contextmanager
def server(kind: str, count: int) -> Iterator[tuple[int, int]]:
    """The port and the process of a server of this kind."""
    line = [sys.executable, __file__, "--serve", kind, "--tokens", str(count)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


async def one(port: int, **more: Any) -> int:
    """A stream; returns how many chunks it had, all of them."""
    reader, writer = await opened(port, **more)
    try:
        found = await reader.read()
    finally:
        writer.close()
    assert found.startswith(b"HTTP/1.1 200"), found[:200]
    assert b"data: [DONE]" in found or more, "the stream broke off"
    return found.count(b"data: {")


async def opened(port: int, **more: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    body = json.dumps({**BODY, **more}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
    writer.write(
        f"{head}content-type: application/json\r\nconnection: close\r\n\r\n".encode() + body
    )
    return reader, writer


async def many(port: int, total: int, at_once: int, **more: Any) -> int:
    """So many streams, so many at a time; returns all chunks."""
    left, chunks = total, 0

    async def worker() -> None:
        nonlocal left, chunks
        while left > 0:
            left -= 1
            found = await one(port, **more)
            chunks += found

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return chunks


def per_chunk(kind: str, count: int, streams: int = 64) -> float:
    """Microseconds of CPU for each chunk of one token, without what a request itself costs."""
    with server(kind, count) as (port, pid):
        asyncio.run(many(port, streams, streams))
        chunks, taken = [], []
        for more in ({}, {"max_tokens": 10}):
            before = cpu(pid)
            chunks.append(asyncio.run(many(port, 2 * streams, streams, **more)))
            taken.append(cpu(pid) - before)
    return (taken[0] - taken[1]) / (chunks[0] - chunks[1]) * 1e6


def requests_a_second(count: int) -> list[tuple[int, float, float]]:
    """Streams at a time, requests a second, and milliseconds of CPU for each."""
    found = []
    with server("gateway", count) as (port, pid):
        asyncio.run(many(port, 50, 50, max_tokens=20))
        for at_once, total in ((1, 300), (64, 2000), (1000, 4000)):
            before, start = cpu(pid), time.perf_counter()
            asyncio.run(many(port, total, at_once, max_tokens=20))
            seconds = time.perf_counter() - start
            found.append((at_once, total / seconds, (cpu(pid) - before) / total * 1e3))
    return found


def idle(count: int, streams: int = 1000) -> tuple[float, float]:
    """Bytes of memory of a stream that says nothing, in the gateway and in uvicorn alone."""
    found = []
    for more in ({"max_tokens": 1}, None):
        with server("gateway", count) as (port, pid):
            found.append(asyncio.run(held(port, pid, streams, more)))
    return found[0], found[1]


async def held(port: int, pid: int, streams: int, more: dict[str, Any] | None) -> float:
    await many(port, 50, 50, max_tokens=20)
    before = memory(pid)
    if more is None:
        connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(streams)]
    else:
        connections = await asyncio.gather(*(opened(port, **more) for _ in range(streams)))
    await asyncio.sleep(3)
    after = memory(pid)
    for _, writer in connections:
        writer.close()
    return (after - before) / streams


def stays_flat(total: int, count: int) -> list[int]:
    """Memory in bytes after each tenth of so many requests."""
    found = []
    with server("gateway", count) as (port, pid):
        for _ in range(10):
            asyncio.run(many(port, total // 10, 64, max_tokens=10))
            found.append(memory(pid))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=1000, help="tokens of an answer (1000)")
    parser.add_argument("--requests", type=int, default=0, help="read the memory over so many")
    parser.add_argument("--serve", choices=["gateway", "ready"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        app = ready_bytes(options.tokens)
        if options.serve == "gateway":
            app = serve.app(Ready(options.tokens), max_running=2000)
        config = uvicorn.Config(app, port=0, log_level="error", backlog=4096)
        socket = config.bind_socket()
        socket.listen(4096)
        print(socket.getsockname()[1], flush=True)
        uvicorn.Server(config).run(sockets=[socket])
        return
    gateway, ready = (per_chunk(kind, options.tokens) for kind in ("gateway", "ready"))
    print(
        f"CPU of a chunk: {gateway:.1f} µs; ready bytes {ready:.1f} µs; {gateway / ready:.2f} times"
    )
    for at_once, rate, each in requests_a_second(options.tokens):
        print(
            f"{at_once:5} streams at a time: {rate:.0f} requests a second, {each:.2f} ms CPU each"
        )
    silent, connection = idle(options.tokens)
    print(
        f"memory of a silent stream: {silent / 1024:.1f} KiB; of a connection {connection / 1024:.1f} KiB"
    )
    if options.requests:
        read = stays_flat(options.requests, options.tokens)
        print(
            f"memory over {options.requests:,} requests:",
            *(f"{one / 2**20:.1f}" for one in read),
            "MiB",
        )


if __name__ == "__main__":
    main()
