"""The rows of `training.render`: every kind of Python object, and what is wrong with them.

tests/training has the laws of examples, shapes and errors of rows.
"""

from __future__ import annotations

import collections
import json
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from few_rows import CHAT, HARMONY, said, same
from openai_harmony import Conversation, HarmonyError, InvalidRowError, Message, Role
from openai_harmony.training import render, render_batches


class Given(BaseModel):
    """Like the objects of SDKs."""

    role: str
    content: str | None = None


class Keyed(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


class TestChatRows:
    @pytest.mark.parametrize(
        "form",
        [
            lambda row: row,
            lambda row: row["messages"],
            lambda row: tuple(row["messages"]),
            json.dumps,
            lambda row: json.dumps(row).encode(),
            lambda row: json.dumps(row["messages"]),
            Keyed,
            lambda row: {"messages": [Keyed(message) for message in row["messages"]]},
            lambda row: collections.OrderedDict(row),
            types.MappingProxyType,
            lambda row: {"messages": tuple(row["messages"]), "id": object(), 3: "not read"},
            lambda row: Keyed({**row, "image": b"", "at": object()}),
        ],
    )
    def test_every_form_is_the_same_row(self, form: Any) -> None:
        row = {"messages": CHAT}
        assert same(render([form(row)], format="chat"), render([row], format="chat"))

    def test_objects_of_the_openai_sdk(self) -> None:
        chat = pytest.importorskip("openai.types.chat")
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        assistant = {"role": "assistant", "content": None, "tool_calls": [call]}
        question = {"role": "user", "content": "Hi"}
        result = {"role": "tool", "tool_call_id": "c", "content": "3"}
        message = chat.ChatCompletionMessage.model_validate(assistant)
        rows = [[question, message, result], [question, assistant, result]]
        first, second = (render([row], format="chat") for row in rows)
        assert same(first, second)

    def test_other_pydantic_models(self) -> None:
        models = [Given(role="user", content="Hi"), Given(role="assistant", content="Hi")]
        dicts = [model.model_dump() for model in models]
        assert same(render([models], format="chat"), render([dicts], format="chat"))

    def test_subclasses_of_str_and_dict(self) -> None:
        class Text(str):
            __slots__ = ()

        class Row(dict):  # type: ignore[type-arg]
            pass

        text = Text(json.dumps(CHAT))
        assert same(
            render([text, Row(messages=CHAT)], format="chat"), render([CHAT, CHAT], format="chat")
        )

    def test_conversations_and_messages_are_harmony_in_both_formats(self) -> None:
        conversation = Conversation.from_dict({"messages": HARMONY})
        expected = render([HARMONY])
        for row in (
            conversation,
            conversation.messages,
            {"messages": conversation.messages},
            {"messages": conversation.messages, "id": 3},
        ):
            for rows_format in ("harmony", "chat"):
                assert same(render([row], format=rows_format), expected)

    def test_surrogates_are_replaced(self) -> None:
        row = [{"role": "user", "content": "\ud83d"}, {"role": "assistant", "content": "\ude00"}]
        replaced = [dict(message, content="\ufffd") for message in row]
        for form in (row, json.dumps(row)):
            assert same(render([form], format="chat"), render([replaced], format="chat"))
        raw = json.dumps(row, ensure_ascii=False)
        assert same(render([raw], format="chat"), render([replaced], format="chat"))


class TestBadRows:
    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (None, "expected a conversation or JSON, got NoneType"),
            (3, "expected a conversation or JSON, got int"),
            (object(), "expected a conversation or JSON, got object"),
            ({1, 2}, "expected a conversation or JSON, got set"),
            (b"\xff", "not UTF-8: "),
            ("", "not JSON: "),
            ("{", "not JSON: "),
            ({}, "messages is missing"),
            ([], "messages is empty"),
            ({"messages": [{"role": "user", "content": float("nan")}]}, "messages[0].content: "),
            ({"messages": [{"role": "user", "content": object()}]}, "messages[0].content: "),
            ({"messages": [{"role": "user", "content": {1: 2}}]}, "messages[0].content: "),
            ({"messages": [None]}, "messages[0]: expected an object, got null"),
        ],
    )
    @pytest.mark.parametrize("rows_format", ["harmony", "chat"])
    def test_they_are_errors_of_their_own(self, row: Any, message: str, rows_format: Any) -> None:
        good = HARMONY if rows_format == "harmony" else CHAT
        batch = render([good, row, good], format=rows_format)
        assert list(batch.row) == [0, 2]
        [(index, error)] = batch.errors
        assert index == 1
        assert str(error).startswith(f"Invalid row: {message}")
        assert isinstance(error, InvalidRowError)
        assert error.kind == "invalid_row"
        assert error.path == re.split(": | is ", message)[0] * message.startswith("messages")
        assert batch[0].tokens == batch[1].tokens

    def test_other_errors_have_their_own_kind(self) -> None:
        image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
        limit = len(render([CHAT], format="chat").tokens) - 1
        rows = [[image, CHAT[2]], [CHAT[1]], CHAT]
        errors = render(rows, format="chat", max_tokens=limit).errors
        kinds = [error.kind for _, error in errors]
        assert kinds == ["unsupported_content", "nothing_to_train", "too_many_tokens"]
        assert errors[0][1].path == "messages[0].content[0].image_url"
        assert all(isinstance(error, HarmonyError) for _, error in errors)

    def test_messages_that_were_changed_have_paths_too(self) -> None:
        good = Message.from_role_and_content(Role.ASSISTANT, "Hi")
        bad = good.model_copy(update={"channel": 3})
        for row in (Conversation.model_construct(messages=[good, bad]), [good, bad]):
            [(_, error)] = render([row]).errors
            assert str(error).startswith("Invalid row: messages[1].channel: expected a string")
            assert error.path == "messages[1].channel"
        tool = Message.from_role_and_content(Role.TOOL, "Hi")
        [(_, error)] = render([[good, tool]]).errors
        assert str(error) == "Invalid row: messages[1]: Tools should have a name!"
        assert error.path == "messages[1]"

    def test_what_the_rows_code_raises_is_an_error_of_the_row(self) -> None:
        class Bad(Keyed):
            def __getitem__(self, key: str) -> Any:
                raise ZeroDivisionError("mine")

        batch = render([CHAT, Bad({"messages": CHAT}), CHAT], format="chat")
        assert list(batch.row) == [0, 2]
        assert len(batch.errors) == 1
        assert "mine" in said(batch)[0]

    @pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_what_ends_the_program_is_passed_on(self, raised: type[BaseException]) -> None:
        class Bad(Keyed):
            def __getitem__(self, key: str) -> Any:
                raise raised("mine")

        with pytest.raises(raised, match="mine"):
            render([CHAT, Bad({"messages": CHAT})], format="chat")

    def test_what_the_iterator_raises_is_passed_on(self) -> None:
        def rows() -> Iterator[Any]:
            yield CHAT
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            render(rows(), format="chat")
        batches = render_batches(rows(), format="chat", batch_rows=1)
        assert len(next(batches)) == 1
        with pytest.raises(ZeroDivisionError, match="mine"):
            next(batches)

    def test_a_dict_that_changes_while_it_is_read(self) -> None:
        row: dict[str, Any] = {"messages": CHAT}

        class Grows(Keyed):
            def __getitem__(self, key: str) -> Any:
                for index in range(100):
                    row[f"{key}{index}"] = index
                return self.fields[key]

        row["other"] = Grows({"a": 1})
        row["messages"] = [Grows(CHAT[1]), *CHAT[2:]]
        batch = render([row, CHAT], format="chat")
        assert 1 in list(batch.row)
        assert len(batch) + len(batch.errors) == 2

    def test_a_row_that_contains_itself(self) -> None:
        row: dict[str, Any] = {"messages": []}
        row["messages"].append(row)
        batch = render([row, CHAT], format="chat")
        assert list(batch.row) == [1]
        assert "nested" in said(batch)[0]


class TestNotNumbers:
    """Python's JSON and its objects have NaN, and JSON does not."""

    ROW: ClassVar[dict[str, Any]] = {"score": float("nan"), "more": [float("inf")]}

    @pytest.mark.parametrize("form", [lambda row: row, json.dumps])
    def test_they_do_not_matter_where_nothing_is_read(self, form: Any) -> None:
        batch = render([form({**self.ROW, "messages": CHAT})], format="chat")
        assert same(batch, render([CHAT], format="chat"))
        batch = render([form({**self.ROW, "messages": HARMONY})])
        assert same(batch, render([HARMONY]))

    @pytest.mark.parametrize("form", [lambda row: row, json.dumps])
    def test_they_are_named_where_something_is(self, form: Any) -> None:
        row = {**self.ROW, "messages": [*CHAT[:4], {**CHAT[4], "content": float("nan")}]}
        [(_, error)] = render([form(row)], format="chat").errors
        assert isinstance(error, InvalidRowError)
        assert error.path == "messages[4].content"
        assert "nan" in str(error).lower()


class Scalar:
    """A number or flag as NumPy has it, which is none of Python's."""

    dtype = "bool"
    shape = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        return self.value


class TestColumns:
    CHAT: ClassVar[list[dict[str, Any]]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
    ]

    @pytest.mark.parametrize("scalar", [Scalar, "numpy"])
    def test_flags_of_numpy(self, scalar: Any) -> None:
        if scalar == "numpy":
            np = pytest.importorskip("numpy", reason="NumPy has no wheel for this Python")
            flags = [(np.bool_(False), np.bool_(True)), (np.int64(0), np.float32(1))]
        else:
            flags = [(Scalar(False), Scalar(True)), (Scalar(0), Scalar(1.0))]
        for no, yes in flags:
            row = [*self.CHAT, self.CHAT[0], {**self.CHAT[1], "train": yes}]
            row[1] = {**row[1], "train": no}
            batch = render([row], format="chat")
            assert not batch.errors
            assert sum(batch.loss_mask) == sum(render([self.CHAT], format="chat").loss_mask)
            labelled = {"prompt": "?", "completion": "!", "label": no}
            assert render([labelled], format="preference").preferred == [False]

    def test_a_table_with_a_column_of_messages_is_a_table(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        table = pa.table({"messages": [self.CHAT, self.CHAT]})

        class Frame:
            """Its columns are attributes, too, as pandas and DuckDB have them."""

            messages = table["messages"]

            def __arrow_c_stream__(self, schema: Any = None) -> Any:
                return table.__arrow_c_stream__(schema)

        assert len(render(Frame(), format="chat")) == 2  # type: ignore[arg-type]

    def test_a_frame_without_a_stream_says_what_to_pass(self) -> None:
        class Frame:
            messages = ()

            def itertuples(self) -> Any:
                """As pandas has it."""

        with pytest.raises(TypeError, match=r"pass its `to_dict\('records'\)`"):
            render(Frame(), format="chat")  # type: ignore[arg-type]

    def test_map(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        row = {"ask": "Hi", "reply": "Hello.", "messages": 3}
        names = {"prompt": "ask", "completion": "reply"}
        wanted = render([self.CHAT], format="chat")
        for rows in ([row], [json.dumps(row)], pa.Table.from_pylist([row])):
            assert same(render(rows, format="chat", map=names), wanted)
        for wrong in ([], {"prompt": 3}, "prompt=ask"):
            with pytest.raises((TypeError, ValueError), match="^map"):
                render([row], format="chat", map=wrong)  # type: ignore[arg-type]

    def test_a_mapped_column_that_is_not_there_is_named(self) -> None:
        row = {"ask": "Hi", "reply": "Hello."}
        names = {"prompt": "ask", "completion": "replyy", "tools": "functions"}
        [(_, error)] = render([row], format="chat", map=names).errors
        assert '; the row has no "replyy", which `map` reads as "completion"' in str(error)
        names["completion"] = "reply"
        read = render([row, {**row, "functions": []}], format="chat", map=names)
        assert read.unused == {"functions: rows without the column": 1}
        with pytest.raises(ValueError, match="map: no row has the column 'functions'"):
            render([row], format="chat", map=names)

    def test_an_error_names_the_columns_that_are_there(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        row = {"ask": "Hi", "reply": "Hello.", "score": 3.5}
        for rows in ([row], [json.dumps(row)], pa.Table.from_pylist([row])):
            [(_, error)] = render(rows, format="chat").errors
            assert str(error).endswith("the row has ask, reply, score: name the columns with `map`")

    def test_images_are_refused_and_none_are_not(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        kinds = pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()}))
        for images, is_refused in (
            ([{"bytes": b"x", "path": "a"}], True),
            ([], False),
            (None, False),
        ):
            row = {"messages": self.CHAT, "images": images}
            column = pa.array([images], kinds)
            for rows in ([row], pa.table({"messages": [self.CHAT], "images": column})):
                batch = render(rows, format="chat")
                assert bool(batch.errors) == is_refused, batch.errors

    def test_a_column_that_is_nan_is_missing(self) -> None:
        pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        nan = float("nan")
        row = {"messages": self.CHAT, "prompt": nan, "label": nan}
        for rows in ([row], [json.dumps(row)], pa.Table.from_pylist([row])):
            assert not render(rows, format="chat").errors

    def test_a_batch_without_examples_is_a_table_without_rows(self) -> None:
        pytest.importorskip("pyarrow", reason="pyarrow has no wheel for this Python")
        for columns in ("dpo", "kto"):
            batch = render([{"messages": []}], format="preference")
            assert batch.errors
            assert batch.to_arrow(columns).num_rows == 0  # type: ignore[arg-type]
