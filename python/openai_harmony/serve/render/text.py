"""Sampled tokens to completions: their text, whole and chunk by chunk.

A client carries the end of the text as vLLM does: the last tokens as the tokenizer's file names
them, and up to which of them their text was sent. A character that the tokens cut is sent once it
is complete.
"""

from __future__ import annotations

import time
from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.render.chat import counted, usage
from openai_harmony.serve.render.forms import (
    Choice,
    DerenderTextChunk,
    DerenderTexts,
    StreamState,
)

_FIRST_SPECIAL = 199_998
"""From this id on all tokens are special."""
_ENDS = (200002, 199999, 200012)
"""Where an engine stops of itself: ``<|return|>``, ``<|endoftext|>``, ``<|call|>``."""


def _names_of_bytes() -> list[str]:
    """The character that stands for each byte in the names of a byte-level tokenizer.

    Visible characters of Latin-1 stand for themselves, the others are numbered from 256 on.
    """
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    codes = {byte: byte for byte in shown} | {byte: 256 + at for at, byte in enumerate(hidden)}
    return [chr(codes[byte]) for byte in range(256)]


_NAMES = _names_of_bytes()
_BYTES = {name: byte for byte, name in enumerate(_NAMES)}


class Texts:
    """The text of tokens, as one request wants it."""

    def __init__(self, encoding: HarmonyEncoding, asked: dict[str, Any] | None) -> None:
        """Of the body of ``/v1/completions``, if the client sends it along."""
        asked = asked or {}
        self._encoding = encoding
        self._skips = asked.get("skip_special_tokens") is not False
        self._includes_stop = asked.get("include_stop_str_in_output") is True
        self._ends = () if asked.get("ignore_eos") is True else _ENDS
        stop = asked.get("stop")
        self.stop = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []

    def of(self, choice: Choice) -> str:
        """The whole text of a choice, up to the string at which it stopped."""
        text = self._encoding.decode(self._shown(self._without_end(choice)))
        if choice.finish_reason != "stop" or isinstance(choice.stop_reason, int):
            return text
        named = choice.stop_reason
        stops = [named] if isinstance(named, str) else filter(None, map(str, self.stop))
        found = [(text.find(stop), stop) for stop in stops if stop in text]
        if not found:
            return text
        at, stop = min(found)
        return text[: at + (len(stop) if self._includes_stop else 0)]

    def more(self, choice: Choice, state: StreamState) -> tuple[str, StreamState]:
        """The text that a chunk adds, and the state after it."""
        names = list(state.prev_tokens)
        prefix, read = state.prefix_offset, state.read_offset
        added = ""
        for token in self._shown(self._without_end(choice)):
            names.append(self._name(token))
            sent, known = _text(names[prefix:read]), _text(names[prefix:])
            if len(known) > len(sent) and not known.endswith("\ufffd"):
                added += known[len(sent) :]
                prefix, read = read, len(names)
        if choice.finish_reason is not None:
            added += _text(names[prefix:])[len(_text(names[prefix:read])) :]
            read = len(names)
        update = {"prev_tokens": names[prefix:], "prefix_offset": 0, "read_offset": read - prefix}
        return added, state.model_copy(update=update)

    def _without_end(self, choice: Choice) -> list[int]:
        """The tokens without the one that ended them."""
        tokens, stop = choice.tokens, choice.stop_reason
        if choice.finish_reason != "stop" or not tokens or self._includes_stop:
            return tokens
        ended = tokens[-1] == stop if stop is not None else tokens[-1] in self._ends
        return tokens[:-1] if ended else tokens

    def _shown(self, tokens: list[int]) -> list[int]:
        return [token for token in tokens if token < _FIRST_SPECIAL] if self._skips else tokens

    def _name(self, token: int) -> str:
        return "".join(_NAMES[byte] for byte in self._encoding.decode_bytes([token]))


def _text(names: list[str]) -> str:
    try:
        raw = bytes(_BYTES[character] for name in names for character in name)
    except KeyError:
        path = "stream_state.prev_tokens"
        raise RefusedError(f"{path}: not a token of this tokenizer", path=path) from None
    return raw.decode(errors="replace")


def whole(request: DerenderTexts, encoding: HarmonyEncoding, model: str) -> dict[str, Any]:
    """The completion of a request whose lengths have been checked."""
    texts = Texts(encoding, request.completion_request)
    choices: list[dict[str, Any]] = []
    sampled = 0
    for generated in request.generate_responses:
        for choice in generated.choices:
            if not choice.tokens:
                path = "generate_responses.choices.token_ids"
                raise RefusedError(f"{path}: no tokens", path=path)
            choices.append(_choice(len(choices), texts.of(choice), choice))
            sampled += len(choice.tokens)
    first = request.generate_responses[0]
    same = all(
        one.kv_transfer_params == first.kv_transfer_params for one in request.generate_responses
    )
    return {
        "id": first.request_id,
        "object": "text_completion",
        "created": int(time.time()),
        "model": model,
        "choices": choices,
        "usage": usage(sum(request.prompt_tokens or []), sampled),
        "kv_transfer_params": first.kv_transfer_params if same else None,
    }


def chunk(request: DerenderTextChunk, encoding: HarmonyEncoding, model: str) -> dict[str, Any]:
    """The next chunk and the state after it, of a request whose lengths have been checked."""
    texts = Texts(encoding, request.completion_request)
    if texts.stop:
        path = "completion_request.stop"
        text = "a text that was sent cannot be cut: leave stop strings to the engine"
        raise RefusedError(f"{path}: {text}", path=path)
    generated = request.generate_chunk
    state = request.stream_state or StreamState()
    choices = []
    for choice in generated.choices:
        added, state = texts.more(choice, state)
        choices.append(_choice(choice.index, added, choice))
    return {
        "chunk": {
            "id": generated.request_id,
            "object": "text_completion",
            "created": int(time.time()),
            "model": model,
            "choices": choices,
            "usage": counted(generated.usage, request.prompt_tokens),
        },
        "stream_state": state.model_dump(),
    }


def _choice(index: int, text: str, choice: Choice) -> dict[str, Any]:
    return {
        "index": index,
        "text": text,
        "logprobs": None,
        "finish_reason": choice.finish_reason,
        "stop_reason": choice.stop_reason,
    }
