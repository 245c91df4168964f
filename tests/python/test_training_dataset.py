"""Whole data sets: files in, files out, and what is refused before anything is written."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.training import dataset, render
from openai_harmony.training.dataset import write_dataset
from tables import table
from whole_data import CHAT, ROWS, contents, expected, small_chunks, tables, write_rows

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")


@pytest.fixture
def rows(tmp_path: Path) -> str:
    return write_rows(tmp_path)


class TestOutput:
    @pytest.mark.parametrize("size", [20_000, 10**9])
    def test_shards(
        self, rows: str, tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small_chunks(monkeypatch, size)
        out = tmp_path / "out"
        state = write_dataset([rows], str(out), shard_tokens=5000, **CHAT)
        shards = tables(out)
        lengths = [sum(map(len, shard["input_ids"].to_pylist())) for shard in shards]
        assert len(shards) > 5
        assert max(lengths) <= 5000
        assert min(lengths[:-1]) > 4500
        assert [row for shard in shards for row in shard.to_pylist()] == expected()
        assert [shard.tokens for shard in state.shards] == lengths
        assert (state.examples, state.tokens) == (len(ROWS), sum(lengths))
        assert state.trained == sum(render(ROWS, **CHAT).loss_mask)
        assert (state.counts.rows, state.counts.blank) == (len(ROWS) + 2, 1)
        assert state.counts.errors == {"invalid_row": 2}

    @pytest.mark.parametrize("columns", ["trl", "axolotl", "torchtune", "flat"])
    def test_columns(self, rows: str, tmp_path: Path, columns: Any) -> None:
        write_dataset([rows], str(tmp_path / "out.parquet"), columns=columns, **CHAT)
        written = pq.read_table(tmp_path / "out.parquet").to_pylist()
        good = expected(columns)
        if columns == "flat":  # Rows are counted with the bad ones.
            assert [row["row"] for row in written] == [0, 1, *range(3, 301)]
            for row in [*written, *good]:
                del row["row"]
        assert written == good

    @pytest.mark.parametrize("pieces", [10**9, 7000])
    @pytest.mark.parametrize("suffix", ["parquet", "arrow", "bin"])
    def test_one_file(
        self,
        rows: str,
        tmp_path: Path,
        suffix: str,
        pieces: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(dataset, "PIECE_TOKENS", pieces)
        small_chunks(monkeypatch)
        out = tmp_path / f"out.{suffix}"
        state = write_dataset([rows], str(out), **CHAT)
        assert (len(state.shards) > 1) == (pieces < 10**9)
        if suffix == "parquet":
            assert pq.read_table(out).to_pylist() == expected()
        elif suffix == "arrow":
            with pa.memory_map(str(out)) as stored:
                assert pa.ipc.open_file(stored).read_all().to_pylist() == expected()
        else:
            batch = render(ROWS, **CHAT)
            assert out.read_bytes() == batch.tokens.tobytes()
            assert (tmp_path / "out.loss_mask.bin").read_bytes() == batch.loss_mask
            batch.write_megatron(tmp_path / "direct")
            for index in ("idx", "loss_mask.idx"):
                direct = (tmp_path / f"direct.{index}").read_bytes()
                assert (tmp_path / f"out.{index}").read_bytes() == direct
        assert not list(tmp_path.glob("*.shards"))
        assert not list(tmp_path.glob("*.unfinished"))

    def test_turns_of_a_row_may_be_in_two_shards(self, rows: str, tmp_path: Path) -> None:
        out = tmp_path / "out"
        options: dict[str, Any] = {**CHAT, "examples": "turns"}
        write_dataset([rows], str(out), columns="flat", shard_tokens=1500, **options)
        shards = tables(out)
        written = [row["input_ids"] for row in expected(examples="turns")]
        assert [t for shard in shards for t in shard["tokens"].to_pylist()] == written
        ends = [shard["row"].to_pylist() for shard in shards]
        assert any(end[-1] == begin[0] for end, begin in itertools.pairwise(ends))

    def test_errors_say_where(self, rows: str, tmp_path: Path) -> None:
        state = write_dataset([rows], str(tmp_path / "out"), **CHAT)
        lines = (tmp_path / "out" / "_errors.jsonl").read_text("utf-8").splitlines()
        empty, cut = map(json.loads, lines)
        assert empty == {
            "file": rows,
            "line": 3,
            "row": 2,
            "kind": "invalid_row",
            "path": "messages",
            "message": "Invalid row: messages is empty",
        }
        # The blank line is no row.
        assert (cut["line"], cut["row"]) == (303, 301)
        assert state.counts.first_error == f"{rows}:3: Invalid row: messages is empty"

    def test_limits_are_counted(self, rows: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {**CHAT, "max_tokens": 150}
        for overflow in ("drop", "truncate_turns", "error"):
            out = str(tmp_path / overflow)
            counts = write_dataset(
                [rows], out, overflow=overflow, max_errors=None, **options
            ).counts
            batch = render(ROWS, overflow=overflow, **options)
            assert (counts.dropped, counts.truncated) == (len(batch.dropped), len(batch.truncated))
            assert sum(counts.errors.values()) == len(batch.errors) + 2
            assert batch.dropped or batch.truncated or batch.errors

    def test_unused_fields_are_counted(self, tmp_path: Path) -> None:
        row = {"messages": [{**message, "name": "n"} for message in ROWS[0]["messages"]]}
        (tmp_path / "in.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
        state = write_dataset([str(tmp_path / "in.jsonl")], str(tmp_path / "out"), **CHAT)
        assert state.counts.unused == render([row] * 3, **CHAT).unused != {}


@pytest.mark.parametrize("output", ["out", "out.parquet", "out.arrow", "out.bin"])
def test_a_full_disk_is_said(
    rows: str, tmp_path: Path, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("openai_harmony.training.whole_files.sync_folder", full)
        with pytest.raises(OSError, match="No space left on device"):
            write_dataset([rows], str(tmp_path / output), **CHAT)
    assert write_dataset([rows], str(tmp_path / output), **CHAT).examples == len(ROWS)


def test_a_run_stops_at_too_many_errors_and_goes_on(
    rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch)
    out = str(tmp_path / "out")
    options: dict[str, Any] = {"shard_tokens": 2000, **CHAT}
    with pytest.raises(dataset.ErrorLimitError, match=r"^1 bad row, 0 are allowed: see .*_errors"):
        write_dataset([rows], out, max_errors=0, **options)
    with pytest.raises(
        dataset.ErrorLimitError, match=r"^2 bad rows, 1 is allowed: see (.*)\. Fix"
    ) as at:
        write_dataset([rows], out, max_errors=1, **options)
    named = Path(str(at.value).split("see ")[1].split(". Fix")[0])
    assert len(named.read_text().splitlines()) == 2
    write_dataset([rows], out, max_errors=2, **options)
    (tmp_path / "whole").mkdir()
    write_dataset([rows], str(tmp_path / "whole" / "out"), **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole" / "out")


def test_nothing_to_write(rows: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(dataset.NoExamplesError, match="^no rows in .*empty.jsonl"):
        write_dataset([f"{tmp_path}/empty.jsonl"], str(tmp_path / "out"), **CHAT)
    # A forgotten format: the first error says so, and the right one can follow.
    with pytest.raises(
        dataset.NoExamplesError, match=r"302 invalid_row; the first is .*rows.jsonl:1: Invalid"
    ):
        write_dataset([rows], str(tmp_path / "out"))
    with pytest.raises(dataset.NoExamplesError, match="300 longer than max_tokens"):
        write_dataset([rows], str(tmp_path / "none"), max_tokens=1, overflow="drop", **CHAT)
    assert write_dataset([rows], str(tmp_path / "out"), **CHAT).examples == len(ROWS)


def test_what_was_refused_needs_no_restart(rows: str, tmp_path: Path) -> None:
    """The share of bad rows is known at the end; with another option the run begins anew."""
    out = tmp_path / "out"
    text = Path(rows).read_text()
    mostly = tmp_path / "mostly.jsonl"
    mostly.write_text(text + '\n{"ask": "Hi", "reply": "Ho"}' * 50)
    with pytest.raises(dataset.ErrorLimitError, match="Fix the rows and run again"):
        write_dataset([mostly], out, **CHAT)
    names = {"prompt": "ask", "completion": "reply"}
    with pytest.raises(dataset.ErrorLimitError):
        write_dataset([mostly], out, map=names, **CHAT)
    state = write_dataset([mostly], out, max_errors=None, map=names, **CHAT)
    assert state.examples == 50


def test_a_run_that_fails_at_once_leaves_nothing(rows: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl.gz"
    bad.write_bytes(b"not packed")
    for output in ("out", "out.parquet"):
        for inputs, options in (([rows], {}), ([bad], CHAT)):
            before = contents(tmp_path)
            with pytest.raises((dataset.NoExamplesError, dataset.InputError)):
                write_dataset(inputs, tmp_path / output, **options)
            assert contents(tmp_path) == before


def test_urls_are_no_folders(rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for output in ("s3://bucket/out", "memory://out.parquet", "hf://datasets/x/out/"):
        with pytest.raises(ValueError, match=f"^output: {output} is a URL"):
            write_dataset([rows], output, **CHAT)
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl"}


def test_files_by_url(rows: str, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra `remote` is not installed")
    lines = Path(rows).read_bytes()
    store = fsspec.filesystem("memory")
    store.pipe("/in/a.jsonl", lines)
    store.pipe("/in/b.jsonl.gz", gzip.compress(lines))
    table = pa.Table.from_pylist(ROWS)
    with store.open("/in/c.parquet", "wb") as file:
        pq.write_table(table, file)
    write_dataset([rows], tmp_path / "one.parquet", **CHAT)
    wanted = pq.read_table(tmp_path / "one.parquet")
    for name, times in (("a.jsonl", 1), ("b.jsonl.gz", 2), ("c.parquet", 1)):
        inputs = [f"memory://in/{one}" for one in ("a.jsonl", name)[2 - times :]]
        out = tmp_path / f"{name}.parquet"
        write_dataset(inputs, out, **CHAT)
        assert pq.read_table(out) == pa.concat_tables([wanted] * times)
        assert write_dataset(inputs, out, **CHAT).found_complete
    store.rm("/in/c.parquet")
    state = write_dataset(["memory://in"], tmp_path / "folder.parquet", **CHAT)
    assert state.counts.rows == 2 * len(ROWS) + 4
    for wrong in ("memory://none.jsonl", "nothing://a.jsonl"):
        with pytest.raises(dataset.InputError, match=wrong):
            write_dataset([wrong], tmp_path / "no.parquet", **CHAT)


@pytest.mark.parametrize(
    ("output", "options", "said"),
    table("training_dataset", "wrong options"),
)
def test_wrong_options(rows: str, tmp_path: Path, output: str, options: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        write_dataset([rows], str(tmp_path / output), **options)
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl"}


def test_unknown_options(rows: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"^foo: unknown option of write_dataset \(known: to, "):
        write_dataset([rows], str(tmp_path / "out"), foo=1)  # type: ignore[call-arg]
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl"}


def test_names_of_folders(rows: str, tmp_path: Path) -> None:
    for output, options in [("v1.5/", {}), ("v1.6", {"to": "arrow"})]:
        write_dataset([rows], f"{tmp_path}/{output}", **options, **CHAT)
        assert (tmp_path / output / "_report.json").exists()
