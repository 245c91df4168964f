"""What keys share: places and bytes, of which none gets all, and how often the engine is asked whether it is well."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import ask, says
from openai_harmony import serve
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.keys import Key
from openai_harmony.serve.limits import Limits
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.shares import Share
from openai_harmony.serve.streaming import ClientGoneError, ServerEndsError
from simulation.simulated_clock import run

KEYS = [Key(name, name, running=limit) for name, limit in (("a", None), ("b", None), ("c", 2))]


@pytest.mark.parametrize("most", [1, 2, 3, 8, 100])
def test_one_key_never_has_all(most: int) -> None:
    chance, share, held = random.Random(most), Share(most), Counter[str]()
    share.is_fair = True
    for _ in range(3000):
        key = chance.choice(KEYS)
        if chance.random() < 0.7:
            has_room = share.has_room(key, 1, key.running)
            is_limited = key.running is not None and held[key.owner] >= key.running
            assert not has_room or not is_limited
            # One that has nothing gets whatever is free.
            assert has_room or is_limited or held[key.owner] or share.used == most
            if has_room:
                share.take(key)
                held[key.owner] += 1
        elif held[key.owner]:
            share.give(key)
            held[key.owner] -= 1
        assert share.used == sum(held.values()) <= most
    alone, one = Share(most), KEYS[0]
    alone.is_fair = True
    while alone.has_room(one):
        alone.take(one)
    assert alone.used == max(1, most * 3 // 4)
    alone.is_fair = False
    assert alone.has_room(one) or alone.used == most


def test_who_has_just_got_a_place_waits_no_longer() -> None:
    """Another request may wait as soon as a place is given, before the task that got it wakes."""

    async def works() -> None:
        limits, key = Limits(Settings(max_running=1, max_waiting=1), lambda _: None), KEYS[0]
        gone, ending = (asyncio.get_running_loop().create_future() for _ in range(2))
        await limits.take(key, gone, ending)
        second = asyncio.create_task(limits.take(key, gone, ending))
        await asyncio.sleep(0)
        limits.release(key)
        third = asyncio.create_task(limits.take(key, gone, ending))
        await second
        limits.release(key)
        await third

    run(works())


def test_a_queue_that_clients_leave_in_all_ways() -> None:
    """Nobody waits while there is a place for its key, the oldest of a key comes first, and in the end all is free."""
    counts: list[int] = []
    refused: list[tuple[type, int | None]] = []

    async def world(seed: int) -> None:
        chance = random.Random(seed)
        most, waiting = chance.randint(1, 4), chance.randint(0, 6)
        settings = Settings(max_running=most, max_waiting=waiting, queue_timeout=5)
        limits = Limits(settings, counts.append)
        limits.change(settings, is_fair=chance.random() < 0.5)
        loop = asyncio.get_running_loop()
        ending, running = loop.create_future(), Counter[str]()
        order: dict[str, list[float]] = {key.owner: [] for key in KEYS}

        async def client(at: int) -> None:
            key, gone = chance.choice(KEYS), loop.create_future()
            await asyncio.sleep(chance.uniform(0, 3))
            if chance.random() < 0.2:
                loop.call_later(chance.uniform(0, 8), gone.cancel)
            begun = loop.time()
            try:
                await limits.take(key, gone, ending)
            except (RefusedError, ClientGoneError, ServerEndsError) as error:
                after = getattr(error, "retry_after", None)
                refused.append((type(error), after))
                return
            order[key.owner].append(begun)
            running[key.owner] += 1
            try:
                assert sum(running.values()) <= limits.running <= limits.places.most
                assert key.running is None or running[key.owner] <= key.running
                await asyncio.sleep(chance.uniform(0, 4))
            finally:
                running[key.owner] -= 1
                limits.release(key)

        if chance.random() < 0.2:
            loop.call_later(4, lambda: ending.set_result(None))
        if chance.random() < 0.2:
            more = settings.with_(max_running=most + 2)
            loop.call_later(2, limits.change, more, False)
        clients = [asyncio.ensure_future(client(at)) for at in range(chance.randint(1, 20))]
        for one in clients:
            if chance.random() < 0.1:
                loop.call_later(chance.uniform(0, 5), one.cancel)
        await asyncio.wait(clients)
        assert all(one.cancelled() or one.exception() is None for one in clients)
        assert all(sorted(begun) == begun for begun in order.values())
        assert (limits.running, limits.waiting) == (0, 0)

    for seed in range(300):
        run(world(seed))
    assert counts[-1] == 0
    assert set(refused) == {(RefusedError, 5), (ClientGoneError, None), (ServerEndsError, None)}


@pytest.mark.parametrize("limit", ["running=1", "tokens=2", "waiting=0 running=1"])
def test_limits_of_a_key(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONY_API_KEYS", f"alpha {limit} name=a, beta name=b")
    engine = says()
    app = serve.app(engine)

    async def work() -> list[Any]:
        body = {"messages": [{"role": "user", "content": "Hello"}]}
        keys = ["alpha"] * 3 + ["beta"] * 3
        asking = (
            ask(app, "/v1/chat/completions", body, headers={"x-api-key": key}) for key in keys
        )
        return await asyncio.gather(*asking)

    answers = asyncio.run(work())
    refused = 2 if "waiting" in limit else 0
    assert [one.status for one in answers[:3]].count(429) == refused
    assert [one.status for one in answers[3:]] == [200] * 3
    ends = {answer.json()["choices"][0]["finish_reason"] for answer in answers[: 3 - refused]}
    assert ends == {"length" if "tokens" in limit else "stop"}
    figures = app.state.gateway.journal.metrics().decode()
    assert 'harmony_prompt_tokens_total{key="b",model="gpt-oss-test"}' in figures
    assert "alpha" not in figures


def test_the_engine_is_asked_at_most_once_a_second() -> None:
    """And the log has each trouble, and its end, once."""
    engine, asked, is_well = says(), 0, True

    async def check() -> None:
        nonlocal asked
        asked += 1
        if not is_well:
            raise EngineError("away")

    engine.check = check  # type: ignore[method-assign]
    app = serve.app(engine)

    async def work() -> list[tuple[int, list[int]]]:
        nonlocal is_well
        found = []
        for at in range(3):
            is_well = at != 1
            answers = await asyncio.gather(*(ask(app, "/ready") for _ in range(5)))
            answers += [await ask(app, "/health")]
            found.append((asked, [answer.status for answer in answers]))
            await asyncio.sleep(1.01)
        return found

    assert asyncio.run(work()) == [(1, [200] * 6), (2, [503] * 6), (3, [200] * 6)]
