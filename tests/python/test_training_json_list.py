"""Files that are one JSON list, which is loaded whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training import render
from openai_harmony.training.dataset import InputError, write_dataset

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel for this Python")


@pytest.mark.parametrize("begin", ["", "\ufeff", " \n\r\n\t"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_has_the_rows_of_its_lines(begin: str, indent: Any, tmp_path: Path) -> None:
    rows: list[Any] = [*chats(40), {"messages": "é😀"}, 3, None, [], *chats(3)]
    path = tmp_path / "in.json"
    path.write_text(begin + json.dumps(rows, indent=indent) + "\n", encoding="utf-8")
    options: Any = {"format": "chat", "max_errors": None}
    state = write_dataset([str(path)], str(tmp_path / "out.parquet"), **options)
    expected = render([json.dumps(row) for row in rows], format="chat")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == expected.to_arrow().to_pylist()
    assert state.counts.rows == len(rows)
    errors = (tmp_path / "out.parquet.errors.jsonl").read_text(encoding="utf-8").splitlines()
    said = [(error["row"], error["message"]) for error in map(json.loads, errors)]
    assert said == [(row, str(error)) for row, error in render(rows, format="chat").errors]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[", "not a JSON list: Expecting value: line 1 column 2"),
        (b"[1 2]", "not a JSON list: Expecting ',' delimiter: line 1 column 4"),
        (b'[{"a": 1},\n{"b"}]', "not a JSON list: Expecting ':' delimiter: line 2 column 5"),
        (b"[]\n[]", "not a JSON list: Extra data: line 2 column 1"),
        (b'["\xff"]', "not a JSON list: .*utf-8.* codec can't decode byte 0xff"),
        (b"[" * 100_000, "not a JSON list: nested too deeply"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_not_a_list_is_said(text: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_bytes(text)
    with pytest.raises(InputError, match=f"^cannot read .*in.json: {said}"):
        write_dataset([str(tmp_path / "in.json")], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_list_in_a_file_of_lines_is_said(tmp_path: Path) -> None:
    rows = chats(3)
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(rows, indent=1))
    with pytest.raises(InputError, match=r"in.jsonl: this is one JSON list, .*: name it .json$"):
        write_dataset([str(path)], str(tmp_path / "out"), format="chat")
    path.write_text(json.dumps(rows))
    said = r"Invalid row: a list of rows; pass each as its own row"
    with pytest.raises(Exception, match=said):
        write_dataset([str(path)], str(tmp_path / "out"), format="chat")
