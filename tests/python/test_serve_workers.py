"""The workers of a server and their parent: who dies, who is told, and when."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from prometheus_client import CollectorRegistry, Counter
from uvicorn import Config
from uvicorn.supervisors.multiprocess import Multiprocess

from openai_harmony.serve import workers
from openai_harmony.serve.configuration import Configuration
from served_process import NONE, until

if not hasattr(signal, "SIGHUP"):
    pytest.skip("this system has no SIGHUP", allow_module_level=True)


def parent(monkeypatch: pytest.MonkeyPatch, source: Any, file: Path) -> Any:
    """Workers whose figures stay in this process."""
    counter = Counter("deaths", "Deaths", ["reason"], registry=CollectorRegistry())
    monkeypatch.setattr(workers, "deaths", lambda: counter)
    config = Config("x:y", workers=2, log_config=None)
    return workers.Workers(config, [], source, file)


def fake_worker(pid: int | None, code: int | None = None, is_alive: bool = False) -> Any:
    child = SimpleNamespace(exitcode=code, is_alive=lambda: is_alive)
    return SimpleNamespace(pid=pid, process=child)


def test_workers_that_die(
    process: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    masks: list[bool] = []

    def note(self: Any) -> None:
        masks.append(is_held_back())

    def replace_all_but_one(self: Any) -> None:
        note(self)
        self.processes[1:] = [fake_worker(9, is_alive=True) for _ in self.processes[1:]]

    monkeypatch.setattr(Multiprocess, "init_processes", note)
    monkeypatch.setattr(Multiprocess, "keep_subprocess_alive", replace_all_but_one)
    made = parent(monkeypatch, None, Path())
    made.init_processes()
    made.processes = [
        fake_worker(1, is_alive=True),
        fake_worker(2, is_alive=True),  # has not answered in time
        fake_worker(3, -signal.SIGKILL),
        fake_worker(4, 1),
        fake_worker(5, 0),
        fake_worker(6, -100),  # which has no name
    ]
    made.keep_subprocess_alive()
    reasons = {2: "no answer", 3: "SIGKILL", 4: "status 1", 5: "status 0"}
    reasons[6] = "status -100"
    assert [record.getMessage() for record in caplog.records] == [
        f"worker {pid} died: {reason}" for pid, reason in reasons.items()
    ]
    assert {one.levelno for one in caplog.records} == {logging.ERROR}
    [metric] = made._deaths.collect()
    counted = {one.labels["reason"]: one.value for one in metric.samples if one.name[-1] == "l"}
    assert counted == dict.fromkeys(reasons.values(), 1.0)
    assert (masks, is_held_back()) == ([True, True], False)


def is_held_back() -> bool:
    return signal.SIGHUP in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_where_there_is_no_hup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.delattr(signal, "pthread_sigmask")
    with workers._hup_held_back():
        pass
    workers.take_hup(SimpleNamespace(), lambda: None)  # type: ignore[arg-type]


def test_all_workers_read_again_at_one_moment(
    process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, told = tmp_path / "configuration.json", []

    def kill(pid: int, number: int) -> None:
        assert file.exists()
        told.append((pid, number))
        if pid == 2:
            raise ProcessLookupError

    configuration = Configuration.of(replace(NONE, max_answers=3))
    found: list[Any] = [None, configuration]
    made = parent(monkeypatch, SimpleNamespace(again=lambda: found.pop(0)), file)
    made.processes = [fake_worker(pid) for pid in (1, 2, None, 3)]
    monkeypatch.setattr(os, "kill", kill)
    made.handle_hup()
    assert (told, file.exists()) == ([], False)
    before = time.monotonic()
    made.handle_hup()
    written, at = Configuration.read(file)
    assert told == [(pid, signal.SIGHUP) for pid in (1, 2, 3)]
    # By then all have read it.
    assert (written, before + workers._SWITCH_SECONDS <= at) == (configuration, True)


def test_a_hup_that_comes_early(process: None) -> None:
    """While a worker begins: it is taken once it can be."""
    seen: list[str] = []

    async def run() -> None:
        with workers._hup_held_back():
            # To this thread: others of the test runner's do not hold it back.
            signal.raise_signal(signal.SIGHUP)
            workers.take_hup(asyncio.get_running_loop(), lambda: seen.append("hup"))
            await until(lambda: seen)
            assert not is_held_back()

    asyncio.run(run())


def test_a_worker_ends_after_its_parent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gone, told = threading.Event(), []
    monkeypatch.setattr(os, "kill", lambda *given: told.append(given))
    workers.end_after_parent()
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: SimpleNamespace(join=gone.wait))
    before = set(threading.enumerate())
    workers.end_after_parent()
    [waits] = set(threading.enumerate()) - before
    early = list(told)
    gone.set()
    waits.join(60)
    # A thread that is no daemon would hold up a worker that ends by itself.
    assert (waits.daemon, early) == (True, [])
    assert told == [(os.getpid(), signal.SIGTERM)]
    assert [record.getMessage() for record in caplog.records] == [
        "the parent of this worker is gone"
    ]
