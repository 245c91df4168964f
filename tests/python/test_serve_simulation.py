"""Two thousand simulated worlds, always the same; `make simulate SECONDS=3600` looks at new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from simulation.worlds import Worlds, simulated

FOUND = {
    136710764314: "a client that takes long to read the head was never taken for one that has gone",
    392957687883: "the last event was lost if time was up while it waited for the client to read",
    392957688012: "the last piece of a stream came before its head",
}
"""Worlds that broke a law once."""


@pytest.mark.parametrize("part", range(8))
def test_worlds(part: int, tmp_path: Path) -> None:
    worlds = Worlds(tmp_path)
    with simulated(worlds.current):
        for seed in range(part * 250, (part + 1) * 250):
            worlds.one(seed)


@pytest.mark.parametrize("seed", FOUND, ids=str)
def test_worlds_that_were_found(seed: int, tmp_path: Path) -> None:
    worlds = Worlds(tmp_path)
    with simulated(worlds.current):
        worlds.one(seed)
