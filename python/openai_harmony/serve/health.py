"""Whether requests can be answered, for monitoring."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.refusals import StoreError

_SECONDS = 1.0
"""So long an answer of the engine's and of the store's counts."""


class Watched:
    """The engine or the store, which is asked at most once a second, however many ask."""

    def __init__(self, trouble: str, check: Callable[[], Awaitable[object]]) -> None:
        """With the words for a failure, which clients without a key may read, and what asks."""
        self._trouble, self._check = trouble, check
        self._asked = -_SECONDS
        self._found: str | None = None
        self._asking: asyncio.Task[None] | None = None

    async def trouble(self, patience: float | None = None) -> str | None:
        """What is wrong; ``None`` if nothing is. The log has the reason.

        Silence for ``patience`` seconds counts as trouble.
        """
        if time.monotonic() - self._asked >= _SECONDS:
            # Tests run an application in one loop after the other.
            if self._asking is None or self._asking.done():
                self._asking = asyncio.ensure_future(self._ask())
            await asyncio.wait((self._asking,), timeout=patience)
            if not self._asking.done():
                return self._trouble
            self._asking.result()
        return self._found

    async def _ask(self) -> None:
        before, self._found = self._found, None
        try:
            await self._check()
        except (EngineError, StoreError) as error:
            self._found = self._trouble
            if before is None:
                LOG.error("%s: %s", self._trouble, getattr(error, "reason", error))
        self._asked = time.monotonic()
        if self._found is None and before is not None:
            LOG.info("answers can be given again")
