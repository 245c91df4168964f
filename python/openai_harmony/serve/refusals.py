"""What a client gets instead of an answer, in the form of its API."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from starlette.responses import JSONResponse
from starlette.types import Scope

from openai_harmony.errors import HarmonyError, InvalidRequestError
from openai_harmony.interop.error_body import Api, error_body
from openai_harmony.serve.engines.engine import EngineError
from openai_harmony.serve.keys import Key

_REQUEST_ID = re.compile("[!-~]{1,128}")


class RefusedError(Exception):
    """A request that is not answered: its status, and where in the body the reason is."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        path: str = "",
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.path, self.code, self.retry_after = status, path, code, retry_after


class StoreError(RefusedError):
    """The database cannot be used. Clients do not learn why: ``reason`` is for the operator."""

    def __init__(self, reason: str) -> None:
        super().__init__("the store of responses cannot be used", 503)
        self.reason = reason


REFUSALS = (RefusedError, EngineError, HarmonyError)
"""What :func:`refusal` answers; anything else is a fault of this server."""


def refusal(api: Api, error: Exception) -> JSONResponse:
    """An error as the API writes it."""
    status, after = None, None
    if isinstance(error, (RefusedError, EngineError)):
        status, after = error.status, error.retry_after
    if isinstance(error, RefusedError) and (error.path or error.code):
        error = InvalidRequestError(str(error), path=error.path, code=error.code)
    if not isinstance(error, (*REFUSALS, InvalidRequestError)):
        error = RuntimeError("the server failed; its log says how")
    found = error_body(api, error, status)
    headers = {"retry-after": str(after or 1)} if found.status in (429, 503) else {}
    if found.status == 408:  # the rest of the body is no request
        headers["connection"] = "close"
    return JSONResponse(found.body, found.status, headers=headers)


def request_id(headers: Mapping[str, str]) -> str:
    """The id of a request with these headers: that of ``x-request-id``, or a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else f"req_{secrets.token_hex(16)}"


def key_of(scope: Scope) -> Key:
    """The API key of a request that was let in."""
    key: Key = scope["state"]["key"]
    return key


def path_of(scope: Scope) -> str:
    """The path of a request, also where another application mounts this one at a path."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def api_of(scope: Scope) -> Api:
    """The API to which the path of a request belongs."""
    path = path_of(scope)
    if path.startswith("/v1/messages"):
        return "anthropic"
    if path.startswith("/api/"):
        return "ollama"
    if path.startswith("/v1/responses"):
        return "responses"
    is_anthropic = any(name == b"anthropic-version" for name, _ in scope.get("headers", ()))
    return "anthropic" if is_anthropic else "chat_completions"
