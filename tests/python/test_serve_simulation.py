"""Some hundred simulated worlds, always the same; `make simulate SECONDS=3600` looks at new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("httptools")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from simulation.simulated_server import one_thread
from simulation.worlds import Worlds


@pytest.mark.parametrize("part", range(8))
def test_worlds(part: int, tmp_path: Path) -> None:
    worlds = Worlds(tmp_path)
    with one_thread():
        for seed in range(part * 25, (part + 1) * 25):
            worlds.one(seed)
