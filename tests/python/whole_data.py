"""What the tests of whole data sets share: a file of rows, and what stands in a folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import render

ROWS = chats(300)
CHAT: dict[str, Any] = {"format": "chat"}


def write_rows(folder: Path) -> str:
    """A file of rows, the third and the last of them bad."""
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    lines.insert(2, '{"messages": []}')
    lines.insert(100, "   ")
    lines.append("{")
    path = folder / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def small_chunks(monkeypatch: pytest.MonkeyPatch, size: int = 20_000) -> None:
    """Read files in pieces of so many bytes."""
    monkeypatch.setattr("openai_harmony.training.dataset.run.CHUNK_BYTES", size)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder but the input, by their path; one that a run removes meanwhile is not there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            found[str(path.relative_to(folder))] = path.read_bytes()
    found.pop("rows.jsonl", None)
    return found


def tables(folder: Path) -> Any:
    """The shards of a folder."""
    import pyarrow.parquet as pq

    return [pq.read_table(path) for path in sorted(folder.glob("part-*.parquet"))]


def expected(columns: Any = "trl", rows: Any = ROWS, **options: Any) -> list[dict[str, Any]]:
    """The examples of rows, as they are written."""
    return list(render(rows, **{**CHAT, **options}).to_arrow(columns).to_pylist())


def before(real: Callable[..., None], first: Callable[..., None]) -> Callable[..., None]:
    """The function, which calls another one first."""

    def call(*arguments: Any) -> None:
        first()
        real(*arguments)

    return call


def interrupting(at: int) -> Callable[..., None]:
    """A function that ends the program when it is called so often."""
    calls = iter(range(at))

    def call(*_: object) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    return call
