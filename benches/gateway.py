"""What the gateway adds: CPU for each streamed chunk, requests a second, memory of a silent stream.

    python benches/gateway.py [--tokens N] [--rounds N] [--requests N] [--litellm PATH] [--keep]

Servers of the same framework (starlette on uvicorn with httptools) run in processes of their own: the gateway before
engines that speak over HTTP as vLLM, SGLang and llama.cpp do, one token at a time, and an application that sends the
same chunks, which are ready bytes, as often; LiteLLM's proxy before that application, where it is installed. They are
measured in turns, and the best round of each counts. The processes' own CPU time is measured, not the clock, so engine
and client cost nothing. The status is 1 if a chunk costs more than 2.5 times ready bytes. With `--requests 200000` the
gateway answers that many, and its memory is read on the way: it must stay as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

import results
from openai_harmony import load_harmony_encoding, serve
from openai_harmony.interop import chat_completions
from openai_harmony.serve.connections import Connections
from openai_harmony.serve.engines import Sampled, SampleRequest
from openai_harmony.serve.journal import log_to_stderr

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


GAP = 0.004
"""Seconds between two tokens of a stream, where 64 of them share a core."""
AT_ONCE = 12
"""An answer of as many tokens comes at once: what it costs is the request itself."""
SAID = [{"role": "user", "content": "Tell me."}]
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat completions": ("/v1/chat/completions", {"messages": SAID, "max_tokens": AT_ONCE}),
    "Responses": ("/v1/responses", {"input": "Tell me.", "max_output_tokens": AT_ONCE}),
    "Anthropic": ("/v1/messages", {"messages": SAID, "max_tokens": AT_ONCE}),
    "Ollama": ("/api/chat", {"messages": SAID, "options": {"num_predict": AT_ONCE}}),
}
"""A path and a short body of each API."""
READY, PASSED = "ready bytes", "bytes passed on"


def event(kind: str, tokens: list[int], at: int, reason: str | None) -> bytes:
    """What an engine sends for tokens, of which the last is the ``at``-th, in the form of this kind."""
    found: dict[str, Any]
    if kind == "sglang":
        about = {"id": "2f0c6b2b", "prompt_tokens": 68, "cached_tokens": 0, "completion_tokens": at}
        ends = {"finish_reason": reason and {"type": reason}}
        found = {"text": "", "output_ids": tokens, "meta_info": {**ends, **about}}
    elif kind == "llama.cpp":
        ends = {"stop": reason is not None, "stop_type": "limit" if reason == "length" else "eos"}
        found = {"index": 0, "content": " word", "tokens": tokens, "id_slot": -1, **ends}
        found |= {"tokens_predicted": at, "tokens_evaluated": 68}
    else:
        choice = {"index": 0, "text": "", "logprobs": None, "token_ids": tokens}
        choice |= {"finish_reason": reason, "stop_reason": None}
        head = {"id": "cmpl-0b7f8b7ac3b54a7e", "object": "text_completion", "created": 1764180000}
        found = {**head, "model": "openai/gpt-oss-20b", "choices": [choice], "usage": None}
    return b"data: %b\n\n" % json.dumps(found).encode()


def parts(kind: str, count: int, most: int) -> list[bytes]:
    """What an engine sends for an answer, one token at a time; a short one at once."""
    tokens = output(count)
    reason = "stop" if most >= count else "length"
    if most == AT_ONCE:
        return [event(kind, tokens[:most], most, reason)]
    made = [event(kind, [token], at, None) for at, token in enumerate(tokens[:most], 1)]
    return [*made[:-1], event(kind, [tokens[len(made) - 1]], len(made), reason)]


async def engine(kind: str, count: int) -> None:
    """An engine on the loopback, which prints its port."""
    made = functools.cache(partial(parts, kind, count))
    about = {"data": [{"id": "gpt-oss-20b", "max_model_len": 131_072}], "paths": {}}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readline():
            length = 0
            while (line := await reader.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line[15:])
            asked = json.loads(await reader.readexactly(length) or b"{}")
            if head.startswith(b"GET"):
                body = json.dumps(about).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
                continue
            most = asked.get("max_tokens") or asked.get("n_predict")
            most = most or asked["sampling_params"]["max_new_tokens"]
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
            writer.write(b"transfer-encoding: chunked\r\n\r\n")
            for at, part in enumerate(made(min(most, count))):
                if at:
                    await asyncio.sleep(GAP)
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            writer.write(b"e\r\ndata: [DONE]\n\n\r\n")
            writer.write(b"0\r\n\r\n")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await answer(reader, writer)

    started = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=4096)
    print(started.sockets[0].getsockname()[1], flush=True)
    await started.serve_forever()


def ready_bytes(count: int) -> Starlette:
    """An application that sends the chunks of the same answer as they are."""
    reply = chat_completions.read(BODY).reply(ENCODING, model="gpt-oss-20b")
    pieces = [piece for token in output(count) if (piece := reply.feed_bytes([token]))]
    pieces.append(reply.finish_bytes("stop"))

    async def endpoint(request: Request) -> Response:
        asked = json.loads(await request.body())
        if asked.get("max_tokens") == AT_ONCE:
            return Response(b"".join(pieces[:AT_ONCE]), media_type="text/event-stream")

        async def stream() -> AsyncIterator[bytes]:
            for piece in pieces[: asked.get("max_tokens", count)]:
                await asyncio.sleep(GAP)
                yield piece

        return StreamingResponse(stream(), media_type="text/event-stream")

    paths = [path for path, _ in REQUESTS.values()]
    return Starlette(routes=[Route(path, endpoint, methods=["POST"]) for path in paths])


def passes_on(engine: str) -> Starlette:
    """The least that something in front of an engine does: it passes bytes on and back."""

    async def endpoint(request: Request) -> Response:
        async with request.app.state.session.post(engine, data=await request.body()) as answer:
            return Response(await answer.read(), media_type="text/event-stream")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            app.state.session = session
            yield

    return Starlette(routes=[Route(PATH, endpoint, methods=["POST"])], lifespan=lifespan)


KEY = "sk-bench"
"""LiteLLM's proxy does not start without a key; the others take none."""
ENGINES = ("vllm", "sglang", "llama.cpp")
FEW = 8
"""So many streams at a time LiteLLM's proxy has, in one round: 64 would take it an hour."""
MOST_SECONDS = 600
"""A server that has not answered by then is not waited for."""
MOST_TIMES = 2.5
"""What a chunk may cost, in times of an application that sends ready bytes."""


@contextmanager
def server(kind: str, count: int, engine: str = "") -> Iterator[tuple[int, int]]:
    """The port and the process of a server of this kind."""
    if kind in (*ENGINES, "passes-on") and not engine:
        of = "vllm" if kind == "passes-on" else kind
        with ExitStack() as stack:
            port, _ = stack.enter_context(server(f"engine-{of}", count))
            yield stack.enter_context(server(kind, count, f"{of}=http://127.0.0.1:{port}"))
        return
    if kind == "litellm":
        with ExitStack() as stack:
            port, _ = stack.enter_context(server("ready", count))
            yield stack.enter_context(litellm(engine, port))
        return
    line = [sys.executable, __file__, "--serve", kind, "--tokens", str(count), "--engine", engine]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


@contextmanager
def litellm(command: str, behind: int) -> Iterator[tuple[int, int]]:
    """LiteLLM's proxy in front of the application that sends ready bytes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    model = {
        "model": "openai/gpt-oss-20b",
        "api_base": f"http://127.0.0.1:{behind}/v1",
        "api_key": "-",
    }
    listed = [{"model_name": BODY["model"], "litellm_params": model}]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(json.dumps({"model_list": listed}))
        line = [command, "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        known = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        with subprocess.Popen(line, env={**os.environ, **known}, **quiet) as process:
            try:
                for _ in range(1500):
                    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                        break
                    time.sleep(0.2)
                yield port, process.pid
            finally:
                process.kill()


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


async def one(port: int, path: str = PATH, **more: Any) -> int:
    """A request; returns how many chunks its stream had, all of them."""
    reader, writer = await opened(port, path, **more)
    try:
        found = await reader.read()
    finally:
        writer.close()
    assert found.startswith(b"HTTP/1.1 200"), found[:200]
    assert b"data: [DONE]" in found or more, "the stream broke off"
    return found.count(b"data: {")


async def opened(
    port: int, path: str = PATH, **more: Any
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    body = json.dumps({**(BODY if path == PATH else {"model": BODY["model"]}), **more}).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
    writer.write(
        f"{head}content-type: application/json\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\r\n".encode()
        + body
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

    await asyncio.wait_for(asyncio.gather(*(worker() for _ in range(at_once))), MOST_SECONDS)
    return chunks


class Measured:
    """A server that runs for the whole benchmark, and the CPU that it took."""

    def __init__(self, port: int, pid: int) -> None:
        self.port, self.pid = port, pid
        self.chunks: list[float] = []
        """Microseconds for each chunk of one token, in each round."""
        self.requests: list[float] = []
        """Milliseconds for each request of one token."""

    def round(self, streams: int = 64) -> None:
        found = []
        for total, more in ((2 * streams, {}), (8 * streams, {"max_tokens": 10})):
            before = cpu(self.pid)
            chunks = asyncio.run(many(self.port, total, streams, **more))
            found.append((chunks, cpu(self.pid) - before, total))
        (chunks, taken, total), (few, taken_few, short) = found
        # A request of ten chunks is the request itself and ten chunks.
        each = (taken / total - taken_few / short) / (chunks / total - few / short)
        self.chunks.append(each * 1e6)
        self.requests.append((taken_few / short - each * (few / short - 1)) * 1e3)


def in_turns(kinds: dict[str, str], count: int, rounds: int) -> dict[str, Measured]:
    """Measures servers in turns, so that other work of the machine meets all of them."""
    with ExitStack() as stack:
        found = {
            kind: Measured(*stack.enter_context(server(kind, count, line)))
            for kind, line in kinds.items()
        }
        proxy = found.pop("litellm", None)
        for one in found.values():
            asyncio.run(many(one.port, 64, 64))
        for _ in range(rounds):
            for one in found.values():
                one.round()
        if proxy is not None:
            try:
                asyncio.run(many(proxy.port, FEW, FEW, max_tokens=10))
                proxy.round(FEW)
                found["litellm"] = proxy
            except asyncio.TimeoutError:
                print(f"litellm: no answers within {MOST_SECONDS} s")
    return found


def each_request(count: int, rounds: int) -> dict[tuple[str, bool], float]:
    """Milliseconds of CPU for a request of each API, streamed or not, in the best round.

    Of ``ready bytes`` as well: what starlette takes for an answer that is there, on a new connection like the others;
    and of what only passes bytes on to an engine by the same client of HTTP.
    """
    found = {}
    with ExitStack() as stack:
        gateway, ready, passing = (
            stack.enter_context(server(kind, count)) for kind in ("vllm", "ready", "passes-on")
        )
        of = {**dict.fromkeys(REQUESTS, gateway), READY: ready, PASSED: passing}
        asked = {**REQUESTS, **dict.fromkeys((READY, PASSED), (PATH, {"max_tokens": AT_ONCE}))}
        for at in range(rounds + 1):  # the first is for warming up
            for (name, (path, body)), stream in itertools.product(asked.items(), (True, False)):
                port, pid = of[name]
                before = cpu(pid)
                asyncio.run(many(port, 256, 64, path=path, stream=stream, **body))
                taken = (cpu(pid) - before) / 256 * 1e3
                if at:
                    found[name, stream] = min(taken, found.get((name, stream), taken))
    return found


def requests_a_second(count: int) -> list[tuple[int, float, float]]:
    """Streams at a time, requests a second, and milliseconds of CPU for each."""
    found = []
    with server("vllm", count) as (port, pid):
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
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts (3)")
    parser.add_argument("--litellm", help="the command of LiteLLM's proxy, to measure it as well")
    results.add_option(parser)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--engine", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if (options.serve or "").startswith("engine-"):
        asyncio.run(engine(options.serve.removeprefix("engine-"), options.tokens))
    if options.serve:
        app = ready_bytes(options.tokens)
        if options.serve == "passes-on":
            app = passes_on(f"{options.engine.partition('=')[2]}/v1/completions")
        elif options.engine:
            app = serve.app(options.engine, max_running=2000)
        if options.serve == "gateway":
            app = serve.app(Ready(options.tokens), max_running=2000)
        # As `harmony serve` does.
        options_of_serve: dict[str, Any] = {
            "loop": "asyncio",
            "http": Connections(serve.Settings()),
        }
        options_of_serve |= {"proxy_headers": False, "access_log": False, "server_header": False}
        if options.serve != "ready":
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            log_to_stderr()
        config = uvicorn.Config(app, port=0, log_level="error", **options_of_serve)
        listening = config.bind_socket()
        listening.listen(4096)
        print(listening.getsockname()[1], flush=True)
        uvicorn.Server(config).run(sockets=[listening])
        return
    kinds = dict.fromkeys(("ready", *ENGINES), "")
    if proxy := options.litellm or shutil.which("litellm"):
        kinds["litellm"] = proxy
    found = in_turns(kinds, options.tokens, options.rounds)
    ready = min(found["ready"].chunks)
    print(
        f"CPU in the best of {options.rounds} rounds, 64 streams at a time, {1 / GAP:.0f} tokens a second each:"
    )
    for kind, one in found.items():
        chunk, request = min(one.chunks), min(one.requests)
        print(
            f"  {kind:>10}: {chunk:6.1f} µs a chunk, {chunk / ready:5.2f} times ready bytes,"
            f" {1e6 / chunk:6,.0f} tokens/s a core; {request:.2f} ms a request"
        )
    if proxy is None:
        print("     litellm: not installed; --litellm names its command")
    times = max(min(found[kind].chunks) for kind in ENGINES) / ready
    print("CPU of a request, answer, log and metrics included, streamed and whole:")
    asked = each_request(options.tokens, options.rounds)
    least, passed = asked[READY, False], asked[PASSED, False]
    for name in (*REQUESTS, READY, PASSED):
        streamed, whole = asked[name, True], asked[name, False]
        print(
            f"  {name:>16}: {streamed:.2f} ms, {whole:.2f} ms; whole {whole / least:.2f} times {READY},"
            f" {whole / passed:.2f} times {PASSED}"
        )
    rates = requests_a_second(options.tokens)
    for at_once, rate, taken in rates:
        print(
            f"{at_once:5} streams at a time: {rate:.0f} requests a second, {taken:.2f} ms CPU each"
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
    if options.keep:
        kept = {
            kind: {"chunk_us": min(one.chunks), "request_ms": min(one.requests)}
            for kind, one in found.items()
        }
        apis = {name: [asked[name, True], asked[name, False]] for name in REQUESTS}
        figures = {
            "servers": kept,
            "request_ms": apis,
            "silent_stream_kib": silent / 1024,
            "requests_a_second": [[at_once, round(rate)] for at_once, rate, _ in rates],
        }
        packages = {name: version(name) for name in ("uvicorn", "starlette")}
        results.keep("gateway", figures, packages)
    if times > MOST_TIMES:
        sys.exit(f"a chunk costs {times:.2f} times ready bytes; it may be {MOST_TIMES}")


if __name__ == "__main__":
    main()
