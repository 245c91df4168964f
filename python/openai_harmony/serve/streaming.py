"""Work that ends when its client goes away, and streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Found = TypeVar("Found")
Ending = asyncio.Future[None]

_LAST_SECONDS = 2.0
"""A client that has stopped reading loses its place once its time is up."""


class ClientGoneError(Exception):
    """The client has disconnected."""


class TooSlowError(Exception):
    """The answer has taken as long as an answer may take, or the server ends."""

    status = 504


class ServerEndsError(TooSlowError):
    """The server ends."""

    status = 503


def watched(receive: Receive) -> asyncio.Task[None]:
    """Done once the client of a request has gone. Cancel it with the request."""
    return asyncio.ensure_future(_gone(receive))


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def until_gone(
    gone: asyncio.Future[None], work: Coroutine[Any, Any, Found], timeout: float, ending: Ending
) -> Found:
    """Does the work, but cancels it if the client goes away or it takes too long.

    Args:
        gone: Done when the client has gone.
        work: What to do.
        timeout: How many seconds it may take.
        ending: Done when the server ends.

    Raises:
        ClientGoneError: The client went away.
        TooSlowError: The time is up, or the server ends.
    """
    doing = asyncio.ensure_future(work)
    try:
        await wait_for(doing, gone, timeout, ending)
        return doing.result()
    finally:
        if not doing.done():
            doing.cancel()
            # Its error would come too late for the answer.
            await asyncio.gather(doing, return_exceptions=True)


@asynccontextmanager
async def tasks(
    works: Iterable[Coroutine[Any, Any, Found]],
) -> AsyncIterator[list[asyncio.Task[Found]]]:
    """A task for each; those that still run at the end are cancelled and waited for."""
    doing = [asyncio.create_task(work) for work in works]
    try:
        yield doing
    finally:
        for one in doing:
            one.cancel()
        await asyncio.gather(*doing, return_exceptions=True)


async def wait_for(
    doing: asyncio.Future[Any], gone: asyncio.Future[None], timeout: float, ending: Ending
) -> None:
    """Waits until something is done; errors as of :func:`until_gone`, of which none cancels it."""
    waited = (doing, gone, ending)
    await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    if doing.done():
        return
    if gone.done():
        raise ClientGoneError
    if ending.done():
        raise ServerEndsError("the server ends")
    raise TooSlowError("the answer takes too long")


class Stream(Response):
    """Sends pieces as they come, until the client goes away.

    Starlette's own class asks whether the client is there only when there is something to send, or
    takes a group of tasks of anyio; a silent engine must be cancelled, too.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        media_type: str,
        *,
        gone: asyncio.Future[None],
        status: int = 200,
        timeout: float,
        unread: float,
        ending: Ending,
        abort: Callable[[TooSlowError], Awaitable[bytes]],
        ended: Callable[[bool], Awaitable[None]],
    ) -> None:
        """For these pieces.

        Args:
            pieces: What to send.
            media_type: The content's type.
            gone: Done when the client has gone.
            status: The status.
            timeout: How many seconds it may take.
            unread: How many seconds the client may read nothing while there is something to read.
            ending: Done when the server ends.
            abort: What ends the stream if time is up or the server ends; ``ClientGoneError`` if
                nothing can.
            ended: Called at the end, with whether the client was there.
        """
        self.status_code = status
        self.media_type = media_type
        self.background = None
        self.init_headers({"cache-control": "no-cache", "x-accel-buffering": "no"})
        self._pieces, self._timeout, self._ending = pieces, timeout, ending
        self._gone, self._unread = gone, unread
        self._abort, self._ended = abort, ended
        self._sending_since: float | None = None
        """Since when a piece waits for its client to read."""
        self._is_begun = False
        self._unsent = b""
        """The piece that waits."""
        self._watching: asyncio.TimerHandle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream."""
        there = False
        self._watch()
        try:
            await until_gone(self._gone, self._send(send), self._timeout, self._ending)
            there = True
        except ClientGoneError:
            pass
        except TooSlowError as error:
            there = await self._send_last(send, error)
        except asyncio.CancelledError:
            there = await self._send_last(send, ServerEndsError("the server ends"))
            raise
        finally:
            self._watching.cancel()
            await self._ended(there)

    def _watch(self) -> None:
        """Takes a client that has stopped reading for one that has gone.

        One timer for a stream: one for each piece would cost more than the piece.
        """
        loop = asyncio.get_running_loop()
        since, now = self._sending_since, loop.time()
        # Timers may fire early by as much as the clock is coarse.
        if since is not None and now - since >= self._unread * 0.99:
            self._gone.cancel()
            return
        self._watching = loop.call_at((since or now) + self._unread, self._watch)

    async def _send_last(self, send: Send, error: TooSlowError) -> bool:
        """Ends the stream early; whether the client takes the last piece."""
        unsent = self._unsent
        try:
            piece = unsent + await self._abort(error)
            await asyncio.wait_for(self._last(send, piece), _LAST_SECONDS)
        except (asyncio.TimeoutError, ClientGoneError):
            return False
        return True

    async def _last(self, send: Send, piece: bytes) -> None:
        if not self._is_begun:
            await self._begin(send)
        await send({"type": "http.response.body", "body": piece, "more_body": False})

    async def _begin(self, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        self._is_begun = True

    async def _send(self, send: Send) -> None:
        clock = asyncio.get_running_loop().time
        try:
            self._sending_since = clock()
            await self._begin(send)
            self._sending_since = None
            async for piece in self._pieces:
                if piece:
                    self._sending_since, self._unsent = clock(), piece
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    self._sending_since, self._unsent = None, b""
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._pieces.aclose()
