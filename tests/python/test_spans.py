"""`render_with_spans` as Python sees it; tests/library/spans.rs has the laws."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from openai_harmony import (
    Author,
    Conversation,
    HarmonyEncoding,
    Message,
    MessageSpan,
    Prefill,
    RenderConversationConfig,
    Rendered,
    Role,
    StreamableParser,
    WrongTypeError,
)


def said(role: Role, text: str, channel: str, recipient: str | None = None) -> Message:
    message = Message.from_role_and_content(role, text).with_channel(channel)
    return message.with_recipient(recipient) if recipient else message


CONVERSATION = Conversation.from_messages(
    [
        Message.from_role_and_content(Role.USER, "1?"),
        said(Role.ASSISTANT, "Think.", "analysis"),
        said(Role.ASSISTANT, "{}", "commentary", "functions.f"),
        Message.from_author_and_content(Author.new(Role.TOOL, "functions.f"), "42"),
        said(Role.ASSISTANT, "It is 42. 🤷", "final"),
    ]
)
KEEP = RenderConversationConfig(auto_drop_analysis=False)


@pytest.mark.parametrize("config", [None, KEEP])
def test_tokens_are_those_of_the_other_renderers(encoding: HarmonyEncoding, config: Any) -> None:
    by_ending = {
        "completion": encoding.render_conversation_for_completion(
            CONVERSATION, "assistant", config
        ),
        "training": encoding.render_conversation_for_training(CONVERSATION, config),
        "none": encoding.render_conversation(CONVERSATION, config),
    }
    for ending, tokens in by_ending.items():
        rendered = encoding.render_with_spans(CONVERSATION, config, ending=ending)  # type: ignore[arg-type]
        assert rendered.tokens == list(rendered) == tokens
        assert len(rendered) == len(tokens)
    user = encoding.render_conversation_for_completion(CONVERSATION, Role.USER, config)
    assert encoding.render_with_spans(CONVERSATION, config, role="user").tokens == user


def test_a_span_separates_header_content_and_stop_token(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(CONVERSATION, ending="training")
    parts = [
        (
            span.message,
            encoding.decode(rendered[span.content : span.stop]),
            encoding.decode(rendered[span.stop : span.end]),
        )
        for span in rendered.spans
    ]
    # The thought was dropped; what follows keeps its index.
    assert parts == [
        (0, "1?", "<|end|>"),
        (2, "{}", "<|call|>"),
        (3, "42", "<|end|>"),
        (4, "It is 42. 🤷", "<|return|>"),
    ]
    assert rendered.spans[0] == MessageSpan(message=0, start=0, content=3, stop=5, end=6)


def test_the_parser_reports_the_same_spans(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(CONVERSATION, KEEP)
    parser = StreamableParser(encoding, None)
    events = [event for token in rendered for event in parser.feed([token])] + parser.finish()
    assert MessageSpan.from_events(events) == rendered.spans
    assert rendered.spans[-1].message is None


def test_spans_are_of_all_events_of_a_stream(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(CONVERSATION, KEEP)
    parser = StreamableParser(encoding, None)
    parser.feed(rendered[:4])
    with pytest.raises(
        ValueError, match=r"^events\[0\]: its message has no MessageStart; give all"
    ):
        MessageSpan.from_events(parser.feed(rendered[4:]))
    with pytest.raises(WrongTypeError, match=r"^events\[0\]: expected an event, got int$"):
        MessageSpan.from_events(list(rendered))  # type: ignore[arg-type]
    assert MessageSpan.from_events([]) == []


def test_a_prefill_is_an_open_header_and_content(encoding: HarmonyEncoding) -> None:
    prefill = Prefill(channel="final", text="Yes")
    empty = Conversation.from_messages([])
    rendered = encoding.render_with_spans(empty, prefill=prefill)
    tokens = encoding.render_conversation_for_completion(empty, "assistant", prefill=prefill)
    assert rendered.tokens == tokens
    assert rendered.spans == [MessageSpan(None, 0, len(tokens) - 1, len(tokens), len(tokens))]


def test_it_is_a_buffer_that_numpy_takes_without_a_copy(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(CONVERSATION)
    tokens = np.asarray(rendered)
    assert tokens.dtype == np.uint32
    assert tokens.tolist() == rendered.tokens
    assert np.shares_memory(tokens, np.frombuffer(rendered, dtype=np.uint32))
    view = memoryview(rendered)
    assert (view.itemsize, view.nbytes) == (4, 4 * len(rendered))


def test_it_is_copied_pickled_and_shown(encoding: HarmonyEncoding) -> None:
    rendered = encoding.render_with_spans(CONVERSATION)
    for same in (
        copy.copy(rendered),
        copy.deepcopy(rendered),
        pickle.loads(pickle.dumps(rendered)),
    ):
        assert type(same) is Rendered
        assert same == rendered
        assert same.spans == rendered.spans
        assert same.spans is not rendered.spans
    assert repr(rendered).startswith(f"Rendered(<{len(rendered)} tokens>, spans=[MessageSpan(")
