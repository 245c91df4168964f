"""Clients of the four APIs: what they send, how they read, when they leave, what they understood."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import Any

PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", "/api/generate")


class LeftError(Exception):
    """The client has gone: what uvicorn raises for a closed socket, or nothing, by its version."""


@dataclass
class Understood:
    """What a client understood."""

    status: int = 0
    text: str = ""
    end: str = "none"
    """``done``, ``length``, ``failed`` by the API's own form, or ``none`` if nothing ends it."""
    id: str | None = None
    closed: bool = False
    """Whether HTTP's own end is there."""


@dataclass
class SimulatedClient:
    """One request."""

    path: str
    marker: str
    stream: bool
    chance: random.Random
    more: dict[str, Any] = field(default_factory=dict)
    rest: str = ""
    """What it says besides."""
    is_hostile: bool = False
    """Whether its body may be refused, because it asks for much work."""
    leaves_at: int | None = None
    """At which of its awaits it leaves."""
    slow: float = 0.0
    """Seconds that it takes to read a part."""
    begins: float = 0.0
    raw: bytes = b""
    status: int = 0
    starts: int = 0
    ends: int = 0
    left: bool = False

    def body(self) -> bytes:
        text = f"Say {self.marker}{self.rest}"
        said: list[dict[str, Any]] = [{"role": "user", "content": text}]
        fields: dict[str, Any] = {"stream": self.stream, **self.more}
        if self.path == "/v1/responses":
            fields["input"] = text
        elif self.path == "/api/generate":
            fields["prompt"] = text
        else:
            fields["messages"] = said
        if self.path == "/v1/messages":
            fields["max_tokens"] = 5000
        return json.dumps(fields).encode()

    async def run(self, app: Any) -> None:
        await asyncio.sleep(self.begins)
        gone, awaits = asyncio.Event(), 0
        rest = self.body()

        def step() -> None:
            nonlocal awaits
            awaits += 1
            if self.leaves_at is not None and awaits >= self.leaves_at:
                self.left = True
                gone.set()

        async def receive() -> dict[str, Any]:
            nonlocal rest
            step()
            if rest and not gone.is_set():
                size = len(rest) if self.chance.random() < 0.7 else max(1, len(rest) // 3)
                part, rest = rest[:size], rest[size:]
                await asyncio.sleep(self.chance.choice((0.0, 0.0, 0.3)))
                return {"type": "http.request", "body": part, "more_body": bool(rest)}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            step()
            if self.left:
                return
            if self.slow:
                await asyncio.sleep(self.slow)
            if message["type"] == "http.response.start":
                self.starts += 1
                self.status = message["status"]
                return
            assert self.starts == 1, "a body without a head"
            assert not self.ends, "something follows the end"
            self.raw += message.get("body", b"")
            self.ends += not message.get("more_body", False)

        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": self.path,
            "query_string": b"",
            "headers": headers,
            "server": ("127.0.0.1", 8000),
            "scheme": "http",
        }
        await app(scope, receive, send)

    def understood(self) -> Understood:
        """What a client of this API makes of it. Anything that no client could read raises."""
        found = Understood(self.status, closed=bool(self.ends))
        if self.status != 200:
            assert self.ends == 1
            error = json.loads(self.raw)["error"]
            found.end, found.text = "failed", error if isinstance(error, str) else error["message"]
            return found
        if not self.stream:
            _whole(self.path, json.loads(self.raw), found)
            return found
        for event in self._events():
            assert found.end == "none", f"something follows the end: {event}"
            _READERS[self.path](event, found)
        return found

    def _events(self) -> list[Any]:
        text = self.raw.decode()
        if self.path.startswith("/api/"):
            return [json.loads(line) for line in text.splitlines()]
        events: list[Any] = []
        frames = text.split("\n\n")
        assert frames.pop() == "", "the last frame is not complete"
        for frame in frames:
            data = frame.split("data: ", 1)[1]
            events.append("[DONE]" if data == "[DONE]" else json.loads(data))
        if self.path == "/v1/chat/completions":
            # The reason is no end before `[DONE]`.
            done = [event for event in events if event == "[DONE]"]
            assert len(done) <= 1
            if done:
                assert events.pop() == "[DONE]"
            elif events and "error" not in events[-1]:
                events = [event for event in events if not _reason(event)]
        return events


def _reason(event: dict[str, Any]) -> str | None:
    choices = event.get("choices")
    return choices[0]["finish_reason"] if choices else None


def _chat(event: dict[str, Any], found: Understood) -> None:
    if "error" in event:
        found.end = "failed"
        return
    found.text += event["choices"][0]["delta"].get("content") or ""
    if reason := _reason(event):
        found.end = "done" if reason == "stop" else reason


def _responses(event: dict[str, Any], found: Understood) -> None:
    kind = event["type"]
    if kind == "response.output_text.delta":
        found.text += event["delta"]
    ends = {"completed": "done", "incomplete": "length", "failed": "failed"}
    if (end := ends.get(kind.removeprefix("response."))) is not None:
        found.end, found.id = end, event["response"]["id"]


def _messages(event: dict[str, Any], found: Understood) -> None:
    if event["type"] == "error":
        found.end = "failed"
    elif event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
        found.text += event["delta"]["text"]
    elif event["type"] == "message_delta":
        found.id = event["delta"]["stop_reason"]
    elif event["type"] == "message_stop":
        found.end = {"end_turn": "done", "max_tokens": "length"}[found.id or ""]


def _ollama(event: dict[str, Any], found: Understood) -> None:
    if "error" in event:
        found.end = "failed"
        return
    found.text += event["message"]["content"] if "message" in event else event["response"]
    if event["done"]:
        found.end = "done" if event["done_reason"] == "stop" else event["done_reason"]


_READERS = {
    "/v1/chat/completions": _chat,
    "/v1/responses": _responses,
    "/v1/messages": _messages,
    "/api/chat": _ollama,
    "/api/generate": _ollama,
}


def _whole(path: str, body: dict[str, Any], found: Understood) -> None:
    if path == "/v1/chat/completions":
        [choice] = body["choices"]
        found.text = choice["message"]["content"] or ""
        found.end = "done" if choice["finish_reason"] == "stop" else choice["finish_reason"]
    elif path == "/v1/responses":
        said = [item for item in body["output"] if item["type"] == "message"]
        found.text = "".join(part["text"] for item in said for part in item["content"])
        found.end = {"completed": "done", "incomplete": "length"}.get(body["status"], "failed")
        found.id = body["id"]
    elif path == "/v1/messages":
        found.text = "".join(one["text"] for one in body["content"] if one["type"] == "text")
        found.end = {"end_turn": "done", "max_tokens": "length"}[body["stop_reason"]]
    else:
        _ollama(body, found)
