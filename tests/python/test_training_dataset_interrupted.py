"""Runs that are interrupted anywhere go on, unless something changed in between."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from oracle.seeds import stride
from tables import table
from whole_data import (
    CHAT,
    before,
    contents,
    expected,
    interrupting,
    small_chunks,
    tables,
    write_rows,
)

pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

ALL = {**CHAT, "max_errors": None}
"""Of 61 rows two are bad, more than is allowed."""


@pytest.fixture
def rows(tmp_path: Path) -> str:
    return write_rows(tmp_path)


@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("out", {"shard_tokens": 1500}),
        ("out", {"shard_tokens": 2500, "to": "arrow"}),
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
        write_dataset([rows], str(tmp_path / "whole" / output), **options, **ALL)
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
        """A run for each call (`make test`: each fourth), interrupted there, and one that goes on."""
        whole = self.whole(rows, tmp_path, output, options)
        real: Any = {"os.replace": os.replace, "os.fsync": os.fsync}.get(call)
        interrupted, turn = True, 0
        while interrupted:
            folder = tmp_path / f"turn{turn}"
            folder.mkdir()
            stop = interrupting(turn)
            with monkeypatch.context() as patched:
                if real is not None:
                    patched.setattr(call, before(real, stop))
                asked = {"progress": stop} if real is None else {}
                interrupted = not self.ends(rows, folder / output, {**options, **asked})
            left = contents(folder)
            for name in whole.keys() & left.keys():  # What has its name is whole.
                assert left[name] == whole[name] or name.endswith("report.json"), name
            write_dataset([rows], str(folder / output), **options, **ALL)
            assert contents(folder) == whole
            turn += stride()
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
                patched.setattr(os, "replace", before(real, interrupting(turn // 2 + 1)))
                ended = self.ends(rows, tmp_path / "part" / output, options)
            turn += 1
        assert turn > 3
        assert contents(tmp_path / "part") == whole

    @staticmethod
    def ends(rows: str, output: Path, options: Any) -> bool:
        try:
            write_dataset([rows], str(output), **options, **ALL)
        except KeyboardInterrupt:
            return False
        return True


class TestRefused:
    """What a run does not go on with."""

    @pytest.fixture
    def begun(self, rows: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        """A run that was interrupted after some shards."""
        out = str(tmp_path / "out")
        with monkeypatch.context() as patched:
            small_chunks(patched)
            with pytest.raises(KeyboardInterrupt):
                write_dataset([rows], out, shard_tokens=2000, progress=interrupting(2), **ALL)
        assert os.path.exists(f"{out}/part-00001.parquet")
        return out

    @pytest.mark.parametrize(
        ("options", "named"),
        table("training_dataset_interrupted", "other options"),
    )
    def test_other_options(self, rows: str, begun: str, options: Any, named: str) -> None:
        with pytest.raises(dataset.StateError, match=f"^this output was started {named}"):
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
            dataset.StateError,
            match="^this output was started with version of openai-harmony '0.0.8",
        ):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)

    def test_changed_input(self, rows: str, begun: str, tmp_path: Path) -> None:
        with open(rows, "a") as file:
            file.write("\n")
        with pytest.raises(dataset.StateError, match="^changed since the run began: .*rows.jsonl"):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)

    def test_other_input(self, rows: str, begun: str, tmp_path: Path) -> None:
        (tmp_path / "more.jsonl").write_text("{}")
        for others in ([rows, f"{tmp_path}/more.jsonl"], [f"{tmp_path}/more.jsonl"]):
            with pytest.raises(
                dataset.StateError, match="^this output was started with other files: .*more.jsonl"
            ):
                write_dataset(others, begun, shard_tokens=2000, **ALL)

    def test_a_missing_or_changed_shard(self, rows: str, begun: str) -> None:
        shard = Path(begun, "part-00001.parquet")
        shard.write_bytes(shard.read_bytes() + b".")
        with pytest.raises(dataset.StateError, match="^missing or changed .*part-00001.parquet"):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)
        shard.unlink()
        with pytest.raises(dataset.StateError, match="^missing or changed .*part-00001.parquet"):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)

    def test_cut_errors(self, rows: str, begun: str) -> None:
        Path(begun, "_errors.jsonl.unfinished").write_bytes(b"")
        with pytest.raises(dataset.StateError, match="^missing or changed .*_errors.jsonl"):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"harmony_dataset": 3}', '{"harmony_dataset": 2}']
    )
    def test_a_damaged_state(self, rows: str, begun: str, text: str) -> None:
        Path(begun, "_report.json").write_text(text)
        with pytest.raises(dataset.StateError, match="_report.json is not the state of a run"):
            write_dataset([rows], begun, shard_tokens=2000, **ALL)

    def test_restart(self, rows: str, begun: str, tmp_path: Path) -> None:
        write_dataset([rows], begun, restart=True, **ALL)
        names = {path.name for path in Path(begun).iterdir()}
        assert names == {"_report.json", "_errors.jsonl", "part-00000.parquet"}
        assert [row for table in tables(Path(begun)) for row in table.to_pylist()] == expected()

    def test_a_folder_of_others(self, rows: str, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
        for restart in (False, True):
            with pytest.raises(
                dataset.StateError, match="^not of a run of this command: .*thesis.txt"
            ):
                write_dataset([rows], str(out), restart=restart, **ALL)
        assert contents(out) == {"thesis.txt": b"mine"}

    @pytest.mark.parametrize("suffix", ["parquet", "bin"])
    def test_a_file_of_others(self, rows: str, tmp_path: Path, suffix: str) -> None:
        out = tmp_path / f"out.{suffix}"
        out.write_text("mine")
        with pytest.raises(dataset.StateError, match="^not of a run of this command"):
            write_dataset([rows], str(out), **ALL)
        assert contents(tmp_path) == {out.name: b"mine"}

    def test_another_run_at_the_same_time(self, rows: str, tmp_path: Path) -> None:
        pytest.importorskip("fcntl", reason="nothing locks a folder on Windows")
        out = str(tmp_path / "out")

        def second(read: int, counts: Any) -> None:
            with pytest.raises(dataset.StateError, match="^another run writes .*out"):
                write_dataset([rows], out, **ALL)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_dataset([rows], out, progress=second, **ALL)
        assert write_dataset([rows], out, **ALL).complete
