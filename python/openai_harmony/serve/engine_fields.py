"""Fields of a body that only an engine understands: they are checked, and passed on as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from openai_harmony.interop import Body
from openai_harmony.serve.engines.engine import REQUEST_FIELDS, WHOLE_FIELDS
from openai_harmony.serve.refusals import RefusedError

_Kind = tuple[str, Callable[[Any], bool]]


def _is_id(found: Any) -> bool:
    return type(found) is int and 0 <= found < 2**32


_COUNT: _Kind = ("a whole number from 0 on", lambda found: type(found) is int and found >= 0)
_NUMBER: _Kind = ("a whole number", lambda found: type(found) is int and -(2**63) <= found < 2**63)
_FLAG: _Kind = ("true or false", lambda found: isinstance(found, bool))
_OBJECT: _Kind = ("an object", lambda found: isinstance(found, dict))
_STRING: _Kind = ("a text", lambda found: isinstance(found, str))
_SALT: _Kind = (
    "a text of 1 to 1024 characters",
    lambda found: isinstance(found, str) and 0 < len(found) <= 1024,
)
_TEXTS: _Kind = (
    "a list of texts",
    lambda found: isinstance(found, list) and all(isinstance(one, str) for one in found),
)
IDS: _Kind = (
    "a list of token ids",
    lambda found: isinstance(found, list) and all(map(_is_id, found)),
)

_STOP: _Kind = (
    "a text or a list of texts",
    lambda found: isinstance(found, str) or _TEXTS[1](found),
)
_BIAS: _Kind = (
    "an object of token ids and numbers from -100 to 100",
    lambda found: (
        isinstance(found, dict)
        and all(key.isdecimal() and _is_between(one, -100, 100) for key, one in found.items())
    ),
)


def _is_between(found: Any, low: float, high: float) -> bool:
    return type(found) in (int, float) and low <= found <= high


def _numbers(low: float, high: float) -> _Kind:
    return f"a number from {low} to {high}", lambda found: _is_between(found, low, high)


def _whole(low: int, high: int) -> _Kind:
    expected = f"a whole number from {low} to {high}"
    return expected, lambda found: type(found) is int and low <= found <= high


OF_SAMPLING: dict[str, _Kind] = {
    "min_tokens": _COUNT,
    "stop_token_ids": IDS,
    "ignore_eos": _FLAG,
    "bad_words": _TEXTS,
}
"""Those that say how to sample."""

OF_CHAT: dict[str, _Kind] = dict(zip(WHOLE_FIELDS, (_whole(-1, 2**31), _COUNT), strict=True))
"""Those by which a chat completion asks vLLM for more than tokens."""

OF_REQUESTS: dict[str, _Kind] = dict(
    zip(REQUEST_FIELDS, (_SALT, _NUMBER, _OBJECT, _OBJECT), strict=True)
)
"""Those that say how an engine treats the request."""

OF_ENGINES = {**OF_SAMPLING, **OF_REQUESTS}
"""Those of both kinds."""

OF_RENDERING: dict[str, _Kind] = {
    "model": _STRING,
    "request_id": _STRING,
    "return_token_ids": _FLAG,
    "skip_special_tokens": _FLAG,
    "stream_options": _OBJECT,
    "chat_template_kwargs": _OBJECT,
    "previous_response_id": _STRING,
    "parallel_tool_calls": _FLAG,
    "include_reasoning": _FLAG,
}
"""Those that ``/render`` reads besides the APIs' own."""

MOST_ANSWERS = 16_384
OF_COMPLETIONS: dict[str, _Kind] = {
    "temperature": _numbers(0, 2**31),
    "top_p": _numbers(0, 1),
    "min_p": _numbers(0, 1),
    "top_k": _whole(-1, 2**31),
    "n": _whole(1, MOST_ANSWERS),
    "seed": _NUMBER,
    "logprobs": _whole(-1, 2**31),
    "logit_bias": _BIAS,
    "presence_penalty": _numbers(-2, 2),
    "frequency_penalty": _numbers(-2, 2),
    "repetition_penalty": _numbers(0, 2**31),
    "stop": _STOP,
    "max_tokens": _whole(1, 2**31),
    "stream": _FLAG,
}
"""Those of ``/v1/completions``, which no reader of this library has."""


def engine_fields(body: Body, fields: dict[str, _Kind]) -> dict[str, Any]:
    """Those of the fields that a body has. ``RefusedError`` for a value of another type."""
    made = {}
    for name, (expected, fits) in fields.items():
        found = body.json(name)
        if found is None or (value := json.loads(found)) is None:
            continue
        if not fits(value):
            raise RefusedError(f"{name}: expected {expected}", path=name)
        made[name] = value
    return made


UNTRUSTED = (
    "kv_transfer_params",
    "ec_transfer_params",
    "extra_args",
    "vllm_xargs",
    "features",
    "prompt_embeds",
    "data_parallel_rank",
)
"""Fields by which a body has an engine open an address, read tensors, or choose its process."""


def refuse_untrusted(given: Mapping[str, Any]) -> None:
    """``RefusedError`` for what only a router may ask of an engine; or to overtake others."""
    for name in UNTRUSTED:
        if given.get(name) is not None:
            raise RefusedError(f"{name}: only for trusted keys", 403, path=name)
    priority = given.get("priority")
    if priority is not None and (type(priority) is not int or priority < 0):
        raise RefusedError("priority: below 0 only for trusted keys", 403, path="priority")
