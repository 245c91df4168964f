"""A run has its output alone, and removes only what it wrote: in real processes, at once and killed."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from oracle.seeds import some_of
from whole_data import CHAT, contents, small_chunks

pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

RUN = """
import sys
from openai_harmony import cli
from openai_harmony.training import dataset
from openai_harmony.training.dataset import run

run.CHUNK_BYTES = 8_000
dataset.PIECE_TOKENS = 10_000
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command, with pieces so small that a run has many."""
OUTPUTS: list[tuple[str, list[str]]] = [
    ("out", ["--shard-tokens", "10_000"]),
    ("out.parquet", []),
    ("out.bin", []),
]


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in chats(400)))
    return str(path)


def begin(rows: str, out: Path, options: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "dataset", rows, str(out), "--format", "chat", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def whole(rows: str, folder: Path, name: str, options: list[str]) -> dict[str, bytes]:
    """What a run alone writes."""
    folder.mkdir()
    done = begin(rows, folder / name, options)
    assert (done.communicate(timeout=60)[1], done.returncode) == ("", 0)
    return contents(folder)


@pytest.mark.parametrize(
    ("output", "count", "again"), some_of(itertools.product(OUTPUTS, [2, 4], ["", "--restart"]))
)
def test_runs_at_once(
    rows: str, tmp_path: Path, output: tuple[str, list[str]], count: int, again: str
) -> None:
    """One of them writes; the others are refused, or find its output complete."""
    name, options = output
    expected = whole(rows, tmp_path / "whole", name, options)
    folder = tmp_path / "at once"
    folder.mkdir()
    if again:
        write_dataset([rows], folder / name, **CHAT)
    running = [begin(rows, folder / name, [*options, *again.split()]) for _ in range(count)]
    said = [run.communicate(timeout=120) for run in running]
    for run, (_, error) in zip(running, said):
        assert run.returncode == 0 or f"another run writes {folder / name}" in error, error
    assert 0 in [run.returncode for run in running]
    assert contents(folder) == expected


@pytest.mark.parametrize(("name", "options"), OUTPUTS)
def test_a_refused_run_leaves_the_first_one_alone(
    rows: str, tmp_path: Path, name: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first has written anything, and later, again and again."""
    small_chunks(monkeypatch, 8_000)
    refused = 0

    def others(read: int, counts: Any) -> None:
        nonlocal refused
        for restart in (False, True):
            with pytest.raises(dataset.StateError, match="^another run writes"):
                write_dataset([rows], tmp_path / name, restart=restart, **CHAT)
            refused += 1

    state = write_dataset([rows], tmp_path / name, progress=others, **CHAT)
    assert (state.complete, state.examples) == (True, 400)
    assert refused > 25
    assert not list(tmp_path.rglob("*lock"))


@pytest.mark.parametrize(("name", "options"), OUTPUTS)
def test_kills_at_random_points(rows: str, tmp_path: Path, name: str, options: list[str]) -> None:
    expected = whole(rows, tmp_path / "whole", name, options)
    folder = tmp_path / "killed"
    folder.mkdir()
    chance, kills, is_complete = random.Random(name), 0, False
    for turn in range(200):
        restart = ["--restart"] if turn in (2, 3) or is_complete else []
        run = begin(rows, folder / name, [*options, *restart])
        deadline = time.monotonic() + 60
        while run.poll() is None and not contents(folder) and time.monotonic() < deadline:
            time.sleep(0.001)
        if turn < 12:
            time.sleep(chance.random() * 0.05 * (turn % 3))
            run.kill()
        said = run.communicate(timeout=60)
        is_complete = run.returncode == 0
        if is_complete and turn >= 12:
            break
        kills += not is_complete
        assert run.returncode in (0, -9), said
    assert kills > 0
    assert contents(folder) == expected
