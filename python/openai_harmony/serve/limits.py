"""How many requests are answered at a time, and how many wait."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.streaming import ClientGoneError, Ending, TooSlowError


class Limits:
    """Places for requests: a number of them at a time, a number that wait, each for some time."""

    def __init__(
        self, running: int, waiting: int, timeout: float, count: Callable[[int], object]
    ) -> None:
        """With ``timeout`` in seconds; ``count`` gets how many wait, whenever that changes."""
        self._most, self._most_waiting, self._timeout = running, waiting, timeout
        self._queue: deque[asyncio.Future[None]] = deque()
        self._count = count
        self.waiting = 0
        """How many wait."""
        self.running = 0
        """How many are answered."""

    def change(self, running: int, waiting: int, timeout: float) -> None:
        """Other limits from now on; requests that have a place keep it."""
        self._most, self._most_waiting, self._timeout = running, waiting, timeout
        self._give()

    async def take(self, gone: asyncio.Future[None], ending: Ending) -> None:
        """Waits for a place, which has to be given back by :meth:`release`.

        Raises:
            RefusedError: Status 429, if there is none.
            ClientGoneError: The client left the queue.
            TooSlowError: The server ends.
        """
        if self.running < self._most:
            self.running += 1
            return
        after = max(1, round(min(self._timeout, 10)))
        if self.waiting >= self._most_waiting:
            raise RefusedError("the server is busy; ask again later", 429, retry_after=after)
        place = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        self._wait(1)
        try:
            waited = (place, gone, ending)
            await asyncio.wait(waited, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._leave(place)
            raise
        finally:
            self._wait(-1)
        if place.done():
            return
        self._leave(place)
        if gone.done():
            raise ClientGoneError
        if ending.done():
            raise TooSlowError("the server ends")
        raise RefusedError(
            f"the server is busy: no free slot within {self._timeout:g} s; ask again later",
            429,
            retry_after=after,
        )

    def release(self) -> None:
        """Gives a place back, to the next request that waits."""
        self.running -= 1
        self._give()

    def _wait(self, more: int) -> None:
        self.waiting += more
        self._count(self.waiting)

    def _give(self) -> None:
        while self._queue and self.running < self._most:
            self.running += 1
            self._queue.popleft().set_result(None)

    def _leave(self, place: asyncio.Future[None]) -> None:
        if place.done():  # it was given at the same moment
            self.release()
        else:
            self._queue.remove(place)
