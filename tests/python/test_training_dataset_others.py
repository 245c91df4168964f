"""What a run did not write itself it neither removes, nor replaces, nor writes through a link."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from whole_data import CHAT, contents, interrupting, small_chunks

pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

OUTPUTS = ["out", "out.parquet", "out.bin"]
MINE = b"mine\n"


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    small_chunks(monkeypatch, 8_000)
    monkeypatch.setattr(dataset, "SHARD_TOKENS", 3000)
    monkeypatch.setattr(dataset, "PIECE_TOKENS", 3000)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in chats(60)))
    return str(path)


def interrupted(rows: str, out: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_dataset([rows], out, progress=interrupting(3), **CHAT)


def shards_of(out: Path) -> Path:
    return out.with_name(f"{out.name}.shards") if out.suffix else out


def beside(out: Path, name: str) -> Path:
    """``report.json`` and its like."""
    return out.with_name(f"{out.name}.{name}") if out.suffix else out / f"_{name}"


def kept(paths: dict[Path, bytes]) -> bool:
    return all(path.read_bytes() == content for path, content in paths.items())


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", ["thesis.txt", "part-00000.parquet", "part-00000.bin.unfinished"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_that_is_there(
    rows: str, tmp_path: Path, output: str, name: str, restart: bool
) -> None:
    mine = shards_of(tmp_path / output) / name
    mine.parent.mkdir()
    mine.write_bytes(MINE)
    with pytest.raises(dataset.StateError, match="^not of a run of this command: .*"):
        write_dataset([rows], tmp_path / output, restart=restart, **CHAT)
    assert contents(tmp_path) == {str(mine.relative_to(tmp_path)): MINE}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", ["report.json", "errors.jsonl", "lock"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_file_that_is_there(
    rows: str, tmp_path: Path, output: str, name: str, restart: bool
) -> None:
    mine = beside(tmp_path / output, name)
    mine.parent.mkdir(exist_ok=True)
    mine.write_bytes(MINE)
    with pytest.raises(dataset.StateError, match=f".*{mine.name}"):
        write_dataset([rows], tmp_path / output, restart=restart, **CHAT)
    assert contents(tmp_path) == {str(mine.relative_to(tmp_path)): MINE}


@pytest.mark.parametrize("output", ["out.parquet", "out.bin"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_with_the_name_of_the_shards_of_a_complete_output(
    rows: str, tmp_path: Path, output: str, restart: bool
) -> None:
    out = tmp_path / output
    state = write_dataset([rows], out, **CHAT)
    folder = tmp_path / f"{output}.shards"
    assert not folder.exists()
    folder.mkdir()
    mine = {folder / name: MINE for name in ("thesis.txt", "part-00000.parquet")}
    for path, content in mine.items():
        path.write_bytes(content)
    if restart:
        with pytest.raises(dataset.StateError, match="^not of a run of this command: .*"):
            write_dataset([rows], out, restart=True, **CHAT)
    else:
        assert write_dataset([rows], out, **CHAT) == state
    assert kept(mine)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("complete", [True, False])
def test_restart_follows_no_names_of_a_report(
    rows: str, tmp_path: Path, output: str, complete: bool
) -> None:
    out = tmp_path / output
    if complete:
        write_dataset([rows], out, **CHAT)
    else:
        interrupted(rows, out)
    precious = tmp_path / "precious.parquet"
    precious.write_bytes(MINE)
    report = beside(out, "report.json")
    for name in ("../precious", str(tmp_path / "precious"), "../../precious"):
        fields = json.loads(report.read_text())
        for shard in fields["shards"]:
            shard["bytes"] = {f"{name}.parquet": len(MINE)}
            if "stem" in shard:
                shard["stem"] = name
        report.write_text(json.dumps(fields))
        # That of a complete file has no names of shards that still mean anything.
        with suppress(dataset.StateError):
            write_dataset([rows], out, restart=True, **CHAT)
        assert precious.read_bytes() == MINE


@pytest.mark.parametrize("output", OUTPUTS)
def test_restart_keeps_what_was_replaced(rows: str, tmp_path: Path, output: str) -> None:
    """A file with a name of the run's and another size is somebody else's."""
    out = tmp_path / output
    interrupted(rows, out)
    shard = sorted(shards_of(out).glob("part-00000.*"))[0]
    shard.write_bytes(MINE)
    before = contents(tmp_path)
    with pytest.raises(dataset.StateError, match=f"^not as the run wrote it: .*{shard.name}"):
        write_dataset([rows], out, restart=True, **CHAT)
    assert contents(tmp_path) == before
    shard.unlink()
    assert write_dataset([rows], out, restart=True, **CHAT).complete


def links(out: Path) -> list[Path]:
    """The names that a run writes to, or could."""
    kind = out.suffix or ".parquet"
    shards = shards_of(out)
    names = [beside(out, name) for name in ("report.json", "errors.jsonl", "lock")]
    names += [names[0].with_name(f"{names[0].name}.unfinished")]
    if out.suffix:
        names += [out, out.with_name(f"{out.name}.unfinished"), shards]
    else:
        names += [shards / f"part-00000{kind}", shards / f"part-00000{kind}.unfinished"]
    return names


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("to", ["file", "nothing"])
@pytest.mark.parametrize("restart", [False, True])
def test_links_are_not_followed(
    rows: str, tmp_path: Path, output: str, to: str, restart: bool
) -> None:
    for index, link in enumerate(links(tmp_path / output)):
        folder = tmp_path / str(index)
        folder.mkdir()
        mine = folder / "mine"
        if to == "file":
            mine.write_bytes(MINE)
        link = folder / link.relative_to(tmp_path)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(mine)
        with pytest.raises((dataset.StateError, OSError)):
            write_dataset([rows], folder / output, restart=restart, **CHAT)
        assert link.is_symlink()
        assert not mine.exists() if to == "nothing" else mine.read_bytes() == MINE


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("restart", [False, True])
def test_links_that_appear_between_runs(
    rows: str, tmp_path: Path, output: str, restart: bool
) -> None:
    """What an interrupted run left, moved away with a link in its place."""
    out = tmp_path / output
    interrupted(rows, out)
    left = [
        path for path in sorted(tmp_path.rglob("*")) if path.is_file() and path.name != "rows.jsonl"
    ]
    assert len(left) > 3
    for path in left:
        moved = tmp_path / "moved"
        path.rename(moved)
        path.symlink_to(moved)
        before = moved.read_bytes()
        with pytest.raises(dataset.StateError):
            write_dataset([rows], out, restart=restart, **CHAT)
        assert moved.read_bytes() == before
        path.unlink()
        moved.rename(path)
    assert write_dataset([rows], out, restart=restart, **CHAT).examples == 60


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_to_the_folder_itself_is_the_callers_choice(rows: str, tmp_path: Path) -> None:
    (tmp_path / "large disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large disk")
    state = write_dataset([rows], tmp_path / "out", **CHAT)
    assert write_dataset([rows], tmp_path / "large disk", **CHAT) == state


GROWTH: list[Callable[[str], None]] = [
    lambda rows: Path(rows).write_text(Path(rows).read_text() + "{}\n"),
    lambda rows: os.truncate(rows, os.path.getsize(rows) - 1),
    lambda rows: os.utime(rows, (1, 1)),
]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("change", GROWTH)
def test_an_input_that_changes_meanwhile(
    rows: str, tmp_path: Path, output: str, change: Callable[[str], None]
) -> None:
    """It is not called complete."""
    calls = iter(range(100))

    def changing(read: int, counts: Any) -> None:
        if next(calls) == 2:
            change(rows)

    with pytest.raises(dataset.InputError, match="^changed while it was read: .*rows.jsonl"):
        write_dataset([rows], tmp_path / output, progress=changing, **CHAT)
    report = json.loads(beside(tmp_path / output, "report.json").read_text())
    assert not report["complete"]
    if os.path.exists(rows):
        with pytest.raises(dataset.StateError, match="^changed since the run began: .*rows.jsonl"):
            write_dataset([rows], tmp_path / output, **CHAT)
