"""Requests to what an engine is given: tokens and how to sample, as vLLM's ``/render`` answers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from openai_harmony.encoding import HarmonyEncoding
from openai_harmony.interop import Body
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.constraint import constraint_of
from openai_harmony.serve.engine_fields import (
    OF_COMPLETIONS,
    OF_RENDERING,
    OF_REQUESTS,
    OF_SAMPLING,
    engine_fields,
)
from openai_harmony.serve.refusals import RefusedError

_OUTPUT_KINDS = {True: 1, False: 2}
"""vLLM's numbers: pieces as they are sampled, or the whole."""
_MAX_TOKENS = 16
"""How many tokens the API of completions samples, if the body does not say."""
_NO_REASONING = {"reasoning_ended": None, "reasoning_parser_kwargs": None}
_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def request_id(prefix: str, body: Body, header: str | None) -> str:
    """The id of an answer: the body's, else that of ``x-request-id``, else a new one."""
    return f"{prefix}-{body.text('request_id') or header or secrets.token_hex(8)}"


def of_turn(turn: Turn, prompt: bytes, body: Body, identity: str, context: int) -> bytes:
    """What an engine is given for a turn, all fields of vLLM's answer. The prompt is a JSON list.

    ``RefusedError`` if nothing can be sampled after the prompt.
    """
    given = engine_fields(body, OF_RENDERING)
    constraint = constraint_of(turn)
    sampling: dict[str, Any] = {**turn.sampling}
    most = room(prompt.count(b",") + 1, sampling.pop("max_tokens", None), context, "messages")
    sampled = _sampling(sampling, turn.stop_strings, body, given, most, turn.stream)
    if constraint is not None:
        tag = constraint.written("xgrammar", turn.stop_token_ids)
        sampled["structured_outputs"] = {"structural_tag": tag}
    if turn.dialect == "responses":
        return _request(identity, prompt, sampled, body, given, turn.stream)
    kwargs = {"chat_template_kwargs": given.get("chat_template_kwargs", {})}
    about = {"reasoning_ended": True, "reasoning_parser_kwargs": kwargs}
    parser = _parse_context(body, given)
    return _request(identity, prompt, sampled, body, given, turn.stream, about, parser)


def of_texts(prompts: list[list[int]], body: Body, identity: str, context: int) -> bytes:
    """What an engine is given for each prompt of ``/v1/completions``."""
    given = engine_fields(body, OF_RENDERING)
    asked = engine_fields(body, OF_COMPLETIONS)
    stream, stop = asked.pop("stream", False), asked.pop("stop", [])
    stops = [stop] if isinstance(stop, str) else stop
    # Without a limit the API has a small one; null means no limit.
    is_unlimited = body.json("max_tokens") == b"null"
    most = asked.pop("max_tokens", None if is_unlimited else _MAX_TOKENS)
    sampling = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0, "top_k": 0, "n": 1, **asked}
    answers = []
    for at, prompt in enumerate(prompts):
        left = room(len(prompt), most, context, "prompt")
        sampled = _sampling(sampling, stops, body, given, left, stream)
        own = identity if len(prompts) == 1 else f"{identity}-{at}"
        answers.append(_request(own, _json(prompt), sampled, body, given, stream))
    return b"[%b]" % b",".join(answers)


def room(prompt: int, most: int | None, context: int, path: str) -> int:
    """How many tokens may be sampled. It is always said: vLLM takes nothing for all that fit."""
    left = context - prompt
    if left <= 0:
        text = f"This model's maximum context length is {context} tokens, the prompt has"
        raise RefusedError(f"{text} {prompt}. Please reduce its length.", path=path)
    return left if most is None else min(left, most)


def _sampling(
    sampling: Mapping[str, Any],
    stop: list[str],
    body: Body,
    given: Mapping[str, Any],
    max_tokens: int,
    stream: bool,
) -> dict[str, Any]:
    made = {
        "presence_penalty": sampling.get("presence_penalty", 0.0),
        "frequency_penalty": sampling.get("frequency_penalty", 0.0),
        "repetition_penalty": sampling.get("repetition_penalty", 1.0),
        "temperature": sampling["temperature"],
        "top_p": sampling["top_p"],
        "min_p": sampling["min_p"],
        "stop": stop,
        "stop_token_ids": [],
        "max_tokens": max_tokens,
        "output_kind": _OUTPUT_KINDS[stream],
        "skip_clone": True,
        "bad_words": [],
        "skip_reading_prefix_cache": False,
    }
    written = {"n": 1, "top_k": 0}
    more = {name: sampling[name] for name, default in written.items() if sampling[name] != default}
    optional = ("seed", "logprobs", "logit_bias")
    more |= {name: sampling[name] for name in optional if name in sampling}
    if "skip_special_tokens" in given:
        more["skip_special_tokens"] = given["skip_special_tokens"]
    return {**made, **more, **engine_fields(body, OF_SAMPLING)}


def _request(
    identity: str,
    prompt: bytes,
    sampling: dict[str, Any],
    body: Body,
    given: Mapping[str, Any],
    stream: bool,
    about: Mapping[str, Any] = _NO_REASONING,
    parse_context: bytes = b"null",
) -> bytes:
    """A request's JSON. What is JSON already is put at both ends: no Python list of it is made."""
    members = {
        "request_id": identity,
        "token_offsets": None,
        "features": None,
        "content_parts": None,
        "sampling_params": sampling,
        "model": given.get("model"),
        **about,
        "return_token_ids": given.get("return_token_ids"),
        "output_mode": "tokens",
        "stream": stream,
        "stream_options": given.get("stream_options") if stream else None,
        **dict.fromkeys(OF_REQUESTS),
        "priority": 0,
        **engine_fields(body, OF_REQUESTS),
    }
    inner = _json(members)[1:-1]
    return b'{"token_ids":%b,%b,"parse_context":%b}' % (prompt, inner, parse_context)


def _parse_context(body: Body, given: Mapping[str, Any]) -> bytes:
    """What a parser of the answer has to know of the request, as JSON."""
    tools = body.json("tools") or b"null"
    choice = body.json("tool_choice")
    if choice is None or choice == b"null":
        choice = b'"none"' if tools in (b"null", b"[]") else b'"auto"'
    members = {
        "parallel_tool_calls": given.get("parallel_tool_calls", True),
        "include_reasoning": given.get("include_reasoning", True),
        "chat_template_kwargs": {},
        "history_tool_call_cnt": _calls(body),
    }
    return b'{"tools":%b,"tool_choice":%b,%b' % (tools, choice, _json(members)[1:])


def _calls(body: Body) -> int:
    """How many calls the messages have."""
    text = body.json("messages") or b""
    if b'"tool_calls"' not in text:
        return 0
    messages = (message for message in json.loads(text) if isinstance(message, dict))
    found = (message.get("tool_calls") for message in messages)
    return sum(len(calls) for calls in found if isinstance(calls, list))


def _json(value: Any) -> bytes:
    return _WRITER.encode(value).encode(errors="replace")


def prompts_of(body: Body, encoding: HarmonyEncoding) -> list[list[int]]:
    """The prompts of a completion as tokens: a text, texts, ids, or lists of ids."""
    found = json.loads(body.json("prompt") or b"null")
    is_ids = isinstance(found, list) and found and all(type(one) is int for one in found)
    several = found if isinstance(found, list) and not is_ids else [found]
    made = []
    for at, one in enumerate(several):
        path = f"prompt[{at}]" if several is found else "prompt"
        if isinstance(one, str):
            tokens = encoding.encode(one, allowed_special="all")
        elif isinstance(one, list) and all(type(id_) is int and 0 <= id_ < 2**32 for id_ in one):
            tokens = one
        else:
            raise RefusedError(f"{path}: expected a text or a list of token ids", path=path)
        if not tokens:
            raise RefusedError(f"{path}: no tokens", path=path)
        made.append(tokens)
    if not made:
        raise RefusedError("prompt: no prompts", path="prompt")
    return made
