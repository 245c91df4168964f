"""Unknown fields in JSON are named: in a warning, and in an error where that is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import Any

import pytest

from openai_harmony import (
    Author,
    Conversation,
    DeveloperContent,
    Message,
    SystemContent,
    ToolDescription,
    UnknownFieldError,
    UnknownFieldWarning,
)
from openai_harmony.chat import unknown_fields
from openai_harmony.interop import chat_completions
from tables import table

HI = {"role": "user", "content": "Hi"}
NESTED = {"author": {"role": "user", "name": None}, "content": "Hi"}


def tools(**more: Any) -> dict[str, Any]:
    tool = {"name": "f", "description": "d", "parameters": {"anything": {"goes": 1}}, **more}
    return {"functions": {"name": "functions", "description": None, "tools": [tool]}}


def content(kind: str, **fields: Any) -> dict[str, Any]:
    role = kind.partition("_")[0]
    return {"role": role, "content": [{"type": kind, **fields}]}


CASES = [
    *table("unknown_fields", "cases"),
    ({**HI, "content": ({"text": "x", "id": 1},)}, "content[0].id", "content[*]"),
    ({**HI, 3: 1}, "[3]", "the message"),
]


@pytest.mark.parametrize(("data", "path", "place"), CASES, ids=[path for _, path, _ in CASES])
def test_the_field_and_its_place_are_named(data: Any, path: str, place: str) -> None:
    for read, given, around in [
        (Message.from_dict, data, ""),
        (Conversation.from_dict, {"messages": [HI, data]}, "messages[1]"),
    ]:
        with pytest.raises(UnknownFieldError) as raised:
            read(given, strict=True)
        dot = "." if around and path[0] != "[" else ""
        assert str(raised.value).startswith(f"{around}{dot}{path}: unknown field (known: ")

        with pytest.warns(UnknownFieldWarning) as warned:
            read(given)
        [text] = [str(warning.message) for warning in warned]
        inside = place if not around else f"messages[*].{place}".replace(".the message", "")
        assert f" in {inside} is ignored" in text


def test_json_is_read_like_dicts() -> None:
    text = json.dumps({"messages": [{**HI, "id": 3}]})
    with pytest.raises(UnknownFieldError, match=r"^messages\[0\]\.id: unknown field"):
        Conversation.from_json(text, strict=True)
    with pytest.warns(UnknownFieldWarning, match=r"'id' in messages\[\*\]"):
        assert Conversation.from_json(text).messages == [Message.from_dict(HI)]
    with pytest.raises(UnknownFieldError, match="^id: unknown field"):
        Message.from_json(json.dumps({**HI, "id": 3}), strict=True)
    with pytest.warns(UnknownFieldWarning, match="'id' in the message"):
        assert Message.from_json(json.dumps({**HI, "id": 3})) == Message.from_dict(HI)


def test_a_conversation_has_messages_alone() -> None:
    with pytest.raises(
        UnknownFieldError, match=r"^model: unknown field \(known: messages\); .*read$"
    ):
        Conversation.from_dict({"model": "gpt-oss-20b", "messages": [HI]}, strict=True)
    with pytest.warns(UnknownFieldWarning, match="'model' in the conversation"):
        Conversation.from_dict({"model": "gpt-oss-20b", "messages": [HI]})


@pytest.mark.parametrize("kind", [SystemContent, DeveloperContent])
def test_contents_by_themselves(kind: Any) -> None:
    with pytest.raises(UnknownFieldError, match="^instruction: unknown field"):
        kind.from_dict({"instruction": "x"}, strict=True)
    with pytest.warns(UnknownFieldWarning, match="'instruction' in the content"):
        assert kind.from_dict({"instruction": "x"}) == kind()
    assert kind.from_dict(kind().to_dict(), strict=True) == kind()


def test_what_is_written_has_no_unknown_fields() -> None:
    tool = ToolDescription.new("f", "d", parameters={"type": "object", "x-odd": {"y": 1}})
    developer = (
        DeveloperContent.new()
        .with_instructions("i")
        .with_function_tools([tool])
        .with_browser_tool()
        .with_response_format("r", {"odd": 1})
    )
    conversation = Conversation.from_messages(
        [
            Message.from_role_and_content("system", SystemContent.new().with_python_tool()),
            Message.from_role_and_content("developer", developer),
            Message.from_role_and_content("user", "Hi"),
            Message.from_author_and_content(Author.new("tool", "f"), "x").with_channel("final"),
        ]
    )
    assert Conversation.from_json(conversation.to_json(), strict=True) == conversation
    for message in conversation:
        assert Message.from_dict(message.model_dump(), strict=True) == message
        assert Message.from_dict(message.to_dict(), strict=True) == message


def test_all_unknown_fields_are_in_one_error_up_to_a_number() -> None:
    data = {"messages": [{**HI, "a": 1, "b": 2}, {**HI, "a": 1}]}
    with pytest.raises(UnknownFieldError) as raised:
        Conversation.from_dict(data, strict=True)
    paths = [part.partition(":")[0] for part in str(raised.value).split("; ")]
    assert paths == ["messages[0].a", "messages[0].b", "messages[1].a"]

    many = {**HI, **{f"x{n}": n for n in range(5_000)}, "y" * 100_000: 1}
    with pytest.raises(UnknownFieldError, match=r"; and 4991 more$") as raised:
        Message.from_dict(many, strict=True)
    assert len(str(raised.value)) < 2_000
    with pytest.raises(UnknownFieldError) as raised:
        Message.from_dict({**HI, "y" * 100_000: 1}, strict=True)
    assert len(str(raised.value)) < 300


def test_a_field_is_named_once_per_place() -> None:
    data = {"messages": [{**HI, "id": n} for n in range(100)]}
    data["messages"][7]["content"] = [{"text": "x", "id": 1}]
    with pytest.warns(UnknownFieldWarning) as warned:
        Conversation.from_dict(data)
    assert [str(warning.message).partition(" is ")[0] for warning in warned] == [
        "Unknown field 'id' in messages[*]",
        "Unknown field 'id' in messages[*].content[*]",
    ]


def test_warnings_point_at_the_caller_and_are_shown_once() -> None:
    code = f"""
from openai_harmony import Conversation, Message
for _ in range(3):
    Message.from_dict({{**{HI}, "id": 3}})
    Message.from_json('{{"role": "user", "content": "Hi", "id": 3}}')
    Conversation.from_dict({{"messages": [{{**{HI}, "id": 3}}]}})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = [line for line in done.stderr.splitlines() if "UnknownFieldWarning" in line]
    assert [line.split(":")[:2] for line in shown] == [["<string>", str(n)] for n in (4, 5, 6)]


def test_made_up_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unknown_fields, "_texts", set())
    monkeypatch.setattr(unknown_fields, "MOST_WARNINGS", 5)
    texts = set()
    for n in range(20):
        with pytest.warns(UnknownFieldWarning) as warned:
            Message.from_dict({**HI, f"x{n}": 1})
        texts |= {str(warning.message) for warning in warned}
    assert len(texts) == 6
    with pytest.warns(UnknownFieldWarning) as warned:
        Message.from_dict({**HI, **{f"y{n}": 1 for n in range(1_000)}})
    assert [str(warning.message).partition(" are ")[0] for warning in warned] == [
        "Unknown fields in the message",
        "More unknown fields in the message",
    ]

    monkeypatch.setattr(unknown_fields, "MOST_WARNINGS", 1_000)
    with pytest.warns(UnknownFieldWarning) as warned:
        Message.from_dict({**HI, **{f"z{n}": 1 for n in range(1_000)}})
    assert len(warned) == unknown_fields.MOST_AT_ONCE + 1
    assert str(warned[-1].message) == "More unknown fields in the message are ignored"


def test_subclasses_keep_their_own_fields() -> None:
    class Numbered(Message):
        number: int = 0

    class Open(Message, extra="allow"):
        pass

    data = {**NESTED, "number": 3}
    assert Numbered.from_dict(data, strict=True).number == 3
    assert Open.from_dict(data, strict=True).model_extra == {"number": 3}
    # The flat form has a message's own fields, as in 0.0.8.
    with pytest.raises(UnknownFieldError, match="^number: "):
        Numbered.from_dict({**HI, "number": 3}, strict=True)


def test_a_subclass_may_read_dicts_as_it_did_before_strict_existed() -> None:
    class Older(Message):
        @classmethod
        def from_dict(cls, data: Any) -> Any:  # type: ignore[override]
            return super().from_dict({**data, "role": "tool"})

    assert Older.from_json(json.dumps(HI)).author.role.value == "tool"


def test_other_errors_come_first() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError, match="'content' is missing"):
            Message.from_dict({"role": "user", "contents": "x"}, strict=True)


def test_unknown_fields_are_compared_up_to_a_number() -> None:
    said = [{"role": "user", "content": "Hi"}]
    many = {f"temperatur{at}": 0 for at in range(1000)}
    turn = chat_completions.read(json.dumps({"messages": said, **many}))
    assert len(turn.unused) == 1000
    hints = [one for one in turn.unused if "temperature" in one.reason]
    assert len(hints) == 10  # one letter too many
    turn = chat_completions.read(
        json.dumps({"messages": said, **{f"{'z' * 9}{at}": 0 for at in range(64)}, "tol_choice": 1})
    )
    assert not [one for one in turn.unused if "tool_choice" in one.reason]
