"""What keys share: how much is in use, how much of it one may have, and who is next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from openai_harmony.serve.keys import Key

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


class Turns:
    """A share for which keys wait: they take turns, and the oldest of each comes first."""

    def __init__(
        self,
        share: Share,
        own_most: Callable[[Key], int | None] = lambda _: None,
        waiting: Share | None = None,
    ) -> None:
        """A key may have a limit of its own; ``waiting`` counts the requests that wait."""
        self.share, self._own_most, self._waiting = share, own_most, waiting or Share(0)
        self._queues: dict[str, deque[tuple[Key, asyncio.Future[None]]]] = {}
        """Those of each key that wait; the key whose turn is next comes first."""

    def take(self, key: Key) -> bool:
        """Takes one at once, if there is room."""
        has_room = self.share.has_room(key, 1, self._own_most(key))
        if has_room:
            self.share.take(key)
        return has_room

    def wait(self, key: Key) -> asyncio.Future[None]:
        """Done once the key has one, which is not taken any more after :meth:`leave`."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.take(key)
        self._queues.setdefault(key.owner, deque()).append((key, place))
        return place

    def leave(self, key: Key, place: asyncio.Future[None]) -> None:
        """Waits no longer."""
        if place.done():  # it was given at the same moment
            self.release(key)
        else:  # the other requests of its key keep their turn
            self._waiting.give(key)
            queue = self._queues[key.owner]
            queue.remove((key, place))
            if not queue:
                del self._queues[key.owner]

    def release(self, key: Key) -> None:
        """Gives one back, to the next that waits."""
        self.share.give(key)
        self.give()

    def give(self) -> None:
        """Gives what is free to each key in turn, to its oldest request first."""
        is_given = True
        while is_given:
            is_given = False
            for owner, queue in list(self._queues.items()):
                key, place = queue[0]
                if self.take(key):
                    queue.popleft()
                    del self._queues[owner]
                    if queue:  # the last one to be asked again
                        self._queues[owner] = queue
                    self._waiting.give(key)  # before its task wakes: its room is free at once
                    place.set_result(None)
                    is_given = True
