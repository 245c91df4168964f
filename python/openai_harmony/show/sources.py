"""Whatever can be shown, to a picture."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from typing import Any, Literal

from openai_harmony._arrays import IntArray
from openai_harmony._counted import counted
from openai_harmony.chat import Conversation, Message, Role
from openai_harmony.errors import HarmonyError, WrongTypeError
from openai_harmony.interop.reply import Reply
from openai_harmony.interop.turn import Turn
from openai_harmony.loss_mask import LossMask
from openai_harmony.options import Prefill, RenderConversationConfig, RenderOptions
from openai_harmony.rendered import MessageSpan, Rendered
from openai_harmony.show.cells import the_encoding
from openai_harmony.show.lines import label_of
from openai_harmony.show.picture import Block, Mark, Picture, Speaker, with_gaps
from openai_harmony.stream import MessageStart, Repair, StreamableParser

Ending = Literal["completion", "training", "none"]

_EXPECTED = (
    "token ids, a Conversation, a Message, a list of messages, a Rendered, a Turn, a Reply, "
    "a StreamableParser, an example of a Batch or a Difference"
)


def picture(
    x: Any,
    *,
    config: RenderConversationConfig | None = None,
    ending: Ending | None = None,
    mask: LossMask | Sequence[int] | bool | None = None,
    tools: Iterable[str] | None = None,
) -> Picture:
    """The picture of anything that can be shown; :func:`openai_harmony.show.html` says what."""
    if isinstance(x, Picture):
        return x
    if isinstance(x, Message):
        x = [x]
    if isinstance(x, (list, tuple)) and x and all(isinstance(one, Message) for one in x):
        x, ending = Conversation(messages=list(x)), ending or "none"
    if isinstance(x, (Conversation, Turn)):
        return _of_messages(x, config, ending, mask)
    if config is not None or ending is not None:
        name = "ending" if config is None else "config"
        raise ValueError(f"{name}: {type(x).__name__} is rendered already")
    if hasattr(x, "loss_mask") and hasattr(x, "offsets"):
        name = type(x).__name__
        raise WrongTypeError(f"{name} holds {counted(len(x), 'example')}: show one of them, x[0]")
    match x:
        case Rendered():
            return _of_rendered(x, "rendered", _mask_of(x, mask), tools)
        case Reply():
            return _of_reply(x, _mask_of(x.tokens, mask))
        case StreamableParser():
            return _of_running(x, _mask_of(x.tokens, mask))
        case _ if hasattr(x, "loss_mask") and hasattr(x, "tokens"):  # A `training.Example`.
            tokens = _token_ids(x.tokens)
            own = x.loss_mask if mask is None or mask is True else mask
            return of_tokens(tokens, "example", mask=_mask_of(tokens, own), tools=tools)
        case _:
            tokens = _token_ids(x)
            return of_tokens(tokens, mask=_mask_of(tokens, mask), tools=tools)


def of_tokens(
    tokens: Sequence[int],
    title: str = "tokens",
    *,
    mask: Sequence[int] | None = None,
    tools: Iterable[str] | None = None,
    prefill: Prefill | None = None,
    spelled_markers: bool = False,
) -> Picture:
    """Tokens, read leniently: from ``<|start|>`` on, else as what the assistant sampled."""
    parser = StreamableParser(
        the_encoding(),
        Role.ASSISTANT,
        strict=False,
        tools=tools,
        prefill=prefill,
        spelled_markers=spelled_markers,
    )
    return _of_parser(parser, tokens, title, mask)


def rendering(
    x: Conversation | Turn, config: RenderConversationConfig | None, ending: Ending | None
) -> Rendered:
    """A conversation or a turn, rendered as its picture is."""
    ending, prefill = ending or "completion", None
    if isinstance(x, Turn):
        if config is None and ending == "completion":
            return x.render_with_spans(the_encoding())
        prefill = x.prefill if ending == "completion" else None
        config, x = config or x.config, x.conversation
    return the_encoding().render_with_spans(x, config, ending=ending, prefill=prefill)


def _of_messages(
    x: Conversation | Turn,
    config: RenderConversationConfig | None,
    ending: Ending | None,
    mask: LossMask | Sequence[int] | bool | None,
) -> Picture:
    rendered, title, notes = rendering(x, config, ending), "conversation", []
    if isinstance(x, Turn):
        title = f"prompt of {x.dialect}"
        notes = [f"{unused.path}: {unused.reason}" for unused in x.unused]
        config, x = config or x.config, x.conversation
    shown = _of_rendered(rendered, title, _mask_of(rendered, mask), None)
    shown.notes.extend(notes)
    present = {block.message for block in shown.blocks}
    for index, message in enumerate(x.messages):
        if index not in present:
            _insert(shown.blocks, _dropped(message, index, config))
    return shown


def _dropped(message: Message, index: int, config: RenderConversationConfig | None) -> Block:
    """A message that is not rendered, with the tokens that it would have."""
    given = config or RenderOptions()
    options = RenderOptions(header_style=given.header_style, tool_schema=given.tool_schema)
    tokens = the_encoding().render(message, options)
    by_itself = of_tokens(tokens)
    first = by_itself.blocks[0]
    return Block(
        start=0,
        content=first.content,
        stop=first.stop,
        end=len(tokens),
        speaker=first.speaker,
        message=index,
        is_dropped=True,
        tokens=tuple(tokens),
    )


def _insert(blocks: list[Block], dropped: Block) -> None:
    """Puts a dropped message before the first that follows it."""
    assert dropped.message is not None
    later = (
        place
        for place, block in enumerate(blocks)
        if block.message is None or block.message > dropped.message
    )
    blocks.insert(next(later, len(blocks)), dropped)


def _of_rendered(
    x: Rendered, title: str, mask: Sequence[int] | None, tools: Iterable[str] | None
) -> Picture:
    """The spans are those of rendering; what a header says is read from its tokens."""
    tokens = x.tokens
    read = of_tokens(tokens, tools=tools)
    speakers = {block.start: block.speaker for block in read.blocks}
    blocks = [
        Block(
            span.start,
            span.content,
            span.stop,
            span.end,
            speakers.get(span.start) or Speaker(role, None, channel),
            span.message,
        )
        for span, (role, channel) in zip(x.spans, x._speakers)
    ]
    return Picture(tokens, with_gaps(blocks, tokens), title, mask, read.marks)


def labels(tokens: IntArray, spans: Iterable[MessageSpan]) -> list[str]:
    """What a picture calls each message: without a picture, as counting needs no more."""
    headers = ((span, tokens[span.start : span.content].tobytes()) for span in spans)
    unread = Speaker("assistant")
    return [label_of(_speaker(header) or unread, span.message) for span, header in headers]


@lru_cache(maxsize=4096)
def _speaker(header: bytes) -> Speaker | None:
    """What a header of uint32 says by itself: conversations have few that differ."""
    return of_tokens(memoryview(header).cast("I").tolist()).blocks[0].speaker


def _of_reply(x: Reply, mask: Sequence[int] | None) -> Picture:
    turn = x._turn
    recipients = [tool.recipient for tool in turn.tools]
    shown = of_tokens(
        x.tokens,
        "reply",
        mask=mask,
        tools=recipients,
        prefill=turn.prefill,
        spelled_markers=x._spelled_markers,
    )
    # Those of the reply know what its API cannot deliver, too.
    marks = [mark_of(repair) for repair in x.repairs] or shown.marks
    return Picture(shown.tokens, shown.blocks, shown.title, shown.mask, marks)


def _of_parser(
    parser: StreamableParser, tokens: Sequence[int], title: str, mask: Sequence[int] | None
) -> Picture:
    events = [*parser.feed(tokens), *parser.finish()]
    speakers = {
        event.index: Speaker(
            event.author.role.value,
            event.author.name,
            event.channel,
            event.recipient,
            event.content_type,
        )
        for event in events
        if isinstance(event, MessageStart)
    }
    spans = MessageSpan.from_events(events)
    blocks = [
        Block(*span[1:5], speakers.get(index), span.message) for index, span in enumerate(spans)
    ]
    marks = [mark_of(event) for event in events if isinstance(event, Repair)]
    return Picture(tokens, with_gaps(blocks, tokens), title, mask, marks)


def _of_running(x: StreamableParser, mask: Sequence[int] | None) -> Picture:
    """A parser has no events of what it was fed: a copy of it reads the tokens again."""
    title = f"parser in {x.state.value}"
    try:
        shown = _of_parser(copy.copy(x).reset(), x.tokens, title, mask)
    except HarmonyError as error:
        # A strict one that stopped at an error, or that would at the end of its tokens.
        shown = of_tokens(x.tokens, title, mask=mask)
        if not _reads(copy.copy(x).reset(), x.tokens):
            shown.notes.append(f"strict parsing stopped: {error}")
    # What only the end of the tokens repairs may still come.
    known = [mark_of(repair) for repair in x.repairs]
    marks = known if not shown.notes else shown.marks
    return Picture(shown.tokens, shown.blocks, title, mask, marks, shown.notes)


def _reads(parser: StreamableParser, tokens: Sequence[int]) -> bool:
    try:
        parser.feed(tokens)
    except HarmonyError:
        return False
    return True


def mark_of(repair: Repair) -> Mark:
    """A repair at the tokens that it is about."""
    return Mark(repair.kind, repair.text, *repair.span)


def _mask_of(
    x: Rendered | Sequence[int], mask: LossMask | Sequence[int] | bool | None
) -> Sequence[int] | None:
    if mask is None or mask is False:
        return None
    if mask is True or isinstance(mask, LossMask):
        if not isinstance(x, Rendered):
            raise ValueError(
                "mask: a LossMask needs a Rendered or a Conversation; for tokens give a list of "
                "0 and 1"
            )
        return x.loss_mask(mask if isinstance(mask, LossMask) else None)
    given: Any = mask
    if not isinstance(given, Sized) or isinstance(given, (str, set, Mapping)):
        expected = "a LossMask, a bool or a value for each token"
        raise WrongTypeError(f"mask: expected {expected}, got {type(mask).__name__}")
    if len(mask) != len(x):
        raise ValueError(f"mask: expected {len(x)} values, one for each token, got {len(mask)}")
    return mask


def _way(x: Any) -> str | None:
    """What to give instead of something that has no tokens."""
    if isinstance(x, (str, bytes)):
        return "for text with markers give encoding.encode(text, allowed_special='all')"
    if isinstance(x, tuple) and hasattr(x, "_fields"):  # `Parsed`, a rollout's `Step`
        ways = ", or its messages" if hasattr(x, "messages") else ""
        return f"give the tokens that it was read from{ways}"
    is_body = isinstance(x, Mapping)
    if is_body or (isinstance(x, (list, tuple)) and x and isinstance(x[0], Mapping)):
        body = "body" if is_body else '{"messages": messages}'
        return f"give openai_harmony.interop.chat_completions.read({body})"
    return None


def _token_ids(x: Any) -> list[int]:
    if (way := _way(x)) is not None:
        raise WrongTypeError(f"expected {_EXPECTED}, got {type(x).__name__}; {way}")
    try:
        tokens = x.tolist() if hasattr(x, "tolist") else list(x)
    except TypeError:
        raise WrongTypeError(f"expected {_EXPECTED}, got {type(x).__name__}") from None
    for index, token in enumerate(tokens):
        if type(token) is not int:
            got = type(token).__name__
            raise WrongTypeError(f"tokens[{index}]: expected a token id, got {got}")
    return tokens


__all__ = ["labels", "mark_of", "of_tokens", "rendering"]
