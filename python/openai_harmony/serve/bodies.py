"""Bodies of requests: the bytes of a client, the JSON in them, and whose API they are of."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import Request

from openai_harmony.serve.refusals import RefusedError, path_of

Body = dict[str, Any]

_FIELDS = {
    "/v1/chat/completions": "messages",
    "/v1/responses": "input",
    "/v1/responses/input_tokens": "input",
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "messages",
    "/v1/completions": "prompt",
    "/api/chat": "messages",
    "/api/generate": "prompt",
}
"""The field of each path's bodies that has what was said."""
_OF_OPENAI = {
    "messages": "/v1/chat/completions",
    "input": "/v1/responses",
    "prompt": "/v1/completions",
}
_OF_OLLAMA = {**_OF_OPENAI, "messages": "/api/chat", "prompt": "/api/generate"}


async def read_body(request: Request, limit: int, timeout: float) -> tuple[Body, int]:
    """The body, an object of JSON, and how many bytes it has.

    ``RefusedError`` for any other, for one of more bytes than ``limit`` or that takes more seconds
    than ``timeout`` to arrive, and for one that another path of this server takes.
    """
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > limit:
        raise RefusedError(f"the body is larger than {limit:,} bytes", 413)
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        # A small body could become one of gigabytes.
        raise RefusedError(f"the body is compressed ({encoding}): send it as it is", 415)
    try:
        raw = await asyncio.wait_for(_bytes(request, limit), timeout)
    except asyncio.TimeoutError:
        raise RefusedError("the body did not arrive in time", 408) from None
    try:
        body = json.loads(raw)
    except RecursionError:
        raise RefusedError("the body is not JSON: nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RefusedError(f"the body is not JSON: {error}") from None
    except ValueError:
        # Python's advice is not for clients.
        raise RefusedError("the body has a number of too many digits") from None
    if not isinstance(body, dict):
        raise RefusedError("the body is not an object")
    _refuse_other(path_of(request.scope), body)
    return body, len(raw)


async def _bytes(request: Request, limit: int) -> bytes:
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > limit:
            raise RefusedError(f"the body is larger than {limit:,} bytes", 413)
    return bytes(found)


def _refuse_other(path: str, body: Body) -> None:
    """Refuses a body whose messages stand in a field that another path reads."""
    own = _FIELDS.get(path)
    if own is None or body.get(own) is not None:
        return
    paths = _OF_OLLAMA if path.startswith("/api/") else _OF_OPENAI
    for field, right in paths.items():
        found = body.get(field)
        # Of Responses: a stored prompt.
        is_own = own == "input" and field == "prompt" and isinstance(found, dict)
        if found is not None and not is_own:
            text = f"{field}: this is a body of another API: send it to {right}"
            raise RefusedError(text, path=field)
