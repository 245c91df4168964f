"""A process of `harmony serve` in a simulated loop: uvicorn's server, its signals, and the application."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from openai_harmony.serve import (
    compaction,
    connections,
    gateway,
    health,
    journal,
    ollama,
    run,
    store,
    threads,
)
from openai_harmony.serve.bodies import LARGE, Bodies, is_quick
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.engines import client
from openai_harmony.serve.render import endpoints
from openai_harmony.serve.settings import Settings
from simulation.simulated_clock import SimulatedTime
from simulation.simulated_network import WORK_SECONDS, NetworkedLoop, threaded


class _Server(run.Server):
    """One that waits for its end, without looking for it every tenth of a second."""

    def __init__(self, configuration: Configuration) -> None:
        self._has_begun, self._ends = asyncio.Event(), asyncio.Event()
        super().__init__(configuration)

    async def begun(self) -> None:
        await self._has_begun.wait()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self._has_begun.set()
        await self._ends.wait()

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "should_exit" and value:
            self._ends.set()


class Process:
    """One that listens."""

    def __init__(self, settings: Settings, address: str) -> None:
        self.settings, self._address = settings, address
        self.history = [(0.0, settings)]
        """From when on it goes by which settings."""
        self.term_at = float("inf")

    @property
    def ends_at(self) -> float:
        """When it takes no more requests, a little early: sums of times are rounded."""
        return self.term_at + self.settings.shutdown_delay - 0.001

    async def start(self, loop: NetworkedLoop) -> None:
        self._loop = loop
        self._server = _Server(Configuration.of(self.settings))
        self._server.read_again = lambda: Configuration.of(self.settings)
        self.app = self._server.config.app
        self.gateway = self.app.state.gateway  # type: ignore[union-attr]
        sockets: Any = [_Socket(self._address)]
        self._serving = loop.create_task(self._server._serve(sockets))
        begun = loop.create_task(self._server.begun())
        await asyncio.wait((begun, self._serving), return_when=asyncio.FIRST_COMPLETED)
        assert not self._serving.done(), self._serving.exception()
        self._hup = loop.handlers[signal.SIGHUP]

    def took(self, protocol: Any) -> bool:
        """Whether a connection is one of its own."""
        return protocol is not None and protocol.config is self._server.config

    def change(self, **named: Any) -> None:
        """`SIGHUP`, with other settings in the file."""
        self.settings = Settings(**{**self.settings.model_dump(), **named})
        self.history.append((self._loop.time(), self.settings))
        self._hup()

    def end(self) -> None:
        """`SIGTERM`."""
        if self.term_at == float("inf"):
            self.term_at = self._loop.time()
            self._server.handle_exit(signal.SIGTERM, None)

    async def ended(self) -> None:
        """Waits for its end."""
        await self._serving


class _Socket(str):
    """The address of a socket that listens."""

    def close(self) -> None:
        pass


@contextmanager
def one_thread() -> Iterator[None]:
    """Has the gateway's modules use the simulated loop's time and threads, and watches over its event loop."""

    async def in_thread(func: Any, *args: Any, **named: Any) -> Any:
        loop: Any = asyncio.get_running_loop()
        return await loop.worked(func, *args, **named)

    async def in_store(_: Any, seconds: float, work: Any) -> Any:
        loop: Any = asyncio.get_running_loop()
        chance = loop.network.chance
        takes = 1e4 if chance.random() < loop.network.hangs else chance.choice(WORK_SECONDS)
        return await asyncio.wait_for(loop.within(takes, work), seconds)

    parse, prepare = Bodies.parsed, gateway.Gateway.prepare

    def parsed(self: Bodies, raw: bytes, path: str) -> Any:
        assert threaded.depth or len(raw) < LARGE, "a large body on the event loop"
        return parse(self, raw, path)

    def prepared(self: Any, call: Any, body: Any, *more: Any) -> Any:
        is_allowed = threaded.depth or is_quick(body, len(body.json()))
        assert is_allowed, "a body of much work on the event loop"
        return prepare(self, call, body, *more)

    clock = SimulatedTime()
    undo: list[Callable[[], None]] = []

    def put(where: Any, name: str, value: Any) -> None:
        before = getattr(where, name)
        undo.append(lambda: setattr(where, name, before))
        setattr(where, name, value)

    for module in (client, compaction, connections, endpoints, health, journal, ollama, store):
        put(module, "time", clock)
    put(threads, "run_in_threadpool", in_thread)
    put(threads.Threads, "run", in_store)
    put(Bodies, "parsed", parsed)
    put(gateway.Gateway, "prepare", prepared)
    try:
        yield
    finally:
        for step in undo:
            step()
