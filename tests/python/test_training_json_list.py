"""Files that are one JSON list, which is read item by item."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from chats import chats
from openai_harmony.training.dataset import InputError, json_list, write_dataset
from openai_harmony.training.dataset.json_list import ListReader, is_list

PARTS: list[Any] = [
    '{"a": [1, {"b": "]},[\\\\\\""}]}',
    "-12.5e-3",
    "0",
    '"é雨⛅\\\\"',
    '"\\ud83d\\ude00"',
    "null",
    "true",
    "[]",
    "{}",
    "NaN",
    "-Infinity",
]


@pytest.fixture
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "_MEBIBYTE", 1)


def items(text: bytes, longest: int = 2**20) -> list[tuple[bytes, int]]:
    reader = ListReader(io.BytesIO(text), 0, longest)
    found = []
    while (item := reader.next()) is not None:
        found.append(item)
    assert reader.next() is None
    return found


@pytest.mark.usefixtures("small_reads")
def test_items_are_those_of_the_text_from_any_place() -> None:
    chosen = random.Random(0)
    for _ in range(300):
        wanted = chosen.choices(PARTS, k=chosen.randint(0, 6))
        blank = lambda: "".join(chosen.choices(" \n\t\r", k=chosen.randint(0, 20)))  # noqa: E731
        begin = chosen.choice(["", "\ufeff"]) + blank() + "[" + blank()
        text = (begin + (blank() + "," + blank()).join(wanted) + blank() + "]" + blank()).encode()
        found = items(text)
        assert [item.decode() for item, _ in found] == wanted
        for index, (item, end) in enumerate(found):
            assert text[:end].endswith(item)
            rest = io.BytesIO(text[end:])
            reader = ListReader(rest, end, 2**20)
            assert [reader.next() for _ in found[index:]] == [*found[index + 1 :], None]


@pytest.mark.parametrize("size", [1, 2**20])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "byte 1: "),
        ("[1", "byte 2: expected a comma or the end of the list"),
        ("[1,", "byte 3: "),
        ("[1,]", "byte 3: "),
        ("[1 2]", "byte 3: expected a comma or the end of the list"),
        ('[{"a": 1}, {"b"}]', "byte 1[45]: "),
        ('["a', "byte 1: Unterminated string starting$"),
        ('["\\x' + "a" * 99 + '"]', "byte 2: Invalid .*escape$"),
        ('[{"a" "' + "b" * 99 + '"}]', "byte 6: Expecting ':' delimiter$"),
        ("[tru]", "byte 1: "),
        ("[]\n[]", "byte 3: more follows the list; rows on lines are in files .jsonl"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "byte 0: expected its beginning"),
        ("", "byte 0: expected its beginning"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_not_a_list_is_said(
    text: str, said: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_list, "_MEBIBYTE", size)
    with pytest.raises(OSError, match=f"^not a JSON list, .*{said}"):
        items(text.encode())


@pytest.mark.usefixtures("small_reads")
def test_an_item_of_any_length_does_not_fill_the_memory() -> None:
    text = b'["' + b"a" * 2**21
    with pytest.raises(OSError, match="byte 1: an item has 1 MiB or more"):
        items(text, longest=2**20)


def test_a_list_is_known_by_its_beginning() -> None:
    for text, expected in [
        (" \n[", True),
        ("\ufeff[", True),
        ("{", False),
        ("", False),
        ("x[", False),
    ]:
        file = io.BufferedReader(io.BytesIO(text.encode()))  # type: ignore[arg-type]
        assert is_list(file) is expected
        assert file.read() == text.encode()


def test_a_list_in_a_file_of_lines_is_said(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
    rows = chats(3)
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(rows, indent=1))
    with pytest.raises(InputError, match=r"in.jsonl: this is one JSON list, .*: name it .json$"):
        write_dataset([str(path)], str(tmp_path / "out"), format="chat")
    path.write_text(json.dumps(rows))
    said = r"Invalid row: a list of rows; each has to be a row of its own"
    with pytest.raises(Exception, match=said):
        write_dataset([str(path)], str(tmp_path / "out"), format="chat")
