"""Requests to the gateway without sockets, and engines that do what a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from openai_harmony import load_harmony_encoding
from openai_harmony.serve.engines.engine import Sampled, SampleRequest

ENCODING = load_harmony_encoding("HarmonyGptOss")
HELLO = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi there.<|return|>"
USER: list[Any] = [{"role": "user", "content": "Hello"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": USER},
    "/v1/responses": {"input": "Hello"},
    "/v1/messages": {"max_tokens": 99, "messages": USER},
    "/api/chat": {"messages": USER, "stream": False},
    "/api/generate": {"prompt": "Hello", "stream": False},
}


def tokens(text: str) -> list[int]:
    return list(ENCODING.encode(text, allowed_special="all"))


@dataclass
class Engine:
    """Gives what a function gives for a request."""

    function: Callable[[SampleRequest], AsyncGenerator[Sampled, None]]
    name: str = "test"
    address: str = "here"
    model: str | None = "gpt-oss-test"
    context: int = 131_072
    constrains: bool = False
    asked: list[SampleRequest] = field(default_factory=list)
    closed: int = 0
    """How many samplings have ended, in whichever way."""

    async def check(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        self.asked.append(request)
        sampled = self.function(request)
        try:
            async for some in sampled:
                yield some
        finally:
            await sampled.aclose()
            self.closed += 1


def says(text: str = HELLO, size: int = 3, reason: Any = "stop") -> Engine:
    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        found = tokens(text)
        for start in range(0, len(found), size):
            await asyncio.sleep(0)
            yield Sampled(found[start : start + size])
        yield Sampled([], reason)

    return Engine(sample)


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)

    def json(self) -> Any:
        return json.loads(self.body)

    def events(self) -> list[dict[str, Any]]:
        lines = self.body.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line[:6] == "data: "]
        return [json.loads(one) for one in data if one != "[DONE]"]


async def ask(
    app: Any,
    path: str,
    body: Any = None,
    *,
    method: str | None = None,
    headers: dict[str, str] | None = None,
    leaves: Callable[[Answer], bool] | None = None,
    sends: list[bytes] | None = None,
    pause: float = 0,
) -> Answer:
    """One request. ``leaves`` says after a part whether the client goes away; ``sends`` are the
    parts of the body, after which nothing comes any more; ``pause`` stands between reads.

    Each answer ends once, unless its client leaves or stops reading; before its end no part is empty.
    """
    answer, gone, asked, is_ended = Answer(), asyncio.Event(), True, False
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    unfinished = list(sends) if sends is not None else None

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if unfinished is not None:
            if unfinished:
                return {"type": "http.request", "body": unfinished.pop(0), "more_body": True}
            await asyncio.Event().wait()
        if asked:
            asked = False
            return {"type": "http.request", "body": raw, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal is_ended
        assert not is_ended
        is_ended = message["type"] == "http.response.body" and not message.get("more_body")
        assert message.get("body") or not message.get("more_body")
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif message.get("body"):
            answer.parts.append(message["body"])
        if leaves is not None and leaves(answer):
            gone.set()
        await asyncio.sleep(pause)

    path, _, query = path.partition("?")
    given = {"host": "127.0.0.1", **(headers or {})}
    scope = {
        "type": "http",
        "method": method or ("GET" if body is None and sends is None else "POST"),
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
    }
    if leaves is not None and leaves(answer):
        gone.set()
    await asyncio.wait_for(app(scope, receive, send), timeout=60)
    assert is_ended or gone.is_set() or pause
    return answer
