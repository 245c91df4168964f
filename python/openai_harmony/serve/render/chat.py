"""Sampled tokens to chat completions, whole and chunk by chunk: the client carries the state."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import chat_completions
from openai_harmony.interop.reply import Chunk, FinishReason, Reply, TokenLogprob
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.engines.engine import Logprobs
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.render.forms import (
    Choice,
    Counts,
    DerenderChat,
    DerenderChatChunk,
    StreamState,
)

_REASONS: dict[str, FinishReason] = {"stop": "stop", "repetition": "stop", "length": "length"}
"""Why the output ended, by the words of vLLM; others are failures."""


def whole(request: DerenderChat, encoding: HarmonyEncoding, model: str) -> dict[str, Any]:
    """The chat completion of a request whose lengths have been checked."""
    turn = _turn(request.chat_request)
    generated = request.generate_response
    choices: list[dict[str, Any]] = []
    sampled = 0
    for choice in generated.choices:
        if not choice.tokens:
            path = f"generate_response.choices[{len(choices)}].token_ids"
            raise RefusedError(f"{path}: no tokens", path=path)
        reply = _reply(turn, encoding, choice, model, generated.request_id, [])
        reply.feed_bytes(choice.tokens, _logprobs(choice, turn))
        reply.finish_bytes(_reason(choice) or "stop")
        [answer] = reply.response()["choices"]
        choices.append({**answer, "stop_reason": _stop_reason(choice, reply)})
        sampled += len(choice.tokens)
    return {
        "id": generated.request_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": choices,
        "usage": usage(request.prompt_tokens or 0, sampled),
        "prompt_logprobs": generated.prompt_logprobs,
        "kv_transfer_params": generated.kv_transfer_params,
    }


def chunk(request: DerenderChatChunk, encoding: HarmonyEncoding, model: str) -> dict[str, Any]:
    """The next chunk and the state after it, of a request whose lengths have been checked."""
    if request.prompt_token_ids is None:
        raise RefusedError("prompt_token_ids: missing", path="prompt_token_ids")
    turn = _turn(request.chat_request)
    generated = request.generate_chunk
    state = request.stream_state or StreamState()
    choices = []
    for choice in generated.choices:
        ids = list(state.last_tool_call_ids)
        reply = _reply(turn, encoding, choice, model, generated.request_id, ids)
        reply.feed_bytes(state.output_token_ids)
        chunks = reply.feed(choice.tokens, _logprobs(choice, turn))
        reason = _reason(choice)
        if reason is not None:
            chunks += reply.finish(reason)
        one = merged(chunks, choice.index)
        if not state.role_sent:
            one["delta"] = {"role": "assistant", **one["delta"]}
        choices.append({**one, "stop_reason": _stop_reason(choice, reply)})
        state = _after(state, choice, one["delta"], ids)
    return {
        "chunk": {
            "id": generated.request_id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
            "choices": choices,
            "usage": counted(generated.usage, request.prompt_tokens),
        },
        "stream_state": state.model_dump(),
    }


def merged(chunks: list[Chunk], index: int) -> dict[str, Any]:
    """The choice of several chunks as that of one."""
    delta: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    logprobs: list[Any] = []
    reason = None
    for choice in (choice for one in chunks for choice in one["choices"]):
        for field, value in choice["delta"].items():
            if field == "tool_calls":
                for call in value:
                    _extend_call(calls, call)
            elif field != "role" and isinstance(value, str):
                delta[field] = delta.get(field, "") + value
        logprobs += (choice.get("logprobs") or {}).get("content") or []
        reason = choice.get("finish_reason") or reason
    if calls:
        delta["tool_calls"] = list(calls.values())
    if delta.get("content") == "" and len(delta) > 1:
        del delta["content"]
    found = {"content": logprobs} if logprobs else None
    return {"index": index, "delta": delta, "logprobs": found, "finish_reason": reason}


def _extend_call(calls: dict[int, dict[str, Any]], call: dict[str, Any]) -> None:
    known = calls.setdefault(call["index"], {"index": call["index"]})
    for field, value in call.items():
        if isinstance(value, dict):
            inner = known.setdefault(field, {})
            for name, text in value.items():
                inner[name] = inner.get(name, "") + text
        else:
            known[field] = value


def usage(prompt: int, sampled: int) -> dict[str, int]:
    """The counts as vLLM has them."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": sampled,
        "total_tokens": prompt + sampled,
    }


def counted(counts: Counts | None, prompt: int | None) -> dict[str, int] | None:
    """The usage of a chunk with the engine's counts; the client knows its prompt better."""
    if counts is None:
        return None
    known = counts.prompt_tokens or 0 if prompt is None else prompt
    return usage(known, counts.completion_tokens or 0)


def _turn(body: dict[str, Any] | None) -> Turn:
    if body is None:
        raise RefusedError("chat_request: missing", path="chat_request")
    return chat_completions.read(body)


def _reply(
    turn: Turn,
    encoding: HarmonyEncoding,
    choice: Choice,
    model: str,
    request_id: str,
    ids: list[str],
) -> Reply:
    return turn.reply(
        encoding,
        model=model,
        id=request_id,
        index=choice.index,
        prompt_tokens=0,
        reasoning_field="reasoning",
        make_id=_ids(request_id, choice.index, ids),
    )


def _ids(request_id: str, index: int, known: list[str]) -> Callable[[str], str]:
    """Makes ids of calls: the known ones, then others that follow from the request.

    New ones are added to the known ones. So a chunk that is asked for again has the same ids,
    whichever server answers.
    """
    count = 0

    def make(prefix: str) -> str:
        nonlocal count
        count += 1
        if count > len(known):
            seed = f"{request_id}\0{index}\0{count}".encode(errors="surrogatepass")
            known.append(prefix + hashlib.blake2b(seed, digest_size=12).hexdigest())
        return known[count - 1]

    return make


def _after(
    state: StreamState, choice: Choice, delta: dict[str, Any], ids: list[str]
) -> StreamState:
    """The state after a chunk."""
    tokens = choice.tokens
    return state.model_copy(
        update={
            "output_token_ids": [*state.output_token_ids, *tokens],
            "output_chunk_lens": [*state.output_chunk_lens, *([len(tokens)] if tokens else [])],
            "role_sent": True,
            "tools_streamed": state.tools_streamed or "tool_calls" in delta,
            "last_tool_call_ids": ids,
            "logprob_context_token_ids": [*state.logprob_context_token_ids, *tokens][-4:],
        }
    )


def _reason(choice: Choice) -> FinishReason | None:
    """Why the output ends, if it does; a word that nobody knows is a failure."""
    found = choice.finish_reason
    return None if found is None else _REASONS.get(found, "abort")


def _stop_reason(choice: Choice, reply: Reply) -> int | str | None:
    return choice.stop_reason if reply.stop_sequence is None else reply.stop_sequence


def _logprobs(choice: Choice, turn: Turn) -> Logprobs | None:
    """Those of a choice, if the request asks for them."""
    found = choice.logprobs.content if choice.logprobs is not None else None
    if found is None or "logprobs" not in turn.sampling:
        return None
    if len(found) != len(choice.tokens):
        text = f"{len(found)} log-probabilities for {len(choice.tokens)} tokens"
        raise RefusedError(f"logprobs.content: {text}", path="logprobs.content")
    return [
        TokenLogprob(one.logprob, {top.token_id: top.logprob for top in one.top_logprobs})
        for one in found
    ]
