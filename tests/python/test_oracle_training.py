"""Rows against 0.0.8: a batch has the tokens of its `render_conversation_for_training`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openai_harmony import Conversation, RenderConversationConfig
from openai_harmony.training import render
from oracle import conversations
from oracle.client import Oracle
from oracle.seeds import randoms, share

# Of a conversation as JSON.
FORMS = {
    "dicts": lambda asked: asked,
    "texts": json.dumps,
    "conversations": lambda asked: Conversation.from_json(json.dumps(asked)),
}


@pytest.mark.parametrize("drops", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_rows_have_the_tokens_of_0_0_8(oracle: Oracle, form: str, drops: bool) -> None:
    drawn = [conversations.conversation(random) for _, random in randoms(400)]
    asked = [conversation for conversation in drawn if conversation["messages"]]
    expected: dict[int, Any] = {}
    rows = []
    for index, conversation in enumerate(asked):
        tokens = oracle.ask("render_conversation", conversation, "training", "assistant", drops)
        try:
            rows.append(FORMS[form](conversation))
        except Exception:
            # Python's own form of a conversation that neither package reads.
            assert isinstance(tokens, dict)
            rows.append(None)
        expected[index] = tokens
    config = RenderConversationConfig(auto_drop_analysis=drops)
    # The random texts have marks on purpose.
    batch = render(rows, config=config, markers="text")
    for example in batch:
        assert example.tokens.tolist() == expected.pop(example.row), asked[example.row]
    # What is left either package refuses, or the model says nothing in it.
    errors = dict(batch.errors)
    assert list(errors) == list(expected)
    for row, tokens in expected.items():
        error = errors[row]
        if "is missing, as in all messages of the assistant" in str(error):
            assert form != "conversations"
            said = [each for each in asked[row]["messages"] if each["role"] == "assistant"]
            assert said
            assert not any(each.get("channel") for each in said)
            continue
        if "missing; the model puts each of its messages on a channel" in str(error):
            said = [each for each in asked[row]["messages"] if each["role"] == "assistant"]
            assert not all(each.get("channel") for each in said)
            continue
        is_untrained = error.kind == "nothing_to_train"
        assert is_untrained == isinstance(tokens, list), (asked[row], error, tokens)
    assert len(batch) > share(150)
