"""Responses over a WebSocket: a request for each ``response.create``; its events are messages.

Keys, limits and the log are those of ``POST /v1/responses``. Requests of one lane (``stream_id``)
are answered one after the other. A connection knows the items of its latest responses, so a
client can continue from them where no store keeps any.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message
from starlette.websockets import WebSocket

from openai_harmony.interop import Body
from openai_harmony.interop.error_body import error_body
from openai_harmony.serve.bodies import TOO_MANY_BYTES, Bodies
from openai_harmony.serve.connections import Connections, Impatient
from openai_harmony.serve.dialogue import MOST_WAITING, Dialogue
from openai_harmony.serve.refusals import RefusedError, key_of
from openai_harmony.serve.shares import Held
from openai_harmony.serve.threads import LARGE, in_thread_if

RESTARTS, TRY_LATER = 1012, 1013
"""The codes of connections that are closed because the server ends, or has too many."""
_MOST_ID = 128
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_OWN_HEADERS = (b"content-length", b"content-type", b"content-encoding", b"connection", b"upgrade")

Create = Callable[[Request], Awaitable[Response]]


def protocol(connections: Connections) -> Any:
    """Uvicorn's protocol of WebSockets with these limits, in which answers end before the server.

    ``"none"`` where the package `websockets` is missing.
    """
    try:
        from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
    except ModuleNotFoundError:
        return "none"

    class Protocol(Impatient, WebSocketsSansIOProtocol):
        _shared = connections
        scope: Any
        _came = 0
        """Bytes of the message that arrives, with its frames' headers."""
        _has_ended = False
        """Whether a message ended in these bytes."""

        def data_received(self, data: bytes) -> None:
            """Keeps what the application lets come of a message that is not whole."""
            super().data_received(data)
            rest = self.conn.reader.buffer
            if not (self.frames or rest):
                self._came = 0
            elif self._has_ended:  # the rest came in these bytes
                self._came = sum(map(len, self.frames)) + len(rest)
            else:
                self._came += len(data)
            self._has_ended = False
            arrives = self.scope["state"].get("arrives") if self.handshake_complete else None
            if self._came and arrives is not None and not arrives(self._came):
                self.frames.clear()
                self.conn.reader.discard()

        def send_receive_event_to_app(self) -> None:
            """The message is whole."""
            self._has_ended = True
            if (arrived := self.scope["state"].get("arrived")) is not None:
                arrived()
            super().send_receive_event_to_app()

        def shutdown(self) -> None:
            """The server ends; the application closes the connection."""
            if self.close_sent:
                super().shutdown()
            else:
                event: Any = {"type": "websocket.receive", "code": RESTARTS}
                self.queue.put_nowait(event)

    return Protocol


class ResponsesSocket:
    """One connection."""

    def __init__(self, websocket: WebSocket, create: Create, bodies: Bodies) -> None:
        """Of a client; ``create`` answers a request, and messages have the limits of bodies."""
        self._socket, self._create, self._bodies = websocket, create, bodies
        self._key = key_of(websocket.scope)
        self._arriving = self._none_held()
        """The bytes of a large message that arrives,"""
        self._arrived: deque[Held] = deque()
        """and those of messages that are whole."""
        self._late: asyncio.TimerHandle | None = None
        self.dialogue = Dialogue(self.send, bodies, self._key)
        self._lanes: dict[str | None, asyncio.Task[None]] = {}
        self._waiting, self._ends = 0, False
        self._leaving: list[Awaitable[None]] = []
        self._gone: asyncio.Event = asyncio.Event()

    async def run(self) -> None:
        """Answers until the client goes away or the server ends."""
        self._socket.scope["state"].update(arrives=self._arrives, arrived=self._begin_message)
        try:
            await self._run()
        finally:
            self._gone.set()
            self._begin_message()
            for held in self._arrived:
                held.becomes(0)
            self.dialogue.end()
            await asyncio.gather(*self._leaving, return_exceptions=True)

    async def _run(self) -> None:
        await self._socket.accept()
        if await self._read():
            reading = asyncio.create_task(self._read())  # the client may leave meanwhile
            await asyncio.gather(*self._lanes.values(), return_exceptions=True)
            reading.cancel()
            if not self._gone.is_set():
                await self._socket.close(RESTARTS)
        await asyncio.gather(*self._lanes.values(), return_exceptions=True)

    async def _read(self) -> bool:
        """Takes events until the server ends (true) or the client goes away."""
        while (is_end := await self._event()) is None:
            pass
        return is_end

    async def _event(self) -> bool | None:
        """Takes one, of which nothing is kept here; else why there is none, as :meth:`_read`."""
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            self._gone.set()
            return False
        if message.get("code") == RESTARTS:
            self._ends = True
            return True
        raw = message.get("bytes") or (message.get("text") or "").encode()
        held = self._arrived.popleft() if self._arrived else self._none_held()
        try:
            parsed = self._bodies.parsed
            event = await in_thread_if(len(raw) >= LARGE, parsed, raw, self._socket.url.path)
            await self._take(event, len(raw), held)
        except RefusedError as error:
            held.becomes(0)
            await self._fail(error.status, f"not an event: {error}")
        except BaseException:  # cancelled, since the server ends
            held.becomes(0)
            raise
        return None

    def _arrives(self, size: int) -> bool:
        """Whether a message, of which so many bytes have come, may go on."""
        if self._gone.is_set():
            return False
        if size >= LARGE:
            if self._late is None:
                seconds = self._bodies.settings.body_timeout
                self._late = asyncio.get_running_loop().call_later(seconds, self.give_up)
            if not self._arriving.becomes(size):
                self.give_up()
        return not self._gone.is_set()

    def _begin_message(self) -> None:
        """Another message begins."""
        self._arrived.append(self._arriving)
        self._arriving = self._none_held()
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _none_held(self) -> Held:
        return Held(self._bodies.share, self._key)

    async def _take(self, event: Body, size: int, held: Held) -> None:
        kind, lane = event.text("type"), event.text("stream_id")
        if event.kind("stream_id") is not None and (lane is None or len(lane) > _MOST_ID):
            text = f"stream_id: expected a text of at most {_MOST_ID} characters"
            raise RefusedError(text)
        if not held.becomes(size if size >= LARGE else 0):
            held.becomes(0)
            await self._fail(429, TOO_MANY_BYTES, lane)
            return
        if kind == "response.create" and not self._ends and self._waiting < MOST_WAITING:
            self._waiting += 1
            answering = self._answer(event, size, held, lane, self._lanes.get(lane))
            self._lanes[lane] = task = asyncio.create_task(answering)
            task.add_done_callback(partial(self._answered, lane))
            return
        held.becomes(0)
        if kind == "response.create" and self._ends:
            await self._fail(503, "the server ends", lane)
        elif kind == "response.create":
            await self._fail(429, f"more than {MOST_WAITING} requests wait", lane)
        elif kind == "response.steer":
            said = json.loads(event.json("input") or b"null")
            await self.dialogue.steer(event.text("previous_response_id"), said, size)
        else:
            await self._fail(400, f"unknown type of an event {kind!r}", lane)

    async def _answer(
        self,
        asked: Body,
        size: int,
        held: Held,
        lane: str | None,
        before: asyncio.Task[None] | None,
    ) -> None:
        try:
            if before is not None:
                await asyncio.wait((before,))
            following: Body | None = asked
            while following is not None and not self._gone.is_set():
                following = await _Exchange(self, following, size, held, lane).run()
        finally:
            held.becomes(0)
            self._waiting -= 1

    def _answered(self, lane: str | None, task: asyncio.Task[None]) -> None:
        if self._lanes.get(lane) is task:
            del self._lanes[lane]
        if not task.cancelled():
            task.exception()  # the client has left

    async def send(self, event: dict[str, Any], lane: str | None = None) -> None:
        """Sends an event."""
        await self.send_text(json.dumps(event, ensure_ascii=False), lane)

    async def send_text(self, event: str, lane: str | None) -> None:
        """The same for its JSON text, which names its lane."""
        if lane is not None:
            event = f'{event[:-1]},"stream_id":{json.dumps(lane)}}}'
        if not self._gone.is_set():
            await self._socket.send_text(event)

    async def _fail(self, status: int, message: str, lane: str | None = None) -> None:
        error = error_body("responses", RefusedError(message), status).body["error"]
        await self.send({"type": "error", "status": status, "error": error}, lane)

    async def ask(
        self, body: bytes, held: Held, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Has a body answered as that of a request, of which so many bytes count already."""
        given = (pair for pair in self._socket.scope["headers"] if pair[0] not in _OWN_HEADERS)
        headers = [*given, (b"content-type", b"application/json")]
        headers.append((b"content-length", b"%d" % len(body)))
        state = {**self._socket.scope["state"], "recent": self.dialogue.recent, "held": held}
        scope = {**self._socket.scope, "type": "http", "method": "POST", "http_version": "1.1"}
        scope.update(headers=headers, state=state, extensions={})
        unread = [body]

        async def receive() -> Message:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            await self._gone.wait()
            return {"type": "http.disconnect"}

        response = await self._create(Request(scope, receive, send))
        await response(scope, receive, send)

    def give_up(self) -> None:
        """Closes the connection: the client does not read or send in time, or sends too much."""
        if not self._gone.is_set():
            self._gone.set()
            self._leaving.append(asyncio.ensure_future(self._socket.close(TRY_LATER)))


class _Exchange:
    """A request and its answer; each event becomes a message."""

    def __init__(
        self,
        socket: ResponsesSocket,
        asked: Body,
        size: int,
        held: Held,
        lane: str | None,
    ) -> None:
        self._socket, self._size, self._held, self._lane = socket, size, held, lane
        self._asked = socket.dialogue.continued(asked)
        self._status = 200
        self._streams = self._is_whole = False
        self._passed_on = 0
        """The number of events of the current piece that are sent; a cancelled one comes again."""
        self._following: Body | None = None

    async def run(self) -> Body | None:
        """Sends the answer; the request that follows it by itself."""
        body = await in_thread_if(self._size >= LARGE, _as_body, self._asked)
        await self._socket.ask(body, self._held, self._send)
        if not self._is_whole:
            self._socket.give_up()
        return self._following

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            kinds = dict(message["headers"])
            self._streams = kinds.get(b"content-type", b"").startswith(b"text/event-stream")
            return
        body, is_last = message.get("body", b""), not message.get("more_body")
        if self._streams:
            for event in body.split(b"\n\n")[self._passed_on : -1]:
                await self._pass_on(event)
            self._passed_on = 0
        elif is_last and self._status != 499:
            error = json.loads(body).get("error")
            about = {"type": "error", "status": self._status, "error": error}
            await self._socket.send(about, self._lane)
        self._is_whole = is_last

    async def _pass_on(self, event: bytes) -> None:
        data = event.partition(b"data: ")[2].decode()
        kind = event.partition(b"\n")[0].removeprefix(b"event: ").decode()
        await self._socket.send_text(data, self._lane)
        if kind in _ENDS:
            self._held.becomes(0)  # before the client can ask again
        self._passed_on += 1
        if kind == "response.created" or kind in _ENDS:
            response = await in_thread_if(len(data) >= LARGE, _response, data)
            dialogue = self._socket.dialogue
            if kind in _ENDS:
                self._following = await dialogue.ended(self._asked, self._size, kind, response)
            else:
                dialogue.begun(response.text("id") or "", self._lane)


def _as_body(event: Body) -> bytes:
    """The body of an event that asks for a response, which is streamed."""
    for name, found in (("type", b"null"), ("stream_id", b"null"), ("stream", b"true")):
        event = event.with_member(name, found)
    return event.json() or b""


def _response(event: str) -> Body:
    """The response of an event."""
    return Body(Body(event.encode()).json("response") or b"{}")
