"""Chat messages that follow what was sampled: results of tools, questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from openai_harmony.chat import Message, Role
from openai_harmony.errors import InvalidRequestError
from openai_harmony.interop import chat_completions
from openai_harmony.rollout.step import Call


class Following(NamedTuple):
    """Messages that follow what was sampled."""

    messages: list[Message]
    sources: list[int]
    """For each the index of the chat message that it came from."""


def following(calls: Iterable[Call], messages: Sequence[Mapping[str, Any]]) -> Following:
    """Reads chat messages, dicts, that follow what was sampled.

    A tool's result answers the call of its ``name``, else the next one; those that may run come
    first. Its id says nothing: the format has none.

    Args:
        calls: Those that were sampled: :attr:`Step.waiting`.
        messages: What follows.

    Raises:
        InvalidRequestError: A message that chat completions do not have; a result for no call.
        UnsupportedContent: What the format cannot carry.
    """
    pending = sorted(calls, key=lambda call: call.status == "cut_off")
    answered = []
    for message in messages:
        if message.get("role") == "tool" and pending:
            name = message.get("name")
            named = [call for call in pending if call.name in (name, f"functions.{name}")]
            answered.append((named or pending)[0])
            pending.remove(answered[-1])
    asked = [{"function": {"name": "asked", "arguments": "{}"}} for _ in answered]
    before = {"role": "assistant", "content": "Asked.", "tool_calls": asked}
    turn = chat_completions.read(
        {"messages": [_without_names(message) for message in messages]},
        history=[before],
        date=None,
        strict=True,
    )
    for place, message in enumerate(messages):
        if message.get("role") == "tool" and "content" not in message:
            path = f"messages[{place}].content"
            raise InvalidRequestError(f"Invalid request: {path} is missing", path=path)
    call = iter(answered)
    follows = Following([], [])
    for read, index in zip(turn.conversation.messages, turn.source_indices):
        if index is not None and index >= 0:
            is_result = read.author.role == Role.TOOL
            follows.messages.append(next(call).result(read.text) if is_result else read)
            follows.sources.append(index)
    return follows


def _without_names(message: Mapping[str, Any]) -> dict[str, Any]:
    """A result without what names its call."""
    hidden = ("name", "tool_call_id") if message.get("role") == "tool" else ()
    return {key: message[key] for key in message if key not in hidden}


__all__ = ["Following", "following"]
