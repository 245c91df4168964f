"""vLLM's parser of harmony, with this library's lenient parser inside and its grammar in front.

vLLM's class stays the base: it makes fields of what is parsed, and others ask for it by its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from vllm import envs
from vllm.logger import init_logger
from vllm.parser.harmony import ChunkResult, Segment
from vllm.parser.harmony import HarmonyParser as VllmParser
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.gptoss_tool_parser import GptOssToolParser

from openai_harmony import (
    ContentDelta,
    HarmonyEncodingName,
    HarmonyError,
    MessageEnd,
    MessageStart,
    Role,
    StreamableParser,
    load_harmony_encoding,
)
from openai_harmony.adapters.vllm.constraint import function_names, structural_tag
from openai_harmony.grammar import Loosened

_logger = init_logger(__name__)


@lru_cache(maxsize=1000)
def _warn_once(one: Loosened) -> None:
    _logger.warning("%s: %s; it is not enforced", one.path, one.reason)


class HarmonyParser(VllmParser):  # type: ignore[misc]
    """Reads malformed output, too, and constrains whole turns."""

    def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, tools, *args, **kwargs)
        self._names = function_names(tools)
        self._reader: StreamableParser | None = None
        self._read: dict[int, tuple[str | None, str | None]] = {}
        """The channel and the recipient of each message of the assistant that has begun.

        What the model says for others is a message to vLLM, but no text.
        """

    @property
    def _harmony_parser(self) -> StreamableParser:
        """What vLLM asks for the message that its last chunk ended in."""
        if self._reader is None:
            encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
            self._reader = StreamableParser(
                encoding, "assistant", strict=False, tools=self._names or None
            )
        return self._reader

    def process_chunk(self, token_ids: Sequence[int]) -> ChunkResult:
        """What tokens say, as vLLM's segments, and how many of them are reasoning."""
        result = self._result(self._harmony_parser.feed(token_ids))
        self._num_counted_tokens += len(token_ids)
        self._num_reasoning_tokens += result.reasoning_token_count
        return result

    def flush(self) -> list[Any]:
        """The end of the tokens: what is left of the last message. The next turn starts over."""
        result = self._result(self._harmony_parser.finish())
        self._reader, self._read = None, {}
        return list(result.segments)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """How many of these tokens are reasoning, or the arguments of calls, as vLLM counts."""
        if len(token_ids) == self._num_counted_tokens:
            return int(self._num_reasoning_tokens)
        reader = type(self)(self.model_tokenizer)
        return int(reader.process_chunk(token_ids).reasoning_token_count)

    def _result(self, events: Iterable[Any]) -> ChunkResult:
        segments: list[Any] = []
        thoughts = 0
        for event in events:
            if isinstance(event, MessageStart) and event.author.role == Role.ASSISTANT:
                # Text without any channel is shown, and is no reasoning.
                channel = event.channel
                if channel is None and event.recipient is None:
                    channel = "final"
                self._read[event.index] = (channel, event.recipient)
            segments.append(self._segment(event))
            if isinstance(event, ContentDelta) and event.index in self._read:
                channel, recipient = self._read[event.index]
                if channel == "analysis" or (channel == "commentary" and recipient is not None):
                    thoughts += event.span[1] - event.span[0]
        return ChunkResult(segments=segments, reasoning_token_count=thoughts)

    def _segment(self, event: Any) -> Any:
        channel, recipient = self._read.get(event.index, (None, None))
        delta, message = "", None
        if isinstance(event, ContentDelta):
            delta = event.text
        elif isinstance(event, MessageEnd):
            message = self._harmony_parser.messages[event.index]
            if channel is not None:
                message = message.with_channel(channel)
        return Segment(channel, recipient, delta, message)

    def adjust_request(self, request: Any) -> Any:
        """The request with a grammar of its whole turn, if it promises something.

        What this library's grammars cannot enforce is left to vLLM's own.
        """
        with_tools = self.tool_parser is not None and envs.VLLM_ENFORCE_STRICT_TOOL_CALLING
        level = self.tool_strict_level
        if level is None:
            level = GptOssToolParser.default_tool_strict_level
        loosened: list[Loosened] = []
        try:
            tag = structural_tag(request, with_tools=with_tools, level=level, loosened=loosened)
        except (HarmonyError, TypeError, ValueError) as error:
            _logger.warning("%s; vLLM's own grammar is taken", error)
            return super().adjust_request(request)
        for one in loosened:
            _warn_once(one)
        if tag is None:
            return super().adjust_request(request)
        request.structured_outputs = StructuredOutputsParams(structural_tag=tag)
        # The grammar has it; vLLM would refuse both.
        setattr(request, "text" if hasattr(request, "text") else "response_format", None)
        return request
