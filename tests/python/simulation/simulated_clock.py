"""An event loop whose time passes only while all wait: hours in milliseconds, always alike."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

Made = TypeVar("Made")

BEGINNING = 1024.0
"""The simulated seconds at which each loop begins."""


class _Jumping(selectors.SelectSelector):
    """Waits for nothing: it moves the clock by as long as it was to wait."""

    now = BEGINNING
    end = float("inf")

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("all wait, and nothing can wake them")
        self.now += max(timeout, 0.0)
        if self.now > self.end:
            raise AssertionError("it does not end")
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own. There are no sockets and no threads in it."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """The simulated time in seconds."""
        return self._jumping.now


class SimulatedTime:
    """The module ``time`` of code that runs in a simulated loop."""

    ahead = 0.0
    """By how many seconds somebody has put the clock on the wall forward."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    perf_counter = monotonic

    def time(self) -> float:
        with suppress(RuntimeError):
            return 1.7e9 + self.monotonic() + self.ahead
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Nobody waits in a world of one thread."""


def run(
    work: Coroutine[Any, Any, Made],
    loop: Callable[[], SimulatedLoop] = SimulatedLoop,
    seconds: float = float("inf"),
) -> Made:
    """Runs to the end, after which nothing may be left; it may take so many simulated seconds."""
    made_loop = loop()
    made_loop._jumping.end = BEGINNING + seconds
    try:
        made = made_loop.run_until_complete(work)
        left = [task for task in asyncio.all_tasks(made_loop) if not task.done()]
        assert not left, f"tasks are left: {left}"
        made_loop.run_until_complete(made_loop.shutdown_asyncgens())
        return made
    finally:
        made_loop.close()
