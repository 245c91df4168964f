"""HTTP as engines need it: streams that are read as they come, and no limit of connections.

By aiohttp: a streamed chunk takes a quarter of the CPU that httpx takes (14 µs of 55, 64 streams).
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp

_CONNECT_SECONDS = 60.0
"""So long a connection may take to be made: where the engine's queue of them is full, the system
asks again after 1, 3, 7 and more seconds."""
_ANSWER_SECONDS = 10.0
"""So long a question about the engine itself may take."""
IDLE_SECONDS = 1.0
"""How long a connection waits for the next request: engines close idle ones after two or more."""
LAST_SECONDS = 0.2
"""How long HTTP's end may take after the answer's end."""
REUSED_SECONDS = 30.0
"""How long a connection is used again: a balancer spreads connections, and engines are added."""
_MOST_QUOTED = 2**16
_READ_BYTES = 2**18


class ClientError(Exception):
    """No answer, or one that broke off; the text is the rest of a sentence about the engine."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(what)
        self.status = status
        """The HTTP status that a client gets."""


class Response:
    """An answer that has begun. Its caller closes it, and reads it within :func:`errors`."""

    def __init__(self, inner: aiohttp.ClientResponse) -> None:
        self._inner = inner
        self.status = inner.status
        self.read: Callable[[], Awaitable[bytes]] = inner.content.readany
        """The next part of the content, which is what came together; empty at the end."""

    @property
    def content_type(self) -> str:
        """The type of the content."""
        return self._inner.headers.get("content-type", "application/json")

    @property
    def retry_after(self) -> int | None:
        """After how many seconds to ask again."""
        after = self._inner.headers.get("retry-after", "")
        return int(after) if after.isdecimal() and len(after) < 7 else None

    async def beginning(self) -> bytes:
        """The first part of the content, for an error."""
        found = b""
        while part := await self.read():
            found += part
            if len(found) > _MOST_QUOTED:
                break
        return found

    async def aclose(self, *, has_ended: bool = False) -> None:
        """Closes its connection, so that the engine stops sampling.

        If the engine has nothing more to say, it is used again once HTTP's end is there.
        """
        inner = self._inner
        if not has_ended:
            inner.close()
        elif not inner.closed:
            timer = asyncio.get_running_loop().call_later(LAST_SECONDS, inner.close)
            inner.content.on_eof(timer.cancel)


class Client:
    """Connections to one address. As many as are needed: the gateway limits its answers."""

    def __init__(
        self, address: str, timeout: float, key: str | None, *, reuses: bool = True
    ) -> None:
        """For URLs that begin with an address.

        Args:
            address: ``http://127.0.0.1:8001``.
            timeout: So many seconds may pass without a byte.
            key: An API key that the engine wants.
            reuses: Whether a connection has more than one request.
        """
        self._address, self._reuses = address, reuses
        self._since: WeakKeyDictionary[object, float] = WeakKeyDictionary()
        """Since when there is a connection."""
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=min(timeout, _CONNECT_SECONDS), sock_read=timeout
        )
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> Response:
        """Sends JSON, with more headers. ``ClientError`` if nothing is answered."""
        headers = {"content-type": "application/json", **headers}
        with errors():
            response = await self._answered("POST", path, data=body, headers=headers)
        if response.connection is not None and (used := response.connection.protocol) is not None:
            now = time.monotonic()
            if now - self._since.setdefault(used, now) > REUSED_SECONDS:
                used.force_close()  # once it is read
        return Response(response)

    async def _answered(self, method: str, path: str, **given: Any) -> aiohttp.ClientResponse:
        """The answer. If the engine just closed a connection that waited, another one is used."""
        while True:
            was_used: list[bool] = []
            try:
                return await self._open().request(
                    method,
                    self._address + path,
                    allow_redirects=False,
                    trace_request_ctx=was_used,
                    **given,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if not was_used:
                    raise

    async def get(self, path: str) -> tuple[int, Any]:
        """The status and the JSON of a short answer, ``None`` if it is not JSON."""
        timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
        with errors():
            async with await self._answered("GET", path, timeout=timeout) as response:
                text = await response.read()
                try:
                    return response.status, json.loads(text)
                except (ValueError, RecursionError):
                    return response.status, None

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        # Tests run an application in one loop after the other.
        if self._session is None or self._session.closed or self._loop is not loop:
            self._loop = loop
            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_note_use)
            kept = {"keepalive_timeout": IDLE_SECONDS} if self._reuses else {"force_close": True}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, **kept),
                headers=self._headers,
                timeout=self._timeout,
                read_bufsize=_READ_BYTES,
                skip_auto_headers=("accept-encoding",),
                trust_env=False,  # a proxy of the environment is not for engines
                # What an engine sets for one client's request is not for another's.
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[trace],
            )
        return self._session


async def _note_use(_: aiohttp.ClientSession, context: Any, about: object) -> None:
    """A request goes to a connection that was used before."""
    if context.trace_request_ctx is not None:
        context.trace_request_ctx.append(True)


def _reason(error: OSError) -> str:
    """Why there is no connection, without an address; of several addresses, a refusal counts."""
    if isinstance(error, socket.gaierror):
        return error.strerror or "its name cannot be resolved"
    refused = f"[Errno {errno.ECONNREFUSED}]" in str(error)
    number = errno.ECONNREFUSED if refused else error.errno
    return os.strerror(number) if number else type(error).__name__


@contextmanager
def errors() -> Iterator[None]:
    """Makes errors of aiohttp ``ClientError``s. No address is in their texts."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise ClientError("cannot be reached: no connection in time", 503) from error
    except asyncio.TimeoutError as error:
        raise ClientError("is too slow: no answer in time", 504) from error
    except aiohttp.ClientConnectorError as error:
        raise ClientError(f"cannot be reached: {_reason(error.os_error)}", 503) from error
    except aiohttp.ClientResponseError as error:
        raise ClientError("sent invalid HTTP", 502) from error
    except (aiohttp.ClientError, OSError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number in (None, errno.ECONNRESET, errno.EPIPE):
            raise ClientError("closed the connection", 502) from error
        raise ClientError(f"broke off: {os.strerror(number)}", 502) from error
