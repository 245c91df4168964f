"""A command that is run again: what is left alone, what is said, and what `restart` removes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset

pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

CHAT: dict[str, Any] = {"format": "chat"}


@pytest.fixture
def rows(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in chats(30)))
    return str(path)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder but the input, by their path."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name != "rows.jsonl"}


def test_restart_removes_nothing_where_it_is_refused(rows: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_dataset([rows], str(out), **CHAT)
    (out / "mine.txt").write_text("kept")
    before = contents(out)
    with pytest.raises(dataset.StateError, match=r"not of a run of this command: .*mine\.txt"):
        write_dataset([rows], str(out), restart=True, **CHAT)
    assert contents(out) == before


def test_a_complete_output_is_left_alone(rows: str, tmp_path: Path) -> None:
    for output in ("out", "out.parquet"):
        first = write_dataset([rows], str(tmp_path / output), **CHAT)
        before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
        assert write_dataset([rows], str(tmp_path / output), **CHAT) == first
        assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("output", "file"),
    [
        ("out", "out/part-00000.parquet"),
        ("out.parquet", "out.parquet"),
        ("out.bin", "out.idx"),
        ("out.bin", "out.loss_mask.bin"),
    ],
)
def test_a_complete_output_that_was_changed_is_not_left_alone(
    rows: str, tmp_path: Path, output: str, file: str
) -> None:
    out = str(tmp_path / output)
    assert not write_dataset([rows], out, **CHAT).found_complete
    assert write_dataset([rows], out, **CHAT).found_complete
    whole = (tmp_path / file).read_bytes()
    for content in (whole[:-1], whole + b".", None):
        if content is None:
            (tmp_path / file).unlink()
        else:
            (tmp_path / file).write_bytes(content)
        with pytest.raises(
            dataset.StateError,
            match=f"^missing or changed since it was written: .*{file}; restart writes all anew$",
        ):
            write_dataset([rows], out, **CHAT)
    assert not write_dataset([rows], out, restart=True, **CHAT).found_complete
    assert (tmp_path / file).read_bytes() == whole


@pytest.mark.parametrize("output", ["out", "out.parquet"])
def test_restart_removes_nothing_if_nothing_would_follow(
    rows: str, tmp_path: Path, output: str
) -> None:
    out = tmp_path / output
    write_dataset([rows], str(out), **CHAT)
    before = contents(tmp_path)
    text = Path(rows).read_text()
    with pytest.raises(dataset.NoExamplesError):
        write_dataset([rows], str(out), restart=True)  # The format was forgotten.
    for content in ("", "\n", "{}\n"):
        Path(rows).write_text(content)
        with pytest.raises(dataset.NoExamplesError):
            write_dataset([rows], str(out), restart=True, **CHAT)
    Path(rows).unlink()
    with pytest.raises(dataset.InputError):
        write_dataset([rows], str(out), restart=True, **CHAT)
    assert contents(tmp_path) == before
    Path(rows).write_text(text)
    assert write_dataset([rows], str(out), restart=True, **CHAT).examples == 30
