"""Whether requests can be answered, for monitoring."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from openai_harmony.serve.engines import Engine, EngineError
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.store import Store, StoreError
from openai_harmony.serve.threads import in_thread

_SECONDS = 1.0
"""So long an answer of the engine's and of the store's counts."""


class Health:
    """Asks the engine and the store, at most once a second, however many ask."""

    def __init__(self, engine: Callable[[], Engine], store: Store | None) -> None:
        """Of the engine that is asked by now, and the store."""
        self._engine, self._store = engine, store
        self._asked = -_SECONDS
        self._found: str | None = None
        self._asking: asyncio.Task[str | None] | None = None

    async def trouble(self) -> str | None:
        """What is wrong, for anybody; ``None`` if nothing is. The log has the reason."""
        if time.monotonic() - self._asked < _SECONDS:
            return self._found
        # Tests run an application in one loop after the other.
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> str | None:
        before, found = self._found, None
        try:
            await self._engine().check()
        except EngineError as error:
            found, reason = "the engine does not answer", str(error)
        if found is None and self._store is not None:
            try:
                await in_thread(self._store.check)
            except StoreError as error:
                found, reason = str(error), error.reason
        self._found, self._asked = found, time.monotonic()
        if found is not None and found != before:
            LOG.error("%s: %s", found, reason)
        elif found is None and before is not None:
            LOG.info("answers can be given again")
        return found
