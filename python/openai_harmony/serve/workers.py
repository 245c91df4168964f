"""The processes of a server, and the parent that watches over them."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from socket import socket

from openai_harmony.serve.configuration import Configuration, Source
from openai_harmony.serve.journal import LOG, deaths

Work = Callable[[Configuration, socket, Connection], None]
"""What a worker does: it serves on a socket, and gets each new configuration by the connection,
which ends with the parent."""
_AGAIN_SECONDS = 0.5
"""So long after a worker's death another one begins: one that cannot begin dies at once."""


class Workers:
    """Keeps a number of processes at work until it is told to end."""

    def __init__(self, work: Work, source: Source, listening: socket) -> None:
        """On this socket, by the configuration of this source."""
        self._work, self._source, self._listening = work, source, listening
        self._workers: dict[BaseProcess, Connection] = {}
        self._is_ending = False
        self._deaths = deaths()

    async def run(self) -> None:
        """Watches over them until all have ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        loop.add_signal_handler(signal.SIGHUP, self._read_again)
        self._all_ended = loop.create_future()
        for _ in range(self._source.current.settings.workers):
            self._begin()
        await self._all_ended

    def _begin(self) -> None:
        if self._is_ending:
            return
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        given = (self._source.current, self._listening, theirs)
        worker = spawn.Process(target=self._work, args=given)
        worker.start()
        theirs.close()
        self._workers[worker] = ours
        loop = asyncio.get_running_loop()
        loop.add_reader(worker.sentinel, self._ended, worker)

    def _ended(self, worker: BaseProcess) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(worker.sentinel)
        self._workers.pop(worker).close()
        worker.join()
        if not self._is_ending:
            reason = _reason(worker.exitcode)
            self._deaths.labels(reason).inc()
            LOG.error("worker %s died: %s", worker.pid, reason)
            loop.call_later(_AGAIN_SECONDS, self._begin)
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        if self._is_ending and not self._workers and not self._all_ended.done():
            self._all_ended.set_result(None)

    def _end(self) -> None:
        if not self._is_ending:
            # Clients must not connect to what is no longer accepted.
            self._listening.close()
        self._is_ending = True
        for worker in self._workers:
            worker.terminate()
        self._look_for_the_end()

    def _read_again(self) -> None:
        if (found := self._source.again()) is not None:
            for connection in self._workers.values():
                connection.send(found)


def follow(parent: Connection, take: Callable[[Configuration], None]) -> None:
    """Has a worker take what its parent sends, and end after it: it would keep the port."""
    loop = asyncio.get_running_loop()

    def received() -> None:
        try:
            take(parent.recv())
        except (EOFError, OSError):
            loop.remove_reader(parent.fileno())
            LOG.error("the parent of this worker is gone")
            signal.raise_signal(signal.SIGTERM)

    loop.add_reader(parent.fileno(), received)


def _reason(code: int | None) -> str:
    names: dict[int | None, str] = {-number: number.name for number in signal.Signals}
    return names.get(code, f"status {code}")
