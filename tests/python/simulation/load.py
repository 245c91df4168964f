"""The gateway in a process of its own, under load that a test of seconds cannot make.

    python -m simulation.load mixed                        1,000 slow and 64 fast streams at a time
    python -m simulation.load attacks                      hostile requests: `/live` answers within a second
    python -m simulation.load chain --store postgresql+psycopg://…   2,000 continuations of one chain, 24 at a time

Each prints what it found, and ends with status 1 if that is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import fake_engines
from fake_engines import DONE, Events, choices, running
from gateways import BODIES, HELLO, tokens
from running_gateways import command

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
SLOW, FAST, SHORT = 40, 2000, 50
"""How many tokens the kinds of answers ask for."""


def text_of(count: int) -> str:
    return "".join(f" word{at}" for at in range(count))


def says(body: dict[str, Any]) -> Events:
    """A slow answer, or one at full speed, by what is asked."""
    asked = body["sampling_params"]["max_tokens"]
    is_slow, words = asked == SLOW, 500 if asked == FAST else 10
    sampled = tokens(f"<|channel|>final<|message|>{text_of(words)}<|return|>")
    events: Events = []
    for event in choices(sampled):
        events += [event, 0.25] if is_slow else [event]
    return [*events, DONE]


async def asked(
    port: int, path: str, body: dict[str, Any] | bytes | None, **headers: str
) -> tuple[int, bytes]:
    """The status and the content of an answer on a connection of its own; status 0 if it is reset."""
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        try:
            writer.write(f"{head}{more}content-length: {len(raw)}\r\n".encode())
            writer.write(b"connection: close\r\n\r\n" + raw)
            found = await reader.read()
        finally:
            writer.close()
    except ConnectionError:
        return 0, b""
    start, _, content = found.partition(b"\r\n\r\n")
    return int(start.split()[1]) if start else 0, content


def said(content: bytes) -> str:
    """The text of a stream of chat completions that has its end."""
    lines = [line[6:] for line in content.splitlines() if line.startswith(b"data: ")]
    if not lines or lines.pop() != b"[DONE]":
        return "no end"
    found = [choice["delta"] for line in lines for choice in json.loads(line)["choices"]]
    return "".join(delta.get("content") or "" for delta in found)


@asynccontextmanager
async def gateway(*options: str) -> AsyncIterator[int]:
    """Its port, in front of an engine that speaks as vLLM does."""
    paths = {**fake_engines.vllm(tokens(HELLO)), "/inference/v1/generate": says}
    async with running(paths) as fake:
        entered = command("--engine", f"vllm={fake.url}", *options)
        url, _ = await asyncio.to_thread(entered.__enter__)
        try:
            yield int(url.rpartition(":")[2])
        finally:
            await asyncio.to_thread(entered.__exit__, None, None, None)


async def mixed() -> bool:
    async with gateway() as port:

        async def stream(count: int) -> tuple[int, bool]:
            body = {**BODIES[CHAT], "stream": True, "max_tokens": count}
            status, content = await asked(port, CHAT, body)
            return status, said(content) == text_of(10 if count == SLOW else 500)

        begun = time.monotonic()
        found = Counter(await asyncio.gather(*map(stream, [SLOW] * 1000 + [FAST] * 64)))
    print(
        f"statuses, and whether the text is right: {dict(found)}; {time.monotonic() - begun:.0f} s"
    )
    return found == {(200, True): 1064}


async def half_heads(port: int) -> None:
    await held(port, 700, b"POST / HTTP/1.1\r\nhost: ")


async def bodies_that_never_come(port: int) -> None:
    await held(port, 700, b"POST /v1/responses HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{")


async def unread(port: int) -> None:
    """Clients that read nothing of sixteen answers each."""
    body = json.dumps({**BODIES[CHAT], "stream": True, "n": 16, "max_tokens": FAST}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
    await held(port, 50, head.encode() + body)


async def held(port: int, count: int, sent: bytes) -> None:
    """So many connections for some seconds, each with these bytes."""
    writers = []
    for _ in range(count):
        with suppress(ConnectionError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            writers.append(writer)
    await asyncio.sleep(3)
    for writer in writers:
        writer.close()


def body_of(make: Callable[[], dict[str, Any] | bytes], times: int = 4, **headers: str) -> Attack:
    """Sends a body several times at once; any answer will do."""

    async def attack(port: int) -> None:
        made = await asyncio.to_thread(make)
        made = made if isinstance(made, bytes) else await asyncio.to_thread(dumped, made)
        found = await asyncio.gather(*(asked(port, CHAT, made, **headers) for _ in range(times)))
        print(f"    statuses {dict(Counter(status for status, _ in found))}")

    return attack


def dumped(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


def tools(count: int, schema: dict[str, Any]) -> dict[str, Any]:
    made = [
        {"type": "function", "function": {"name": f"f{at}", "parameters": schema, "strict": False}}
        for at in range(count)
    ]
    return {**BODIES[CHAT], "tools": made, "tool_choice": "required"}


def deep(depth: int) -> bytes:
    return b'{"messages": ' + b"[" * depth + b"]" * depth + b"}"


def message(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


Attack = Callable[[int], Awaitable[None]]
_ODD = {"type": "object", "properties": {"a": {"type": "string", "contentEncoding": "base64"}}}
_WIDE = {
    "type": "object",
    "properties": {f"p{at}": {"enum": [f"v{n}" for n in range(60)]} for at in range(60)},
}
ATTACKS: dict[str, Attack] = {
    "700 half heads": half_heads,
    "700 bodies that never come": bodies_that_never_come,
    "50 clients that read nothing of 16 answers": unread,
    "800 tools with a keyword that no grammar can enforce": body_of(lambda: tools(800, _ODD)),
    "100 tools of 3,600 choices each": body_of(lambda: tools(100, _WIDE)),
    "30 MB of empty lists": body_of(lambda: b'{"messages": [' + b"[]," * 10**7 + b"[]]}"),
    "30 MB of small objects": body_of(
        lambda: b'{"messages": [' + b'{"a":1},' * 3_700_000 + b"{}]}"
    ),
    "900,000 values that are allowed": body_of(lambda: message(["x"] * 900_000)),
    "30 MB of prose": body_of(lambda: message("The rain in Spain. " * 1_600_000)),
    "30 MB of one letter": body_of(lambda: message("a" * 30_000_000)),
    "30 MB of markers": body_of(lambda: message("<|start|>" * 3_300_000)),
    "100,000 messages": body_of(
        lambda: {
            "messages": [
                {"role": ("user", "assistant")[at % 2], "content": "x"} for at in range(100_001)
            ]
        }
    ),
    "a million brackets": body_of(lambda: deep(10**6)),
    "five thousand digits": body_of(lambda: b'{"messages": [], "seed": ' + b"9" * 5000 + b"}"),
    "NaN": body_of(lambda: b'{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}'),
    "half a character": body_of(lambda: b'{"messages": [{"role": "user", "content": "\\ud800"}]}'),
    "a compressed body": body_of(lambda: gzip.compress(b" " * 10**7), content_encoding="gzip"),
    "10,000 stop strings": body_of(
        lambda: {**BODIES[CHAT], "stop": [f"s{at}" for at in range(10_000)]}
    ),
}


async def attacks(only: str) -> bool:
    async with gateway() as port:
        worst: dict[str, float] = {}
        for name, attack in ATTACKS.items():
            if only not in name:
                continue
            print(f"{name}:", flush=True)
            with watching(port) as found:
                await attack(port)
            worst[name] = found[0]
            print(f"    /live answered within {worst[name] * 1e3:.0f} ms", flush=True)
        status, content = await asked(
            port, CHAT, {**BODIES[CHAT], "stream": True, "max_tokens": FAST}
        )
    print(f"afterwards a request is answered: {status}")
    return max(worst.values()) <= 1.0 and (status, said(content)) == (200, text_of(500))


@contextmanager
def watching(port: int) -> Iterator[list[float]]:
    """How long `/live` took at most, in seconds, asked again and again by a process that does nothing else."""
    found: list[float] = []
    line = [sys.executable, "-c", _WATCH, str(port)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield found
        found.append(float(process.communicate()[0]))


_WATCH = """
import http.client, select, sys, time
worst, port = 0.0, int(sys.argv[1])
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.05)[0]:
    before = time.monotonic()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/live")
        assert connection.getresponse().status == 200
        connection.close()
    except Exception:
        worst = 99.0
    worst = max(worst, time.monotonic() - before)
print(worst)
"""


async def chain(store: str) -> bool:
    async with gateway("--store", store) as port:

        async def respond(previous: str | None) -> tuple[int, str]:
            body = {"input": "Go on.", "previous_response_id": previous, "max_output_tokens": SHORT}
            status, content = await asked(port, RESPONSES, body)
            return status, json.loads(content).get("id", content[:200].decode())

        last: str | None = None
        for _ in range(13):
            status, last = await respond(last)
            assert status == 200, last
        found: Counter[Any] = Counter()
        left = 2000

        async def some() -> None:
            nonlocal left
            while left > 0:
                left -= 1
                status, identity = await respond(last)
                found[status if status == 200 else (status, identity)] += 1

        begun = time.monotonic()
        await asyncio.gather(*(some() for _ in range(24)))
    print(f"statuses: {dict(found)}; {time.monotonic() - begun:.0f} s")
    return found == {200: 2000}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=("mixed", "attacks", "chain"))
    parser.add_argument("--only", default="", help="of `attacks`: those with these words")
    parser.add_argument("--store", help="of `chain`; a new SQLite file if it is not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or str(Path(folder) / "responses.sqlite")
        kinds = {
            "mixed": mixed,
            "attacks": lambda: attacks(options.only),
            "chain": lambda: chain(store),
        }
        return 0 if asyncio.run(kinds[options.kind]()) else 1


if __name__ == "__main__":
    sys.exit(main())
