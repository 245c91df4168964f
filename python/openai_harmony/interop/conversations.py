"""Conversations as trainers and notebooks write them, to text and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openai_harmony.chat import effort_of
from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop import chat_completions

_IDENTITY = "You are ChatGPT, a large language model trained by OpenAI."


def encode_conversations_with_harmony(
    messages: Iterable[Mapping[str, Any]],
    reasoning_effort: str = "medium",
    add_generation_prompt: bool = True,
    tool_calls: Iterable[Mapping[str, Any]] | None = None,
    developer_instructions: str | None = None,
    model_identity: str = _IDENTITY,
) -> tuple[str, list[int]]:
    r"""The text and the tokens of a conversation.

    ``messages`` are those of chat completions, with ``thinking`` for reasoning, and calls either
    nested or flat (``{"name": ..., "arguments": ...}``). Where ``thinking`` is there but empty,
    ``content`` is the reasoning. Arguments given as text are not escaped again. ``tool_calls`` are
    the tools, as chat completions declare them.

    >>> text, tokens = encode_conversations_with_harmony(
    ...     [
    ...         {"role": "user", "content": "Is it warm?"},
    ...         {"role": "assistant", "content": "Ask the tool.", "thinking": ""},
    ...         {"role": "assistant", "tool_calls": [{"name": "t", "arguments": '{"at": "SF"}'}]},
    ...         {"role": "tool", "name": "t", "content": "19.9"},
    ...     ]
    ... )
    >>> print(text[text.index("<|start|>user") :].replace("<|start|>", "\n"))
    <BLANKLINE>
    user<|message|>Is it warm?<|end|>
    assistant<|channel|>analysis<|message|>Ask the tool.<|end|>
    assistant<|channel|>commentary to=functions.t <|constrain|>json<|message|>{"at": "SF"}<|call|>
    functions.t to=assistant<|channel|>commentary<|message|>19.9<|end|>
    assistant

    Raises:
        InvalidRequestError: What is not a message, with its ``path``.
        ValueError: An effort other than low, medium and high.
    """
    body: dict[str, Any] = {
        "messages": [_with_thought(message) for message in messages],
        "reasoning_effort": effort_of(reasoning_effort).value.lower(),
        "tools": tool_calls,
    }
    instructions = [] if developer_instructions is None else [developer_instructions]
    history = [{"role": "developer", "content": text} for text in instructions]
    turn = chat_completions.read(body, identity=model_identity, history=history)
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    if add_generation_prompt or turn.prefill is not None:
        tokens = turn.prompt(encoding)
    else:
        tokens = encoding.render_conversation(turn.conversation, turn.config)
    return encoding.decode(tokens), tokens


def _with_thought(message: Any) -> Any:
    """The message with its reasoning in ``thinking``."""
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return message
    if "thinking" not in message or message["thinking"]:
        return message
    return {**message, "thinking": message.get("content") or "", "content": None}
