"""Random worlds around the gateway, and the laws that hold in all of them.

    python -m simulation.worlds --seconds 60      new worlds, until some break a law
    python -m simulation.worlds --seed 123        one world again

A world is made of one number: engine, network, clocks, clients, keys, store, processes, and what happens to them. It
runs in one thread, without sockets, in simulated time, so it is the same each time.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import multiprocessing
import os
import queue
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy

from openai_harmony.serve.settings import Settings
from simulation import hostile_bodies
from simulation.laws import SAMPLING, Laws
from simulation.simulated_clients import (
    ABORT,
    CHAT,
    COMPLETIONS,
    GENERATE,
    MADE,
    MESSAGES,
    PASSED_ON,
    PATHS,
    READY,
    RESPONSES,
    Connection,
    Exchange,
    Understood,
)
from simulation.simulated_clock import SimulatedTime, run
from simulation.simulated_engine import ENCODING, FAULTS, KINDS, Engine, Plan
from simulation.simulated_network import Network, NetworkedLoop, threaded
from simulation.simulated_server import Process, one_thread

SERVER, ENGINE, OTHER_ENGINE = "10.0.0.1", "10.0.0.8", "10.0.0.9"
MOST_BLOCKED = 0.02
"""So many seconds of processor time a step on the event loop may take."""
MOST_STEPS = 1_000_000
"""So many steps a world may take."""
MOST_SECONDS = 120.0
"""So long a world may run before it is taken for one that hangs."""
MOST_COLLECTED = 10_000
"""So many objects may be looked at for garbage; what modules have is frozen."""
MOST_AGAIN = 3
"""The most stored responses that are asked for again."""
MOST_BROKEN = 5
"""After so many worlds that break a law, the search ends."""
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


Step = Callable[[], "Exchange | list[Exchange] | None"]
"""What a client does next."""


class World:
    """Everything that one number decides."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = chance = random.Random(seed)
        self.reached: Counter[str] = Counter()
        self.network = Network(chance)
        self.network.delays = chance.choice(((0.0,), (0.0, 0.0625), (0.0, 0.015625, 0.25)))
        self.network.cuts = chance.choice((0.0, 0.3, 1.0))
        self.network.most = chance.choice((65536, 65536, 600))
        self.engine = Engine(chance.choice(KINDS), chance, self.network)
        self.engine.idle = chance.choice((0.0, 0.25, 5.0))
        self.faults = chance.choice((0.0, 0.0, 0.3, 0.8))
        self.gaps = chance.choice(((0.0,), (0.0, 0.5), (1.0,), (0.0, 0.001, 0.25, 3.0)))
        self.exchanges: list[Exchange] = []
        self.markers: set[str] = set()
        self.wrong_keys: set[str] = set()
        self._folder = folder
        self.keys = {
            f"key-{name}": _options(chance) for name in "ab"[: chance.choice((0, 0, 1, 2, 2))]
        }
        """What each may."""
        self.is_crowd = chance.random() < 0.2
        """Whether many wait for one place."""
        settings = self._settings()
        self.processes = [Process(settings, SERVER) for _ in range(chance.choice((1, 1, 1, 2)))]
        self.scripts = [
            self._script(at) for at in range(12 if self.is_crowd else chance.choice((1, 2, 4, 8)))
        ]
        self.is_begun = False
        """Whether all processes have started."""

    def _settings(self) -> Settings:
        chance = self.chance
        named: dict[str, Any] = {
            "engine": f"{self.engine.kind.partition(' ')[0]}=http://{ENGINE}",
            "engine_timeout": chance.choice((16.0, 600.0)),
            "max_running": chance.choice((1, 1, 2, 3, 5, 1000)),
            "max_waiting": chance.choice((0, 1, 2, 1000)),
            "queue_timeout": chance.choice((1.0, 4.0, 60.0)),
            "request_timeout": chance.choice((5.0, 64.0, 3600.0)),
            "client_timeout": chance.choice((2.0, 60.0)),
            "body_timeout": chance.choice((2.0, 60.0)),
            "shutdown_delay": chance.choice((0.0, 1.0, 8.0)),
            "drain_timeout": chance.choice((0.0, 1.0, 30.0)),
            "max_output_tokens": chance.choice((5, 17, 5000, 5000)),
            "thinking_budget": chance.choice((None, None, 2, 8)),
            "max_bodies": chance.choice((90_000, 2**28)),
            "max_body": chance.choice((40_000, 2**25, 2**25, 2**25)),
        }
        if self.is_crowd:
            named |= {"max_running": 1, "max_waiting": 1000, "queue_timeout": 60.0}
        self.stores, self.store_fails, self.network.hangs = chance.random() < 0.4, 0.0, 0.0
        if self.stores:
            self.store_fails = chance.choice((0.0, 0.0, 0.2))
            self.network.hangs = chance.choice((0.0, 0.0, 0.2))
            named["store"] = str(self._folder / "simulated.sqlite")
        if self.keys:
            file = self._folder / "keys.txt"
            lines = [
                " ".join([key, *(f"{name}={most}" for name, most in options.items())])
                for key, options in self.keys.items()
            ]
            file.write_text("\n".join(lines), encoding="utf-8")
            named["api_key_file"] = str(file)
        return Settings(**named)

    def _script(self, at: int) -> list[Step]:
        """What one client does, one after the other."""
        chance, owner = self.chance, self._owner()
        is_socket = chance.random() < 0.15
        if (self.stores or is_socket) and chance.random() < 0.5:
            return self._chain(owner, is_socket)
        if is_socket:
            lanes = chance.choice((1, 1, 2, 3))
            return [lambda: self._lanes(owner, lanes)] * 2
        how = chance.random()
        if how < 0.05:
            return [lambda: Exchange(READY, method="GET")] * 4
        if how < 0.15 and self.engine.kind.startswith("vllm"):
            return [lambda: self._abort(owner)] * 4
        count = chance.choice((1, 1, 1, 2, 3))
        return [lambda: self._single(owner)] * count

    def _owner(self) -> str:
        return self.chance.choice(list(self.keys)) if self.keys else ""

    def _headers(self, owner: str) -> dict[str, str]:
        chance = self.chance
        # Another client may send the same, at the same time.
        given = {"x-request-id": f"client-{chance.randrange(4)}"} if chance.random() < 0.2 else {}
        if not owner:
            return given
        if chance.random() < 0.05:
            self.wrong_keys.add("wrong")
            owner = "wrong"
        return {"authorization": f"Bearer {owner}", **given}

    def _single(self, owner: str) -> Exchange:
        path = self.chance.choice(PATHS)
        if self.engine.kind.startswith("vllm") and self.chance.random() < 0.2:
            path = self.chance.choice(PASSED_ON)
        elif self.chance.random() < 0.1:
            path = self.chance.choice(MADE)
        is_kept = path != RESPONSES or self.chance.random() < 0.7
        return self._asks(path, owner, **({} if is_kept else {"store": False}))

    def _lanes(self, owner: str, count: int) -> list[Exchange]:
        """Messages that are sent together."""
        ids = [{"stream_id": f"lane {at}"} if count > 1 else {} for at in range(count)]
        return [self._asks(RESPONSES, owner, is_message=True, **named) for named in ids]

    def _abort(self, owner: str) -> Exchange | None:
        """Ends a request that the engine answers itself, or tries to, if it is another key's."""
        asked = [one for one in self.engine.asked if one.body.get("request_id") and not one.end]
        if not asked:
            return None
        one = Exchange(ABORT, self._marker(), headers=self._headers(owner))
        identity = self.chance.choice(asked).body["request_id"]
        ids = identity, identity.rpartition(":")[2]
        one.body = {"request_ids": [*ids, f"by-{one.marker}"]}
        return one

    def _marker(self) -> str:
        marker = f"«{len(self.markers)}-{self.chance.randrange(10**6)}»"
        self.markers.add(marker)
        return marker

    def _asks(self, path: str, owner: str, *, is_message: bool = False, **fields: Any) -> Exchange:
        chance = self.chance
        one = Exchange(path, self._marker())
        one.headers = self._headers(owner)
        one.is_message = is_message
        one.stream = is_message or path in PASSED_ON or chance.random() < 0.7
        one.count = chance.choice((1, 2, 3)) if path == CHAT and chance.random() < 0.5 else 1
        one.body = self._body(one, fields)
        plans = [
            Plan.random(chance, one.marker, at, self.faults, self.gaps) for at in range(one.count)
        ]
        if chance.random() < 0.2 and path not in ("/api/generate", "/tokenize", *PASSED_ON):
            one.body |= _tools(path)
            for plan in plans:
                plan.calls = chance.random() < 0.6
        if chance.random() < 0.7:  # one of them at most
            for plan in plans[:-1]:
                plan.fault = None
        self.engine.plans[one.marker] = plans
        self._manners(one)
        return one

    def _body(self, one: Exchange, fields: dict[str, Any]) -> dict[str, Any]:
        chance, text = self.chance, f"Say {one.marker}"
        made: dict[str, Any] = {"stream": one.stream}
        if one.path.startswith(RESPONSES):
            made["input"] = text
            if (item := fields.pop("item", None)) is not None:
                reference = {"type": "item_reference", "id": item}
                made["input"] = [reference, {"role": "user", "content": text}]
        elif one.path in ("/api/generate", "/tokenize"):
            made["prompt"] = text
        elif one.path == COMPLETIONS:
            made |= {"prompt": ENCODING.encode(text), "max_tokens": 5000, "return_token_ids": True}
        elif one.path == GENERATE:
            made |= {"token_ids": ENCODING.encode(text), "request_id": f"gen-{one.marker}"}
        else:
            made["messages"] = [{"role": "user", "content": text}]
        names = [name for name in SAMPLING if chance.random() < 0.7]
        sampling = {name: round(chance.uniform(0.1, 1), 6) for name in names}
        if one.path == GENERATE:
            made["sampling_params"] = {"max_tokens": 5000, **sampling}
        else:
            made |= {"options": sampling} if one.path.startswith("/api/") else sampling
        if one.path == MESSAGES:
            made["max_tokens"] = 5000
        if one.count > 1:
            made["n"] = one.count
        if one.path == CHAT and one.stream:
            made["stream_options"] = {"include_usage": True}
        if one.path == CHAT and chance.random() < 0.1:
            made["response_format"] = {"type": "json_object"}
        if chance.random() < 0.5:
            made |= {"cache_salt": one.marker, "min_tokens": chance.randint(0, 99)}
            made["priority"] = chance.choice((0, 1, 1, -1)) if chance.random() < 0.2 else 2
        if chance.random() < 0.04 and one.path not in PASSED_ON:
            one.is_hostile = True
            made |= hostile_bodies.fields(one.path, chance)
        return {**made, **fields}

    def _manners(self, one: Exchange) -> None:
        """How it is sent and read."""
        chance = self.chance
        one.padding = chance.choice((0, 0, 0, 0, 50_000))
        if chance.random() < 0.3 and not one.is_message:
            one.pieces, one.pause = chance.choice((2, 5)), chance.choice((0.0, 0.25, 1.0))
            one.stops = chance.random() < 0.15
        how = chance.random()
        if how < 0.12:
            one.leaves = "seconds", chance.choice((0.0, 0.5, 1.0, 2.0, chance.uniform(0, 6)))
        elif how < 0.2:
            one.leaves = "bytes", chance.choice((0, 1, chance.randint(1, 4000)))
        if chance.random() < 0.2:
            one.slow = chance.choice((0.125, 1.0, 90.0))

    def _chain(self, owner: str, is_message: bool) -> list[Step]:
        """A response that is stored, what follows it, and its end."""
        before: list[Exchange] = []

        def first() -> Exchange:
            before.append(self._asks(RESPONSES, owner, is_message=is_message))
            return before[-1]

        def following() -> Exchange | None:
            last = before[-1]
            if (answer := last.response) is None:
                return None
            if self.chance.random() < 0.5 or not self.stores:
                previous: dict[str, Any] = {"previous_response_id": answer.id}
                one = self._asks(RESPONSES, owner, is_message=is_message, **previous)
                one.chain = (*last.chain, last.marker)
            elif answer.item is not None and answer.end == "done":
                one = self._asks(RESPONSES, owner, item=answer.item)
                one.chain = (last.marker,)
            else:
                return None
            before.append(one)
            return one

        return [first, following, following]

    def _again(self, one: Exchange, stored: Understood) -> list[Step]:
        """Another key asks for what is stored, and then its own."""
        others = [key for key in self.keys if key != one.key]
        path = f"{RESPONSES}/{stored.id}"

        def theft(how: str) -> Exchange:
            thief = others[0]
            if how == "next":
                made = self._asks(RESPONSES, thief, previous_response_id=stored.id)
            elif how == "item" and stored.item:
                made = self._asks(RESPONSES, thief, item=stored.item)
            else:
                made = Exchange(path + ("/input_items" if how == "items" else ""))
                made.method = "DELETE" if how == "DELETE" else "GET"
                made.headers = {"authorization": f"Bearer {thief}"}
            made.foreign = True
            return made

        def own() -> Exchange:
            made = Exchange(path, one.marker, "GET", headers=one.headers, chain=one.chain)
            made.foreign = one.body.get("store") is False
            return made

        ways = ("GET", "items", "next", "item", "DELETE") if others else ()
        return [*(partial(theft, how) for how in ways), own]

    async def live(self) -> None:
        """All that happens, and then the laws."""
        loop: Any = asyncio.get_running_loop()
        self.engine.listen(ENGINE)
        self.engine.listen(OTHER_ENGINE)
        for process in self.processes:
            await process.start(loop)
        self.is_begun = True
        for at, happens in self._events():
            loop.call_later(at, happens)
        await asyncio.gather(*map(self._client, self.scripts))
        if self.stores:
            stored = [(one, found) for one in self.exchanges if (found := one.response)]
            scripts = [self._again(one, found) for one, found in stored[:MOST_AGAIN]]
            await asyncio.gather(*map(self._client, scripts))
        for process in self.processes:
            process.end()
        for process in self.processes:
            await process.ended()
        await asyncio.sleep(700)  # idle connections end meanwhile
        with threaded():  # not the server's
            gc.collect()  # what was left to it is noticed in its own world
            Laws(self).check()
        self._note()

    def _events(self) -> list[tuple[float, Callable[[], None]]]:
        """What happens to all, and when."""
        chance = self.chance
        found: list[tuple[float, Callable[[], None]]] = []
        when = (0.0, 0.5, 1.0, 2.0, chance.uniform(0, 8))
        if chance.random() < 0.25:
            found.append((chance.choice(when), self.processes[0].end))
        if chance.random() < 0.25:
            found.append((chance.choice(when), self._change))
        if chance.random() < 0.1:
            at, how = chance.choice(when), chance.choice(("refused", "silent"))
            found.append((at, lambda: self.network.refuses.update({ENGINE: how})))
            found.append((at + chance.choice((1.0, 100.0)), self.network.refuses.clear))
        if chance.random() < 0.15:
            clock = chance.choice((-1e6, 3600.0))
            found.append((chance.choice(when), lambda: setattr(SimulatedTime, "ahead", clock)))
        return found

    def _change(self) -> None:
        """`SIGHUP`, to all processes."""
        chance = self.chance
        named: dict[str, Any] = {"max_running": chance.choice((1, 2, 1000))}
        named["max_waiting"] = chance.choice((0, 2, 1000))
        if chance.random() < 0.5:
            kind = self.engine.kind.partition(" ")[0]
            named["engine"] = f"{kind}=http://{OTHER_ENGINE}"
        for process in self.processes:
            if process.term_at == float("inf"):
                process.change(**named)

    async def _client(self, script: Sequence[Step]) -> None:
        chance, connection, loop = self.chance, None, self.network.loop
        await asyncio.sleep(chance.choice((0.0, 0.0, 0.5, 1.0, chance.uniform(0, 3))))
        for step in script:
            if (found := step()) is None:
                await asyncio.sleep(1)
                continue
            asked = found if isinstance(found, list) else [found]
            one = asked[0]
            is_other = connection is None or connection.is_socket != one.is_message
            is_left = chance.random() < 0.3 and not one.is_message
            if connection is None or is_other or is_left or not connection.is_usable:
                if connection is not None:
                    connection.wire.close()
                try:
                    wire = self.network.connect(lambda: Connection(self.network), SERVER, "client")
                except ConnectionRefusedError:
                    assert all(loop.time() >= each.ends_at for each in self.processes)
                    return
                connection = wire.get_protocol()
            self.exchanges += asked
            await connection.ask(*asked)
            await asyncio.sleep(chance.choice((0.0, 0.0, 1.0)))
        if connection is not None:
            connection.wire.close()

    def _note(self) -> None:
        """Which kinds of things have happened."""
        note = self.reached
        for one in self.exchanges:
            process = next(each for each in self.processes if each.took(one.server))
            asked = [each for each in self.engine.asked if each.marker == one.marker]
            note[f"status {one.status or 'none'}"] += 1
            for reason in _REFUSED:
                note[f"refused: {reason}"] += reason.encode() in one.raw and one.status != 200
            for name, begun, ended in (
                ("arrives", one.begun, one.whole_at),
                ("waits", one.whole_at, min([one.ended, *(each.began for each in asked)])),
                ("is answered", min((each.began for each in asked), default=one.ended), one.ended),
            ):
                lasts = begun < ended
                note[f"leaves while it {name}"] += one.left and begun <= one.ended <= ended
                note[f"SIGTERM while one {name}"] += lasts and begun <= process.term_at <= ended
                changes = process.history[1:]
                note[f"SIGHUP while one {name}"] += lasts and any(
                    begun <= at <= ended for at, _ in changes
                )
            note["reads nothing for long"] += one.slow > 2
            note["several answers, one breaks"] += one.count > 1 and 0 < len(
                [each for each in asked if each.fault]
            ) < len(asked)
            note["continues after a thinking budget"] += any(each.continues for each in asked)
            note["stream fails after its head"] += (
                one.stream
                and one.status == 200
                and any(text in one.raw[-1000:] for text in (b'"error"', b"response.failed"))
            )
            note["continues a stored response"] += bool(one.chain) and one.status == 200
            note["asks for another key's"] += one.foreign
            note["passed on"] += one.path in PASSED_ON and one.status == 200
            note["made without the engine"] += one.path in MADE and one.status == 200
            note["ended by another request"] += any(each.aborted for each in asked)
            note["over a WebSocket"] += one.is_message and one.status == 200
            note["in a lane"] += "stream_id" in one.body and one.status == 200
            note["a large body"] += one.padding > 0 and one.status == 200
            note["asks again where a connection was just closed"] += any(e.is_void for e in asked)
        for each in self.engine.asked:
            note[f"engine: {each.end}"] += 1
            note[f"engine: {each.fault}"] += each.fault is not None
        note["the store hangs"] += self.network.hangs > 0
        note["keys with limits"] += any(self.keys.values())
        note["two processes"] += len(self.processes) > 1
        note["cut at every byte"] += self.network.cuts == 1.0
        note["the clock on the wall jumps"] += SimulatedTime.ahead != 0
        note["a place is given as somebody leaves"] += _meets(self.exchanges)


def _meets(exchanges: list[Exchange]) -> bool:
    """Whether one gives its place back just as another one goes."""
    ended = {one.ended for one in exchanges if not one.left and one.status == 200}
    return any(one.ended in ended for one in exchanges if one.left or one.status in (429, 504))


_REFUSED = (
    "too many bytes of bodies",
    "only for trusted keys",
    "the server is busy; ask",
    "no free slot within",
    "the server ends",
    "did not arrive in time",
)
_STEPS = ("arrives", "waits", "is answered")
REACHED = [
    *(f"status {status}" for status in ("none", 200, 400, 401, 403, 404, 408, 429, 502, 503, 504)),
    *(f"refused: {reason}" for reason in _REFUSED),
    *(f"leaves while it {step}" for step in _STEPS),
    *(f"SIGTERM while one {step}" for step in _STEPS),
    *(f"SIGHUP while one {step}" for step in _STEPS),
    *(f"engine: {fault}" for fault in FAULTS),
    *(f"engine: {end}" for end in ("whole", "hangs", "cancelled", "broken")),
    "reads nothing for long",
    "several answers, one breaks",
    "continues after a thinking budget",
    "stream fails after its head",
    "continues a stored response",
    "asks for another key's",
    "passed on",
    "made without the engine",
    "ended by another request",
    "over a WebSocket",
    "in a lane",
    "a large body",
    "the store hangs",
    "keys with limits",
    "asks again where a connection was just closed",
    "two processes",
    "cut at every byte",
    "the clock on the wall jumps",
    "a place is given as somebody leaves",
]
"""The kinds of faults, places and interleavings that worlds have to reach."""


def _options(chance: random.Random) -> dict[str, int]:
    """Limits of a key."""
    found = {"running": chance.choice((1, 2)), "waiting": chance.choice((0, 1)), "tokens": 9}
    return {name: most for name, most in found.items() if chance.random() < 0.2}


def _tools(path: str) -> dict[str, Any]:
    if path.startswith(MESSAGES):
        return {"tools": [{"name": "look", "input_schema": SCHEMA}]}
    if path.startswith(RESPONSES):
        return {"tools": [{"type": "function", "name": "look", "parameters": SCHEMA}]}
    return {"tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]}


class Worlds:
    """Runs worlds, one after the other, in :func:`one_thread`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.reached: Counter[str] = Counter()

    def one(self, seed: int) -> None:
        """A world of this number; ``AssertionError`` with the number if it breaks a law."""
        # Other work of the processor, such as an import, does not come at the same step again.
        for _ in range(3):
            # A new store: what an earlier world left in it would change this one.
            with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                blocked = self._blocked(World(seed, Path(folder)), seed)
            if blocked <= MOST_BLOCKED:
                return
        raise AssertionError(f"seed {seed}: the event loop was blocked for {blocked:.3f} s")

    def _blocked(self, world: World, seed: int) -> float:
        """How long the longest step of a world took."""
        gc.disable()
        gc.collect()  # what the world before it left
        if len(gc.get_objects()) > MOST_COLLECTED:
            gc.freeze()
        SimulatedTime.ahead = threaded.seconds = 0.0
        threaded.depth = 0

        def fail(connection: Any, cursor: Any, statement: Any, *_: Any) -> None:
            if world.is_begun and world.chance.random() < world.store_fails:
                raise sqlalchemy.exc.OperationalError(statement, {}, RuntimeError("no disk"))

        longest, steps, before = 0.0, 0, time.thread_time()
        step = asyncio.Handle._run

        def watched(handle: asyncio.Handle) -> None:
            nonlocal longest, steps, before
            steps += 1
            assert steps < MOST_STEPS, "it does not end"
            threaded.seconds = 0.0
            step(handle)
            now = time.thread_time()
            longest, before = max(longest, now - before - threaded.seconds), now

        sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", fail)
        asyncio.Handle._run = watched  # type: ignore[assignment,method-assign]
        try:
            run(world.live(), lambda: NetworkedLoop(world.network), 1e5)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        finally:
            gc.enable()
            asyncio.Handle._run = step  # type: ignore[method-assign]
            sqlalchemy.event.remove(sqlalchemy.Engine, "before_cursor_execute", fail)
        self.reached += world.reached
        return longest


def look(seed: int, step: int, end: float, now: Any, found: Any) -> None:
    """New worlds, every so many, until the time is up: puts what breaks into a queue, and at the end what was reached."""
    logging.disable()  # faults are what worlds are made of
    count = 0
    with tempfile.TemporaryDirectory() as folder, one_thread():
        worlds = Worlds(Path(folder))
        while time.monotonic() < end:
            now.value, count = seed, count + 1
            try:
                worlds.one(seed)
            except AssertionError as error:
                found.put(str(error))
            seed += step
    found.put((count, worlds.reached))


def search(seconds: float, processes: int) -> tuple[int, list[str], Counter[str]]:
    """How many worlds there were in this time, which broke a law or hung, and what was reached in them."""
    start, end = random.randrange(10**12), time.monotonic() + seconds
    found: Any = multiprocessing.Queue()
    seeds = [multiprocessing.Value("q", 0) for _ in range(processes)]
    running = [
        multiprocessing.Process(target=look, args=(start + at, processes, end, seed, found))
        for at, seed in enumerate(seeds)
    ]
    since = [(0, time.monotonic())] * processes
    for process in running:
        process.start()
    count, broken, reached, left = 0, [], Counter[str](), processes
    while left:
        with suppress(queue.Empty):
            one = found.get(timeout=1)
            if isinstance(one, str):
                broken.append(one)
                print(one[:3000], file=sys.stderr)
                end = 0.0 if len(broken) >= MOST_BROKEN else end
            else:
                left, count, reached = left - 1, count + one[0], reached + one[1]
        for at, seed in enumerate(seeds):
            if seed.value != since[at][0]:
                since[at] = seed.value, time.monotonic()
            elif running[at].is_alive() and time.monotonic() - since[at][1] > MOST_SECONDS:
                broken.append(f"seed {seed.value} hangs")
                print(broken[-1], file=sys.stderr)
                running[at].kill()
                left -= 1
        if end == 0.0:
            break
    for process in running:
        process.kill()
        process.join()
    return count, broken, reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long to look")
    parser.add_argument("--seed", type=int, help="only this world")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.seed is not None:
        logging.disable()
        with tempfile.TemporaryDirectory() as folder, one_thread():
            Worlds(Path(folder)).one(options.seed)
        return 0
    count, broken, reached = search(options.seconds, options.processes)
    for name in sorted(reached.keys() | REACHED):
        print(f"{reached[name]:8,}  {name}")
    missing = [name for name in REACHED if not reached[name]]
    print(f"{count:,} worlds, {len(broken)} broken")
    if missing and not broken:
        print(f"never reached: {', '.join(missing)}", file=sys.stderr)
    return 1 if broken or missing else 0


if __name__ == "__main__":
    sys.exit(main())
