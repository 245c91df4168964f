"""Files of Megatron, read by what the form says; tests/python/trainers has Megatron's own reader."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from chats import chats
from openai_harmony.training import Batch, megatron, render
from openai_harmony.training.megatron import MegatronWriter, megatron_paths

np = pytest.importorskip("numpy", reason="NumPy has no wheel for this Python")


def read(prefix: Path) -> list[list[int]]:
    """The sequences of an `IndexedDataset`, after its form is checked."""
    with open(f"{prefix}.idx", "rb") as index:
        assert index.read(9) == b"MMIDIDX\x00\x00"
        version, code = struct.unpack("<QB", index.read(9))
        sequences, documents = struct.unpack("<QQ", index.read(16))
        lengths = np.frombuffer(index.read(4 * sequences), np.int32)
        pointers = np.frombuffer(index.read(8 * sequences), np.int64)
        boundaries = np.frombuffer(index.read(8 * documents), np.int64)
        assert index.read() == b""
    assert version == 1
    kind = np.dtype({1: np.uint8, 4: np.int32}[code])
    assert boundaries.tolist() == list(range(sequences + 1))
    data = Path(f"{prefix}.bin").read_bytes()
    assert sum(lengths) * kind.itemsize == len(data)
    return [
        np.frombuffer(data, kind, count=length, offset=pointer).tolist()
        for length, pointer in zip(lengths, pointers)
    ]


def expected(*batches: Batch) -> tuple[list[list[int]], list[list[int]]]:
    examples = [example for batch in batches for example in batch]
    return [list(e.tokens) for e in examples], [list(e.loss_mask) for e in examples]


def test_a_batch(tmp_path: Path) -> None:
    batch = render(chats(30), format="chat")
    batch.write_megatron(tmp_path / "train")
    assert (read(tmp_path / "train"), read(tmp_path / "train.loss_mask")) == expected(batch)
    assert len(list(tmp_path.iterdir())) == 4


def test_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(megatron, "STEP", 7)
    first, second = render(chats(30), format="chat"), render(chats(9, seed=1), format="chat")
    with MegatronWriter(str(tmp_path / "train")) as writer:
        writer.write(first)
        writer.write(render([]))
        writer.write(second, 0, 4)
        writer.write(second, 4)
    assert (read(tmp_path / "train"), read(tmp_path / "train.loss_mask")) == expected(first, second)


def test_files_are_joined(tmp_path: Path) -> None:
    batches = [render(chats(5, seed=seed), format="chat") for seed in range(3)]
    for index, batch in enumerate(batches):
        batch.write_megatron(tmp_path / f"part{index}")
    with MegatronWriter(tmp_path / "whole") as writer:
        for index in range(3):
            writer.append(tmp_path / f"part{index}")
    assert (read(tmp_path / "whole"), read(tmp_path / "whole.loss_mask")) == expected(*batches)


def test_nothing_at_all(tmp_path: Path) -> None:
    render([]).write_megatron(tmp_path / "none")
    assert read(tmp_path / "none") == read(tmp_path / "none.loss_mask") == []


def test_a_failure_leaves_no_files(tmp_path: Path) -> None:
    batch = render(chats(3), format="chat")
    with pytest.raises(IndexError), MegatronWriter(tmp_path / "train") as writer:
        writer.write(batch, 0, 4)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        batch.write_megatron(tmp_path / "none" / "train")


def test_files_appear_whole(tmp_path: Path) -> None:
    names = {path.name for path in megatron_paths(tmp_path / "train")}
    with MegatronWriter(tmp_path / "train") as writer:
        writer.write(render(chats(3), format="chat"))
        assert not names & {path.name for path in tmp_path.iterdir()}
    assert names == {path.name for path in tmp_path.iterdir()}
