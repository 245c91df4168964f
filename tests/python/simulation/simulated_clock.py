"""An event loop whose time passes only while all wait: hours in milliseconds, always alike."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Made = TypeVar("Made")


class _Jumping(selectors.SelectSelector):
    """Waits for nothing: it moves the clock by as long as it was to wait."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("all wait, and nothing can wake them")
        self.now += max(timeout, 0.0)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own. There are no sockets and no threads in it."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """The simulated time in seconds."""
        return self._jumping.now


def run(work: Coroutine[Any, Any, Made]) -> Made:
    """Runs to the end, after which nothing may be left."""
    loop = SimulatedLoop()
    try:
        made = loop.run_until_complete(work)
        left = [task for task in asyncio.all_tasks(loop) if not task.done()]
        assert not left, f"tasks are left: {left}"
        loop.run_until_complete(loop.shutdown_asyncgens())
        return made
    finally:
        loop.close()
