"""Chat messages and sampled tokens: what adapters of packages that pass both around share.

Such a package has messages as dicts, with ``tool_calls`` and ``tool_call_id``, and the tokens that
were sampled. Here the messages become tokens of which each knows its message, and the tokens
become messages, malformed ones included. All of it stands on public names, as an example.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from openai_harmony.chat import Conversation, Message, Role
from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import Turn, chat_completions
from openai_harmony.options import AnalysisPolicy, RenderConversationConfig
from openai_harmony.rendered import MessageSpan, Rendered
from openai_harmony.rollout import Said
from openai_harmony.stream import StreamableParser

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
    """Whether it is what a message says, not what stands around that; of the assistant's messages,
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

    ``messages`` are the body's. If the first one alone is a system's, the developer message has its
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
    # The last token may also hold the line break behind them.
    return span.content + _common(tokens, heading), span.content + min(last + 1, len(words))


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of their common beginning."""
    pairs = enumerate(zip(first, second))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def said_in(
    encoding: HarmonyEncoding,
    sampled: Iterable[int],
    *,
    prompt: Sequence[int] = (),
    tools: Iterable[str] | None = None,
) -> list[Said]:
    """Reads what was sampled, however malformed: like :class:`openai_harmony.rollout.Step`.

    Unlike a rollout it reads several calls behind one another, and nothing. A span that the prompt
    begins is counted from the first sampled token.

    Args:
        encoding: The encoding.
        sampled: The tokens; they may begin with ``<|start|>``.
        prompt: What they were sampled from, if it may hold more than ``<|start|>assistant`` of the
            message.
        tools: The recipients that were offered.
    """
    tokens = list(sampled)
    begins = tokens[:1] == [START]
    before = [] if begins else list(prompt[_opening(encoding, prompt) :])
    parser = StreamableParser(encoding, None if begins else "assistant", strict=False, tools=tools)
    events = parser.feed([*before, *tokens])
    events += parser.finish()
    spans = MessageSpan.from_events(events)
    said = []
    for message, span, stop in zip(parser.messages, spans, parser.stop_tokens):
        start, content, stop_at, end = (max(0, place - len(before)) for place in span[1:5])
        counted = MessageSpan(span.message, start, content, stop_at, end)
        said.append(Said(message, _kind(message), counted, stop is not None))
    return said


def _opening(encoding: HarmonyEncoding, prompt: Sequence[int]) -> int:
    """Where the assistant's open message goes on behind its role."""
    given = [START, *encoding.encode("assistant")]
    for start in range(len(prompt) - len(given), -1, -1):
        if prompt[start] == START:
            is_open = list(prompt[start : start + len(given)]) == given
            return start + len(given) if is_open else len(prompt)
    return len(prompt)


def _kind(message: Message) -> Kind:
    if message.author.role != Role.ASSISTANT:
        return "other"
    if message.recipient is not None:
        return "call"
    kinds: dict[str | None, Kind] = {"analysis": "thought", "final": "answer"}
    return kinds.get(message.channel, "preamble")


def texts(said: Iterable[Said], *kinds: Kind) -> str:
    """The texts of some kinds, joined by an empty line."""
    return "\n\n".join(one.text for one in said if one.kind in kinds)


def arguments_of(call: Said) -> dict[str, Any] | None:
    """A call's arguments, or ``None`` if they are no JSON object."""
    try:
        arguments = json.loads(call.text)
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def recipients(turn: Turn) -> list[str]:
    """The tools that a turn offers."""
    return [tool.recipient for tool in turn.tools if tool.offered]


class Following(NamedTuple):
    """Messages that follow what was sampled."""

    messages: list[Message]
    sources: list[int]
    """For each the index of the chat message that it came from."""


def following(said: Sequence[Said], messages: Sequence[Mapping[str, Any]]) -> Following:
    """Reads chat messages that follow what was sampled.

    A tool's result answers the call of its ``name``, else the next one. Its id says nothing: the
    format has none.

    Raises:
        InvalidRequestError: A message that chat completions do not have; a result for no call.
        UnsupportedContent: What the format cannot carry.
    """
    pending = [str(one.message.recipient) for one in said if one.kind == "call"]
    answered = []
    for message in messages:
        if message.get("role") == "tool" and pending:
            name = message.get("name")
            names = (name, f"functions.{name}")
            answered.append(next((one for one in pending if one in names), pending[0]))
            pending.remove(answered[-1])
    calls = [{"function": {"name": "asked", "arguments": "{}"}} for _ in answered]
    asked = {"role": "assistant", "content": "Asked.", **({"tool_calls": calls} if calls else {})}
    hidden = ("name", "tool_call_id")
    read = [
        {key: message[key] for key in message if message.get("role") != "tool" or key not in hidden}
        for message in messages
    ]
    turn = chat_completions.read({"messages": read}, history=[asked], date=None)
    recipient = iter(answered)
    follows = Following([], [])
    for said_next, index in zip(turn.conversation.messages, indexes(turn)):
        if index >= 0:
            if said_next.author.role == Role.TOOL:
                said_next.author.name = next(recipient)
            follows.messages.append(said_next)
            follows.sources.append(index)
    return follows


def config_for(thoughts: Literal["drop", "keep"]) -> RenderConversationConfig:
    """How requests are rendered, with this policy of thoughts."""
    config = chat_completions.read({"messages": []}, date=None).config
    keep = thoughts == "keep"
    analysis = AnalysisPolicy.KEEP_ALL if keep else AnalysisPolicy.DROP_COMPLETED_TURNS
    return config.model_copy(update={"analysis": analysis})


__all__ = [
    "Attributed",
    "Following",
    "arguments_of",
    "attributed",
    "config_for",
    "following",
    "indexes",
    "recipients",
    "said_in",
    "texts",
]
