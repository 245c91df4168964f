"""Places for requests, and how often the engine is asked whether it is well."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import says
from openai_harmony.serve import health
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.limits import Limits
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.store import StoreError
from openai_harmony.serve.streaming import ClientGoneError, TooSlowError


async def futures() -> tuple[Any, Any]:
    loop = asyncio.get_running_loop()
    return loop.create_future(), loop.create_future()


@pytest.mark.parametrize("how", ["gone", "ending", "cancelled", "late"])
def test_whoever_leaves_the_queue_leaves_nothing_behind(how: str) -> None:
    async def run() -> None:
        counts: list[int] = []
        places = Limits(1, 9, 60.0, counts.append)
        await places.take(*(await futures()))
        ahead = asyncio.ensure_future(places.take(*(await futures())))
        await asyncio.sleep(0)
        places.change(1, 9, 0.01 if how == "late" else 60.0)
        gone, ending = await futures()
        waits = asyncio.ensure_future(places.take(gone, ending))
        await asyncio.sleep(0)
        assert (places.running, places.waiting) == (1, 2)
        if how == "cancelled":
            waits.cancel()
        elif how != "late":
            (gone if how == "gone" else ending).set_result(None)
        [found] = await asyncio.gather(waits, return_exceptions=True)
        expected = {
            "gone": ClientGoneError,
            "ending": TooSlowError,
            "cancelled": asyncio.CancelledError,
            "late": RefusedError,
        }
        assert type(found) is expected[how]
        assert (places.running, places.waiting, counts) == (1, 1, [1, 2, 1])
        # The place of the one that is answered goes to the one ahead, and then there is one.
        assert not ahead.done()
        places.release()
        await asyncio.wait_for(ahead, 60)
        assert (places.running, places.waiting) == (1, 0)
        places.release()
        assert places.running == 0

    asyncio.run(run())


def test_a_place_that_is_given_to_one_that_leaves_goes_to_the_next() -> None:
    async def run() -> None:
        places = Limits(1, 9, 60.0, lambda count: None)
        gone, ending = await futures()
        await places.take(gone, ending)
        first, second = (asyncio.ensure_future(places.take(gone, ending)) for _ in range(2))
        await asyncio.sleep(0)
        places.release()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.wait_for(second, 60)
        assert (first.cancelled(), places.running, places.waiting) == (True, 1, 0)
        places.release()
        assert places.running == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("timeout", "after"), [(0.0, 1), (0.4, 1), (4.4, 4), (10.0, 10), (60.0, 10)]
)
def test_when_to_ask_again(timeout: float, after: int) -> None:
    async def run() -> None:
        places = Limits(1, 0, timeout, lambda count: None)
        gone, ending = await futures()
        await places.take(gone, ending)
        with pytest.raises(RefusedError, match="is busy; ask again later") as caught:
            await places.take(gone, ending)
        assert (caught.value.status, caught.value.retry_after) == (429, after)
        if timeout < 1:
            places.change(1, 1, timeout)
            with pytest.raises(RefusedError, match=f"no free slot within {timeout:g} s") as caught:
                await places.take(gone, ending)
            assert (caught.value.status, caught.value.retry_after) == (429, after)

    asyncio.run(run())


class Asked:
    """An engine and a store that count how often they are asked, and fail as told."""

    def __init__(self, engine: bool = True, store: bool = True) -> None:
        self.engine_is_well, self.store_is_well = engine, store
        self.count = 0
        self.stores = 0
        self.engine: Any = says()
        self.engine.check = self._check
        self.store: Any = SimpleNamespace(check=self._check_store)

    async def _check(self) -> None:
        self.count += 1
        await asyncio.sleep(0)
        if not self.engine_is_well:
            raise EngineError("away")

    def _check_store(self) -> None:
        self.stores += 1
        if not self.store_is_well:
            raise StoreError(OSError("broken"))


def test_the_engine_is_asked_at_most_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    asked = Asked()

    async def run() -> None:
        one = health.Health(lambda: asked.engine, None)
        for clock[0], count in ((0.0, 1), (0.5, 1), (0.9, 1), (1.0, 2), (1.9, 2), (2.5, 3)):
            assert await asyncio.gather(*(one.trouble() for _ in range(3))) == [None] * 3
            assert asked.count == count
        asked.engine_is_well = False
        for clock[0], found in (
            (3.4, None),
            (3.5, "the engine does not answer"),
            (4.0, "the engine does not answer"),
        ):
            assert await one.trouble() == found
        assert asked.count == 4

    asyncio.run(run())


@pytest.mark.parametrize("has_store", [True, False])
@pytest.mark.parametrize("engine", [True, False])
@pytest.mark.parametrize("store", [True, False])
def test_what_is_wrong(
    engine: bool, store: bool, has_store: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The engine first; the store is asked if there is one and nothing else is wrong."""
    asked = Asked(engine, store)

    async def run() -> str | None:
        return await health.Health(
            lambda: asked.engine, asked.store if has_store else None
        ).trouble()

    found = asyncio.run(run())
    said = [record.getMessage() for record in caplog.records]
    if not engine:
        assert (found, said) == ("the engine does not answer", ["the engine does not answer: away"])
    elif has_store and not store:
        reason = StoreError(OSError("broken"))
        assert (found, said) == (str(reason), [f"{reason}: {reason.reason}"])
    else:
        assert (found, said) == (None, [])
    assert (asked.count, asked.stores) == (1, int(engine and has_store))
