"""Chat messages and sampled tokens: what adapters of packages that pass both around share.

Such a package has messages as dicts, with ``tool_calls`` and ``tool_call_id``, and the tokens that
were sampled. Here the messages become tokens of which each knows its message; what was sampled
:func:`openai_harmony.rollout.read_step` reads. All of it uses public names, as an example.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from openai_harmony.chat import Conversation, DeveloperContent, Message
from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop import Turn, chat_completions
from openai_harmony.options import RenderConversationConfig, ThoughtPolicy
from openai_harmony.rollout import (
    Broken,
    Call,
    Examples,
    Extended,
    Rollout,
    Said,
    Segment,
    Step,
    read_step,
)

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
START, RETURN, CALL = 200006, 200002, 200012
STOPS = [RETURN, CALL]
"""Where sampling stops."""
_HEADING = b"# Instructions\n\n"
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
    conversation: Conversation,
    sources: Sequence[int | None],
    config: RenderConversationConfig,
    ending: Literal["completion", "training", "none"],
) -> Attributed:
    """Renders a conversation; ``sources`` are the indexes that its messages come from."""
    rendered = ENCODING.render_with_spans(conversation, config, ending=ending)
    sampled = [bool(trained) for trained in rendered.loss_mask()]
    message, content = [-1] * len(rendered), list(sampled)
    for span in rendered.spans:
        if span.message is None or (index := sources[span.message]) is None:
            continue
        message[span.start : span.end] = [index] * (span.end - span.start)
        said = conversation.messages[span.message].content[0]
        for own in _words(said, rendered[span.content : span.stop]):
            content[span.content + own] = True
    return Attributed(rendered.tokens, message, sampled, content)


def indexes(turn: Turn, messages: Sequence[Mapping[str, Any]]) -> list[int | None]:
    """For each message of a turn the index of the chat message that it came from.

    ``messages`` are the body's. If only the first one is a system's, the developer message has its
    words, and the tools.
    """
    sources = list(turn.source_indices)
    system = [message.get("role") in ("system", "developer") for message in messages[:2]]
    if system in ([True], [True, False]) and len(sources) > 1 and sources[1] is None:
        sources[1] = 0
    return sources


def _words(said: object, tokens: Sequence[int]) -> range:
    """Which tokens of a content are the message's own words: of a developer's not its tools."""
    if not isinstance(said, DeveloperContent):
        return range(len(tokens))
    if not said.instructions:
        return range(0)
    ends = list(accumulate(len(ENCODING.decode_bytes([token])) for token in tokens))
    # The first and the last token may also have the line break next to the words.
    begin, end = len(_HEADING), len(_HEADING + said.instructions.encode())
    return range(bisect_right(ends, begin), bisect_left(ends, end) + 1)


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


def turn_with(tools: Iterable[Any] | None = None) -> Turn:
    """A turn that offers these tools, by which calls are read; its question is empty."""
    body = {"messages": [{"role": "user", "content": ""}], "tools": list(tools or ())}
    return chat_completions.read(body, date=None)


def recipients(turn: Turn) -> list[str]:
    """The tools that a turn offers."""
    return [tool.recipient for tool in turn.tools]


def read(
    sampled: Iterable[int], tools: Iterable[Any] | None, prompt: Iterable[int] = ()
) -> tuple[Step, Turn]:
    """What was sampled, and a turn that offers the tools."""
    turn = turn_with(tools)
    return read_step(ENCODING, sampled, prompt=prompt, tools=recipients(turn)), turn


def extended(
    prompt: Iterable[int], sampled: Iterable[int], new: Iterable[Message], turn: Turn
) -> Extended | Broken:
    """The next prompt, with all reasoning and a sampled ``<|return|>``."""
    keeping, tools = config_for("keep"), recipients(turn)
    return ENCODING.extend(prompt, sampled, new, keeping, keep_return=True, tools=tools)


def up_to_stop(tokens: list[int]) -> list[int]:
    """The tokens up to the first stop token, that included."""
    ends = [tokens.index(stop) + 1 for stop in STOPS if stop in tokens]
    return tokens[: min(ends, default=len(tokens))]


def begun(request: Mapping[str, Any], messages: Any) -> tuple[Turn, Rollout]:
    """An episode that begins with a request."""
    turn = chat_completions.read({**request, "messages": messages}, date=None, strict=True)
    return turn, Rollout(turn, ENCODING)


def one_sequence(rollout: Rollout) -> tuple[Segment, Examples]:
    """The first segment, where a trainer trains on one sequence, and all that there is."""
    examples = rollout.examples()
    if examples.steps:
        return examples.segments[0], examples
    return Segment(rollout.prompt.tolist(), [], [], [], {}), examples


def config_for(thoughts: Literal["drop", "keep"]) -> RenderConversationConfig:
    """How requests are rendered, with this policy for reasoning."""
    config = turn_with().config
    return config.model_copy(update={"thoughts": ThoughtPolicy(thoughts)})


__all__ = [
    "Attributed",
    "arguments_of",
    "attributed",
    "begun",
    "config_for",
    "extended",
    "indexes",
    "name_of",
    "one_sequence",
    "read",
    "recipients",
    "texts",
    "turn_with",
    "up_to_stop",
]
