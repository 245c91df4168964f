"""Work that would delay other answers, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from typing_extensions import ParamSpec

from openai_harmony.serve.keys import Key
from openai_harmony.serve.shares import Turns

Given = ParamSpec("Given")
Made = TypeVar("Made")

LARGE = 32_768
"""Work on this many bytes of JSON takes up to a millisecond."""

TURN: ContextVar[tuple[Turns, Key] | None] = ContextVar("turn", default=None)
"""The key that the work is for, and the turns that keys take."""


async def in_thread(work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
    """What the work returns. The event loop does other things meanwhile.

    A cancelled caller waits until the work has ended, so nothing else uses its objects meanwhile.
    """
    if (turn := TURN.get()) is None:
        return await _worked(work, *given, **named)
    turns, key = turn
    if not turns.take(key):
        place = turns.wait(key)
        try:
            await asyncio.wait((place,))  # which is not cancelled itself
        except BaseException:
            turns.leave(key, place)
            raise
    try:
        return await _worked(work, *given, **named)
    finally:
        turns.release(key)


async def _worked(work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
    doing = asyncio.ensure_future(run_in_threadpool(work, *given, **named))
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.wait([doing])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return doing.result()
    if not doing.cancelled():
        doing.exception()  # asyncio would log an error that was not asked for
    raise cancelled


async def in_thread_if(
    is_large: bool, work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs
) -> Made:
    """What the work returns; it is done in a thread if it is large."""
    return await in_thread(work, *given, **named) if is_large else work(*given, **named)


class Threads:
    """A few threads for work that may hang, for which nothing else waits, nor the end."""

    def __init__(self, count: int) -> None:
        """So many at most; they begin as they are needed."""
        self._most, self._begun = count, 0
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._last: Callable[[], object] = lambda: None

    async def run(self, seconds: float, work: Callable[[], Made]) -> Made:
        """What the work returns. ``asyncio.TimeoutError`` if that takes too long."""
        future: Future[Made] = Future()
        self._queue.put((future, work))
        if self._begun < self._most:
            self._begun += 1
            threading.Thread(target=self._work, name="store", daemon=True).start()
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)

    def end(self, last: Callable[[], object]) -> None:
        """Ends the threads, once each has done what it does, and ``last`` after that."""
        self._last = last
        for _ in range(self._begun):
            self._queue.put(None)

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            future, work = task
            if not future.set_running_or_notify_cancel():
                continue  # its caller waits no longer
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
        self._last()
