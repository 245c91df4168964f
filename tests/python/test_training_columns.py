"""A batch as the columns that trainers read, and as NumPy's arrays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import Batch, LossMask, arrow, render
from openai_harmony.training.arrow import pieces_of

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
np = pytest.importorskip("numpy", reason="NumPy has no wheel for this Python")


@pytest.fixture(scope="module")
def batch() -> Batch:
    rows: list[Any] = [*chats(20), {"messages": []}, *chats(3, seed=1)]
    return render(rows, format="chat", mask=LossMask(channels=["final"]))


def test_trl(batch: Batch) -> None:
    table = batch.to_arrow("trl")
    assert table.equals(batch.to_arrow())
    assert table.schema == pa.schema(
        {
            "input_ids": pa.list_(pa.int32()),
            "labels": pa.list_(pa.int32()),
            "assistant_masks": pa.list_(pa.int8()),
        }
    )
    assert len(table) == len(batch) == 23
    for example, row in zip(batch, table.to_pylist()):
        trained = list(example.loss_mask)
        assert row["input_ids"] == list(example.tokens)
        assert row["assistant_masks"] == trained
        assert row["labels"] == [t if m else -100 for t, m in zip(example.tokens, trained)]
    assert {0, 1} == set(batch.loss_mask)


def test_axolotl(batch: Batch) -> None:
    table, trl = batch.to_arrow("axolotl"), batch.to_arrow("trl")
    assert table.column_names == ["input_ids", "attention_mask", "labels"]
    assert table["input_ids"] == trl["input_ids"]
    assert table["labels"] == trl["labels"]
    ones = [[1] * len(example.tokens) for example in batch]
    assert table["attention_mask"].to_pylist() == ones


def test_torchtune(batch: Batch) -> None:
    table = batch.to_arrow("torchtune")
    assert table.column_names == ["tokens", "mask"]
    assert table["tokens"] == batch.to_arrow("trl")["input_ids"]
    ignored = [[byte == 0 for byte in example.loss_mask] for example in batch]
    assert table["mask"].to_pylist() == ignored


def test_flat(batch: Batch) -> None:
    table = batch.to_arrow("flat")
    assert table.column_names == ["tokens", "loss_mask", "row", "spans"]
    assert table["row"].to_pylist() == list(batch.row) == [*range(20), 21, 22, 23]
    assert table["loss_mask"].to_pylist() == [list(example.loss_mask) for example in batch]
    names = ["message", "start", "content", "stop", "end"]
    spans = [[dict(zip(names, span)) for span in example.spans] for example in batch]
    assert table["spans"].to_pylist() == spans


def test_tokens_and_masks_are_not_copied(batch: Batch) -> None:
    table, arrays = batch.to_arrow("trl"), batch.to_numpy()
    for name, column in (("tokens", "input_ids"), ("loss_mask", "assistant_masks")):
        values = table[column].chunk(0).values
        assert values.buffers()[1].address == arrays[name].ctypes.data


def test_numpy(batch: Batch) -> None:
    arrays = batch.to_numpy()
    kinds = {"tokens": np.uint32, "offsets": np.int64, "loss_mask": np.uint8, "row": np.int64}
    assert {name: array.dtype for name, array in arrays.items()} == kinds
    for name, array in arrays.items():
        own = getattr(batch, name)
        assert array.tolist() == list(own)
        assert np.shares_memory(array, np.frombuffer(own, dtype=array.dtype))


@pytest.mark.parametrize("columns", ["trl", "axolotl", "torchtune", "flat"])
def test_no_rows_are_a_table_of_the_same_columns(batch: Batch, columns: Any) -> None:
    nothing = render([])
    assert nothing.to_arrow(columns).schema == batch.to_arrow(columns).schema
    assert len(nothing.to_arrow(columns)) == 0
    assert {name: len(array) for name, array in nothing.to_numpy().items()} == {
        "tokens": 0,
        "offsets": 1,
        "loss_mask": 0,
        "row": 0,
    }


def test_long_batches_are_cut_where_the_offsets_of_a_list_end(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if an Arrow list could count to 1,000 and not to 2^31."""
    whole = {name: batch.to_arrow(name) for name in ("trl", "torchtune")}
    monkeypatch.setattr(arrow, "LONGEST", 1000)
    for name, expected in whole.items():
        table = batch.to_arrow(name)
        assert table["mask" if name == "torchtune" else "labels"].num_chunks > 3
        assert table.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    ("ends", "pieces"),
    [
        ([0], []),
        ([0, 0], [(0, 1)]),
        ([0, 3, 6, 9], [(0, 3)]),
        ([0, 4, 8, 12], [(0, 2), (2, 3)]),
        ([0, 10, 11, 22, 30], [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ([0, 5, 10, 15], [(0, 2), (2, 3)]),
    ],
)
def test_pieces(ends: list[int], pieces: list[tuple[int, int]]) -> None:
    assert list(pieces_of(ends, 10)) == pieces


@pytest.mark.parametrize("wrong", ["TRL", "", None, 3])
def test_unknown_columns_are_refused(batch: Batch, wrong: Any) -> None:
    with pytest.raises(ValueError, match="^columns: expected one of 'trl', 'axolotl', "):
        batch.to_arrow(wrong)


def test_parquet_gives_the_same_back(batch: Batch, tmp_path: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    for columns in ("trl", "axolotl", "torchtune", "flat"):
        table = batch.to_arrow(columns)
        pq.write_table(table, tmp_path / "batch.parquet")
        assert pq.read_table(tmp_path / "batch.parquet").equals(table)


def test_nothing_heavy_is_imported() -> None:
    code = """
import sys
import openai_harmony.training, openai_harmony.cli, openai_harmony.training.dataset
import openai_harmony.training.huggingface, openai_harmony.training.ray
openai_harmony.training.render([])
heavy = {"pyarrow", "numpy", "datasets", "ray", "rich", "pandas", "torch"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("missing", ["pyarrow", "numpy"])
def test_what_is_missing_is_said(
    batch: Batch, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'openai-harmony\[training\]'"):
        batch.to_arrow() if missing == "pyarrow" else batch.to_numpy()
