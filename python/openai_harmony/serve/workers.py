"""The processes of a server, and the parent that watches over them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from uvicorn.supervisors import Multiprocess

from openai_harmony.serve.journal import LOG


class Workers(Multiprocess):
    """uvicorn's parent, which says why a worker died, and passes `SIGHUP` on."""

    def init_processes(self) -> None:
        """Begins all workers."""
        with _hup_held_back():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Begins a worker for each that died."""
        before = list(self.processes)
        with _hup_held_back():
            super().keep_subprocess_alive()
        for worker in before:
            if worker not in self.processes:
                LOG.error("worker %s died: %s", worker.pid, _reason(worker.process.exitcode))

    def handle_hup(self) -> None:
        """Has all workers read the API keys again. uvicorn's own way ends them, one by one."""
        for worker in self.processes:
            if worker.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGHUP)


@contextmanager
def _hup_held_back() -> Iterator[None]:
    """Workers inherit it: a `SIGHUP` that comes while one begins would end it.

    It waits until :func:`take_hup`.
    """
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def take_hup(loop: asyncio.AbstractEventLoop, handle: Callable[[], None]) -> None:
    """Calls the function at each `SIGHUP`, one that came earlier among them."""
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, handle)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def _reason(code: int | None) -> str:
    if code is None:
        return "it did not answer"
    return f"by {signal.Signals(-code).name}" if code < 0 else f"it ended with status {code}"
