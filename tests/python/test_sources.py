"""Which message of a body each message of the conversation comes from."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from openai_harmony import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop import anthropic, chat_completions, ollama, responses

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


def call(number: int) -> dict[str, Any]:
    function = {"name": "f", "arguments": f'{{"n": {number}}}'}
    return {"id": f"c{number}", "type": "function", "function": function}


CHAT: Any = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "?"},
        {"role": "assistant", "reasoning": "Hm.", "content": "Wait.", "tool_calls": [call(1), call(2)]},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "system", "content": "Be polite."},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "??"},
    ]
}  # fmt: skip


def by_text(turn: Any) -> dict[str, str | None]:
    messages = turn.conversation.messages
    assert len(turn.sources) == len(messages)
    texts = [message.content[0].to_dict() for message in messages]
    named = [text.get("text") or text.get("instructions") or text["type"] for text in texts]
    return dict(zip(named, turn.sources))


def test_chat_completions() -> None:
    turn = chat_completions.read(CHAT)
    assert by_text(turn) == {
        "system_content": None,
        "Be brief.": None,
        "?": "messages[1]",
        "Hm.": "messages[2]",
        "Wait.": "messages[2]",
        '{"n": 1}': "messages[2]",
        "one": "messages[4]",
        '{"n": 2}': "messages[2]",
        "two": "messages[3]",
        "Be polite.": "messages[5]",
        "Done.": "messages[6]",
        "??": "messages[7]",
    }


@pytest.mark.parametrize("choice", ["auto", {"type": "function", "function": {"name": "f"}}])
def test_spans_name_their_place(choice: Any) -> None:
    tool = {"type": "function", "function": {"name": "f"}}
    turn = chat_completions.read({**CHAT, "tools": [tool], "tool_choice": choice})
    rendered = turn.render_with_spans(ENCODING)
    assert rendered.tokens == turn.prompt(ENCODING)
    texts = {
        span.source: ENCODING.decode(rendered[span.content : span.stop]) for span in rendered.spans
    }
    # The last thing said of a place; the thought is of a turn that has ended.
    assert texts["messages[2]"] == '{"n": 2}'
    assert (texts["messages[4]"], texts["messages[7]"]) == ("one", "??")
    assert "Hm." not in texts.values()
    assert rendered.spans[-1].source is None
    assert any(rendered.loss_mask())
    assert pickle.loads(pickle.dumps(rendered)).spans == rendered.spans
    assert "source='messages[7]'" in repr(rendered)


def test_the_history_comes_first() -> None:
    turn = chat_completions.read({"messages": CHAT["messages"][7:]}, history=CHAT["messages"][:7])
    sources = [source for source in turn.sources if source]
    assert sources[0] == "history[1]"
    assert sources[-2:] == ["history[6]", "messages[0]"]


def test_responses() -> None:
    assert responses.read({"input": "?", "instructions": "Be brief."}).sources == [None] * 3
    items: Any = [
        {"role": "user", "content": "?"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "One."}]},
        {"role": "user", "content": "!"},
    ]
    assert responses.read({"input": items}).sources == [None, *(f"input[{i}]" for i in range(5))]
    assert responses.read({"input": "?"}, history=items[:4]).sources == [
        None,
        *(f"history[{i}]" for i in range(4)),
        None,
    ]


@pytest.mark.parametrize("read", [anthropic.read, ollama.read])
def test_others(read: Any) -> None:
    said = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    places = [None, "messages[0]", "messages[1]", "messages[2]"]
    assert read({"messages": said}).sources == places
    # What is continued is not in the conversation.
    assert read({"messages": said[:2]}).sources == places[:2]
