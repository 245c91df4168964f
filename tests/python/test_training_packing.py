"""Examples in packs: none is cut, none is lost, and rows say how long each is."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from openai_harmony.training import Batch, render
from openai_harmony.training.dataset import write_dataset
from openai_harmony.training.dataset.progress import numbers
from openai_harmony.training.packing import best_fit
from whole_data import CHAT, ROWS, small_chunks, write_rows

pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

SIZE = 700


def lengths_of(batch: Batch) -> list[int]:
    return [end - begin for begin, end in pairwise(batch.offsets)]


def ends_of(batch: Batch) -> list[int]:
    return [batch.offsets[example] for example in batch.rows_of("trl")]


def by_trying_all(lengths: list[int], size: int) -> list[list[int]]:
    """Best fit decreasing, as it is defined."""
    packs: list[list[int]] = []
    room: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        fitting = [pack for pack in range(len(packs)) if room[pack] >= lengths[index]]
        if not fitting:
            packs.append([])
            room.append(size)
            fitting = [len(packs) - 1]
        pack = min(fitting, key=lambda pack: room[pack])
        packs[pack].append(index)
        room[pack] -= lengths[index]
    return packs


@pytest.mark.parametrize("seed", range(30))
def test_best_fit_is_best_fit_decreasing(seed: int) -> None:
    chosen = random.Random(seed)
    size = chosen.randint(1, 60)
    lengths = [chosen.randint(1, size) for _ in range(chosen.randint(0, 200))]
    packs = best_fit(lengths, size)
    assert sorted(index for pack in packs for index in pack) == list(range(len(lengths)))
    rooms = sorted(size - sum(lengths[index] for index in pack) for pack in packs)
    # Of packs with the same room any may be taken, so the rooms are equal, not the packs.
    expected = by_trying_all(lengths, size)
    assert rooms == sorted(size - sum(lengths[index] for index in pack) for pack in expected)
    assert rooms[:1] >= [0] or not rooms


def test_packs_have_the_examples_whole() -> None:
    batch = render(ROWS, **CHAT)
    packed = batch.pack(SIZE)
    assert packed.packs is not None
    assert sorted(map(repr, packed)) == sorted(map(repr, batch))
    assert len(packed) == len(batch)
    assert max(end - begin for begin, end in pairwise(ends_of(packed))) <= SIZE
    assert len(packed.packs) - 1 < len(batch) / 2
    assert list(packed[3].spans) == list(batch[batch.row.index(packed.row[3])].spans)
    assert packed.select([3]).packs is None


@pytest.mark.parametrize("columns", ["trl", "axolotl", "torchtune"])
def test_columns_of_packs(columns: Any) -> None:
    packed = render(ROWS, **CHAT).pack(SIZE)
    table = packed.to_arrow(columns).to_pydict()
    singles = packed.select(range(len(packed))).to_arrow(columns).to_pydict()
    positions = [place for length in lengths_of(packed) for place in range(length)]
    for name in {"position_ids", "input_pos"} & set(table):
        assert [place for row in table.pop(name) for place in row] == positions
    if columns == "axolotl":
        assert set(table) == set(singles)
        return
    lengths = table.pop("seq_lengths" if columns == "trl" else "seq_lens")
    assert [length for row in lengths for length in row] == lengths_of(packed)
    assert [sum(row) for row in lengths] == [
        end - begin for begin, end in pairwise(ends_of(packed))
    ]
    for name, rows in table.items():
        assert [item for row in rows for item in row] == [i for row in singles[name] for i in row]


def test_nothing_is_packed() -> None:
    empty = render([], **CHAT).pack(5)
    assert (ends_of(empty), empty.to_arrow().num_rows) == ([0], 0)


def test_a_data_set_in_packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    rows = write_rows(tmp_path)
    small_chunks(monkeypatch)
    state = write_dataset([rows], tmp_path / "out.parquet", pack=SIZE, **CHAT)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["input_ids", "labels", "assistant_masks", "seq_lengths"]
    lengths = table["seq_lengths"].to_pylist()
    assert sum(map(len, lengths)) == state.examples == len(ROWS)
    assert state.rows == len(table)
    assert ("packs", f"{len(table):,}") in numbers(state)
    assert list(map(sum, lengths)) == list(map(len, table["input_ids"].to_pylist()))
    assert max(map(sum, lengths)) <= SIZE
    assert state.tokens == sum(map(sum, lengths))
    assert state.trained == sum(map(sum, table["assistant_masks"].to_pylist()))
    # An example is no longer than a pack unless `max_tokens` says less.
    short = write_dataset([rows], tmp_path / "short.parquet", pack=200, max_errors=None, **CHAT)
    assert short.counts.errors["too_many_tokens"] > 5
    many = write_dataset([rows], tmp_path / "many", pack=SIZE, shard_tokens=5 * SIZE, **CHAT)
    assert len(many.shards) > 5
    shards = [pq.read_table(path) for path in sorted((tmp_path / "many").glob("part-*"))]
    assert [row for shard in shards for row in shard.to_pylist()] == table.to_pylist()


def test_the_report_counts_lengths(tmp_path: Path) -> None:
    rows = write_rows(tmp_path)
    counts = write_dataset([rows], tmp_path / "out", **CHAT).counts
    batch = render(ROWS, **CHAT)
    lengths = sorted(lengths_of(batch))
    assert sum(counts.lengths.values()) == len(lengths)
    assert counts.longest_of(0.5) == lengths[len(lengths) // 2 - 1]
    assert counts.longest_of(0.95) == lengths[len(lengths) * 95 // 100 - 1]
    assert counts.longest_of(1) == lengths[-1]
    turns = sum(len(row["messages"]) // 2 for row in ROWS)
    assert counts.dropped_thoughts == batch.dropped_thoughts == turns - len(ROWS)
    assert render(ROWS, examples="turns", **CHAT).dropped_thoughts == 0
    again = write_dataset([rows], tmp_path / "out", **CHAT)
    assert again.found_complete
    assert again.counts == counts
