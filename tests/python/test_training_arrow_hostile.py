"""Arrow data that is damaged, columns of any depth, streams that fail: an error, and never the end of the process."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from openai_harmony.training import render

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

CHAT = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]
EXPECTED = render([{"messages": CHAT}] * 3, format="chat").tokens


def damaged(offsets: list[int], data: bytes = b"[][]") -> Any:
    """Texts as a file may have them that nobody checked."""
    buffers = [None, pa.py_buffer(array("i", offsets).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


DAMAGED = {
    "not UTF-8": lambda: damaged([0, 2], b"\xff\xfe"),
    "ends before it begins": lambda: damaged([0, 3, 2]),
    "begins before the buffer": lambda: damaged([0, -2, 2]),
    "ends behind the buffer": lambda: damaged([0, 1 << 30, 2]),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_texts_are_an_error(kind: str) -> None:
    with pytest.raises(ValueError, match=r"^rows: not valid Arrow data: "):
        render(DAMAGED[kind](), format="chat")
    with pytest.raises(ValueError, match=r"^rows: not valid Arrow data: "):
        render(pa.table({"messages": DAMAGED[kind]()}), format="chat")


def test_damaged_lists_are_an_error() -> None:
    messages = pa.array(
        [CHAT], pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    )
    offsets = pa.py_buffer(array("i", [0, 1 << 20, 2]).tobytes())
    lists = pa.Array.from_buffers(messages.type, 2, [None, offsets], children=[messages.values])
    with pytest.raises(ValueError, match=r"^rows: not valid Arrow data: "):
        render(pa.table({"messages": lists}), format="chat")


def test_a_column_that_is_not_read_is_not_checked() -> None:
    rows = pa.table({"messages": [CHAT], "other": damaged([0, 2], b"\xff\xfe")})
    batch = render(rows, format="chat")
    assert not batch.errors
    assert batch.tokens == render([{"messages": CHAT}], format="chat").tokens


def test_an_error_of_the_stream() -> None:
    def batches() -> Iterator[Any]:
        yield batch
        raise OSError("the disk is gone")

    batch = pa.RecordBatch.from_pylist([{"messages": CHAT}])
    with pytest.raises(ValueError, match=r"^rows: not valid Arrow data: .*the disk is gone"):
        render(pa.RecordBatchReader.from_batches(batch.schema, batches()), format="chat")


class Once:
    """Gives one and the same stream, however often it is asked."""

    def __init__(self) -> None:
        self.stream = pa.table({"messages": [CHAT] * 3}).__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.stream


def test_a_stream_is_read_once() -> None:
    once: Any = Once()
    assert render(once, format="chat").tokens == EXPECTED
    with pytest.raises(ValueError, match="input stream is already released"):
        render(once, format="chat")


def test_a_stream_that_another_has_taken() -> None:
    taken: Any = Once()
    with pa.RecordBatchReader._import_from_c_capsule(taken.stream) as other:
        assert len(other.read_all()) == 3
    with pytest.raises(ValueError, match="input stream is already released"):
        render(taken, format="chat")


def deep(levels: int) -> Any:
    """A list of a list of a list: its JSON would be as deep."""
    array = pa.array([None], pa.int64())
    for _ in range(levels):
        array = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
    return array


def with_tools(tools: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([json.dumps(CHAT)]), tools], ["messages", "tools"])


def test_a_deep_column_is_an_error() -> None:
    kind = pa.int64()
    for _ in range(5000):
        kind = pa.list_(kind)
    deepest = with_tools(pa.nulls(1, kind))
    for table in (deepest, deepest.rename_columns(["messages", "embedding"])):
        with pytest.raises(ValueError, match="a type is nested more than 256 levels deep"):
            render(table, format="chat")
    [(row, error)] = render(with_tools(deep(100)), format="chat").errors
    assert row == 0
    assert "tools" in str(error)


def test_a_dictionary_of_texts() -> None:
    """Rows, and a column, of few values."""
    rows = pa.array([json.dumps({"messages": CHAT})] * 3).dictionary_encode()
    assert render(rows, format="chat").tokens == EXPECTED
    column = pa.table({"messages": pa.array([json.dumps(CHAT)] * 3).dictionary_encode()})
    assert render(column, format="chat").tokens == EXPECTED
    contents = [[{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]] * 3
    few = pa.dictionary(pa.int8(), pa.string())
    kind = pa.list_(pa.struct([("role", few), ("content", few)]))
    assert (
        render(pa.table({"messages": pa.array(contents, kind)}), format="chat").tokens == EXPECTED
    )
