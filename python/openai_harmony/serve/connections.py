"""Connections of clients, none of which may delay the others.

Each head has a time to arrive in, and so has what a client does not read. If there are more
connections than descriptors allow, the oldest that asks for nothing is closed for the newest.
"""

from __future__ import annotations

import asyncio
import errno
import math
import time
from functools import partial
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from openai_harmony.serve.journal import LOG
from openai_harmony.serve.settings import Settings

_RESERVED = 128
"""Descriptors for the log, the store, threads and libraries."""
_LEAST = 64
_MOST_HEAD = 2**16
"""Bytes of a request's head, where it does not come at once."""

_Protocol: Any = AutoHTTPProtocol


class Connections:
    """All connections of a process."""

    def __init__(self, settings: Settings, descriptors: float = math.inf) -> None:
        """With the limits of these settings, where this many files may be open."""
        self.change(settings, descriptors)
        self.is_draining = False
        """Whether each is closed after the answer that it waits for."""
        self.open: set[Connection] = set()
        self.idle: dict[Connection, None] = {}
        """Those that ask for nothing, the oldest first."""

    def change(self, settings: Settings, descriptors: float) -> None:
        """Other limits from now on."""
        self.head_timeout, self.client_timeout = settings.body_timeout, settings.client_timeout
        # A running answer has a connection to the engine, too.
        self.most = max(_LEAST, descriptors - settings.max_running - _RESERVED)

    def __call__(self, **named: Any) -> Connection:
        """Another one, of uvicorn's arguments."""
        return Connection(self, **named)


class Impatient(asyncio.Protocol):
    """Closes the connection of a client that has read nothing for too long."""

    loop: Any
    transport: Any
    _shared: Connections
    _unread: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """The client does not read as fast as it is sent to."""
        super().pause_writing()
        self._unread = _stopped(self._unread)
        self._unread = self.loop.call_later(self._shared.client_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        self._unread = _stopped(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._unread = _stopped(self._unread)
        super().connection_lost(exc)


class Connection(Impatient, _Protocol):  # type: ignore[misc]
    """A connection of uvicorn's, with limits."""

    def __init__(self, shared: Connections, **named: Any) -> None:
        super().__init__(**named)
        self._shared = shared
        self._head: asyncio.TimerHandle | None = None
        self._head_size = 0

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        shared = self._shared
        shared.open.add(self)
        shared.idle[self] = None
        self._await_head()
        if len(shared.open) > shared.most:
            next(iter(shared.idle)).abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request are there."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._shared.idle.pop(self, None)
        if self._head is not None:
            self._head_size += len(data)
            if self._head_size > _MOST_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """A head begins; httptools calls it."""
        super().on_message_begin()
        if self._head is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """A head is there; httptools takes targets that are for proxies."""
        self._head, self._head_size = _stopped(self._head), 0
        if not self.url.startswith((b"/", b"*")):
            raise ValueError("a target of another server")  # answered by 400
        super().on_headers_complete()
        if self.cycle is None:  # that of a WebSocket
            return
        self.cycle.transport = _Head(self.cycle, self.loop)
        if self._shared.is_draining:
            self.cycle.keep_alive = False
        if self.scope["http_version"] == "1.0":
            self.cycle.send = partial(_send_until_closed, self.cycle, self.cycle.send)

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """From now on it is a WebSocket's."""
        self._forget()
        self._unread = _stopped(self._unread)
        super().handle_websocket_upgrade(*event)

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        if self in self._shared.open and self.cycle.response_complete:
            self._shared.idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._forget()
        self._head = _stopped(self._head)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Closes it, whatever is still to be sent."""
        self._forget()
        self.transport.abort()

    def _forget(self) -> None:
        self._shared.open.discard(self)
        self._shared.idle.pop(self, None)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self._shared.head_timeout, self.abort)


class _Head:
    """A transport that sends the head of an answer together with what follows at once.

    Two system calls for a small answer would cost as much as reading it.
    """

    def __init__(self, cycle: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._cycle, self._transport, self._loop = cycle, cycle.transport, loop
        self._written = b""

    def __getattr__(self, name: str) -> Any:
        self._send()
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Some bytes of the answer, the head first."""
        if self._written:
            self._send(data)
        else:
            self._written = data
            self._loop.call_soon(self._send)

    def _send(self, more: bytes = b"") -> None:
        written, self._written = self._written + more, b""
        if written:
            self._cycle.transport = self._transport
            self._transport.write(written)


async def _send_until_closed(cycle: Any, send: Any, message: Any) -> None:
    """Sends an answer without chunks, which HTTP/1.0 does not know: it ends with its connection."""
    if message["type"] == "http.response.start":
        names = [name.lower() for name, _ in message.get("headers", ())]
        cycle.chunked_encoding = None if b"content-length" in names else False
        cycle.keep_alive = False
    elif cycle.chunked_encoding is False and not cycle.expected_content_length:
        cycle.expected_content_length = len(message.get("body", b""))
    await send(message)


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


class OutOfDescriptors:
    """Says once a second that no more files can be opened. asyncio says it with a trace."""

    def __init__(self) -> None:
        self._said = -1.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio calls for unhandled errors."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif time.monotonic() - self._said >= 1:
            self._said = time.monotonic()
            LOG.error("out of file descriptors: new connections wait")
