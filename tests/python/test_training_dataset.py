"""Whole data sets: files in, files out, and runs that are interrupted anywhere."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Any, Callable

import pytest

from chats import chats
from openai_harmony.training import dataset, render
from openai_harmony.training.dataset import write_dataset
from openai_harmony.training.dataset.inputs import Inputs, Position

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")

ROWS = chats(300)
CHAT: dict[str, Any] = {"format": "chat"}


@pytest.fixture
def rows(tmp_path: Path) -> str:
    """A file of rows, the third and the last of them bad."""
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    lines.insert(2, '{"messages": []}')
    lines.insert(100, "   ")
    lines.append("{")
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def small_chunks(monkeypatch: pytest.MonkeyPatch, size: int = 20_000) -> None:
    monkeypatch.setattr("openai_harmony.training.dataset.run.CHUNK_BYTES", size)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder but the input, by their path."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name != "rows.jsonl"}


def tables(folder: Path) -> Any:
    return [pq.read_table(path) for path in sorted(folder.glob("part-*.parquet"))]


def expected(columns: Any = "trl", rows: Any = ROWS, **options: Any) -> list[dict[str, Any]]:
    return list(render(rows, **{**CHAT, **options}).to_arrow(columns).to_pylist())


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

    @pytest.mark.parametrize("kind", ["parquet", "arrow", "megatron"])
    def test_shards_of_a_size(
        self, rows: str, tmp_path: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small_chunks(monkeypatch, 4000)
        out = tmp_path / "out"
        state = write_dataset([rows], str(out), to=kind, shard_bytes=8000, **CHAT)
        sizes = [max(shard.bytes.values()) for shard in state.shards]
        assert len(sizes) > 3
        assert min(sizes[:-1]) >= 8000
        assert state.examples == len(ROWS)

    def test_turns_of_a_row_may_be_in_two_shards(self, rows: str, tmp_path: Path) -> None:
        out = tmp_path / "out"
        options: dict[str, Any] = {**CHAT, "examples": "turns"}
        write_dataset([rows], str(out), columns="flat", shard_tokens=1500, **options)
        shards = tables(out)
        written = [row["input_ids"] for row in expected(examples="turns")]
        assert [t for shard in shards for t in shard["tokens"].to_pylist()] == written
        ends = [shard["row"].to_pylist() for shard in shards]
        assert any(end[-1] == begin[0] for end, begin in zip(ends, ends[1:]))

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
            "message": "Invalid row: messages: is empty",
        }
        # The blank line is no row.
        assert (cut["line"], cut["row"]) == (303, 301)
        assert state.counts.first_error == f"{rows}:3: Invalid row: messages: is empty"

    def test_limits_are_counted(self, rows: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {**CHAT, "max_tokens": 150}
        for overflow in ("drop", "truncate_turns", "error"):
            out = str(tmp_path / overflow)
            counts = write_dataset([rows], out, overflow=overflow, **options).counts
            batch = render(ROWS, overflow=overflow, **options)
            assert (counts.dropped, counts.truncated) == (len(batch.dropped), len(batch.truncated))
            assert sum(counts.errors.values()) == len(batch.errors) + 2
            assert batch.dropped or batch.truncated or batch.errors

    def test_unused_fields_are_counted(self, tmp_path: Path) -> None:
        row = {"messages": [{**message, "name": "n"} for message in ROWS[0]["messages"]]}
        (tmp_path / "in.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
        state = write_dataset([str(tmp_path / "in.jsonl")], str(tmp_path / "out"), **CHAT)
        assert state.counts.unused == render([row] * 3, **CHAT).unused != {}


PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [
    (".jsonl", bytes),
    (".ndjson", lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")),
    (".jsonl.gz", lambda text: gzip.compress(text[:999]) + gzip.compress(text[999:])),
    (".jsonl.bz2", bz2.compress),
    (".jsonl.xz", lzma.compress),
    (".jsonl.zst", lambda text: pa.compress(text, "zstd", asbytes=True)),
    (".json", bytes),
    (".json", lambda text: b"[" + b",".join(text.splitlines()) + b"]"),
    (".json.gz", lambda text: gzip.compress(b" [\n" + b" ,\n".join(text.splitlines()) + b"\n]\n")),
]  # fmt: skip
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


class TestInput:
    @pytest.mark.parametrize(("suffix", "pack"), PACKED)
    def test_lines(
        self, suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        path = tmp_path / f"in{suffix}"
        path.write_bytes(pack(LINES))
        small_chunks(monkeypatch)
        out = str(tmp_path / "out")
        monkeypatch.setattr(dataset.Run, "_check_errors", interrupting(5))
        with pytest.raises(KeyboardInterrupt):
            write_dataset([str(path)], out, shard_tokens=3000, **CHAT)
        monkeypatch.setattr(dataset.Run, "_check_errors", lambda run: None)
        state = write_dataset([str(path)], out, shard_tokens=3000, **CHAT)
        assert state.counts.rows == len(ROWS)
        written = [row for table in tables(tmp_path / "out") for row in table.to_pylist()]
        assert written == expected()

    @pytest.mark.parametrize("column", [None, "messages", "text"])
    def test_parquet(
        self, column: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        table = pa.Table.from_pylist(ROWS)
        if column == "text":
            table = pa.table({"text": [json.dumps(row) for row in ROWS], "id": table["id"]})
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=70)
        small_chunks(monkeypatch, 8000)
        out = tmp_path / "out"
        arguments: Any = ([str(tmp_path / "in.parquet")], str(out))
        options: Any = {"column": column, "shard_tokens": 3000, **CHAT}
        monkeypatch.setattr(dataset.Run, "_check_errors", interrupting(7))
        with pytest.raises(KeyboardInterrupt):
            write_dataset(*arguments, **options)
        assert (out / "part-00001.parquet").exists()
        monkeypatch.setattr(dataset.Run, "_check_errors", lambda run: None)
        write_dataset(*arguments, **options)
        assert [row for table in tables(out) for row in table.to_pylist()] == expected()

    def test_many_files_in_order(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "b.jsonl").write_bytes(LINES)
        pq.write_table(pa.Table.from_pylist(ROWS[:10]), folder / "a.parquet")
        (folder / "_report.json").write_text("{}")
        (folder / "notes.txt").write_text("?")
        (folder / "info.json").write_text("[]")
        (tmp_path / "c.jsonl").write_text("{}\n")
        out = tmp_path / "out"
        state = write_dataset([str(folder), str(tmp_path / "c.jsonl")], str(out), **CHAT)
        assert caplog.messages == [f"not read in {folder}: info.json, notes.txt"]
        assert pq.read_table(out / "part-00000.parquet").to_pylist() == expected(
            rows=ROWS[:10] + ROWS
        )
        [error] = (out / "_errors.jsonl").read_text().splitlines()
        place = {name: json.loads(error)[name] for name in ("file", "line", "row")}
        assert place == {"file": str(tmp_path / "c.jsonl"), "line": 1, "row": 310}
        assert state.counts.rows == 311

    def test_chunks_are_the_same_from_any_position(self, rows: str, tmp_path: Path) -> None:
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "in.parquet", row_group_size=70)
        (tmp_path / "again.jsonl").write_bytes(Path(rows).read_bytes())
        (tmp_path / "list.json").write_text(json.dumps(ROWS, ensure_ascii=False), encoding="utf-8")
        names = ["in.parquet", "list.json", "again.jsonl"]
        inputs = Inputs([rows, *(str(tmp_path / name) for name in names)])
        chunks = list(inputs.chunks(Position(), 40, 9000))
        assert sum(chunk.count for chunk in chunks) == 2 * (len(ROWS) + 2) + 2 * len(ROWS)
        assert chunks[-1].read == inputs.size()
        for index, chunk in enumerate(chunks):
            assert list(inputs.chunks(chunk.start, 40, 9000)) == chunks[index:]
            assert max(chunk.count, 1) <= 40

    def test_a_file_without_line_ends_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("openai_harmony.training.dataset.inputs.LONGEST_LINE", 2**20)
        (tmp_path / "in.jsonl").write_bytes(b"{}\n" + b"[" * 2**20)
        with pytest.raises(dataset.InputError, match=r"in.jsonl: line 2 has 1 MiB or more"):
            write_dataset([str(tmp_path / "in.jsonl")], str(tmp_path / "out"), **CHAT)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("in.jsonl.gz", gzip.compress(LINES)[:-20]),
            ("in.jsonl.gz", b"not packed"),
            ("in.jsonl.xz", b"not packed"),
            ("in.jsonl.bz2", b"not packed"),
            ("in.jsonl.zst", b"not packed"),
            ("in.parquet", b"not Parquet"),
            ("in.parquet", b""),
        ],
    )
    def test_damaged_files_are_named(self, name: str, content: bytes, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(dataset.InputError, match=rf"^cannot read .*/{name}: ."):
            write_dataset([str(tmp_path / name)], str(tmp_path / "out"), **CHAT)
        assert not list(tmp_path.glob("out/part*"))

    def test_what_cannot_be_read_is_named(self, rows: str, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "x.csv").touch()
        (tmp_path / "json").mkdir()
        (tmp_path / "json" / "rows.json").write_text("[]")
        pq.write_table(pa.table({"text": ["{}"]}), tmp_path / "in.parquet")
        for given, said in [
            (["none.jsonl"], "^no such file or folder: none.jsonl"),
            ([f"{tmp_path}/empty"], "^no files of rows in .*empty"),
            (
                [f"{tmp_path}/json"],
                "^no files of rows in .*json .*; of a folder, .json is not read",
            ),
            ([f"{tmp_path}/x.csv"], "^unknown suffix: .*x.csv .known: .parquet"),
            ([rows, f"{tmp_path}/./rows.jsonl"], "^given twice: "),
        ]:
            with pytest.raises(dataset.InputError, match=said):
                write_dataset(given, str(tmp_path / "out"), **CHAT)
        with pytest.raises(dataset.InputError, match="^a column can be chosen in Parquet files"):
            write_dataset([rows], str(tmp_path / "out"), column="text")
        with pytest.raises(dataset.InputError, match="^no column texts in .*, only text"):
            write_dataset([f"{tmp_path}/in.parquet"], str(tmp_path / "out"), column="texts")
        with pytest.raises(ValueError, match="^the output would be read as input"):
            write_dataset([str(tmp_path)], f"{tmp_path}/out.parquet")


def interrupting(at: int) -> Callable[..., None]:
    """A function that ends the program when it is called so often."""
    calls = iter(range(at))

    def call(*_: object) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    return call


@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("out", {"shard_tokens": 1500}),
        ("out", {"shard_bytes": 4000, "to": "arrow"}),
        ("out", {"shard_tokens": 1500, "to": "megatron", "examples": "turns"}),
        ("out.parquet", {}),
        ("out.bin", {}),
    ],
)
class TestInterrupted:
    """The rest of a run gives the bytes of a whole one."""

    @pytest.fixture(autouse=True)
    def _small(self, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
        lines = Path(rows).read_text("utf-8").splitlines()
        Path(rows).write_text("\n".join([*lines[:60], lines[-1]]), "utf-8")
        monkeypatch.setattr(dataset, "PIECE_TOKENS", 2000)
        # These runs end without the machine: nothing is lost that was not synced.
        monkeypatch.setattr(os, "fsync", lambda handle: None)
        small_chunks(monkeypatch, 5000)

    def whole(self, rows: str, tmp_path: Path, output: str, options: Any) -> dict[str, bytes]:
        (tmp_path / "whole").mkdir()
        write_dataset([rows], str(tmp_path / "whole" / output), **options, **CHAT)
        return contents(tmp_path / "whole")

    @pytest.mark.parametrize("call", ["os.replace", "os.fsync", "chunk"])
    def test_anywhere(
        self,
        rows: str,
        tmp_path: Path,
        output: str,
        options: Any,
        call: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A run for each call, interrupted there, and one that goes on."""
        whole = self.whole(rows, tmp_path, output, options)
        target = "openai_harmony.training.dataset.run.Run._check_errors"
        real: Any = {"os.replace": os.replace, "os.fsync": os.fsync}.get(call, lambda run: None)
        interrupted, turn = True, 0
        while interrupted:
            folder = tmp_path / f"turn{turn}"
            folder.mkdir()
            with monkeypatch.context() as patched:
                patched.setattr(target if call == "chunk" else call, saving(turn, real))
                interrupted = not self.ends(rows, folder / output, options)
            left = contents(folder)
            for name in whole.keys() & left.keys():  # What has its name is whole.
                assert left[name] == whole[name] or name.endswith("report.json"), name
            write_dataset([rows], str(folder / output), **options, **CHAT)
            assert contents(folder) == whole
            turn += 1
        assert turn > 5

    def test_again_and_again(
        self, rows: str, tmp_path: Path, output: str, options: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each run gets a little further than the one before."""
        whole = self.whole(rows, tmp_path, output, options)
        (tmp_path / "part").mkdir()
        real, turn = os.replace, 0
        ended = False
        while not ended:
            with monkeypatch.context() as patched:
                patched.setattr(os, "replace", saving(turn // 2 + 1, real))
                ended = self.ends(rows, tmp_path / "part" / output, options)
            turn += 1
        assert turn > 3
        assert contents(tmp_path / "part") == whole

    @staticmethod
    def ends(rows: str, output: Path, options: Any) -> bool:
        try:
            write_dataset([rows], str(output), **options, **CHAT)
        except KeyboardInterrupt:
            return False
        return True


def saving(at: int, real: Callable[..., None]) -> Callable[..., None]:
    stop = interrupting(at)

    def call(*arguments: Any) -> None:
        stop()
        real(*arguments)

    return call


class TestRefused:
    """What a run does not go on with."""

    @pytest.fixture
    def begun(self, rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        """A run that was interrupted after some shards."""
        out = str(tmp_path / "out")
        with monkeypatch.context() as patched:
            small_chunks(patched)
            patched.setattr(dataset.Run, "_check_errors", interrupting(2))
            with pytest.raises(KeyboardInterrupt):
                write_dataset([rows], out, shard_tokens=2000, **CHAT)
        assert os.path.exists(f"{out}/part-00001.parquet")
        return out

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"shard_tokens": 3000}, "shard tokens 2000, not 3000"),
            ({"shard_tokens": None, "shard_bytes": 9}, "shard bytes None, not 9"),
            ({"columns": "flat"}, "columns 'trl', not 'flat'"),
            ({"format": "harmony"}, "format 'chat', not 'harmony'"),
            ({"max_tokens": 10}, "max_tokens None, not 10"),
            ({"to": "arrow"}, "columns|format of the output 'parquet', not 'arrow'"),
            ({"batch_rows": 10}, "batch rows 4096, not 10"),
            ({"examples": "turns"}, "examples 'conversation', not 'turns'"),
            ({"date": "2026-01-01"}, "date None, not '2026-01-01'"),
        ],
    )
    def test_other_options(self, rows: str, begun: str, options: Any, named: str) -> None:
        with pytest.raises(dataset.StateError, match=f"^begun with ({named})"):
            write_dataset([rows], begun, **{"shard_tokens": 2000, **CHAT, **options})

    def test_options_that_change_no_byte_are_free(
        self, rows: str, begun: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small_chunks(monkeypatch)
        state = write_dataset([rows], begun, shard_tokens=2000, threads=1, max_errors=9, **CHAT)
        assert state.complete

    def test_another_version(self, rows: str, begun: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("openai_harmony.__version__", "0.0.9")
        with pytest.raises(
            dataset.StateError, match="^begun with version of openai-harmony '0.0.8"
        ):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)

    def test_changed_input(self, rows: str, begun: str, tmp_path: Path) -> None:
        with open(rows, "a") as file:
            file.write("\n")
        with pytest.raises(dataset.StateError, match="^changed since the run began: .*rows.jsonl"):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)

    def test_other_input(self, rows: str, begun: str, tmp_path: Path) -> None:
        (tmp_path / "more.jsonl").write_text("{}")
        for others in ([rows, f"{tmp_path}/more.jsonl"], [f"{tmp_path}/more.jsonl"]):
            with pytest.raises(dataset.StateError, match="^begun with other files: .*more.jsonl"):
                write_dataset(others, begun, shard_tokens=2000, **CHAT)

    def test_a_missing_or_changed_shard(self, rows: str, begun: str) -> None:
        shard = Path(begun, "part-00001.parquet")
        shard.write_bytes(shard.read_bytes() + b".")
        with pytest.raises(dataset.StateError, match="^missing or changed .*part-00001.parquet"):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)
        shard.unlink()
        with pytest.raises(dataset.StateError, match="^missing or changed .*part-00001.parquet"):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)

    def test_cut_errors(self, rows: str, begun: str) -> None:
        Path(begun, "_errors.jsonl.unfinished").write_bytes(b"")
        with pytest.raises(dataset.StateError, match="^missing or changed .*_errors.jsonl"):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"harmony_dataset": 2}', '{"harmony_dataset": 1}']
    )
    def test_a_damaged_state(self, rows: str, begun: str, text: str) -> None:
        Path(begun, "_report.json").write_text(text)
        with pytest.raises(dataset.StateError, match="_report.json is not the state of a run"):
            write_dataset([rows], begun, shard_tokens=2000, **CHAT)

    def test_restart(self, rows: str, begun: str, tmp_path: Path) -> None:
        write_dataset([rows], begun, restart=True, **CHAT)
        names = {path.name for path in Path(begun).iterdir()}
        assert names == {"_report.json", "_errors.jsonl", "part-00000.parquet"}
        assert [row for table in tables(Path(begun)) for row in table.to_pylist()] == expected()

    def test_a_folder_of_others(self, rows: str, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
        for restart in (False, True):
            with pytest.raises(dataset.StateError, match="^the folder is not empty: .*thesis.txt"):
                write_dataset([rows], str(out), restart=restart, **CHAT)
        assert contents(out) == {"thesis.txt": b"mine"}

    @pytest.mark.parametrize("suffix", ["parquet", "bin"])
    def test_a_file_of_others(self, rows: str, tmp_path: Path, suffix: str) -> None:
        out = tmp_path / f"out.{suffix}"
        out.write_text("mine")
        with pytest.raises(
            dataset.StateError, match="^already there, and nothing tells how it was"
        ):
            write_dataset([rows], str(out), **CHAT)
        assert contents(tmp_path) == {out.name: b"mine"}

    def test_another_run_at_the_same_time(self, rows: str, tmp_path: Path) -> None:
        pytest.importorskip("fcntl", reason="nothing locks a folder on Windows")
        out = str(tmp_path / "out")

        def second(read: int, counts: Any) -> None:
            with pytest.raises(dataset.StateError, match="^another run writes .*out"):
                write_dataset([rows], out, **CHAT)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_dataset([rows], out, progress=second, **CHAT)
        assert write_dataset([rows], out, **CHAT).complete


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
    with pytest.raises(dataset.ErrorLimitError, match=r"^1 bad rows, 0 are allowed: see .*_errors"):
        write_dataset([rows], out, max_errors=0, **options)
    with pytest.raises(
        dataset.ErrorLimitError, match=r"^2 bad rows, 1 are allowed: see (.*)"
    ) as at:
        write_dataset([rows], out, max_errors=1, **options)
    named = Path(str(at.value).split("see ")[1])
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
    with pytest.raises(dataset.NoExamplesError, match=r"302; the first is .*rows.jsonl:1: Invalid"):
        write_dataset([rows], str(tmp_path / "out"))
    with pytest.raises(dataset.NoExamplesError, match="longer than max_tokens 300"):
        write_dataset([rows], str(tmp_path / "none"), max_tokens=1, overflow="drop", **CHAT)
    assert write_dataset([rows], str(tmp_path / "out"), **CHAT).examples == len(ROWS)


@pytest.mark.parametrize(
    ("output", "options", "said"),
    [
        ("out.csv", {}, "^unknown suffix: .*out.csv .known: .parquet, .arrow, .bin"),
        ("out.parquet", {"to": "arrow"}, "is named as parquet, not as arrow"),
        ("out.parquet", {"shard_tokens": 5}, "are for a folder; the output is one file"),
        ("out", {"shard_tokens": 5, "shard_bytes": 5}, "give one of them"),
        ("out", {"shard_tokens": 0}, "^shard_tokens: expected a whole number from 1, got 0"),
        ("out", {"batch_rows": 0}, "^batch_rows: expected a whole number from 1, got 0"),
        ("out", {"max_errors": -1}, "^max_errors: expected a whole number from 0, got -1"),
        ("out", {"columns": "all"}, "^columns: expected one of"),
        ("out.bin", {"columns": "trl"}, "^columns: Megatron's files have none"),
        ("out", {"columns": "flat", "to": "megatron"}, "^columns: Megatron's files have none"),
        ("out", {"overflow": "drop"}, "^overflow: 'drop' does nothing without max_tokens"),
        ("out", {"format": "chats"}, "format"),
    ],
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
