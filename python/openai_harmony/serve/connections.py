"""Connections of clients, none of which may hold up the others.

Each head has a time to arrive in, and so has what a client does not read. If there are more
connections than descriptors allow, the oldest that asks for nothing is closed for the newest.
"""

from __future__ import annotations

import asyncio
import errno
import time
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from openai_harmony.serve.journal import LOG
from openai_harmony.serve.settings import Settings

_RESERVED = 128
"""Descriptors for the log, the store, threads and libraries."""
_LEAST = 64
_MOST_HEAD = 2**16
"""Bytes of a request's head, where it does not come at once."""

_Protocol: Any = AutoHTTPProtocol


class _Together:
    """A transport that sends the head of an answer together with the first bytes after it.

    Each sending wakes the client up, which takes as long as half of what a small request costs.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""

    def write(self, data: bytes) -> None:
        """Sends bytes; a head of which no body follows in this turn of the loop goes after it."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1."):
            self._head = data
            self._loop.call_soon(self._send_head)
            return
        self._transport.write(data)

    def close(self) -> None:
        """Closes it once all is sent."""
        self._send_head()
        self._transport.close()

    def _send_head(self) -> None:
        if self._head:
            self.write(b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(_Protocol):  # type: ignore[misc]
    """A connection of uvicorn's, with limits."""

    header_timeout: ClassVar[float] = 30.0
    client_timeout: ClassVar[float] = 60.0
    most: ClassVar[int] = 2**31
    """How many connections there may be."""
    _open: ClassVar[set[Connection]] = set()
    _idle: ClassVar[dict[Connection, None]] = {}
    """Those that ask for nothing, the oldest first."""

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        self._head: asyncio.TimerHandle | None = None
        self._head_size = 0
        self._unread: asyncio.TimerHandle | None = None
        super().connection_made(_Together(transport, self.loop))
        self._open.add(self)
        self._idle[self] = None
        self._await_head()
        if len(self._open) > self.most:
            next(iter(self._idle)).abort()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request are there."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._idle.pop(self, None)
            self._head, self._head_size = _stopped(self._head), 0
            return
        self._head_size += len(data)
        if self._head_size > _MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")
        elif self._head is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """A head is there; httptools calls it, which takes targets that are for proxies."""
        if not self.url.startswith((b"/", b"*")):
            raise ValueError("a target of another server")  # answered by 400
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        if self in self._open and (self.cycle is None or self.cycle.response_complete):
            self._idle[self] = None

    def pause_writing(self) -> None:
        """The client does not read as fast as it is sent to."""
        super().pause_writing()
        self._unread = _stopped(self._unread)
        self._unread = self.loop.call_later(self.client_timeout, self.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        self._unread = _stopped(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._open.discard(self)
        self._idle.pop(self, None)
        self._head, self._unread = _stopped(self._head), _stopped(self._unread)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Closes it, whatever is still to be sent."""
        self._open.discard(self)
        self._idle.pop(self, None)
        if self.transport is not None:
            self.transport.abort()

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self.header_timeout, self.abort)


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


def limit(settings: Settings, descriptors: float) -> None:
    """Sets the limits of all connections of this process, which may open this many files."""
    Connection.header_timeout = settings.header_timeout
    Connection.client_timeout = settings.client_timeout
    # A running answer has a connection to the engine, too.
    left = descriptors - settings.max_running - _RESERVED
    Connection.most = int(max(_LEAST, min(left, 2**31)))


class OutOfDescriptors:
    """Says once a second that no more files can be opened. asyncio says it with a trace."""

    def __init__(self) -> None:
        self._said = -1.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio calls for errors that nobody handles."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif time.monotonic() - self._said >= 1:
            self._said = time.monotonic()
            LOG.error("out of file descriptors: new connections wait")
