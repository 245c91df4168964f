"""Fields of a body that only an engine understands: they are checked, and passed on as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from openai_harmony.interop import Body
from openai_harmony.serve.engines.engine import REQUEST_FIELDS
from openai_harmony.serve.refusals import RefusedError

_Kind = tuple[str, Callable[[Any], bool]]


def _is_id(found: Any) -> bool:
    return type(found) is int and 0 <= found < 2**32


_COUNT: _Kind = ("a whole number from 0 on", lambda found: type(found) is int and found >= 0)
_NUMBER: _Kind = ("a whole number", lambda found: type(found) is int and -(2**63) <= found < 2**63)
_FLAG: _Kind = ("true or false", lambda found: isinstance(found, bool))
_OBJECT: _Kind = ("an object", lambda found: isinstance(found, dict))
_SALT: _Kind = (
    "a text of 1 to 1024 characters",
    lambda found: isinstance(found, str) and 0 < len(found) <= 1024,
)
_TEXTS: _Kind = (
    "a list of texts",
    lambda found: isinstance(found, list) and all(isinstance(one, str) for one in found),
)
_IDS: _Kind = (
    "a list of token ids",
    lambda found: isinstance(found, list) and all(map(_is_id, found)),
)

OF_SAMPLING: dict[str, _Kind] = {
    "min_tokens": _COUNT,
    "stop_token_ids": _IDS,
    "ignore_eos": _FLAG,
    "bad_words": _TEXTS,
}
"""Those that say how to sample."""

OF_REQUESTS: dict[str, _Kind] = dict(zip(REQUEST_FIELDS, (_SALT, _NUMBER, _OBJECT, _OBJECT)))
"""Those that say how an engine treats the request."""


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
