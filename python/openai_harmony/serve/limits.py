"""What requests share: how much is in use at a time, and how much of it one key may have."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from openai_harmony.serve.keys import Key
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.streaming import Ending, TooSlowError, wait_for

_TIMES = 3


class Share:
    """Something of which a limited amount is in use at a time.

    Where there are several keys, none gets all of it: with what it takes, a key has at most three
    times what then stays free. A single key gets three quarters, two get three sevenths each, and
    there is always some left for another.
    """

    def __init__(self, most: int) -> None:
        """With its limit."""
        self.most, self.is_fair = most, False
        self.used = 0
        self._of: dict[str, int] = {}

    def has_room(self, key: Key, amount: int = 1, own_most: int | None = None) -> bool:
        """Whether a key may take an amount, of which it may have a limit."""
        own, left = self._of.get(key.owner, 0), self.most - self.used - amount
        if left < 0 or (own_most is not None and own + amount > own_most):
            return False
        return own == 0 or not self.is_fair or own + amount <= _TIMES * left

    def take(self, key: Key, amount: int = 1) -> None:
        """An amount is in use."""
        self.used += amount
        self._of[key.owner] = self._of.get(key.owner, 0) + amount

    def give(self, key: Key, amount: int = 1) -> None:
        """It is no longer."""
        self.used -= amount
        self._of[key.owner] -= amount
        if not self._of[key.owner]:
            del self._of[key.owner]


class Held:
    """What one user of a share has of it."""

    def __init__(self, share: Share, key: Key) -> None:
        """Nothing yet."""
        self._share, self._key = share, key
        self.amount = 0

    def becomes(self, amount: int) -> bool:
        """Has this much from now on, or as much as before and false if there is no room."""
        more = amount - self.amount
        if more > 0 and not self._share.has_room(self._key, more):
            return False
        if more > 0:
            self._share.take(self._key, more)
        elif more < 0:
            self._share.give(self._key, -more)
        self.amount = amount
        return True


class Limits:
    """Places for requests: a number of them at a time, a number that wait, each for some time."""

    def __init__(self, settings: Settings, count: Callable[[int], object]) -> None:
        """Of these settings; ``count`` gets how many wait, whenever that changes."""
        self.places, self.queue = Share(settings.max_running), Share(settings.max_waiting)
        self.sockets = Share(settings.max_running + settings.max_waiting)
        """The WebSockets that are open."""
        self._timeout = settings.queue_timeout
        self._queues: dict[str, deque[tuple[Key, asyncio.Future[None]]]] = {}
        """Those of each key that wait; the key whose turn is next comes first."""
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
        self.sockets.most = settings.max_running + settings.max_waiting
        self.places.is_fair = self.queue.is_fair = self.sockets.is_fair = is_fair
        self._timeout = settings.queue_timeout
        self._give()

    async def take(self, key: Key, gone: asyncio.Future[None], ending: Ending) -> None:
        """Waits for a place, which has to be given back by :meth:`release`.

        Raises:
            RefusedError: Status 429, if there is none.
            ClientGoneError: The client left the queue.
            ServerEndsError: The server ends.
        """
        if self.places.has_room(key, 1, key.running):
            self.places.take(key)
            return
        after = max(1, round(min(self._timeout, 10)))
        if not self.queue.has_room(key, 1, key.waiting):
            raise RefusedError("the server is busy; ask again later", 429, retry_after=after)
        place = asyncio.get_running_loop().create_future()
        self._queues.setdefault(key.owner, deque()).append((key, place))
        self.queue.take(key)
        self._count(self.waiting)
        try:
            await wait_for(place, gone, self._timeout, ending)
        except BaseException as error:
            self._leave(key, place)
            if type(error) is not TooSlowError:
                raise
            text = f"the server is busy: no free slot within {self._timeout:g} s; ask again later"
            raise RefusedError(text, 429, retry_after=after) from None
        finally:
            self.queue.give(key)
            self._count(self.waiting)

    def release(self, key: Key) -> None:
        """Gives a place back, to the next request that waits."""
        self.places.give(key)
        self._give()

    def _give(self) -> None:
        """Gives free places to each key in turn, to its oldest request first."""
        is_given = True
        while is_given:
            is_given = False
            for owner, queue in list(self._queues.items()):
                key, place = queue[0]
                if self.places.has_room(key, 1, key.running):
                    self.places.take(key)
                    self._remove(owner, (key, place))
                    place.set_result(None)
                    is_given = True

    def _remove(self, owner: str, waits: tuple[Key, asyncio.Future[None]]) -> None:
        """Takes a request out of the queue of its key, which is the last one to be asked again."""
        queue = self._queues.pop(owner)
        queue.remove(waits)
        if queue:
            self._queues[owner] = queue

    def _leave(self, key: Key, place: asyncio.Future[None]) -> None:
        if place.done():  # it was given at the same moment
            self.release(key)
        else:
            self._remove(key.owner, (key, place))
