"""The processes of a server, and the parent that watches over them."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from openai_harmony.serve.configuration import Source
from openai_harmony.serve.journal import LOG, deaths

_SWITCH_SECONDS = 0.5
"""So long after a `SIGHUP` all workers go by the new configuration, at one moment."""


class Workers(Multiprocess):
    """uvicorn's parent, which says why a worker died, and reads the configuration for all."""

    def __init__(self, config: Config, sockets: list[socket], source: Source, file: Path) -> None:
        """Of these sockets.

        Args:
            config: uvicorn's.
            sockets: What workers listen on.
            source: Where the configuration comes from.
            file: Where workers find it.
        """
        super().__init__(config, sockets)
        self._source, self._file = source, file
        self._deaths = deaths()

    def init_processes(self) -> None:
        """Begins all workers."""
        with _hup_held_back():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Begins a worker for each that died."""
        before = [(worker, worker.process.is_alive()) for worker in self.processes]
        with _hup_held_back():
            super().keep_subprocess_alive()
        for worker, is_hung in before:
            if worker not in self.processes:
                # uvicorn kills those that do not answer.
                reason = "no answer" if is_hung else _reason(worker.process.exitcode)
                self._deaths.labels(reason).inc()
                LOG.error("worker %s died: %s", worker.pid, reason)

    def handle_hup(self) -> None:
        """Has all workers go by what is read now. uvicorn's own way ends them, one by one."""
        if (found := self._source.again()) is None:
            return
        found.write(self._file, time.monotonic() + _SWITCH_SECONDS)
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
    """Calls the function at each `SIGHUP`, and at once if one came earlier."""
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, handle)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def end_after_parent() -> None:
    """Ends this worker once its parent was killed: it would keep the port from the next server."""
    if (parent := multiprocessing.parent_process()) is None:
        return

    def wait() -> None:
        parent.join()
        LOG.error("the parent of this worker is gone")
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _reason(code: int | None) -> str:
    names: dict[int | None, str] = {-number: number.name for number in signal.Signals}
    return names.get(code, f"status {code}")
