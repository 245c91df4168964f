"""Rows in Arrow's form give what the same rows give as Python's objects."""

import datetime
import json
from array import array

import pytest

from openai_harmony import load_harmony_encoding
from openai_harmony.errors import InvalidRowError
from openai_harmony.training import render, render_batches
from tables import table

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")

CHAT = table("training_arrow", "chat")
PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": PARAMETERS}}]
ROWS = [
    {"id": index, "messages": [{"role": "user", "content": str(index)}, *CHAT], "tools": TOOLS}
    for index in range(7)
]


def table():
    return pa.Table.from_pylist(ROWS).append_column("at", pa.array([datetime.datetime.now()] * 7))


def texts():
    return [json.dumps(row) for row in ROWS]


FORMS = {
    "table": table,
    "record batch": lambda: table().to_batches()[0],
    "stream": lambda: table().to_reader(max_chunksize=2),
    "slice": lambda: pa.concat_tables([table(), table()]).slice(7),
    "column of structs": lambda: table().to_struct_array(),
    "array of structs": lambda: table().to_struct_array().combine_chunks(),
    "array of texts": lambda: pa.array(texts()),
    "large texts": lambda: pa.array(texts(), pa.large_string()),
    "views of texts": lambda: pa.array(texts(), pa.string_view()),
    "column of texts": lambda: pa.chunked_array([texts()[:3], texts()[3:]]),
    "columns of JSON": lambda: pa.table(
        {name: [json.dumps(row[name]) for row in ROWS] for name in ("messages", "tools")}
    ),
    "columns with few values": lambda: pa.table(
        {
            "messages": [json.dumps(row["messages"]) for row in ROWS],
            "tools": pa.array([json.dumps(TOOLS)] * 7).dictionary_encode(),
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_what_dicts_give(form):
    expected = render(ROWS, format="chat")
    assert len(expected) == 7
    batch = render(FORMS[form](), format="chat")
    assert not batch.errors
    assert (batch.tokens, batch.loss_mask) == (expected.tokens, expected.loss_mask)
    assert batch.row == expected.row
    assert batch.spans == expected.spans


@pytest.mark.parametrize("signed", ["int", "uint"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_of_every_width(signed, bits):
    """As the default of a parameter, which the declaration has."""
    default = pa.array([3], getattr(pa, f"{signed}{bits}")())
    kind = pa.array(["integer"])
    parameter = pa.StructArray.from_arrays([kind, default], ["type", "default"])
    schema = pa.StructArray.from_arrays(
        [pa.array(["object"]), pa.StructArray.from_arrays([parameter], ["n"])],
        ["type", "properties"],
    )
    function = pa.StructArray.from_arrays([pa.array(["f"]), schema], ["name", "parameters"])
    tool = pa.StructArray.from_arrays([pa.array(["function"]), function], ["type", "function"])
    tools = pa.ListArray.from_arrays([0, 1], tool)
    messages = [[{"role": "user", "content": "1?"}, {"role": "assistant", "content": "2"}]]
    table = pa.table({"messages": pa.array(messages), "tools": tools})
    batch = render(table, format="chat")
    assert not batch.errors
    expected = render(table.to_pylist(), format="chat")
    assert batch.tokens == expected.tokens
    assert "default: 3" in load_harmony_encoding("HarmonyGptOss").decode(batch.tokens)


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_every_form_are_in_order(form):
    expected = render(ROWS, format="chat")
    batches = list(render_batches(FORMS[form](), batch_rows=2, format="chat"))
    assert sum((batch.row for batch in batches), array("q")) == expected.row
    assert sum((batch.tokens for batch in batches), array("I")) == expected.tokens


def test_harmony_rows_are_read_too():
    rows = [
        {
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "channel": "final", "content": "Hello!"},
            ]
        }
    ]
    expected = render(rows)
    assert len(expected) == 1
    assert render(pa.Table.from_pylist(rows)).tokens == expected.tokens


def test_a_null_in_a_struct_is_a_field_left_out():
    padded = [{"a": 1, "b": None}, {"a": None, "b": 2}]
    rows = [
        {
            "messages": [
                {"role": "user", "content": "Add."},
                {"role": "assistant", "tool_calls": [{"name": "add", "arguments": arguments}]},
            ]
        }
        for arguments in padded
    ]
    batch = render(pa.Table.from_pylist(rows), format="chat")
    for row, arguments in zip(rows, ({"a": 1}, {"b": 2})):
        row["messages"][1]["tool_calls"][0]["arguments"] = arguments
    assert batch.tokens == render(rows, format="chat").tokens


def arguments_in_a_map(keys, values):
    """A table with a call whose arguments are a map."""
    arguments = pa.MapArray.from_arrays([0, len(keys)], keys, values)
    call = pa.StructArray.from_arrays([pa.array(["add"]), arguments], ["name", "arguments"])
    said = pa.StructArray.from_arrays(
        [
            pa.array(["user", "assistant"]),
            pa.array(["Add.", None]),
            pa.ListArray.from_arrays(pa.array([0, 0, 1]), call),
        ],
        ["role", "content", "tool_calls"],
    )
    return pa.table({"messages": pa.ListArray.from_arrays([0, 2], said)})


def test_a_map_is_an_object():
    batch = render(arguments_in_a_map(["a", "b", "c"], [1, None, 3]), format="chat")
    assert not batch.errors
    text = load_harmony_encoding("HarmonyGptOss").decode(batch.tokens)
    assert '<|message|>{"a":1,"c":3}<|call|>' in text, text
    [(_, error)] = render(arguments_in_a_map([1, 2], [1, 2]), format="chat").errors
    assert error.path == "messages[1].tool_calls[0].arguments"
    assert str(error).endswith("expected a map whose keys are texts, got Int64")


@pytest.mark.parametrize(
    ("rows", "path", "text"),
    [
        (lambda: pa.table({"other": ["x"]}), "messages", "is missing"),
        (lambda: pa.array([None], pa.string()), "", "expected an object or a list of messages"),
        (lambda: pa.array([5]), "", "expected an object or a list of messages"),
        (lambda: pa.table({"messages": [1.5]}), "messages", "expected a list"),
        # As pandas has what is missing; deeper it is an error.
        (lambda: pa.table({"messages": [float("nan")]}), "messages", "is missing"),
        (
            lambda: pa.table({"messages": [[{"content": float("nan")}]]}),
            "messages[0].content",
            "got NaN",
        ),
        (
            lambda: pa.table({"messages": [[{"content": datetime.datetime(2025, 1, 1)}]]}),
            "messages[0].content",
            "expected a value that JSON can hold, got Arrow's Timestamp(µs)",
        ),
    ],
)
def test_a_column_of_another_type_is_an_error_of_its_rows(rows, path, text):
    batch = render(rows(), format="chat")
    [(row, error)] = batch.errors
    assert row == 0
    assert isinstance(error, InvalidRowError)
    assert error.path == path
    assert text in str(error)


@pytest.mark.parametrize("kind", ["list_", "large_list"])
def test_lists_without_images_are_no_images(kind):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]
    images = pa.array([[], ["x"], None, ["y", "z"]], getattr(pa, kind)(pa.string()))
    batch = render(pa.table({"messages": [messages] * 4, "images": images}), format="chat")
    assert [row for row, _ in batch.errors] == [1, 3]
    assert all("harmony carries text only" in str(error) for _, error in batch.errors)


def test_nan_in_a_column_that_is_not_read_does_not_matter():
    rows = table().append_column("score", pa.array([float("nan")] * 7))
    assert render(rows, format="chat").tokens == render(ROWS, format="chat").tokens


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_nan_is_null(kind):
    """What pandas has for a missing text."""
    rows = table().append_column("system", pa.array([float("nan")] * 7, kind))
    assert render(rows, format="chat").tokens == render(ROWS, format="chat").tokens


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_bytes_say_what_to_do(kind):
    """Ray pickles what it cannot make columns of."""
    rows = pa.table({"messages": pa.array([b"\x80\x04."], kind), "id": [b"x"]})
    [error] = [str(error) for _, error in render(rows, format="chat").errors]
    assert error.startswith(
        "Invalid row: messages: expected a value that JSON can hold, got bytes (Arrow's "
    )
    assert error.endswith("write the column as JSON texts or as structs")


def test_an_object_that_lies_about_its_stream_is_an_error():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return "no capsule"

    with pytest.raises(TypeError):
        render(Stream())
