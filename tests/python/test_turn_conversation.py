"""What a turn says of itself is what its prompt renders, also after a way through JSON."""

from __future__ import annotations

from typing import Any

import pytest

from openai_harmony import Conversation, HarmonyEncoding, SystemContent
from openai_harmony.interop import Turn, anthropic, chat_completions, ollama, responses
from openai_harmony.rollout import Rollout

USER = {"role": "user", "content": "Hi"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
TURNS = {
    "ollama": lambda: ollama.read({"messages": [USER], "think": False}),
    "ollama with tools": lambda: ollama.read({"messages": [USER], "think": False, "tools": [TOOL]}),
    "chat": lambda: chat_completions.read(
        {"messages": [USER], "tools": [TOOL], "response_format": FORMAT}
    ),
    "chat without a date": lambda: chat_completions.read({"messages": [USER]}, date=None),
    "responses": lambda: responses.read({"input": "Hi", "instructions": "Be brief."}),
    "anthropic": lambda: anthropic.read(
        {
            "max_tokens": 9,
            "messages": [USER, {"role": "assistant", "content": "It"}],
            "thinking": {"type": "disabled"},
        }
    ),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_conversation_renders_as_its_prompt(name: str, encoding: HarmonyEncoding) -> None:
    turn: Turn = TURNS[name]()
    prompt = turn.prompt(encoding)
    assert turn.render_with_spans(encoding).tokens == prompt
    assert list(Rollout(turn, encoding).prompt) == list(prompt)
    conversation = turn.conversation
    for again in (
        conversation,
        Conversation.from_json(conversation.to_json()),
        Conversation.from_dict(conversation.to_dict()),
        Conversation.model_validate_json(conversation.model_dump_json()),
    ):
        assert again == conversation
        rendered = encoding.render_conversation_for_completion(
            again, "assistant", turn.config, prefill=turn.prefill
        )
        assert rendered == prompt


@pytest.mark.parametrize(
    "name", ["model_identity", "reasoning_effort", "knowledge_cutoff", "channel_config"]
)
def test_a_line_that_is_left_out_stays_out(name: str) -> None:
    content: Any = SystemContent(**{name: None})
    made = content.to_dict()
    assert made[name] is None
    assert SystemContent.from_dict(made) == content
    assert None not in SystemContent().to_dict().values()
