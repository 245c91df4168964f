"""Connections without sockets: cut at any byte, slow, full, and broken off."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

from simulation.simulated_clock import SimulatedLoop

Factory = Callable[[], asyncio.Protocol]
WORK_SECONDS = (0.0, 0.0, 0.0, 0.125)
"""So long a thread takes."""


class Wire(asyncio.Transport):
    """One end of a connection."""

    peer: Wire

    def __init__(self, network: Network, protocol: asyncio.Protocol, name: str) -> None:
        super().__init__()
        self._network, self._protocol, self._name = network, protocol, name
        self._loop, self._chance = network.loop, network.chance
        self._out = bytearray()
        self._closing = self._delivers = False
        self._is_reading = True
        self._full_since: float | None = None
        self.longest_full = 0.0
        """The longest time that a writer had to wait."""
        self.is_lost = False
        self.written: list[tuple[float, int]] = []
        """When how many bytes were written."""
        self.delivered: list[tuple[float, int]] = []
        """When how many bytes had reached the other end."""
        self.lost_at: float | None = None
        self.delay = self._chance.choice(network.delays)
        self.cuts = self._chance.random() < network.cuts

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"sockname": ("10.0.0.1", 80), "peername": ("10.0.0.2", 4096)}.get(name, default)

    def get_protocol(self) -> Any:
        return self._protocol

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def is_closing(self) -> bool:
        return self._closing or self.is_lost

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return len(self._out)

    def can_write_eof(self) -> bool:
        return False

    def write(self, data: Any) -> None:
        if self.is_closing() or not data:
            return
        self._out += data
        before = self.written[-1][1] if self.written else 0
        self.written.append((self._loop.time(), before + len(data)))
        if len(self._out) > self._network.most and self._full_since is None:
            self._full_since = self._loop.time()
            self._protocol.pause_writing()
        self._deliver_soon()

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True
        self.peer._deliver_soon()

    def close(self) -> None:
        """Once all is delivered."""
        if not self.is_closing():
            self._closing = True
            self._deliver_soon()

    def abort(self) -> None:
        """At once; what is not delivered is lost, and the other end sees a reset."""
        self._closing = True
        self._loop.call_soon(self._lose, None)
        self._loop.call_later(self.delay, self.peer._lose, ConnectionResetError("reset"))

    def _deliver_soon(self) -> None:
        if not self._delivers and not self.is_lost and (self._out or self._closing):
            self._delivers = True
            # Pieces of what was sent together mostly arrive together.
            is_later = self.cuts and self.delivered and self._chance.random() < 0.95
            self._loop.call_later(0 if is_later else self.delay, self._deliver)

    def _deliver(self) -> None:
        self._delivers = False
        if self.is_lost:
            return
        if self._out and not self.peer.is_lost:
            if not self.peer._is_reading:
                return
            size = self._chance.choice((1, 3, 17, 200, 2000)) if self.cuts else len(self._out)
            piece = bytes(self._out[:size])
            del self._out[:size]
            before = self.delivered[-1][1] if self.delivered else 0
            self.delivered.append((self._loop.time(), before + len(piece)))
            if not self.peer.is_closing():
                self.peer._protocol.data_received(piece)
            if self._full_since is not None and len(self._out) <= self._network.most // 4:
                self._emptied()
                self._protocol.resume_writing()
        if self._out and not self.peer.is_lost:
            self._deliver_soon()
        elif self._closing:
            self._lose(None)
            self.peer._end()

    def _end(self) -> None:
        """The other end has closed the connection."""
        if not self.is_lost:
            self._protocol.eof_received()
            self._closing = True  # whatever is still to be sent
            self._deliver_soon()

    def _emptied(self) -> None:
        if self._full_since is not None:
            waited = self._loop.time() - self._full_since
            self._full_since, self.longest_full = None, max(self.longest_full, waited)

    def _lose(self, error: Exception | None) -> None:
        if not self.is_lost:
            self.is_lost, self.lost_at = True, self._loop.time()
            self._emptied()
            self._out.clear()
            self._network.open.discard(self)
            self._protocol.connection_lost(error)


class Network:
    """Who listens, and how well it carries."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loop: Any = None
        self.delays: tuple[float, ...] = (0.0,)
        self.cuts = 0.0
        """How likely a direction of a connection is cut at every few bytes."""
        self.most = 65536
        """So many bytes are under way before a writer has to wait."""
        self.listening: dict[str, list[Factory]] = {}
        self.open: set[Wire] = set()
        self.refuses: dict[str, str] = {}
        """The addresses at which nobody answers: ``refused``, or ``silent``."""
        self.busy: list[list[float]] = []
        """From when to when the server waited for a connection or a thread."""
        self.refusals: list[float] = []
        """When nobody answered."""
        self.hangs = 0.0
        """How likely the store does not answer."""
        self.failures: list[Any] = []
        """What nobody caught."""

    def connect(self, factory: Factory, address: str, name: str) -> Wire:
        """A client's end of a new connection."""
        if not self.listening.get(address) or self.refuses.get(address) == "refused":
            self.refusals.append(self.loop.time())
            raise ConnectionRefusedError(111, "refused")
        accept = self.chance.choice(self.listening[address])
        ours = Wire(self, factory(), name)
        theirs = Wire(self, accept(), f"server of {name}")
        ours.peer, theirs.peer = theirs, ours
        self.open |= {ours, theirs}
        theirs.get_protocol().connection_made(theirs)
        ours.get_protocol().connection_made(ours)
        return ours


_Loop: Any = SimulatedLoop


class _Listener:
    """What ``create_server`` gives."""

    def __init__(self, network: Network, address: str, factory: Factory) -> None:
        self._factories, self._factory = network.listening.setdefault(address, []), factory
        self._factories.append(factory)

    def close(self) -> None:
        if self._factory in self._factories:
            self._factories.remove(self._factory)

    async def wait_closed(self) -> None:
        pass


class NetworkedLoop(_Loop):  # type: ignore[misc]
    """A simulated loop whose sockets are those of a :class:`Network`, and whose threads are none."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network, network.loop = network, self
        self._addresses: dict[Any, str] = {}
        self.handlers: dict[int, Any] = {}
        """What signals call."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if isinstance(error := context.get("exception"), AssertionError):
            raise error  # what a client or the engine noticed
        self.network.failures.append(context)

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        if "openai_harmony" in agen.ag_code.co_filename:
            self.network.failures.append(f"{agen} was left to the garbage collector")
        super()._asyncgen_finalizer_hook(agen)

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:
        self.handlers[sig] = lambda: callback(*args)

    async def sock_connect(self, sock: Any, address: Any) -> None:
        network, here = self.network, [self.time(), float("inf")]
        network.busy.append(here)
        try:
            if network.refuses.get(address[0]) == "silent":
                network.refusals.append(self.time())
                await self.create_future()
            await asyncio.sleep(network.chance.choice(network.delays))
            if network.refuses.get(address[0]) or not network.listening.get(address[0]):
                network.refusals.append(self.time())
                raise ConnectionRefusedError(111, "refused")
        finally:
            here[1] = self.time()
        self._addresses[sock] = address[0]

    async def create_connection(self, factory: Any, *_: Any, sock: Any = None, **__: Any) -> Any:
        sock.close()
        wire = self.network.connect(factory, self._addresses.pop(sock), "engine")
        return wire, wire.get_protocol()

    async def create_server(self, factory: Any, *_: Any, sock: Any = None, **__: Any) -> Any:
        return _Listener(self.network, sock, factory)

    def run_in_executor(self, _: Any, func: Any, *args: Any) -> Any:
        return self.create_task(self.worked(func, *args))

    async def worked(self, func: Any, *args: Any, **named: Any) -> Any:
        """Work of a thread, which begins and ends when it likes."""
        return await self.within(self.network.chance.choice(WORK_SECONDS), func, *args, **named)

    async def within(self, seconds: float, func: Any, *args: Any, **named: Any) -> Any:
        """What work gives that takes so long."""
        here = [self.time(), float("inf")]
        self.network.busy.append(here)
        try:
            await asyncio.sleep(seconds)
            with threaded():
                return func(*args, **named)
        finally:
            here[1] = self.time()


class threaded:  # noqa: N801
    """Within it, code believes to be in a thread; how long that took is not the event loop's."""

    depth, seconds = 0, 0.0

    def __enter__(self) -> None:
        threaded.depth += 1
        self._begun = time.thread_time()

    def __exit__(self, *_: object) -> None:
        threaded.depth -= 1
        threaded.seconds += time.thread_time() - self._begun
