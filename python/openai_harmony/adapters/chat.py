"""Chat messages and sampled tokens: what adapters of packages that pass both around share.

Such a package has messages as dicts, with ``tool_calls`` and ``tool_call_id``, and the tokens that
were sampled. Here the messages become tokens of which each knows its message; what was sampled
:func:`openai_harmony.rollout.read_step` reads. All of it uses public names, as an example.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from openai_harmony.chat import Conversation, Message, Role
from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import Turn, chat_completions
from openai_harmony.options import RenderConversationConfig, ThoughtPolicy
from openai_harmony.rendered import MessageSpan, Rendered
from openai_harmony.rollout import Call, Said

START, RETURN, CALL = 200006, 200002, 200012
STOPS = [RETURN, CALL]
"""Where sampling stops."""
Kind = Literal["thought", "preamble", "answer", "call", "other"]


class Attributed(NamedTuple):
    """Rendered messages, and for each token where it comes from."""

    tokens: list[int]
    message: list[int]
    """The index of the message that it belongs to, or -1: of none, or of several."""
    sampled: list[bool]
    """Whether the model itself would have sampled it."""
    content: list[bool]
    """Whether it is a message's text, not its frame; of the assistant's messages,
    what it sampled."""


def attributed(
    encoding: HarmonyEncoding,
    conversation: Conversation,
    sources: Sequence[int],
    config: RenderConversationConfig,
    ending: Literal["completion", "training", "none"],
) -> Attributed:
    """Renders a conversation; ``sources`` are the indexes that its messages come from, or -1."""
    rendered = encoding.render_with_spans(conversation, config, ending=ending)
    sampled = [bool(trained) for trained in rendered.loss_mask()]
    message, content = [-1] * len(rendered), list(sampled)
    for span in rendered.spans:
        if span.message is None or (index := sources[span.message]) < 0:
            continue
        message[span.start : span.end] = [index] * (span.end - span.start)
        said = conversation.messages[span.message]
        if said.author.role != Role.ASSISTANT:
            first, last = _words(encoding, said, rendered, span)
            content[first:last] = [True] * (last - first)
    return Attributed(rendered.tokens, message, sampled, content)


def indexes(turn: Turn, messages: Sequence[Mapping[str, Any]] = ()) -> list[int]:
    """For each message of a turn the index of the chat message that it came from, or -1.

    ``messages`` are the body's. If only the first one is a system's, the developer message has its
    words, and the tools.
    """
    sources = [-1 if index is None else index for index in turn.source_indices]
    system = [message.get("role") in ("system", "developer") for message in messages[:2]]
    if system in ([True], [True, False]) and len(sources) > 1 and sources[1] < 0:
        sources[1] = 0
    return sources


def _words(
    encoding: HarmonyEncoding, said: Message, rendered: Rendered, span: MessageSpan
) -> tuple[int, int]:
    """Where in the tokens a message's own words are: a developer's without its tools."""
    instructions = getattr(said.content[0], "instructions", None)
    if said.author.role != Role.DEVELOPER or instructions is None:
        return span.content, span.stop
    tokens = rendered[span.content : span.stop]
    heading = encoding.encode("# Instructions\n\n")
    words = encoding.encode("# Instructions\n\n" + instructions)
    last = _common(tokens, words)
    # The last token may also hold the line break after them.
    return span.content + _common(tokens, heading), span.content + min(last + 1, len(words))


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of their common beginning."""
    pairs = enumerate(zip(first, second))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def texts(said: Iterable[Said], *kinds: Kind) -> str:
    """The texts of some kinds, joined by an empty line."""
    return "\n\n".join(one.text for one in said if one.kind in kinds)


def name_of(call: Call, turn: Turn) -> str:
    """The name of a call's tool, as the request has it."""
    tool = turn.tools.by_recipient(call.name)
    return call.name.removeprefix("functions.") if tool is None else tool.name


def arguments_of(call: Call) -> dict[str, Any] | str:
    """A call's arguments, or their text if they are not a JSON object."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    return arguments if isinstance(arguments, dict) else call.arguments


def recipients(turn: Turn) -> list[str]:
    """The tools that a turn offers."""
    return [tool.recipient for tool in turn.tools if tool.offered]


def config_for(thoughts: Literal["drop", "keep"]) -> RenderConversationConfig:
    """How requests are rendered, with this policy of thoughts."""
    config = chat_completions.read({"messages": []}, date=None).config
    return config.model_copy(update={"thoughts": ThoughtPolicy(thoughts)})


__all__ = [
    "Attributed",
    "arguments_of",
    "attributed",
    "config_for",
    "indexes",
    "name_of",
    "recipients",
    "texts",
]
