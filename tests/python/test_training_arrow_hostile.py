"""Arrow data that other code got wrong, and columns of any depth: an error, and never the end of the process."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

import pytest

from openai_harmony.training import render

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

CHAT = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4."}]
EXPECTED = render([{"messages": CHAT}] * 3, format="chat").tokens


class Schema(ctypes.Structure):
    """``ArrowSchema``."""


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class Array(ctypes.Structure):
    """``ArrowArray``."""


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class Stream(ctypes.Structure):
    """``ArrowArrayStream``."""


GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GetError = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))
Release = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetError),
    ("release", Release),
    ("private_data", ctypes.c_void_p),
]
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype = ctypes.py_object
capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tampered:
    """A stream of one batch, whose C structs someone changes before they are read."""

    def __init__(
        self, batch: Any, schema: Callable[[Schema], Any], array: Callable[[Array], Any]
    ) -> None:
        self._left = [batch]

        def get_schema(_: Any, out: Any) -> int:
            batch.schema._export_to_c(ctypes.addressof(out.contents))
            schema(out.contents)
            return 0

        def get_next(_: Any, out: Any) -> int:
            if not self._left:
                out.contents.release = None
                return 0
            self._left.pop()._export_to_c(ctypes.addressof(out.contents))
            array(out.contents)
            return 0

        def release(stream: Any) -> None:
            stream.contents.release = Release()

        self._callbacks = (GetSchema(get_schema), GetNext(get_next), GetError(), Release(release))
        self._stream = Stream(*self._callbacks)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        address = ctypes.addressof(self._stream)
        return capsule_new(address, b"arrow_array_stream", None)


def batch() -> Any:
    return pa.RecordBatch.from_pylist([{"messages": CHAT, "other": [1, 2]}] * 3)


def nothing(_: Any) -> None:
    return None


def change(**fields: Any) -> Callable[[Any], None]:
    def changed(struct: Any) -> None:
        for name, value in fields.items():
            setattr(struct, name, value)

    return changed


def of_child(*path: int, **fields: Any) -> Callable[[Any], None]:
    def changed(struct: Any) -> None:
        for index in path:
            struct = struct.children[index].contents
        change(**fields)(struct)

    return changed


def test_the_stream_of_this_test_is_one() -> None:
    assert render(Tampered(batch(), nothing, nothing), format="chat").tokens == EXPECTED


@pytest.mark.parametrize(
    ("schema", "array"),
    [
        (change(format=None), nothing),
        (change(format=b"\xff"), nothing),
        (change(n_children=-1), nothing),
        (of_child(0, format=b"+l:"), nothing),
        (of_child(0, n_children=0), nothing),
        (of_child(0, format=b"w:-1"), nothing),
        (of_child(0, 0, name=b"\xff"), nothing),
        (nothing, change(n_children=1)),
        (nothing, change(n_children=-1)),
        (nothing, change(length=-1)),
        (nothing, change(length=1 << 62)),
        (nothing, change(offset=-1)),
        (nothing, of_child(0, n_buffers=0)),
        (nothing, of_child(0, n_buffers=-1)),
        (nothing, of_child(0, buffers=None)),
        (nothing, of_child(0, n_children=0)),
        (nothing, of_child(0, length=1 << 40, offset=1 << 62)),
        (nothing, of_child(0, 0, 0, n_buffers=2)),
    ],
)
def test_malformed_structs_are_errors(schema: Any, array: Any) -> None:
    with pytest.raises(ValueError, match=r"^rows: not valid Arrow data: "):
        render(Tampered(batch(), schema, array), format="chat")


def deep(levels: int) -> Any:
    """A list of a list of a list: its JSON would be as deep."""
    array = pa.array([None], pa.int64())
    for _ in range(levels):
        array = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
    return array


def with_column(name: str, levels: int) -> Any:
    return pa.RecordBatch.from_arrays(
        [pa.array([json.dumps(CHAT)]), deep(levels)], ["messages", name]
    )


def test_a_deep_column_that_is_not_read_is_not_touched() -> None:
    rows = with_column("embedding", 5000)
    batch = render(rows, format="chat")
    assert not batch.errors
    assert batch.tokens == render([{"messages": CHAT}], format="chat").tokens


def test_a_deep_column_is_an_error() -> None:
    with pytest.raises(ValueError, match="tools: type is nested more than 256 levels deep"):
        render(with_column("tools", 5000), format="chat")
    [(row, error)] = render(with_column("tools", 100), format="chat").errors
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
