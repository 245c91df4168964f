"""`Prefill` as Python sees it; tests/library/prefill.rs has the law for random prefills."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from openai_harmony import (
    ContentDelta,
    Conversation,
    HarmonyEncoding,
    HarmonyError,
    HeaderStyle,
    Message,
    MessageStart,
    Prefill,
    RenderConversationConfig,
    Role,
    StreamableParser,
)

CALL = Prefill(
    channel="commentary", recipient="functions.f", content_type="<|constrain|>json", text='{"a":'
)
EMPTY = Conversation.from_messages([])
MALFORMED = "1}<|channel|>final text<|end|>stray<|start|>assistant<|message|>b"


def ids(encoding: HarmonyEncoding, text: str) -> list[int]:
    return encoding.encode(text, allowed_special="all")


def prompt(encoding: HarmonyEncoding, prefill: Any, **config: Any) -> list[int]:
    return encoding.render_conversation_for_completion(
        EMPTY, Role.ASSISTANT, RenderConversationConfig(**config), prefill=prefill
    )


def outcome(parse: Callable[..., Any], *arguments: Any) -> Any:
    """What parsing gives: the messages, or the kind of its error."""
    try:
        result = parse(*arguments)
    except HarmonyError as error:
        return error.kind
    return None if isinstance(result, StreamableParser) else result


@pytest.mark.parametrize(
    ("prefill", "expected"),
    [
        (None, ""),
        (Prefill(), ""),
        (Prefill(text=""), "<|message|>"),
        (Prefill(channel="final"), "<|channel|>final<|message|>"),
        (CALL, ' to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"a":'),
    ],
)
def test_it_is_written_after_the_role(
    encoding: HarmonyEncoding, prefill: Any, expected: str
) -> None:
    assert encoding.decode(prompt(encoding, prefill)) == "<|start|>assistant" + expected


def test_its_recipient_stands_where_the_others_do(encoding: HarmonyEncoding) -> None:
    tokens = prompt(encoding, CALL, header_style=HeaderStyle.RECIPIENT_IN_CHANNEL)
    assert encoding.decode(tokens).startswith("<|start|>assistant<|channel|>commentary to=")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("completion", ["1}<|call|>", "1}", "", MALFORMED])
@pytest.mark.parametrize("prefill", [CALL, Prefill(channel="final"), Prefill(text="é🤷 ")])
def test_parsing_after_it_equals_parsing_the_whole(
    encoding: HarmonyEncoding, prefill: Prefill, completion: str, strict: bool
) -> None:
    before, sampled = prompt(encoding, prefill), ids(encoding, completion)

    def whole() -> list[Message]:
        return encoding.parse_messages_from_completion_tokens(before + sampled, strict=strict)

    def behind() -> list[Message]:
        return encoding.parse_messages_from_completion_tokens(
            sampled, Role.ASSISTANT, strict=strict, prefill=prefill
        )

    assert outcome(whole) == outcome(behind)

    one = StreamableParser(encoding, None, strict=strict)
    other = StreamableParser(encoding, Role.ASSISTANT, strict=strict, prefill=prefill)
    for token in before:
        one.process(token)
    for token in sampled:
        assert outcome(one.process, token) == outcome(other.process, token)
        assert one.messages == other.messages
        assert one.current_content == other.current_content
        assert one.last_content_delta == other.last_content_delta
        assert one.current_recipient == other.current_recipient


def test_events_report_it_first(encoding: HarmonyEncoding) -> None:
    parser = StreamableParser(encoding, Role.ASSISTANT, prefill=CALL)
    assert (parser.current_content, parser.tokens) == ('{"a":', [])
    start, text, rest, _end = parser.feed(ids(encoding, "1}<|call|>"))
    assert isinstance(start, MessageStart)
    assert isinstance(text, ContentDelta)
    assert (start.recipient, start.span, start.index) == ("functions.f", (0, 0), 0)
    assert (text.text, text.span) == ('{"a":', (0, 0))
    assert (rest.text, rest.span) == ("1}", (0, 2))
    assert parser.reset().feed([])[:2] == [start, text]


def test_repairs_are_reported_with_it(encoding: HarmonyEncoding) -> None:
    tokens = ids(encoding, "a<|start|>assistant<|channel|>final<|message|>b<|return|>")
    messages, repairs, _ = encoding.parse_with_repairs(
        tokens, "assistant", prefill=Prefill(text="x")
    )
    assert [message.text for message in messages] == ["xa", "b"]
    assert [(repair.kind, repair.span) for repair in repairs] == [("missing_end", (1, 1))]


def test_a_lone_surrogate_is_replaced_as_in_a_message(encoding: HarmonyEncoding) -> None:
    text = "a\udc80"
    prefill = Prefill.model_construct(text=text)
    message = Message.from_role_and_content("assistant", "")
    message.content[0] = type(message.content[0]).model_construct(text=text)
    assert prompt(encoding, prefill) == encoding.render(message)[:-1]


def test_it_is_copied_and_pickled() -> None:
    assert pickle.loads(pickle.dumps(CALL)) == CALL
    assert Prefill.model_validate_json(CALL.model_dump_json()) == CALL
