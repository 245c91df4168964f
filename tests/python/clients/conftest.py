"""A gateway whose model calls tools until it knows the answer."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recorded import WEATHER
from running_gateways import command

ALONE = Path(__file__).with_name("alone.py")
RunAlone = Callable[..., list[dict[str, Any]]]


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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a note of two lines."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "note.txt").write_text("FIRST-LINE\nsecond\n")
    return folder


@pytest.fixture
def image(tmp_path: Path) -> str:
    """The path of an image of one dot."""
    dot = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
        "gg=="
    )
    file = tmp_path / "dot.png"
    file.write_bytes(base64.b64decode(dot))
    return str(file)


@pytest.fixture
def run_alone(project: Path) -> RunAlone:
    """Runs an agent's program in the folder, without a network: the events that it prints."""
    unshare = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed: there is no network without a way out")
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no network namespaces")

    def run(
        agent: str, program: str, records: list[Any], *said: Any, ends: int = 0
    ) -> list[dict[str, Any]]:
        """``said``: a text for each turn, or a text and the path of an image; ``ends``: with this code."""
        file, turns = project.parent / "recorded.jsonl", project.parent / "turns.jsonl"
        file.write_text("\n".join(map(json.dumps, records)))
        each = [one if isinstance(one, tuple) else (one, None) for one in said]
        turns.write_text("\n".join(map(json.dumps, each)))
        arguments = [agent, program, str(file), str(project), str(turns)]
        done = subprocess.run(
            [*unshare, sys.executable, str(ALONE), *arguments],
            capture_output=True,
            text=True,
            timeout=60 + 30 * len(said),
        )
        assert done.returncode == ends, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]

    return run
