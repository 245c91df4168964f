"""A gateway whose model calls tools until it knows the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorded import WEATHER
from running_gateways import command


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("gateway")
    file = folder / "recorded.jsonl"
    file.write_text("\n".join(map(json.dumps, WEATHER)), encoding="utf-8")
    with command("--engine", f"replay={file}", "--store", f"{folder}/s.sqlite") as (url, _):
        yield url


@pytest.fixture
def asked() -> list[str]:
    """The cities that were asked for."""
    return []
