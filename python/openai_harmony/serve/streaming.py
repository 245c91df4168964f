"""Work that ends when its client goes away, and streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Found = TypeVar("Found")
Ending = asyncio.Future[None]

_LAST_SECONDS = 2.0
"""A client that has stopped to read does not hold its turn any longer once its time is up."""


class ClientGoneError(Exception):
    """Nobody reads the answer any more."""


class TooSlowError(Exception):
    """The answer has taken as long as an answer may take, or the server ends."""


async def until_gone(
    receive: Receive, work: Coroutine[Any, Any, Found], timeout: float, ending: Ending
) -> Found:
    """Does the work, but cancels it if the client goes away or it takes too long.

    Args:
        receive: Where the client is heard.
        work: What to do.
        timeout: So many seconds may it take.
        ending: Done when the server ends.

    Raises:
        ClientGoneError: The client went away.
        TooSlowError: The time is up.
    """
    doing = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(receive))
    try:
        waited = (doing, gone, ending)
        await asyncio.wait(waited, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        if gone.done():
            raise ClientGoneError
        raise TooSlowError("the server ends" if ending.done() else "the answer takes too long")
    finally:
        await _cancelled(doing)
        await _cancelled(gone)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait((task,))


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
        status: int = 200,
        timeout: float,
        ending: Ending,
        abort: Callable[[], bytes],
        ended: Callable[[bool], Awaitable[None]],
    ) -> None:
        """For these pieces.

        Args:
            pieces: What to send.
            media_type: The content's type.
            status: The status.
            timeout: So many seconds may it take.
            ending: Done when the server ends.
            abort: What ends the stream if time is up or the server ends.
            ended: Called at the end, with whether the client was there.
        """
        self.status_code = status
        self.media_type = media_type
        self.background = None
        self.init_headers({"cache-control": "no-cache", "x-accel-buffering": "no"})
        self._pieces, self._timeout, self._ending = pieces, timeout, ending
        self._abort, self._ended = abort, ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream."""
        there = False
        try:
            await until_gone(receive, self._send(send), self._timeout, self._ending)
            there = True
        except ClientGoneError:
            pass
        except (TooSlowError, asyncio.CancelledError) as error:
            there = await self._send_last(send)
            if isinstance(error, asyncio.CancelledError):
                raise
        finally:
            await self._ended(there)

    async def _send_last(self, send: Send) -> bool:
        """Ends the stream before its time; whether the client takes the last piece."""
        last = {"type": "http.response.body", "body": self._abort(), "more_body": False}
        try:
            await asyncio.wait_for(send(last), _LAST_SECONDS)
        except asyncio.TimeoutError:
            return False
        return True

    async def _send(self, send: Send) -> None:
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            async for piece in self._pieces:
                if piece:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._pieces.aclose()
