"""How many requests are answered at a time, and how many wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from openai_harmony.serve.refusals import RefusedError


class Limits:
    """Turns for requests: so many at once, so many that wait, and each for so long."""

    def __init__(self, running: int, waiting: int, timeout: float) -> None:
        """With ``timeout`` in seconds."""
        self._turns = asyncio.Semaphore(running)
        self._most_waiting, self._timeout = waiting, timeout
        self.waiting = 0
        """How many wait."""
        self.running = 0
        """How many are answered."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a turn; ``RefusedError`` with status 429 if there is none."""
        if self._turns.locked():
            await self._wait()
        else:
            await self._turns.acquire()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._turns.release()

    async def _wait(self) -> None:
        after = max(1, round(min(self._timeout, 10)))
        if self.waiting >= self._most_waiting:
            raise RefusedError("the server is busy; ask again later", 429, retry_after=after)
        self.waiting += 1
        try:
            await asyncio.wait_for(self._turns.acquire(), self._timeout)
        except asyncio.TimeoutError:
            raise RefusedError(
                f"the server is busy: no turn within {self._timeout:g} seconds; ask again later",
                429,
                retry_after=after,
            ) from None
        finally:
            self.waiting -= 1
