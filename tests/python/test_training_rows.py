"""`training.render` and its rows: every kind of Python object, options, and what is wrong with them.

tests/training has the laws of examples, shapes and errors of rows.
"""

from __future__ import annotations

import collections
import itertools
import json
import re
import types
from typing import Any, ClassVar, Iterator, List, Mapping, Optional

import pytest
from pydantic import BaseModel

from openai_harmony import (
    Conversation,
    HarmonyEncoding,
    HarmonyError,
    InvalidRowError,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
)
from openai_harmony.errors import WrongTypeError
from openai_harmony.training import Batch, LossMask, render, render_batches

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "reasoning_content": "Easy.", "content": "Four."},
    {"role": "user", "content": "Sure?"},
    {"role": "assistant", "reasoning_content": "Yes.", "content": "Yes."},
]
HARMONY = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "channel": "analysis", "content": "Easy."},
    {"role": "assistant", "channel": "final", "content": "Four."},
]
KEEP = RenderConversationConfig(auto_drop_analysis=False)


def same(left: Batch, right: Batch) -> bool:
    return (left.tokens, left.offsets, left.loss_mask, left.row, left.spans) == (
        right.tokens,
        right.offsets,
        right.loss_mask,
        right.row,
        right.spans,
    ) and not (left.errors or right.errors)


def said(batch: Batch) -> List[str]:
    return [f"{row}: {error}" for row, error in batch.errors]


class Given(BaseModel):
    """Like the objects of SDKs."""

    role: str
    content: Optional[str] = None


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
            ({}, "messages: is missing"),
            ([], "messages: is empty"),
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
        assert error.path == message.partition(": ")[0] * message.startswith("messages")
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


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"format": "sharegpt"}, "format: .*'harmony' or 'chat'"),
            ({"format": None}, "format: "),
            ({"examples": "all"}, "examples: .*'conversation' or 'turns'"),
            ({"overflow": "cut"}, "overflow: .*'error', 'drop' or 'truncate_turns'"),
            ({"max_tokens": 0}, "max_tokens: expected a whole number from 1, got 0"),
            ({"max_tokens": 1.5}, "max_tokens: expected a whole number from 1, got 1.5"),
            ({"threads": 0}, "threads: expected a whole number from 1, got 0"),
            ({"threads": -2}, "threads: expected a whole number from 1, got -2"),
            ({"threads": 10**30}, "threads: expected a whole number from 1"),
            ({"first_row": -1}, "first_row: expected the index of a row, from 0"),
            ({"mask": {"headers": False}}, "mask: "),
            ({"config": "keep"}, "config: "),
            ({"date": 3}, "date: expected a string, got int"),
            ({"identity": b"me"}, "identity: expected a string, got bytes"),
            (
                {"reasoning_effort": "hihg", "format": "chat"},
                "reasoning_effort: expected .low., .medium. or .high., got 'hihg'",
            ),
            ({"reasoning_effort": 3, "format": "chat"}, "reasoning_effort: .*, got 3"),
            (
                {"reasoning_effort": "low", "format": "harmony"},
                "reasoning_effort: rows of the format 'harmony' have their own system message",
            ),
            ({"overflow": "drop"}, "overflow: 'drop' does nothing without max_tokens"),
            ({"overflow": "truncate_turns"}, "overflow: 'truncate_turns' does nothing without"),
        ],
    )
    @pytest.mark.parametrize("rows", [[], [CHAT]])
    def test_wrong_ones(self, options: Any, message: str, rows: Any) -> None:
        with pytest.raises(ValueError, match=f"^{message}"):
            render(rows, **options)
        with pytest.raises(ValueError, match=f"^{message}"):
            # When it is called, not when the first batch is asked for.
            render_batches(rows, **options)

    def test_unknown_ones(self) -> None:
        with pytest.raises(TypeError, match="max_token"):
            render([], max_token=3)  # type: ignore[call-arg]
        known = r"^max_token: unknown option of render_batches \(known: batch_rows, .*, max_tokens,"
        with pytest.raises(TypeError, match=known):
            render_batches([], max_token=3)  # type: ignore[call-arg]

    @pytest.mark.parametrize("batch_rows", [0, -1, 1.5, "2", None])
    def test_batch_rows(self, batch_rows: Any) -> None:
        with pytest.raises(ValueError, match="batch_rows: expected a whole number from 1, got"):
            render_batches([], batch_rows=batch_rows)

    @pytest.mark.parametrize(
        "rows", ["[]", b"[]", {"messages": CHAT}, Conversation.from_messages([])]
    )
    def test_a_single_row_is_no_iterable_of_rows(self, rows: Any) -> None:
        with pytest.raises(WrongTypeError, match="rows: expected an iterable of rows, got one: "):
            render(rows)
        with pytest.raises(WrongTypeError, match="rows: expected an iterable of rows, got one: "):
            render_batches(rows)

    @pytest.mark.parametrize("rows", [None, 3, object()])
    def test_what_cannot_be_iterated(self, rows: Any) -> None:
        with pytest.raises(TypeError, match="rows: expected an iterable of rows, got"):
            render(rows)
        with pytest.raises(TypeError, match="rows: expected an iterable of rows, got"):
            render_batches(rows)

    def test_mask_and_config(self, encoding: HarmonyEncoding) -> None:
        conversation = Conversation.from_dict({"messages": HARMONY})
        mask = LossMask(channels=["final"], headers=False)
        for config in (KEEP, RenderConversationConfig()):
            batch = render([conversation], config=config, mask=mask)
            rendered = encoding.render_with_spans(conversation, config, ending="training")
            assert batch.tokens == rendered
            assert batch.loss_mask == rendered.loss_mask(mask)
            assert batch.spans == [rendered.spans]

    def test_turns(self, encoding: HarmonyEncoding) -> None:
        batch = render([CHAT], format="chat", examples="turns")
        trained = [
            encoding.decode([t for t, mask in zip(example.tokens, example.loss_mask) if mask])
            for example in batch
        ]
        assert trained == [
            "<|channel|>analysis<|message|>Easy.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Four.<|return|>",
            "<|channel|>analysis<|message|>Yes.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
        ]
        assert "Easy." not in encoding.decode(batch[1].tokens)
        assert list(batch.row) == [0, 0]

    def test_limits(self) -> None:
        whole = len(render([CHAT], format="chat").tokens)
        rows = [CHAT, CHAT[1:3]]
        limit = whole - 1
        assert [row for row, _ in render(rows, format="chat", max_tokens=limit).errors] == [0]
        dropped = render(rows, format="chat", max_tokens=limit, overflow="drop")
        assert (list(dropped.row), dropped.dropped, dropped.errors) == ([1], [0], [])
        cut = render(rows, format="chat", max_tokens=limit, overflow="truncate_turns")
        assert (list(cut.row), cut.truncated, cut.errors) == ([0, 1], [0], [])
        assert max(len(example.tokens) for example in cut) <= limit

    def test_date_and_identity(self, encoding: HarmonyEncoding) -> None:
        batch = render([CHAT], format="chat", date="2025-06-28", identity="You are Ada.")
        text = encoding.decode(batch[0].tokens)
        assert "You are Ada.\n" in text
        assert "Current date: 2025-06-28\n" in text
        assert "Current date" not in encoding.decode(render([CHAT], format="chat")[0].tokens)

    @pytest.mark.parametrize("effort", ["high", "High", "HIGH", ReasoningEffort.HIGH])
    def test_reasoning_effort(self, encoding: HarmonyEncoding, effort: Any) -> None:
        rows = [{"messages": CHAT}, {"messages": CHAT, "reasoning_effort": "low"}]
        own = render(rows, format="chat", reasoning_effort=effort)
        texts = [encoding.decode(example.tokens) for example in own]
        assert ["Reasoning: high" in text for text in texts] == [True, False]
        assert "Reasoning: low" in texts[1]
        [part] = render_batches(rows, format="chat", reasoning_effort=effort)
        assert part.tokens == own.tokens

    def test_turns_that_are_too_long(self) -> None:
        """They are named, and leave the others of their row."""
        long = [CHAT[1], {"role": "assistant", "content": "Four. " * 300}, *CHAT[3:]]
        batch = render([CHAT, long, CHAT], format="chat", examples="turns", max_tokens=250)
        assert list(batch.row) == [0, 0, 2, 2]
        [(row, error)] = batch.errors
        assert (row, error.kind) == (1, "too_many_tokens")
        text = r"Too many tokens: \d+ in the example of turns\[0\], more than max_tokens=250; so it is "
        assert re.match(text + "with 1 later turn$", str(error))
        turns = [*CHAT, *long[:2]]
        batch = render([turns], format="chat", examples="turns", max_tokens=250)
        assert list(batch.row) == [0, 0]
        assert "of turns[2], more" in said(batch)[0]

    def test_a_single_turn_is_not_cut(self) -> None:
        call = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
        result = {"role": "tool", "content": "Done. " * 10}
        turn = [CHAT[1], *[call, result] * 20, CHAT[2]]
        batch = render([turn], format="chat", max_tokens=300, overflow="truncate_turns")
        assert re.search(
            "; it is a single turn, and truncate_turns leaves out whole turns only$", said(batch)[0]
        )

    @pytest.mark.parametrize("threads", [1, 2, 7, 10**9, None])
    def test_threads_change_nothing(self, threads: int | None) -> None:
        rows = [CHAT, None, json.dumps(CHAT), [CHAT[1]], {"messages": CHAT}] * 100
        batch = render(rows, format="chat", threads=threads)
        one = render(rows, format="chat", threads=1)
        assert said(batch) == said(one)
        batch.errors, one.errors = [], []
        assert same(batch, one)


class TestBatches:
    def test_zero_rows(self) -> None:
        batch = render([])
        assert (len(batch), list(batch.offsets), batch.errors) == (0, [0], [])
        assert (batch.tokens.typecode, batch.spans, list(batch)) == ("I", [], [])
        assert list(render_batches([])) == []
        assert list(render_batches(iter(()))) == []

    def test_they_are_parts_of_the_whole(self) -> None:
        rows = [CHAT, None, CHAT[:3], [CHAT[0]], CHAT[1:]] * 7
        whole = render(rows, format="chat", first_row=5)
        batches = list(render_batches(iter(rows), batch_rows=4, format="chat", first_row=5))
        assert len(batches) == 9
        joined = list(itertools.chain.from_iterable(batches))
        assert joined == list(whole)
        errors = [entry for batch in batches for entry in said(batch)]
        assert errors == said(whole)
        assert whole.errors[0][0] == 6

    def test_rows_are_read_as_batches_are_asked_for(self) -> None:
        read = 0

        def rows() -> Iterator[Any]:
            nonlocal read
            while True:
                read += 1
                yield CHAT

        batches = render_batches(rows(), batch_rows=3, format="chat")
        assert read == 0
        next(batches)
        assert read == 3
        next(batches)
        assert read == 6

    def test_lists_of_messages_are_rows(self) -> None:
        """A list with one message is a row, and a list of rows is no row."""
        message = Message.from_role_and_content(Role.ASSISTANT, "Hi")
        assert len(render([[message]])) == 1
        assert said(render([[[message]]])) == [
            "0: Invalid row: messages[0]: expected an object, got a list"
        ]
