"""Connections of clients, none of which may hold up the others.

Each head has a time to arrive in, and so has what a client does not read. If there are more
connections than descriptors allow, the oldest that asks for nothing is closed for the newest.
"""

from __future__ import annotations

import asyncio
import errno
import math
import time
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from openai_harmony.serve.journal import LOG
from openai_harmony.serve.settings import Settings

_RESERVED = 128
"""Descriptors for the log, the store, threads and libraries."""
_LEAST = 64
_MOST_HEAD = 2**16
"""Bytes of a request's head, where it does not come at once."""
_LONGEST_HELD = 0.002
"""Seconds for which an answer may wait for others, to be sent with them."""
_MOST_HELD = 2**14
"""Bytes of an answer that wait."""

_Protocol: Any = AutoHTTPProtocol


class _Outbox:
    """Sends what many connections have to say in one go.

    Each sending wakes a client up, which takes as long as half of what a small request costs; a
    client that is awake already costs little.
    """

    def __init__(self) -> None:
        """Of a loop."""
        self._full: list[_Together] = []
        self._since = 0.0

    def add(self, transport: _Together, loop: asyncio.AbstractEventLoop) -> None:
        """Has a transport send what it holds in the next turn of the loop at the latest."""
        now = loop.time()
        if self._full and now - self._since > _LONGEST_HELD:
            self._send()
        if not self._full:
            self._since = now
            loop.call_soon(self._send)
        self._full.append(transport)

    def _send(self) -> None:
        full, self._full = self._full, []
        for transport in full:
            transport.send()


class _Together:
    """A transport that sends an answer's head and the bytes after it together."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, outbox: _Outbox
    ) -> None:
        self._transport, self._loop, self._outbox = transport, loop, outbox
        self._held = bytearray()

    def write(self, data: bytes) -> None:
        """Holds bytes until the outbox sends them; many at once go by themselves."""
        if not self._held:
            self._outbox.add(self, self._loop)
        self._held += data
        if len(self._held) > _MOST_HELD:
            # So that whoever writes without a pause learns of a client that does not read.
            self.send()

    def close(self) -> None:
        """Closes it once all is sent."""
        self.send()
        self._transport.close()

    def send(self) -> None:
        """Sends what it holds."""
        if self._held:
            data, self._held = bytes(self._held), bytearray()
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(_Protocol):  # type: ignore[misc]
    """A connection of uvicorn's, with limits."""

    header_timeout: ClassVar[float] = 30.0
    client_timeout: ClassVar[float] = 60.0
    most: ClassVar[float] = math.inf
    """How many connections there may be."""
    _outboxes: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, _Outbox]] = WeakKeyDictionary()
    _open: ClassVar[set[Connection]] = set()
    _idle: ClassVar[dict[Connection, None]] = {}
    """Those that ask for nothing, the oldest first."""

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        self._head: asyncio.TimerHandle | None = None
        self._head_size = 0
        self._unread: asyncio.TimerHandle | None = None
        outbox = self._outboxes.setdefault(self.loop, _Outbox())
        super().connection_made(_Together(transport, self.loop, outbox))
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
        if self in self._open and self.cycle.response_complete:
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
    Connection.most = max(_LEAST, left)


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
