"""Bodies of requests: the bytes of a client, the JSON in them, and their API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import Self

from openai_harmony.errors import HarmonyError
from openai_harmony.interop import Body
from openai_harmony.serve.refusals import RefusedError, key_of, path_of
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.shares import Held, Share
from openai_harmony.serve.streaming import Ending, ServerEndsError
from openai_harmony.serve.threads import LARGE, in_thread_if

TOO_MANY_BYTES = "the server is busy: too many bytes of bodies at a time; ask again later"
_MAX_VALUES = 1_000_000
"""How many JSON values a body may have, of up to 24 bytes each."""
_WINDOW = 5.0
"""The seconds over which the rate of a body is measured."""
_DISCARD_SECONDS = 10.0
_PIECE = 2**16
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_OF_SCHEMAS = (
    "tools",
    "functions",
    "response_format",
    "text",
    "format",
    "output_config",
    "output_format",
    "json_schema",
    "guided_json",
    "structured_outputs",
)
"""The fields that have schemas and grammars, of which a few bytes may say very much."""

_FIELDS = {
    "/v1/chat/completions": "messages",
    "/v1/responses": "input",
    "/v1/responses/input_tokens": "input",
    "/v1/responses/compact": "input",
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


class Bodies:
    """Reads bodies, of which only a limited number of bytes is under way at a time."""

    def __init__(self, settings: Settings, ending: Callable[[], Ending]) -> None:
        """With the limits of these settings, until the server ends."""
        self.settings, self._ending = settings, ending
        self.share = Share(settings.max_bodies)
        """The bytes of large bodies, from their arrival to the end of the answers."""
        self.remembered = Share(settings.max_bodies)
        """The bytes of the items that WebSockets remember."""

    @property
    def held(self) -> int:
        """How many bytes of bodies count now."""
        return self.share.used

    def change(self, settings: Settings, is_fair: bool) -> None:
        """Other limits from now on."""
        self.settings = settings
        for share in (self.share, self.remembered):
            share.most, share.is_fair = settings.max_bodies, is_fair

    async def read(self, request: Request) -> tuple[Body, int]:
        """The body, an object of JSON, and how many bytes it has.

        ``RefusedError`` as of :meth:`received` and :meth:`parsed`.
        """
        raw, path = await self.received(request), path_of(request.scope)
        return await in_thread_if(len(raw) >= LARGE, self.parsed, raw, path), len(raw)

    async def received(self, request: Request) -> bytes:
        """The bytes of the body, which count until the request's answer is sent.

        ``RefusedError`` for a body that is too large, too slow or compressed.
        """
        try:
            most = self.settings.max_body
            length, limit = request.headers.get("content-length", "").lstrip("0"), str(most)
            # As texts: Python takes no number of thousands of digits.
            if length.isdecimal() and (len(length), length) > (len(limit), limit):
                raise _too_large(most)
            encoding = request.headers.get("content-encoding", "identity")
            if encoding.lower() != "identity":
                # A small body could become one of gigabytes.
                raise RefusedError(f"the body is compressed ({encoding}): send it as it is", 415)
            with _Arrival(self.settings, self._ending()) as arrival:
                return await self._received(request, most, arrival)
        except RefusedError as error:
            if error.status != 408:
                await self.discard(request)
            raise

    async def discard(self, request: Request) -> None:
        """Reads the rest of a large body, for a while: a client that still sends reads no answer.

        One that waits for a "100 Continue" gets its answer instead.
        """
        headers = request.headers
        is_small = len(headers.get("content-length", "")) < 5 and "transfer-encoding" not in headers
        if is_small or "expect" in headers:
            return
        rest, wait = asyncio.ensure_future(_rest(request)), asyncio.FIRST_COMPLETED
        try:
            await asyncio.wait((rest, self._ending()), timeout=_DISCARD_SECONDS, return_when=wait)
        finally:
            rest.cancel()

    async def _received(self, request: Request, most: int, arrival: _Arrival) -> bytes:
        parts = []
        async for part in request.stream():
            parts.append(part)
            arrival.size += len(part)
            if arrival.size > most:
                raise _too_large(most)
            if arrival.size < LARGE:
                continue  # small bodies always come through
            count(request, max(0, arrival.size - _held(request).amount))
        return b"".join(parts)

    def parsed(self, raw: bytes, path: str) -> Body:
        """The object of JSON that was sent to this path.

        ``RefusedError`` for anything else, and for a body that another path of this server takes.
        """
        encoding = json.detect_encoding(raw)
        try:
            if encoding not in ("utf-8", "utf-8-sig"):
                raw = raw.decode(encoding).encode()
            body = Body(raw, max_values=_MAX_VALUES)
        except UnicodeError as error:
            raise RefusedError(f"the body is not JSON: {error}") from None
        except HarmonyError as error:
            raise RefusedError(str(error).removeprefix("Invalid request: ")) from None
        if body.kind() != "object":
            raise RefusedError("the body is not an object")
        _refuse_other(path, body)
        return body


class Counted:
    """Counts the bytes of each request until its answer is sent, a piece at a time."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        """Before this application."""
        self._app, self._bodies = app, bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held = scope["state"]["held"] = Held(self._bodies.share, key_of(scope))
        try:
            await self._app(scope, receive, partial(_in_pieces, send, held))
        finally:
            held.becomes(0)


async def _in_pieces(send: Send, held: Held, message: Message) -> None:
    """Sends a large part of an answer as its client reads it. Nothing counts after the last."""
    body, begun = message.get("body", b""), 0
    while len(body) - begun > _PIECE:
        piece = body[begun : begun + _PIECE]
        await send({"type": message["type"], "body": piece, "more_body": True})
        begun += _PIECE
    if begun:
        message = {**message, "body": body[begun:]}
    await send(message)
    if message["type"] == "http.response.body" and not message.get("more_body"):
        held.becomes(0)  # before the client can ask again


def _held(request: Request) -> Held:
    held: Held = request.scope["state"]["held"]
    return held


def count(request: Request, more: int) -> None:
    """Counts so many more bytes of a request. ``RefusedError`` if they are too many."""
    held = _held(request)
    if not held.becomes(held.amount + more):
        raise RefusedError(TOO_MANY_BYTES, 429, retry_after=1)


def json_bytes(value: Any, *, in_parts: bool = False) -> bytes:
    """As JSON; in parts, between which other threads go on, it takes five times as long."""
    return "".join(_JSON.iterencode(value) if in_parts else (_JSON.encode(value),)).encode()


def is_quick(body: Body, size: int) -> bool:
    """Whether a body of this size can be answered at once, and not in a thread."""
    if size >= LARGE:
        return False
    for within in ("chat_request", "input"):
        # Written again, it has no escapes in its names.
        if body.kind(within) in ("object", "list") and b'"tools":' in (body.json(within) or b""):
            return False
    return all(body.kind(name) is None for name in _OF_SCHEMAS)


class _Arrival:
    """Cancels the task that receives a body, once that has taken too long or the server ends.

    ``asyncio.wait_for`` makes a task of what is waited for: a tenth of what a small request takes.
    """

    def __init__(self, settings: Settings, ending: Ending) -> None:
        self._ending = ending
        self.size = 0
        """How much has arrived."""
        self._seen, self._is_late = 0, False
        self._timeout, self._least = settings.body_timeout, settings.body_rate * _WINDOW

    def __enter__(self) -> Self:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._end = self._loop.time() + self._timeout
        self._timer = self._loop.call_later(min(_WINDOW, self._timeout), self._look)
        self._ending.add_done_callback(self._stop)
        return self

    def _look(self) -> None:
        is_slow = self.size >= LARGE and self.size - self._seen < self._least
        if is_slow or self._loop.time() >= self._end:
            self._stop()
            return
        self._seen = self.size
        self._timer = self._loop.call_at(min(self._loop.time() + _WINDOW, self._end), self._look)

    def _stop(self, _: object = None) -> None:
        if self._task is not None:
            self._is_late = True
            self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        self._ending.remove_done_callback(self._stop)
        self._task = None  # the server's end may be about to call `_stop`
        if self._is_late and kind is asyncio.CancelledError:
            if self._ending.done():
                raise ServerEndsError("the server ends") from None
            raise RefusedError("the body did not arrive in time", 408) from None


async def _rest(request: Request) -> None:
    with suppress(ClientDisconnect, RuntimeError):  # the client has gone, or all is read
        async for _ in request.stream():
            pass


def _too_large(most: int) -> RefusedError:
    return RefusedError(f"the body is larger than {most:,} bytes", 413)


def _refuse_other(path: str, body: Body) -> None:
    """Refuses a body with messages in a field that another path reads."""
    own = _FIELDS.get(path)
    if own is None or body.kind(own) is not None:
        return
    paths = _OF_OLLAMA if path.startswith("/api/") else _OF_OPENAI
    for field, right in paths.items():
        found = body.kind(field)
        # In Responses: a stored prompt.
        is_own = own == "input" and field == "prompt" and found == "object"
        if found is not None and not is_own:
            text = f"{field}: this is a body of another API: send it to {right}"
            raise RefusedError(text, path=field)
