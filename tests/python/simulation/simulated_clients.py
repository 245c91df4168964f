"""Clients of the four APIs: what they send, how they read, when they leave, what they understood."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httptools
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from simulation.simulated_network import Network, Wire

NEVER = float("inf")
MOST_OF_CONTROL = 127
"""The most bytes of a frame of a WebSocket that is no event: a ping, or an end."""
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
COMPLETIONS, GENERATE = "/v1/completions", "/inference/v1/generate"
PASSED_ON = (COMPLETIONS, GENERATE)
"""What the engine itself answers,"""
ABORT = "/inference/v1/abort_requests"
"""and what ends that."""
COUNTS = (MESSAGES + "/count_tokens", RESPONSES + "/input_tokens")
MADE = ("/tokenize", *(f"{path}/render" for path in (CHAT, RESPONSES, MESSAGES)), *COUNTS)
"""What the server answers without the engine."""
READY = "/ready"
PATHS = (CHAT, CHAT, RESPONSES, MESSAGES, "/api/chat", "/api/generate")


@dataclass
class Understood:
    """What a client understood of an answer, or of one choice."""

    text: str = ""
    call: str = ""
    """The arguments of a call, as JSON."""
    end: str = "none"
    """``done``, ``length``, ``failed`` by the API's own form, or ``none`` if nothing ends it."""
    id: str | None = None
    item: str | None = None
    """The id of an item of the output that can be referred to."""
    events: int = 0
    """The number of Responses' events that came."""


@dataclass
class Exchange:
    """A request, and what came back."""

    path: str
    marker: str = ""
    method: str = "POST"
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    stream: bool = False
    is_message: bool = False
    """Whether it is sent over a WebSocket."""
    padding: int = 0
    """So many bytes of the body say nothing."""
    count: int = 1
    """How many answers it asks for."""
    chain: tuple[str, ...] = ()
    """The markers of what it continues."""
    foreign: bool = False
    """Whether it asks for what belongs to somebody else."""
    is_hostile: bool = False
    """Whether its body may be refused, because it asks for much work."""
    pieces: int = 1
    """In how many pieces it is sent,"""
    pause: float = 0.0
    """with so many seconds between them."""
    stops: bool = False
    """Whether it is never sent to its end."""
    leaves: tuple[str, float] | None = None
    """When its client leaves: ``bytes`` read, or ``seconds`` after the beginning."""
    slow: float = 0.0
    """Seconds that it takes to read a part."""

    begun: float = 0.0
    target: float = field(default=NEVER, repr=False)
    """So many bytes are written with its end."""
    whole_at: float = NEVER
    """When the server had all of it."""
    ended: float = NEVER
    """When the server had written all of its answer, or the connection was lost."""
    released: float = NEVER
    """When the server wrote last: for one that reads nothing, long before its end."""
    left: bool = False
    connection: Any = field(default=None, repr=False)
    server: Any = field(default=None, repr=False)
    """What took the connection."""
    waited: float = 0.0
    """Seconds that the connection had nothing to do before."""
    status: int = 0
    found: dict[str, str] = field(default_factory=dict, repr=False)
    """The answer's headers."""
    raw: bytes = field(default=b"", repr=False)
    is_complete: bool = False
    """Whether HTTP's own end is there."""
    reads: int = 0

    @property
    def key(self) -> str:
        """The key that it shows."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def takes_place(self) -> bool:
        """Whether it waits until it may be answered."""
        return self.method == "POST" and self.path not in (ABORT, *MADE)

    def is_sent_with(self, other: Exchange) -> bool:
        """Whether both are messages that a client sent together over a WebSocket, or the same message."""
        return self.connection is other.connection and self.begun == other.begun

    @property
    def response(self) -> Understood | None:
        """The response that it made, if there is a whole one with a text."""
        if self.path != RESPONSES or self.left or not self.is_complete or self.status != 200:
            return None
        [answer] = self.answers()
        return answer if answer.end in ("done", "length") and answer.text else None

    @property
    def size(self) -> int:
        """The bytes of its body."""
        return len(self.request().partition(b"\r\n\r\n")[2])

    def request(self) -> bytes:
        body = (
            b" " * self.padding + json.dumps(self.body).encode() if self.method == "POST" else b""
        )
        head = {"host": "127.0.0.1", **self.headers}
        if self.method == "POST":
            head |= {"content-type": "application/json", "content-length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        return f"{self.method} {self.path} HTTP/1.1\r\n{lines}\r\n".encode() + body

    def answers(self) -> list[Understood]:
        """What a client of this API makes of it. Anything that no client could read raises."""
        found = [Understood() for _ in range(self.count)]
        if self.status != 200:
            assert self.is_complete
            error = json.loads(self.raw)["error"]
            text = error if isinstance(error, str) else error["message"]
            return [Understood(text, end="failed") for _ in found]
        if self.path in PASSED_ON:
            is_failed = self.raw.rpartition(b"data: ")[2].startswith(b'{"error"')
            return [Understood(end="failed" if is_failed else "done")]
        if not self.stream:
            _whole(self.path, json.loads(self.raw), found)
            return found
        for event in self._events():
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
        if self.path == CHAT:
            # The reasons are no end before `[DONE]`.
            assert events.count("[DONE]") <= 1
            if "[DONE]" in events:
                assert events.pop() == "[DONE]"
            elif events and "error" not in events[-1]:
                for event in events:
                    for choice in event["choices"]:
                        choice["finish_reason"] = None
        return events


def _ends(found: Understood, end: str) -> None:
    assert found.end == "none", f"something follows the end: {end}"
    found.end = end


def _chat(event: dict[str, Any], found: list[Understood]) -> None:
    if "error" in event:
        for one in found:
            one.end = "failed"
        return
    for choice in event["choices"]:
        one, delta = found[choice["index"]], choice["delta"]
        assert one.end == "none", "something follows the end"
        assert one.id in (None, event["id"])
        one.id, one.text = event["id"], one.text + (delta.get("content") or "")
        for call in delta.get("tool_calls") or ():
            one.call += call["function"].get("arguments") or ""
        if reason := choice["finish_reason"]:
            _ends(one, _CHAT_ENDS[reason])


_CHAT_ENDS = {"stop": "done", "tool_calls": "done", "length": "length"}


def _responses(event: dict[str, Any], found: list[Understood]) -> None:
    [one] = found
    kind = event["type"].removeprefix("response.")
    assert one.end == "none", f"something follows the end: {kind}"
    assert event["sequence_number"] == one.events, f"{one.events} events came before: {event}"
    one.events += 1
    if kind == "output_text.delta":
        one.text += event["delta"]
    elif kind == "function_call_arguments.delta":
        one.call += event["delta"]
    if (end := _RESPONSES_ENDS.get(kind)) is not None:
        _ends(one, end)
        one.id, one.item = event["response"]["id"], _item(event["response"])


_RESPONSES_ENDS = {"completed": "done", "incomplete": "length", "failed": "failed"}


def _messages(event: dict[str, Any], found: list[Understood]) -> None:
    [one] = found
    assert one.end == "none", f"something follows the end: {event}"
    if event["type"] == "error":
        _ends(one, "failed")
    elif event["type"] == "content_block_delta":
        one.text += event["delta"].get("text") or ""
        one.call += event["delta"].get("partial_json") or ""
    elif event["type"] == "message_delta":
        one.id = event["delta"]["stop_reason"]
    elif event["type"] == "message_stop":
        _ends(one, _MESSAGES_ENDS[one.id or ""])


_MESSAGES_ENDS = {"end_turn": "done", "tool_use": "done", "max_tokens": "length"}


def _ollama(event: dict[str, Any], found: list[Understood]) -> None:
    [one] = found
    assert one.end == "none", f"something follows the end: {event}"
    if "error" in event:
        _ends(one, "failed")
        return
    message = event.get("message") or {"content": event["response"]}
    one.text += message["content"]
    for call in message.get("tool_calls") or ():
        one.call = json.dumps(call["function"]["arguments"])
    if event["done"]:
        _ends(one, "done" if event["done_reason"] == "stop" else event["done_reason"])


_READERS: dict[str, Any] = {
    CHAT: _chat,
    RESPONSES: _responses,
    MESSAGES: _messages,
    "/api/chat": _ollama,
    "/api/generate": _ollama,
}


def _whole(path: str, body: dict[str, Any], found: list[Understood]) -> None:
    if path == CHAT:
        for choice in body["choices"]:
            message, one = choice["message"], found[choice["index"]]
            one.text, one.id = message.get("content") or "", body["id"]
            for call in message.get("tool_calls") or ():
                one.call = call["function"]["arguments"]
            _ends(one, _CHAT_ENDS[choice["finish_reason"]])
        return
    [one] = found
    if path == RESPONSES:
        said = [item for item in body["output"] if item["type"] == "message"]
        one.text = "".join(part["text"] for item in said for part in item["content"])
        calls = [item["arguments"] for item in body["output"] if item["type"] == "function_call"]
        one.call = "".join(calls)
        one.end = {"completed": "done", "incomplete": "length"}.get(body["status"], "failed")
        one.id, one.item = body["id"], _item(body)
    elif path == MESSAGES:
        one.text = "".join(part["text"] for part in body["content"] if part["type"] == "text")
        calls = [json.dumps(part["input"]) for part in body["content"] if "input" in part]
        one.call, one.end = "".join(calls), _MESSAGES_ENDS[body["stop_reason"]]
    else:
        _ollama(body, found)


def _item(response: dict[str, Any]) -> str | None:
    said = [item["id"] for item in response["output"] if item["type"] == "message"]
    return said[-1] if said else None


class Connection(asyncio.Protocol):
    """A client's connection, which has one request after the other, and a WebSocket one of each lane."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._asked: list[Exchange] = []
        self.changed = asyncio.Event()
        self.is_lost = False
        self._parser: Any = None
        self._bytes = 0
        self._socket: ClientProtocol | None = None
        self._ended = NEVER
        self._headers: dict[str, str] = {}

    def connection_made(self, transport: Any) -> None:
        self.wire: Wire = transport

    @property
    def _one(self) -> Exchange:
        """What is asked by HTTP."""
        [one] = self._asked
        return one

    def data_received(self, data: bytes) -> None:
        for one in self._asked:
            one.reads += len(data)
        if self._socket is not None:
            self._receive(self._socket, data)
        else:
            assert self._asked, f"bytes that nobody asked for: {data!r}"
            assert not self._one.is_complete, f"bytes after the answer: {data!r}"
            self._bytes += len(data)
            self._parser.feed_data(data)
        for one in self._asked[:1]:
            if one.slow:
                self.wire.pause_reading()
                self._network.loop.call_later(one.slow, self._read_on)
            if one.leaves and one.leaves[0] == "bytes" and one.reads > one.leaves[1]:
                self.leave()
        self.changed.set()

    def _receive(self, socket: ClientProtocol, data: bytes) -> None:
        # What arrives together may have been written at different times.
        end = self._bytes + len(data)
        for until in [*(count for _, count in self.wire.peer.written if count < end), end]:
            if until > self._bytes:
                piece, data = data[: until - self._bytes], data[until - self._bytes :]
                self._bytes = until
                self._receive_piece(socket, piece)

    def _receive_piece(self, socket: ClientProtocol, piece: bytes) -> None:
        socket.receive_data(piece)
        self.wire.write(b"".join(socket.data_to_send()))
        for event in socket.events_received():
            if not isinstance(event, Frame):
                if socket.state is State.OPEN:
                    self._send_messages(socket)
            elif event.opcode is Opcode.TEXT:
                self._hear(bytes(event.data))
            elif event.opcode is Opcode.CLOSE:
                self.wire.close()
        if (refused := getattr(socket.handshake_exc, "response", None)) is not None:
            body = refused.body or b'{"error": "no more connections"}'
            for one in self._asked:
                self._end(one, refused.status_code, body)

    def _send_messages(self, socket: ClientProtocol) -> None:
        for one in self._asked:
            body = {name: found for name, found in one.body.items() if name != "stream"}
            event = json.dumps({"type": "response.create", **body}).encode()
            socket.send_text(b" " * one.padding + event)
            self.wire.write(b"".join(socket.data_to_send()))
            one.target = self.wire.written[-1][1]

    def _hear(self, data: bytes) -> None:
        event = json.loads(data)
        lane = event.get("stream_id")
        one = next((one for one in self._asked if one.body.get("stream_id") == lane), None)
        assert one is not None, f"an event that nobody asked for: {data!r}"
        assert not one.is_complete, f"an event after the last: {data!r}"
        if event["type"] == "error":
            self._end(one, event["status"], data)
            return
        one.status = 200
        one.raw += b"data: %b\n\n" % data
        if event["type"].partition(".")[2] in _RESPONSES_ENDS:
            self._end(one, 200, one.raw)

    def _end(self, one: Exchange, status: int, raw: bytes) -> None:
        one.status, one.raw = status, raw
        self._completes(one)

    def _read_on(self) -> None:
        if not self.is_lost:
            self.wire.resume_reading()

    def leave(self) -> None:
        for one in self._asked:
            if not one.is_complete and not self.is_lost:
                one.left, one.ended = True, self._network.loop.time()
        self._network.chance.choice((self.wire.close, self.wire.abort))()
        self.changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True
        self.changed.set()

    def on_status(self, status: bytes) -> None:
        pass

    def on_header(self, name: bytes, value: bytes) -> None:
        self._one.found[name.decode().lower()] = value.decode()

    def on_headers_complete(self) -> None:
        assert not self._one.status, "two heads"
        self._one.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._one.raw += body

    def on_message_complete(self) -> None:
        self._completes(self._one)

    def _completes(self, one: Exchange) -> None:
        one.is_complete = True
        written = self.wire.peer.written
        one.ended = one.released = next(at for at, count in written if count >= self._bytes)

    async def ask(self, *asked: Exchange) -> None:
        """Sends requests, more than one only by a WebSocket, and waits for their ends, whatever those are.

        The first one says how all are read, and when their client leaves.
        """
        loop, wire, first = self._network.loop, self.wire, asked[0]
        self._parser = httptools.HttpResponseParser(self)
        wire.resume_reading()
        before = len(wire.peer.written)
        self._asked = list(asked)
        if self._socket is not None:
            first.headers = self._headers
        self._headers = first.headers
        for one in asked:
            one.begun, one.headers, one.slow = loop.time(), first.headers, first.slow
            one.connection, one.server = self, wire.peer.get_protocol()
            one.waited = max(0.0, one.begun - self._ended)
        timer = None
        if first.leaves and first.leaves[0] == "seconds":
            timer = loop.call_later(first.leaves[1], self.leave)
        if self._socket is not None:
            self._send_messages(self._socket)
        elif first.is_message:
            self._socket = ClientProtocol(parse_uri("ws://127.0.0.1/v1/responses"))
            handshake = self._socket.connect()
            handshake.headers.update(first.headers)
            self._socket.send_request(handshake)
            wire.write(b"".join(self._socket.data_to_send()))
        else:
            await self._send(first)
        while not (all(one.is_complete or one.left for one in asked) or self.is_lost):
            self.changed.clear()
            await self.changed.wait()
        if timer is not None:
            timer.cancel()
        for one in asked:
            self._note_end(one, before)
        if first.stops:
            wire.close()
        self._asked, self._ended = [], loop.time()

    def _note_end(self, one: Exchange, before: int) -> None:
        """When it was whole, and when it ended; so many writes were before it."""
        wire = self.wire
        one.whole_at = next((at for at, count in wire.delivered if count >= one.target), NEVER)
        if one.is_complete:
            return
        if not one.left:
            one.ended = wire.lost_at or self._network.loop.time()
        counts = [0, *(count for _, count in wire.peer.written)]
        least = MOST_OF_CONTROL if one.is_message else 0
        written = wire.peer.written[before:]
        events = [each for each, to in zip(written, counts[before:]) if each[1] - to > least]
        # A WebSocket may have been closed before, which a slow client has not read.
        last = (events or written or (wire.peer.written if one.is_message else []))[-1:]
        one.released = min([one.ended, *(at for at, _ in last)])

    async def _send(self, one: Exchange) -> None:
        wire, raw = self.wire, one.request()
        size = -(-len(raw) // one.pieces)
        pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
        start = wire.written[-1][1] if wire.written else 0
        for piece in pieces[:-1] if one.stops else pieces:
            wire.write(piece)
            if len(pieces) > 1:
                await asyncio.sleep(one.pause)
        target = wire.written[-1][1] if wire.written else 0
        if not one.stops and target == len(raw) + start:
            one.target = target

    @property
    def is_socket(self) -> bool:
        """Whether it is a WebSocket."""
        return self._socket is not None

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent."""
        return not (self.is_lost or self.wire.is_closing() or self.wire.peer.is_closing())
