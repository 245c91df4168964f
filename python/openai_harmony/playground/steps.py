"""What the page asks for: a prompt, and what sampled output means, up to some token."""

from __future__ import annotations

import json
from typing import Any

from openai_harmony import show
from openai_harmony.chat import Conversation
from openai_harmony.errors import HarmonyError
from openai_harmony.interop.turn import Turn
from openai_harmony.options import RenderConversationConfig
from openai_harmony.show.cells import cells, the_encoding
from openai_harmony.show.forms import Recognized, UnknownForm, recognize
from openai_harmony.show.html import difference_piece, picture_piece
from openai_harmony.show.sources import mark_of, of_tokens
from openai_harmony.stream import StreamableParser

MOST_BYTES = 4 * 2**20
"""The most that the page may send at once."""
MOST_TOKENS = 8_000
"""About how many tokens of a picture are shown."""

MOST_SAMPLED = 20_000
"""Of longer output the page would be slow: it is read again for each step."""
MOST_CHUNKS = 300
"""So many chunks are listed, the last ones."""

_OPTIONS = ("thoughts", "header_style", "tool_schema")
_ENDINGS = ("completion", "training", "none")


class Refused(ValueError):  # noqa: N818 - what became of the request
    """What was asked for cannot be done; the text says why, in a line."""


def prompt(asked: dict[str, Any]) -> dict[str, Any]:
    """The prompt of a request or a conversation.

    Args:
        asked: ``body``, the text; ``config`` and ``against``, options of rendering by name, the
            second for a difference; ``ending``; ``mask``, whether trained tokens are marked;
            ``date``.

    Returns:
        ``html``, ``count``, ``form``, ``notes``, and ``difference`` if ``against`` is there.

    Raises:
        Refused: A body that cannot be read or rendered.
    """
    found = _read(asked)
    notes = found.notes
    try:
        first = _picture(found, asked, asked.get("config"))
        made = {
            "html": picture_piece(first, max_tokens=MOST_TOKENS, style=False),
            "count": len(first.tokens),
            "form": found.form,
            "notes": notes if not isinstance(found.value, Turn) else [],
        }
        if asked.get("against"):
            second = _picture(found, asked, {**(asked.get("config") or {}), **asked["against"]})
            difference = show.diff(first, second, names=("these settings", "the others"))
            made["difference"] = difference_piece(difference, style=False)
    except (HarmonyError, ValueError) as error:
        raise Refused(" ".join(str(error).split())) from error
    return made


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What sampled output means.

    Args:
        asked: ``body``, the request; ``sampled``, ids or text; ``strict``; ``upto``, how many of
            its tokens have arrived, all of them if it is left out.

    Returns:
        ``html``, ``count``, ``upto``, ``token``, ``messages``, ``repairs``, ``error`` of strict
        parsing, and for requests the last ``chunks``, how many ``earlier`` ones there were, and
        how many of them are ``fresh``, the last token's. A body that cannot be read is a ``note``:
        without it there are neither known tools nor chunks.

    Raises:
        Refused: Output that cannot be read.
    """
    turn, note = _turn(asked)
    stripped, tokens = _sampled(asked)
    if stripped is not None:
        return {
            "html": picture_piece(show.picture(stripped), max_tokens=MOST_TOKENS, style=False),
            "count": 0,
            "upto": 0,
            "messages": [message.to_dict() for message in stripped],
            "repairs": [],
            "note": note,
        }
    if len(tokens) > MOST_SAMPLED:
        raise Refused(
            f"sampled: {len(tokens):,} tokens, of which the playground takes {MOST_SAMPLED:,}; "
            "`harmony parse` takes any number"
        )
    upto = asked.get("upto")
    upto = len(tokens) if type(upto) is not int else max(0, min(upto, len(tokens)))
    arrived = tokens[:upto]
    tools = [tool.recipient for tool in turn.tools] if turn else None
    prefill = turn.prefill if turn else None
    strict = bool(asked.get("strict"))
    parser = StreamableParser(
        the_encoding(), "assistant", strict=strict, tools=tools, prefill=prefill
    )
    error = _feed(parser, arrived, ended=upto == len(tokens))
    picture = of_tokens(arrived, "sampled", tools=tools, prefill=prefill)
    # What only the end of the tokens repairs may still come.
    marks = [mark_of(repair) for repair in parser.repairs]
    shown = show.Picture(arrived, picture.blocks, "sampled", None, marks)
    made = {
        "html": picture_piece(shown, max_tokens=MOST_TOKENS, style=False),
        "count": len(tokens),
        "upto": upto,
        "token": _last(arrived),
        "messages": [message.to_dict() for message in parser.messages],
        "open": parser.current_content,
        "repairs": [
            {"kind": mark.kind, "span": [mark.start, mark.end], "text": mark.text}
            for mark in shown.marks
        ],
        "error": error,
        "note": note,
    }
    return {**made, **_chunks(turn, arrived, ended=upto == len(tokens))}


def _turn(asked: dict[str, Any]) -> tuple[Turn | None, str]:
    """The request that is answered, and what is missing without it."""
    try:
        found = _read(asked)
    except Refused:
        return None, "The request cannot be read: no tools are known, and there are no chunks."
    return (found.value, "") if isinstance(found.value, Turn) else (None, "")


def _read(asked: dict[str, Any]) -> Recognized:
    body = asked.get("body")
    if not isinstance(body, str):
        raise Refused("body: expected a text")
    try:
        return recognize(body, date=asked.get("date") or "today")
    except UnknownForm as error:
        raise Refused(f"the request: {error}") from None


def _picture(found: Recognized, asked: dict[str, Any], options: Any) -> show.Picture:
    if not isinstance(found.value, (Turn, Conversation)):
        return show.picture(found.value)
    ending: Any = asked.get("ending") or "completion"
    if ending not in _ENDINGS:
        raise Refused(f"ending: expected one of {', '.join(_ENDINGS)}")
    config = _config(found.value, options)
    mask = bool(asked.get("mask"))
    return show.picture(found.value, config=config, ending=ending, mask=mask)


def _config(value: Turn | Conversation, options: Any) -> RenderConversationConfig:
    default = value.config if isinstance(value, Turn) else RenderConversationConfig()
    if not isinstance(options, dict):
        return default
    for name in options:
        if name not in _OPTIONS:
            raise Refused(f"config.{name}: expected one of {', '.join(_OPTIONS)}")
    given = {name: value for name, value in options.items() if value}
    return RenderConversationConfig(**{**default.model_dump(), **given})


def _sampled(asked: dict[str, Any]) -> tuple[list[Any] | None, list[int]]:
    """Messages of text that lost its markers, or tokens."""
    text = asked.get("sampled")
    if not isinstance(text, str):
        raise Refused("sampled: expected a text")
    if not text.strip():
        return None, []
    try:
        found = recognize(text, "markers" if text.lstrip()[0] in "{[" and "<|" in text else None)
    except UnknownForm:
        # A model may say anything, without any marker.
        return None, the_encoding().encode(text, allowed_special="all")
    if found.form == "stripped":
        return list(found.value), []  # type: ignore[arg-type]
    if isinstance(found.value, list):
        return None, list(found.value)  # type: ignore[arg-type]
    return None, the_encoding().encode(text, allowed_special="all")


def _feed(parser: StreamableParser, tokens: list[int], *, ended: bool) -> str | None:
    try:
        parser.feed(tokens)
        if ended:
            parser.finish()
    except HarmonyError as error:
        return str(error)
    return None


def _last(tokens: list[int]) -> str:
    if not tokens:
        return ""
    # The last character may have begun some tokens before.
    some = tokens[-8:]
    cell = cells(some, len(tokens) - len(some))[-1]
    return f"{' '.join(map(str, cell.ids))} {json.dumps(cell.text, ensure_ascii=False)}"


def _length(turn: Turn) -> int:
    try:
        return len(turn.prompt_array(the_encoding()))
    except HarmonyError:
        # Of a schema that cannot be rendered. The prompt's side of the page names it.
        return 0


def _chunks(turn: Turn | None, tokens: list[int], *, ended: bool) -> dict[str, Any]:
    """What the API sends of the tokens, one token at a time."""
    if turn is None:
        return {"chunks": None, "earlier": 0, "fresh": 0}
    reply = turn.reply(
        the_encoding(),
        model="gpt-oss",
        id="answer",
        created=0,
        prompt_tokens=_length(turn),
    )
    chunks = reply.feed([])
    fresh = chunks
    for token in tokens:
        fresh = reply.feed([token])
        chunks += fresh
    if ended:
        stops = turn.stop_token_ids
        fresh = fresh + (
            last := reply.finish("stop" if tokens and tokens[-1] in stops else "length")
        )
        chunks += last
    listed = chunks[-MOST_CHUNKS:]
    earlier = len(chunks) - len(listed)
    return {"chunks": listed, "earlier": earlier, "fresh": len(fresh), "dialect": turn.dialect}
