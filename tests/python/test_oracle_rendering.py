"""Rendering against 0.0.8: random conversations and messages give the same tokens or errors."""

from __future__ import annotations

from typing import Any

from oracle import conversations
from oracle.client import Oracle
from oracle.operations import Session
from oracle.seeds import randoms

RENDERERS = ["completion", "conversation", "training"]


def test_conversations_render_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    """The three renderers, with analysis dropped, kept and left to the default."""
    for seed, random in randoms(500):
        conversation = conversations.conversation(random)
        arguments = (
            conversation,
            random.choice(RENDERERS),
            random.choice(conversations.ROLES),
            random.choice([None, True, False]),
        )
        expected = oracle.ask("render_conversation", *arguments)
        actual = ours.ask("render_conversation", *arguments)
        assert actual == expected, said(seed, arguments, oracle, expected, actual)


def test_messages_render_as_in_0_0_8(oracle: Oracle, ours: Session) -> None:
    """Single messages, with and without the line about function tools."""
    for seed, random in randoms(300):
        arguments = (conversations.message(random), random.choice([None, True, False]))
        expected = oracle.ask("render", *arguments)
        actual = ours.ask("render", *arguments)
        assert actual == expected, said(seed, arguments, oracle, expected, actual)


def said(seed: str, asked: Any, oracle: Oracle, expected: Any, actual: Any) -> str:
    """What a reader of the failure needs: the tokens as text too."""
    lines = [f"{seed}: {asked!r}"]
    for name, answer in (("0.0.8", expected), ("ours", actual)):
        text = oracle.ask("decode", answer) if isinstance(answer, list) else answer
        lines.append(f"{name}: {text!r}")
    return "\n".join(lines)
