"""How many requests are answered at a time, and how many wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from openai_harmony.serve.keys import Key
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.shares import Share, Turns
from openai_harmony.serve.streaming import Ending, TooSlowError, wait_for

BUSY = "the server is busy; ask again later"


class Limits:
    """Places for requests: a number of them at a time, a number that wait, each for some time."""

    def __init__(self, settings: Settings, count: Callable[[int], object]) -> None:
        """Of these settings; ``count`` gets how many wait, whenever that changes."""
        self.places, self.queue = Share(settings.max_running), Share(settings.max_waiting)
        self._turns = Turns(self.places, lambda key: key.running, self.queue)
        self.sockets = Share(settings.max_running + settings.max_waiting)
        """The WebSockets that are open."""
        self.aborts = Share(settings.max_running + settings.max_waiting)
        """The requests that end others, which may have all places."""
        self._timeout = settings.queue_timeout
        self._count = count

    @property
    def running(self) -> int:
        """How many are answered."""
        return self.places.used

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self.queue.used

    def change(self, settings: Settings, is_fair: bool) -> None:
        """Other limits from now on; requests that have a place keep it."""
        self.places.most, self.queue.most = settings.max_running, settings.max_waiting
        self.sockets.most = self.aborts.most = settings.max_running + settings.max_waiting
        for share in (self.places, self.queue, self.sockets, self.aborts):
            share.is_fair = is_fair
        self._timeout = settings.queue_timeout
        self._turns.give()

    async def take(self, key: Key, gone: asyncio.Future[None], ending: Ending) -> None:
        """Waits for a place, which has to be given back by :meth:`release`.

        Raises:
            RefusedError: Status 429, if there is none.
            ClientGoneError: The client left the queue.
            ServerEndsError: The server ends.
        """
        if self._turns.take(key):
            return
        after = max(1, round(min(self._timeout, 10)))
        if not self.queue.has_room(key, 1, key.waiting):
            raise RefusedError(BUSY, 429, retry_after=after)
        place = self._turns.wait(key)
        self._count(self.waiting)
        try:
            await wait_for(place, gone, self._timeout, ending)
        except BaseException as error:
            self._turns.leave(key, place)
            if type(error) is not TooSlowError:
                raise
            text = f"the server is busy: no free slot within {self._timeout:g} s; ask again later"
            raise RefusedError(text, 429, retry_after=after) from None
        finally:
            self._count(self.waiting)

    def release(self, key: Key) -> None:
        """Gives a place back, to the next request that waits."""
        self._turns.release(key)
