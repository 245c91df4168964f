"""The input of whole data sets: files of every kind, and where a run goes on in them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from openai_harmony.training.dataset.inputs import Inputs, Position
from whole_data import CHAT, ROWS, expected, interrupting, small_chunks, tables, write_rows

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")


@pytest.fixture
def rows(tmp_path: Path) -> str:
    return write_rows(tmp_path)


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
        with pytest.raises(KeyboardInterrupt):
            write_dataset([str(path)], out, shard_tokens=3000, progress=interrupting(5), **CHAT)
        state = write_dataset([str(path)], out, shard_tokens=3000, **CHAT)
        assert state.counts.rows == len(ROWS)
        written = [row for table in tables(tmp_path / "out") for row in table.to_pylist()]
        assert written == expected()

    def test_parquet(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        table = pa.Table.from_pylist(ROWS)
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=70)
        small_chunks(monkeypatch, 8000)
        out = tmp_path / "out"
        arguments: Any = ([str(tmp_path / "in.parquet")], str(out))
        options: Any = {"shard_tokens": 3000, **CHAT}
        with pytest.raises(KeyboardInterrupt):
            write_dataset(*arguments, progress=interrupting(7), **options)
        assert (out / "part-00001.parquet").exists()
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
            (
                [f"{tmp_path}/x.csv"],
                "^cannot read .*x.csv .known: .parquet.*load_dataset.'csv', data_files=",
            ),
            ([rows, f"{tmp_path}/./rows.jsonl"], "^given twice: "),
        ]:
            with pytest.raises(dataset.InputError, match=said):
                write_dataset(given, str(tmp_path / "out"), **CHAT)
        with pytest.raises(ValueError, match="^the output would be read as input"):
            write_dataset([str(tmp_path)], f"{tmp_path}/out.parquet")
