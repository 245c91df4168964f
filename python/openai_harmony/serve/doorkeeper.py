"""Who may ask: API keys, and which web pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.keys import ANONYMOUS, Key, digest
from openai_harmony.serve.refusals import RefusedError, path_of
from openai_harmony.serve.render.endpoints import PATHS
from openai_harmony.serve.settings import LOOPBACK
from openai_harmony.serve.shares import Turns
from openai_harmony.serve.threads import TURN

Refuse = Callable[[Request, Exception], Awaitable[Response]]
"""Answers a request with an error, and records that."""

_OPEN = ("/health", "/ready", "/live", "/")
"""Paths that need no key: monitoring asks them."""

_NO_KEY = (
    "the API key is missing or wrong; send it as `Authorization: Bearer KEY` or `x-api-key: KEY`"
)


class Door:
    """Who is let in, which may change while the server runs."""

    def __init__(self, configuration: Configuration) -> None:
        """By this configuration."""
        self.take(configuration)

    def take(self, configuration: Configuration) -> None:
        """By this one from now on."""
        settings = configuration.settings
        self.keys = {key.digest: key for key in configuration.keys}
        """The API keys by their digests; without any, everybody is let in."""
        self.origins = settings.origins
        """The web pages that may ask; ``*`` is all."""
        self.is_local = settings.is_local and settings.uds is None and not self.keys
        """Whether only this machine may ask: other names of hosts are refused, after which a web
        page could hide."""
        self.open_paths = PATHS if settings.allow_anonymous_render else ()
        """What needs no key, of any host."""


class Doorkeeper:
    """Lets requests with a key in; without keys, those of this machine that no web page makes.

    ``scope["state"]["key"]`` is then the :class:`Key`.
    """

    def __init__(self, app: ASGIApp, door: Door, refuse: Refuse, turns: Turns) -> None:
        """Before this application; ``refuse`` answers those that are not let in.

        Work of the others in threads takes these turns.
        """
        self._app, self._door, self._refuse, self._turns = app, door, refuse, turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with an error, or passes the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["key"] = ANONYMOUS
        try:
            state["key"] = self._key(scope)
        except RefusedError as error:
            request = Request({"method": "GET", **scope, "type": "http"}, receive)
            await (await self._refuse(request, error))(scope, receive, send)
            return
        TURN.set((self._turns, state["key"]))
        await self._app(scope, receive, send)

    def _key(self, scope: Scope) -> Key:
        door = self._door
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            raise RefusedError("the request names more than one host", 400)
        path, headers = path_of(scope), Headers(scope=scope)
        if path in door.open_paths and scope["method"] == "POST":
            return ANONYMOUS
        if door.is_local:
            self._refuse_pages(headers)
        if not door.keys or path in _OPEN:
            return ANONYMOUS
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        bearer = bearer if kind.lower() == "bearer" else ""
        # Some clients send both, of which one is a key for somebody else.
        for given in (bearer, headers.get("x-api-key", "")):
            # The time that looking for a digest takes reveals nothing of a key.
            if (found := door.keys.get(digest(given.strip()))) is not None:
                return found
        raise RefusedError(_NO_KEY, 401, code="invalid_api_key")

    def _refuse_pages(self, headers: Headers) -> None:
        # Clients of HTTP/1.0 may name no host; browsers always do.
        host = headers.get("host")
        if host is not None and _hostname(f"//{host}") not in LOOPBACK:
            raise RefusedError(f"the host {host!r} is not this machine", 403)
        origin = headers.get("origin")
        if origin is None or origin in self._door.origins or "*" in self._door.origins:
            return
        if _hostname(origin) not in LOOPBACK:
            raise RefusedError(f"web pages of {origin} may not ask; the setting is cors", 403)


@lru_cache(256)
def _hostname(url: str) -> str | None:
    """The host of a URL, ``None`` if it is not a URL."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
