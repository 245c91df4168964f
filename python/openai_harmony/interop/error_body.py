"""Errors as each API writes them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from openai_harmony import _lowlevel
from openai_harmony.errors import (
    HarmonyError,
    InvalidRequestError,
    PromptTooLongError,
    UnsupportedContent,
)
from openai_harmony.kinds import Api


class ErrorBody(NamedTuple):
    """An answer with an error."""

    status: int
    """The HTTP status: 400 for whatever is wrong with a request."""
    body: dict[str, Any]
    """The body, as the API writes it."""


def error_body(api: Api, error: Exception | str, status: int | None = None) -> ErrorBody:
    """An error as an API answers it.

    Args:
        api: ``"chat_completions"``, ``"responses"``, ``"anthropic"`` or ``"ollama"``.
        error: Any error; those of this library have their place in the body and a code. A
            server's own errors may be a text.
        status: The HTTP status. By default 400 for ``ValueError`` and this library's errors, except
            those that no request can cause, such as a bad row; else 500.

    Raises:
        ValueError: There is no such API.

    >>> from openai_harmony.interop import InvalidRequestError, anthropic
    >>> try:
    ...     anthropic.read({"max_tokens": 9, "messages": [], "thread": {"id": "t"}})
    ... except InvalidRequestError as error:
    ...     error_body("anthropic", error).body["error"]["details"]
    {'error_code': 'thread_unsupported_request'}
    >>> error_body("ollama", "the engine is down", 503)
    ErrorBody(status=503, body={'error': 'the engine is down'})
    """
    if status is None:
        is_of_program = isinstance(error, HarmonyError) and error.kind in _lowlevel.OF_PROGRAM
        is_of_request = isinstance(error, (HarmonyError, ValueError)) and not is_of_program
        status = 400 if is_of_request else 500
    path, code, content, tokens = None, None, None, None
    if isinstance(error, InvalidRequestError):
        path, code = error.path or None, error.code
    if isinstance(error, UnsupportedContent):
        content = error.content
    if isinstance(error, PromptTooLongError):
        tokens = error.tokens, error.max_tokens
    body = _lowlevel.error_body(api, status, str(error), path, code, content, tokens)
    return ErrorBody(status, json.loads(body))


__all__ = ["Api"]
