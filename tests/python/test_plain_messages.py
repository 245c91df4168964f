"""Messages whose JSON form is plain are made without validation: they are what it would give."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from openai_harmony import Conversation, Message, Role, TextContent
from openai_harmony._lowlevel import plain_message


class Word(str):
    """A string of a class of its own, which is not plain."""


Validated = type("Message", (Message,), {"__module__": __name__})
"""Read like any subclass: by validation. Its errors have the class's name."""

TEXTS = ["", "Hello", "Grüße", "中文", "🤷", "a\ud800b", Word("own")]
ODD = [3, b"bytes", True, ["list"], {"text": "dict"}, 1.5, ("tuple",)]
FIELDS = ["role", "name", "content", "channel", "recipient", "content_type", "author", "extra"]


def part(random: Random) -> Any:
    kinds = ["text", Word("text"), "system_content", "image", None, 3]
    text = random.choice(TEXTS) if random.random() < 0.9 else random.choice(ODD)
    choices: list[Any] = [
        {"type": "text", "text": text},
        {"text": text},
        {"type": random.choice(kinds), "text": text},
        {"type": "text", "text": text, "extra": 1},
        {"type": "text"},
        {},
        TextContent(text="made"),
        *TEXTS,
        *ODD,
    ]
    return random.choice(choices[: 2 if random.random() < 0.6 else None])


def value(random: Random, field: str) -> Any:
    if random.random() < 0.05:
        return random.choice(ODD)
    if field == "role":
        return random.choice(["user", "assistant", *Role, "tool", Word("user"), "bob", None])
    if field == "content" and random.random() < 0.7:
        parts = [part(random) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        return parts if random.random() < 0.95 else tuple(parts)
    if field == "author":
        return {"role": "user", "name": None}
    return random.choice([*TEXTS, None])


def message(random: Random) -> dict[str, Any]:
    given = [field for field in FIELDS[2:6] if random.random() < 0.7]
    given += [field for field in FIELDS[:3] if random.random() < 0.95]
    given += [field for field in FIELDS[6:] if random.random() < 0.05]
    random.shuffle(given)
    return {field: value(random, field) for field in given}


def outcome(read: Any, data: Any) -> Any:
    try:
        made = read(data)
    except Exception as error:  # whatever it is, it must be the same
        return type(error), str(error)
    models = [made, made.author, *made.content]
    shown = [repr(part) if type(part) is TextContent else part for part in made.content]
    return (
        made.model_dump(),
        shown,
        [model.__pydantic_fields_set__ for model in models],
        [(model.__pydantic_extra__, model.__pydantic_private__) for model in models],
        [type(text) for text in (made.author.name, made.channel, made.recipient)],
    )


def test_random_messages_are_as_validated() -> None:
    random = Random(0)
    plain = 0
    for _ in range(5_000):
        data = message(random)
        assert outcome(Message.from_dict, data) == outcome(Validated.from_dict, data), data
        plain += plain_message(data) is not None
    assert 500 < plain < 4_500


@pytest.mark.parametrize("data", [None, 3, "text", [], {}, {"role": "user"}, {"content": "x"}])
def test_what_is_not_a_plain_message_is_left_to_validation(data: Any) -> None:
    assert plain_message(data) is None
    assert outcome(Message.from_dict, data) == outcome(Validated.from_dict, data)


def test_messages_are_new_and_of_their_class() -> None:
    parts = [{"type": "text", "text": "Hello"}]
    data = {"role": "user", "content": parts}
    first, second = Message.from_dict(data), Message.from_dict(data)
    assert type(first) is Message
    assert type(Validated.from_dict(data)) is Validated
    first.content.append(TextContent(text="more"))
    first.author.name = "Bob"
    assert second == Message.from_role_and_content("user", "Hello")
    assert parts == [{"type": "text", "text": "Hello"}]


def test_a_conversation_names_the_message_that_is_wrong() -> None:
    plain = {"role": "user", "content": "Hello"}
    with pytest.raises(ValueError, match=r"Unknown role: 'bob' .* \(in messages\[1\]\)"):
        Conversation.from_dict({"messages": [plain, {**plain, "role": "bob"}]})
