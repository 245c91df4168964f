"""An answer: sampled tokens to what an API sends."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Literal, NamedTuple, Optional

from openai_harmony import _lowlevel
from openai_harmony.chat import Message
from openai_harmony.stream import Repair

Chunk = Dict[str, Any]
"""A chunk or an event as the API sends it."""

FinishReason = Literal["stop", "length", "abort"]
"""The model stopped, the limit was reached, or the engine gave up."""

ReasoningField = Literal["reasoning_content", "reasoning", "both"]

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

# Some clients take these for the end of a line.
_SEPARATORS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class BuiltinCall(NamedTuple):
    """A call of a tool that the model was trained with, for the server to run."""

    recipient: str
    """``python``, ``browser.search``."""
    text: str
    """What was sent to it: code, or arguments in JSON."""
    is_complete: bool
    """Whether it came to its end."""


class Usage(NamedTuple):
    """How many tokens a turn took."""

    prompt_tokens: int
    cached_tokens: int
    """Those of the prompt that the engine had cached."""
    completion_tokens: int
    """Sampled tokens, markers and headers included."""
    reasoning_tokens: int
    """Those of them that are the content of thoughts."""

    @property
    def total_tokens(self) -> int:
        """Tokens of prompt and answer."""
        return self.prompt_tokens + self.completion_tokens


class Reply:
    """An answer under way. ``Turn.reply`` begins one.

    Any tokens at all give a well-formed answer, and none of their text is lost: what has no place
    elsewhere is content.

    >>> from openai_harmony import HarmonyEncodingName, load_harmony_encoding
    >>> from openai_harmony.interop import chat_completions
    >>> encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    >>> turn = chat_completions.read({"messages": [{"role": "user", "content": "What is 2 + 2?"}]})
    >>> reply = turn.reply(encoding, model="gpt-oss-20b")
    >>> sampled = "<|channel|>final<|message|>Four.<|return|>"
    >>> chunks = reply.feed(encoding.encode(sampled, allowed_special="all"))
    >>> [chunk["choices"][0]["delta"] for chunk in chunks]
    [{'role': 'assistant', 'content': ''}, {'content': 'Four.'}]
    >>> reply.finish("stop")[0]["choices"][0]["finish_reason"]
    'stop'
    >>> reply.response()["choices"][0]["message"]["content"]
    'Four.'
    """

    def __init__(self, raw: _lowlevel._Reply) -> None:
        self._raw = raw

    def feed(self, tokens: Iterable[int]) -> List[Chunk]:
        """Takes sampled tokens, any number of them, and returns what the API sends of them.

        The first call also returns what opens the stream; ``feed([])`` does so before the first
        token. ``HarmonyError`` after :meth:`finish`; tokens raise none.
        """
        return self._raw.feed(tokens)

    def feed_bytes(self, tokens: Iterable[int]) -> bytes:
        """:meth:`feed` and :meth:`frame` in one, which takes a fraction of their time."""
        return self._raw.feed_bytes(tokens)

    def finish(self, reason: FinishReason, stop_sequence: Optional[str] = None) -> List[Chunk]:
        """Ends the answer and returns what is left to send; a second call returns nothing.

        ``stop_sequence`` is the stop string at which the engine stopped, if it looks for the body's
        itself; those in ``Turn.stop_strings`` are found without it.
        """
        return self._raw.finish(reason, stop_sequence)

    def finish_bytes(self, reason: FinishReason, stop_sequence: Optional[str] = None) -> bytes:
        """:meth:`finish` and :meth:`frame` in one, with what ends the stream."""
        return self._raw.finish_bytes(reason, stop_sequence)

    def response(self) -> Dict[str, Any]:
        """The whole answer, for a request that asked for no stream.

        Before :meth:`finish`: what there is so far.
        """
        return self._raw.response()

    def frame(self, chunk: Optional[Chunk] = None) -> bytes:
        """A chunk's bytes on the wire: an event of a stream (SSE), or for Ollama a line of JSON.

        Without a chunk: what ends the stream behind the last one, chat's ``data: [DONE]`` and for
        others nothing.
        """
        if chunk is None:
            return self._raw.last_frame()
        text = _JSON.encode(chunk)
        if not text.isascii():
            text = text.translate(_SEPARATORS)
        if self._raw.media_type != "text/event-stream":
            return f"{text}\n".encode()
        name = chunk.get("type")
        event = f"event: {name}\n" if name else ""
        return f"{event}data: {text}\n\n".encode()

    @property
    def media_type(self) -> str:
        """The stream's: ``text/event-stream``, for Ollama ``application/x-ndjson``."""
        return self._raw.media_type

    @property
    def stop_sequence(self) -> Optional[str]:
        """The stop string of the body that ended the visible answer; the engine can stop."""
        return self._raw.stop_sequence

    @property
    def messages(self) -> List[Message]:
        """The complete messages, as the parser gives them."""
        return self._raw.messages

    @property
    def repairs(self) -> List[Repair]:
        """What was repaired, calls that were delivered as text (``call_as_text``) included."""
        return self._raw.repairs

    @property
    def builtin_calls(self) -> List[BuiltinCall]:
        """The calls of built-in tools, in their order, for the server to run."""
        return [BuiltinCall(*fields) for fields in self._raw.builtin_calls]

    @property
    def usage(self) -> Usage:
        """How many tokens the turn has taken so far."""
        return Usage(*self._raw.usage)
