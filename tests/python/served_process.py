"""The process of a server in tests: what a server sets in it is reset, and signals come to it."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.serve.settings import Settings

NONE = Settings(engine="none", port=0)
LOGGERS = [logging.getLogger(name) for name in ("openai_harmony.serve", "uvicorn")]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What a server sets in its process is reset."""
    # Without the extra, the tests that have this fixture are skipped, and the others are not.
    from uvicorn.supervisors.multiprocess import SIGNALS

    from openai_harmony.serve.connections import Connection
    from openai_harmony.serve.run import _CONFIGURATION

    for name in ("header_timeout", "client_timeout", "most"):
        monkeypatch.setattr(Connection, name, getattr(Connection, name))
    for name in ("logThreads", "logProcesses", "logMultiprocessing"):
        monkeypatch.setattr(logging, name, getattr(logging, name))
    for logger in LOGGERS:
        for name in ("handlers", "level", "propagate"):
            monkeypatch.setattr(logger, name, getattr(logger, name))
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    monkeypatch.setenv(_CONFIGURATION, str(tmp_path / "configuration.json"))
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in handlers.items():
        signal.signal(number, handler)


async def until(is_so: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)
