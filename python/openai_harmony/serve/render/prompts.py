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
from openai_harmony.serve.engine_fields import OF_REQUESTS, OF_SAMPLING, engine_fields
from openai_harmony.serve.refusals import RefusedError

_OUTPUT_KINDS = {True: 1, False: 2}
"""vLLM's numbers: pieces as they are sampled, or the whole."""


def request_id(prefix: str, body: Body, header: str | None) -> str:
    """The id of an answer: the body's, else that of ``x-request-id``, else a new one."""
    return f"{prefix}-{body.text('request_id') or header or secrets.token_hex(8)}"


def of_turn(
    turn: Turn, prompt: list[int], body: Body, identity: str, context: int
) -> dict[str, Any]:
    """What an engine is given for a turn, all fields of vLLM's answer.

    ``RefusedError`` if nothing can be sampled after the prompt.
    """
    constraint = constraint_of(turn)
    tag = None
    if constraint is not None:
        tag = constraint.written("xgrammar", turn.stop_token_ids)
    sampling: dict[str, Any] = {**turn.sampling}
    most = sampling.pop("max_tokens", None)
    sampled = _sampling(sampling, turn.stop_strings, body, room(prompt, most, context), turn.stream)
    if tag is not None:
        sampled["structured_outputs"] = {"structural_tag": tag}
    kwargs = _member(body, "chat_template_kwargs") or {}
    made = _request(identity, prompt, sampled, body, turn.stream)
    if turn.dialect == "responses":
        return made
    return {
        **made,
        "reasoning_ended": True,
        "reasoning_parser_kwargs": {"chat_template_kwargs": kwargs},
        "parse_context": _parse_context(body),
    }


def of_texts(body: Body, encoding: HarmonyEncoding, identity: str, context: int) -> list[Any]:
    """What an engine is given for each prompt of ``/v1/completions``."""
    prompts = _prompts(body, encoding)
    stream = body.flag("stream") is True
    stop = _member(body, "stop")
    stops = [stop] if isinstance(stop, str) else stop or []
    defaults = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0, "top_k": 0, "n": 1}
    optional = (
        "seed",
        "logprobs",
        "logit_bias",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
    )
    sampling = {name: _member(body, name) for name in (*defaults, *optional)}
    sampling = {name: found for name, found in sampling.items() if found is not None}
    most = _member(body, "max_tokens")
    if most is not None and (type(most) is not int or most < 1):
        raise RefusedError("max_tokens: expected a whole number from 1 on", path="max_tokens")
    # All prompts of a body are sampled alike, but for the room that each leaves.
    sampled = _sampling({**defaults, **sampling}, stops, body, 0, stream)
    same = _request(identity, [], sampled, body, stream)
    return [
        {
            **same,
            "request_id": identity if len(prompts) == 1 else f"{identity}-{at}",
            "token_ids": prompt,
            "sampling_params": {**sampled, "max_tokens": room(prompt, most, context)},
        }
        for at, prompt in enumerate(prompts)
    ]


def room(prompt: list[int], most: int | None, context: int) -> int:
    """How many tokens may be sampled. It is always said: vLLM takes nothing for all that fit."""
    left = context - len(prompt)
    if left <= 0:
        text = f"This model's maximum context length is {context} tokens, the prompt has"
        raise RefusedError(f"{text} {len(prompt)}. Please reduce its length.", path="messages")
    return left if most is None else min(left, most)


def _sampling(
    sampling: Mapping[str, Any], stop: list[str], body: Body, max_tokens: int, stream: bool
) -> dict[str, Any]:
    given = engine_fields(body, OF_SAMPLING)
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
    if (skips := body.flag("skip_special_tokens")) is not None:
        more["skip_special_tokens"] = skips
    return {**made, **more, **given}


def _request(
    identity: str, prompt: list[int], sampling: dict[str, Any], body: Body, stream: bool
) -> dict[str, Any]:
    given = engine_fields(body, OF_REQUESTS)
    return {
        "request_id": identity,
        "token_ids": prompt,
        "token_offsets": None,
        "features": None,
        "content_parts": None,
        "sampling_params": sampling,
        "model": body.text("model"),
        "reasoning_ended": None,
        "reasoning_parser_kwargs": None,
        "return_token_ids": body.flag("return_token_ids"),
        "output_mode": "tokens",
        "parse_context": None,
        "stream": stream,
        "stream_options": _member(body, "stream_options") if stream else None,
        "cache_salt": given.get("cache_salt"),
        "priority": given.get("priority", 0),
        "kv_transfer_params": given.get("kv_transfer_params"),
        "ec_transfer_params": given.get("ec_transfer_params"),
    }


def _parse_context(body: Body) -> dict[str, Any]:
    tools = _member(body, "tools")
    calls = 0
    for message in _member(body, "messages") or []:
        found = message.get("tool_calls") if isinstance(message, dict) else None
        calls += len(found) if isinstance(found, list) else 0
    parallel, reasoning = body.flag("parallel_tool_calls"), body.flag("include_reasoning")
    return {
        "tools": tools,
        "tool_choice": _member(body, "tool_choice") or ("auto" if tools else "none"),
        "parallel_tool_calls": True if parallel is None else parallel,
        "include_reasoning": True if reasoning is None else reasoning,
        "chat_template_kwargs": {},
        "history_tool_call_cnt": calls,
    }


def _prompts(body: Body, encoding: HarmonyEncoding) -> list[list[int]]:
    """The prompts of a completion as tokens: a text, texts, ids, or lists of ids."""
    found = _member(body, "prompt")
    several = found if isinstance(found, list) else [found]
    if several and all(type(one) is int for one in several):
        several = [several]
    made = []
    for at, one in enumerate(several):
        path = f"prompt[{at}]" if isinstance(found, list) else "prompt"
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


def _member(body: Body, name: str) -> Any:
    found = body.json(name)
    return None if found is None else json.loads(found)
