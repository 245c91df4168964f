"""What `write_dataset` and `RenderRows` take, and what they say of anything else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from fences import fenced
from openai_harmony import WrongTypeError
from openai_harmony.training import dataset
from openai_harmony.training.dataset import write_dataset
from openai_harmony.training.huggingface import RenderRows
from tables import table

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")

CHAT = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"messages": CHAT}))
    return path


def test_paths_may_be_path_objects(rows: Path, tmp_path: Path) -> None:
    as_texts = write_dataset([str(rows)], str(tmp_path / "a.parquet"), format="chat")
    as_paths = write_dataset(iter([rows]), tmp_path / "b.parquet", format="chat")
    assert (as_texts.examples, as_paths.examples) == (1, 1)
    assert pq.read_table(tmp_path / "a.parquet").equals(pq.read_table(tmp_path / "b.parquet"))
    # A path object has lost the slash at its end; without a suffix it is a folder all the same.
    assert write_dataset([rows], tmp_path / "folder", format="chat").examples == 1
    assert (tmp_path / "folder" / "part-00000.parquet").is_file()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (b"rows.jsonl", "inputs: expected a path or a list of them, got bytes"),
        (5, "inputs: expected a path or a list of them, got int"),
        ([{"messages": CHAT}], "inputs[0]: expected a path, got dict"),
        ([b"rows.jsonl"], "inputs[0]: expected a path, got bytes"),
        ([], "inputs: expected at least one path, got none"),
    ],
)
def test_what_is_not_a_list_of_paths(inputs: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as raised:
        write_dataset(inputs, tmp_path / "out.parquet", format="chat")
    assert str(raised.value).startswith(said)
    assert isinstance(raised.value, WrongTypeError) == (inputs != [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("-", f"the output is files, not standard output; .{os.sep}- is a folder"),
        ("", "output: the path is empty"),
        (None, "output: expected a path, got NoneType"),
        (b"out.parquet", "output: expected a path, got bytes"),
    ],
)
def test_what_is_not_an_output(
    output: Any, said: str, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as raised:
        write_dataset([rows], output, format="chat")
    assert str(raised.value) == said
    assert list(tmp_path.iterdir()) == [rows]


@pytest.mark.parametrize(
    ("options", "said"),
    table("training_arguments", "wrong options write nothing"),
)
def test_wrong_options_write_nothing(options: Any, said: str, rows: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as raised:
        write_dataset([rows], tmp_path / "out", format="chat", **options)
    assert str(raised.value) == said
    assert list(tmp_path.iterdir()) == [rows]


def test_one_path_needs_no_list(rows: Path, tmp_path: Path) -> None:
    states = [
        write_dataset(inputs, tmp_path / f"out-{index}.parquet", format="chat")
        for index, inputs in enumerate(([rows], rows, str(rows)))
    ]
    assert [state.shards for state in states] == [states[0].shards] * 3
    assert repr(states[0]).startswith("<State: complete, ")


def test_the_call_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chats(2)))
    exec(fenced("pyarrow"), {})


def test_a_folder_may_have_any_name(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dataset([rows], "./-", format="chat")
    assert (tmp_path / "-" / "part-00000.parquet").is_file()


def test_a_run_that_differs_says_how_to_begin_anew(rows: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    write_dataset([rows], output, format="chat")
    with pytest.raises(dataset.StateError) as raised:
        write_dataset([rows], output, format="chat", examples="turns")
    said = (
        "this output was started with examples='conversation', now 'turns'; choose another output, or pass "
        "restart=True"
    )
    assert str(raised.value) == said
    assert write_dataset([rows], output, format="chat", examples="turns", restart=True).complete


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"rows": 5}, "rows: expected a column or a list of columns, got 5"),
        ({"keep": 5}, "keep: expected a list of columns, got 5"),
        ({"keep": None}, "keep: expected a list of columns, got None"),
    ],
)
def test_what_is_not_a_list_of_columns(columns: Any, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        RenderRows("trl", format="chat", **columns)
    assert str(raised.value) == said
