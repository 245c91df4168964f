"""A command that is run again: what is left alone, what is said, and what `restart` removes."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from whole_data import before, interrupting, small_chunks

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
            match=f"^missing or changed since it was written: .*{file}; to write all again pass restart=True$",
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


class Runs:
    """Random runs of one output, each like the one before or with something changed."""

    def __init__(self, folder: Path, output: str, seed: int) -> None:
        self.out = folder / output
        self.rows = folder / "rows.jsonl"
        self.numbers = random.Random(seed)
        self.finished: dict[str, bytes] = {}
        """The files of the output since it was complete; else nothing."""
        self.made_with: tuple[Any, ...] = ()

    def change_rows(self) -> None:
        lines = [json.dumps(row) for row in chats(8)]
        for _ in range(self.numbers.choice([0, 1, 2, 2])):
            lines.insert(self.numbers.randrange(9), "{}")
        self.rows.write_text("\n".join(lines) + "\n")

    def files(self) -> dict[str, bytes]:
        folder = self.out.parent if self.out.suffix else self.out
        found = contents(folder) if folder.exists() else {}
        return {name: content for name, content in found.items() if "_lock" not in name}

    def run(self, monkeypatch: pytest.MonkeyPatch) -> str:
        """Runs once, holds what happened against the law, and names it."""
        choose = self.numbers.choice
        if self.numbers.random() < 0.1:
            self.change_rows()
        options: dict[str, Any] = {"date": choose([None, None, "2026-01-01"]), **CHAT}
        most, restart = choose([0, 1, 0.01, 0.9, None]), self.numbers.random() < 0.1
        asked = (options["date"], self.rows.read_bytes(), self.rows.stat().st_mtime_ns)
        with monkeypatch.context() as patched:
            if self.numbers.random() < 0.2:
                stop = interrupting(self.numbers.randrange(6))
                if name := choose(["", "replace", "fsync"]):
                    patched.setattr(os, name, before(getattr(os, name), stop))
                else:
                    options["progress"] = stop
            failed: BaseException | None = None
            try:
                state = write_dataset(
                    self.rows, self.out, max_errors=most, restart=restart, **options
                )
            except (dataset.StateError, dataset.ErrorLimitError, KeyboardInterrupt) as error:
                failed = error
        if failed is not None:
            if self.finished and not restart:
                assert isinstance(failed, dataset.StateError), failed
                assert asked != self.made_with
                assert self.files() == self.finished
            elif self.files() != self.finished:
                self.finished = {}
            return type(failed).__name__
        bad = sum(state.counts.errors.values())
        if self.finished and not restart:
            assert state.found_complete
            assert asked == self.made_with
            assert self.files() == self.finished
            return "left"
        assert not state.found_complete
        assert most is None or bad <= (most * state.counts.rows if type(most) is float else most)
        assert not state.refused
        self.finished, self.made_with = self.files(), asked
        return "made"


@pytest.mark.parametrize("output", ["out", "out.parquet", "out.bin"])
def test_no_run_changes_a_finished_output_unless_it_starts_over(
    tmp_path: Path, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever came before: other limits, interruptions, other options, other rows."""
    small_chunks(monkeypatch, 600)
    monkeypatch.setattr(dataset, "PIECE_TOKENS", 300)
    monkeypatch.setattr(dataset, "SHARD_TOKENS", 300)
    seen: set[str] = set()
    for seed in range(24):
        folder = tmp_path / str(seed)
        folder.mkdir()
        runs = Runs(folder, output, seed)
        runs.change_rows()
        for _ in range(5):
            seen.add(runs.run(monkeypatch))
    assert seen == {"made", "left", "StateError", "ErrorLimitError", "KeyboardInterrupt"}


@pytest.mark.parametrize("output", ["out", "out.parquet", "out.bin"])
def test_what_was_accepted_after_a_refusal_is_finished(
    rows: str, tmp_path: Path, output: str
) -> None:
    out = tmp_path / output
    with open(rows, "a") as file:
        file.write("{}\n")
    with pytest.raises(dataset.ErrorLimitError):
        write_dataset(rows, out, **CHAT)
    with pytest.raises(dataset.ErrorLimitError, match="^1 of 31 rows are bad, 0 allowed: "):
        write_dataset(rows, out, max_errors=0, **CHAT)
    assert not write_dataset(rows, out, max_errors=None, **CHAT).refused
    before = contents(tmp_path)
    with pytest.raises(dataset.StateError, match="^this output was started without date, now '2"):
        write_dataset(rows, out, max_errors=None, date="2026-01-01", **CHAT)
    assert contents(tmp_path) == before
