"""Random worlds around the application, and the laws that hold in all of them.

    python -m simulation.worlds --seconds 60      new worlds, until one breaks a law
    python -m simulation.worlds --seed 123        one world again

A world is made of one number: engine, network, clock, clients and store, and what goes wrong. It runs in one thread,
without sockets, in simulated time, so it is the same each time.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy

from openai_harmony import serve
from openai_harmony.serve import answers, bodies, gateway
from openai_harmony.serve.bodies import LARGE, Bodies, is_quick
from openai_harmony.serve.engines import connect, http
from openai_harmony.serve.gateway import Gateway
from openai_harmony.serve.threads import Threads
from simulation import hostile_bodies
from simulation.simulated_clients import PATHS, SimulatedClient, Understood
from simulation.simulated_clock import run
from simulation.simulated_engine import KINDS, Plan
from simulation.simulated_engine import SimulatedClient as SimulatedNetwork

SECONDS = 600.0
"""So long an engine may be silent."""
MOST_BLOCKED = 0.02
"""So many seconds of processor time a step on the event loop may take."""


class World:
    """Everything that one number decides."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = chance = random.Random(seed)
        kind = chance.choice(KINDS)
        self.network = SimulatedNetwork(kind, chance, SECONDS)
        self.faults = chance.choice((0.0, 0.0, 0.3, 0.8))
        self.engine = connect(f"{kind}=http://engine", timeout=SECONDS)
        self.engine.client = self.network  # type: ignore[attr-defined]
        self.store_fails = 0.0
        options: dict[str, Any] = {
            "max_running": chance.choice((1, 2, 1000)),
            "max_waiting": chance.choice((0, 2, 1000)),
            "queue_timeout": chance.choice((1.0, 60.0)),
            "request_timeout": chance.choice((5.0, 3600.0)),
            "client_timeout": chance.choice((2.0, 60.0)),
            "max_output_tokens": chance.choice((5, 5000)),
            "thinking_budget": chance.choice((None, None, 2)),
        }
        if chance.random() < 0.3:
            self.store_fails = chance.choice((0.0, 0.0, 0.2))
            options["store"] = str(folder / "simulated.sqlite")
        self.ends_at = chance.choice((None, None, None, chance.uniform(0, 5)))
        self.app = serve.app(self.engine, **options)
        self.gateway: Gateway = self.app.state.gateway
        self.settings = self.gateway.settings
        self.clients = [self._client(at) for at in range(chance.choice((1, 2, 5, 12)))]
        # A source of its own: worlds that were found stay as they were.
        hostile = random.Random(f"hostile {seed}")
        for client in self.clients:
            client.is_hostile = hostile.random() < 0.04
            if client.is_hostile and hostile.random() < 0.3:
                client.rest = hostile_bodies.text(hostile)
            elif client.is_hostile:
                client.more |= hostile_bodies.fields(client.path, hostile)
        self.blocked = 0.0
        """The processor time of the longest step on the event loop, in seconds."""

    def _client(self, at: int) -> SimulatedClient:
        chance = self.chance
        marker = f"«{at}-{chance.randrange(10**6)}»"
        self.network.plans[marker] = Plan.random(chance, marker, self.faults)
        client = SimulatedClient(chance.choice(PATHS), marker, chance.random() < 0.7, chance)
        client.begins = chance.choice((0.0, 0.0, chance.uniform(0, 3)))
        if chance.random() < 0.2:
            client.leaves_at = chance.randint(1, 30)
        client.slow = chance.choice((0.0, 0.0, 0.0, 0.1, 90.0))
        if client.path == "/v1/chat/completions" and chance.random() < 0.2:
            client.more["response_format"] = {"type": "json_object"}
        return client

    async def live(self) -> None:
        """All that happens, and then the laws."""
        if self.ends_at is not None:
            asyncio.get_running_loop().call_later(self.ends_at, self._end)
        await asyncio.gather(*(client.run(self.app) for client in self.clients))
        for client in self.clients:
            try:
                self._check(client)
            except Exception as error:
                plan = self.network.plans[client.marker]
                text = f"{client}\n{plan}\n{self.settings}"
                raise AssertionError(f"{error}\n{text}") from error
        await self._stored_is_there()
        self._all_is_given_back()
        await self.engine.aclose()

    def _end(self) -> None:
        if not self.gateway.ending.done():
            self.gateway.ending.set_result(None)

    def _check(self, client: SimulatedClient) -> None:
        """Every answer is what the model's tokens mean, or ends as its API says failures end."""
        raw = client.raw.decode()
        others = [other.marker for other in self.clients if other is not client]
        assert not any(other in raw for other in others), "another client's text"
        if client.left:
            return
        if client.slow > 2 and client.stream and not client.ends:
            return  # it was taken for one that has gone
        plan, found = self.network.plans[client.marker], client.understood()
        assert client.starts == 1
        assert found.closed, "nothing ends it"
        is_held_up = (
            self.ends_at is not None
            or self.settings.request_timeout < SECONDS
            or client.slow > 0
            or self.store_fails > 0
        )
        if found.end == "failed":
            if found.status == 429:
                assert plan.fault == "busy" or self.settings.max_running < len(self.clients)
            elif found.status == 400:
                assert plan.fault == "refused" or client.is_hostile
            else:
                assert plan.fault is not None or is_held_up, found
            return
        self._is_meant(plan, found)
        assert found.end in ("done", "length"), found

    def _is_meant(self, plan: Plan, found: Understood) -> None:
        answer = plan.texts[1]
        most = self.settings.max_output_tokens
        if found.end == "done":
            assert found.text == answer, f"{found.text!r} is not {answer!r}"
            assert most >= len(plan.sampled) or self.settings.thinking_budget is not None
        else:
            assert answer.startswith(found.text.rstrip("\ufffd")), f"{found.text!r}: {answer!r}"
            assert most < len(plan.sampled) + 9, "cut off before the limit"

    async def _stored_is_there(self) -> None:
        """What was acknowledged as stored is there."""
        store, self.store_fails = self.app.state.store, 0.0
        if store is None:
            return
        for client in self.clients:
            if client.path != "/v1/responses" or client.left or client.status != 200:
                continue
            found = client.understood()
            if found.end in ("done", "length"):
                assert found.id is not None
                assert store.response("", found.id) is not None, "acknowledged, and not stored"
        store.close()

    def _all_is_given_back(self) -> None:
        limits = self.gateway.limits
        assert (limits.running, limits.waiting) == (0, 0), "places are left"
        assert self.gateway.bodies.held == 0, "bytes of bodies are left"
        assert self.network.open == 0, "requests to the engine are left"
        running = self.gateway.journal.metrics().decode()
        assert "harmony_requests_running 0.0" in running


@contextmanager
def simulated(world: Callable[[], World]) -> Iterator[None]:
    """Without threads, and with a watch over what runs on the event loop."""
    inside, elsewhere = False, 0.0

    async def in_thread(work: Any, *given: Any, **named: Any) -> Any:
        nonlocal inside, elsewhere
        for _ in range(world().chance.randint(0, 3)):
            await asyncio.sleep(0)
        inside, begun = True, time.thread_time()
        try:
            return work(*given, **named)
        finally:
            inside = False
            elsewhere += time.thread_time() - begun

    step = asyncio.Handle._run

    def watched(self: asyncio.Handle) -> None:
        nonlocal elsewhere
        elsewhere, begun = 0.0, time.thread_time()
        step(self)
        taken = time.thread_time() - begun - elsewhere
        world().blocked = max(world().blocked, taken)

    parse, prepare = Bodies.parsed, Gateway._prepare

    def parsed(self: Bodies, raw: bytes, path: str) -> Any:
        assert inside or len(raw) < LARGE, "a large body on the event loop"
        return parse(self, raw, path)

    def prepared(self: Gateway, call: Any, body: Any, *more: Any) -> Any:
        assert inside or is_quick(body, len(body.json())), "a body of much work on the event loop"
        return prepare(self, call, body, *more)

    async def in_store(_: Threads, seconds: float, work: Any) -> Any:
        return await in_thread(work)

    modules = (answers, bodies, gateway, http)
    run_in_store, Threads.run = Threads.run, in_store  # type: ignore[method-assign]
    before = [module.in_thread for module in modules]
    for module in modules:
        module.in_thread = in_thread  # type: ignore[attr-defined]
    Bodies.parsed, Gateway._prepare = parsed, prepared  # type: ignore[method-assign]
    asyncio.Handle._run = watched  # type: ignore[method-assign]
    try:
        yield
    finally:
        asyncio.Handle._run = step  # type: ignore[method-assign]
        Threads.run = run_in_store  # type: ignore[method-assign]
        for module, one in zip(modules, before):
            module.in_thread = one  # type: ignore[attr-defined]
        Bodies.parsed, Gateway._prepare = parse, prepare  # type: ignore[method-assign]


class Worlds:
    """Runs worlds, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._world = folder, None

    def current(self) -> World:
        """The world that runs."""
        assert self._world is not None
        return self._world

    def one(self, seed: int) -> None:
        """A world of this number; ``AssertionError`` with the number if it breaks a law."""
        # Whatever else takes processor time, imports for one, does not come at the same step again.
        blocked = self._blocked(seed)
        if blocked > MOST_BLOCKED and (blocked := self._blocked(seed)) > MOST_BLOCKED:
            raise AssertionError(f"seed {seed}: the event loop was blocked for {blocked:.3f} s")

    def _blocked(self, seed: int) -> float:
        """How long the longest step of a world took."""
        self._world = world = World(seed, self._folder)
        if (store := world.app.state.store) is not None:
            sqlalchemy.event.listen(store._engine, "before_cursor_execute", self._fail)
        try:
            run(world.live())
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        return world.blocked

    def _fail(self, connection: Any, cursor: Any, statement: Any, *_: Any) -> None:
        world = self.current()
        if world.store_fails and world.chance.random() < world.store_fails:
            raise sqlalchemy.exc.OperationalError(statement, {}, RuntimeError("no disk"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long to look")
    parser.add_argument("--seed", type=int, help="only this world")
    options = parser.parse_args()
    logging.disable()  # faults are what worlds are made of
    with tempfile.TemporaryDirectory() as folder:
        worlds = Worlds(Path(folder))
        with simulated(worlds.current):
            if options.seed is not None:
                worlds.one(options.seed)
                return 0
            end, seed, broken = time.monotonic() + options.seconds, random.randrange(10**12), 0
            start = seed
            while time.monotonic() < end:
                try:
                    worlds.one(seed)
                except AssertionError as error:
                    broken += 1
                    print(str(error)[:3000], file=sys.stderr)
                    if broken == 1:
                        traceback.print_exc()
                    if broken >= 5:
                        break
                seed += 1
    print(f"{seed - start:,} worlds, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
