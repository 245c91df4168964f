"""Who may ask: API keys, and which web pages."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from openai_harmony.serve.journal import LOG
from openai_harmony.serve.refusals import RefusedError, api_of, path_of, refusal
from openai_harmony.serve.settings import LOOPBACK

_OPEN = ("/health", "/ready", "/live", "/")
"""Paths that need no key: whoever watches over the server asks them."""


def api_keys(file: str | None) -> list[str]:
    """The keys of a file, one a line, and of ``HARMONY_API_KEYS``, with commas between them.

    Empty lines and those that begin with ``#`` are none. ``OSError`` if the file cannot be read,
    ``ValueError`` if it is not text, has no key, or has one that no header can carry.
    """
    keys = [key.strip() for key in os.environ.get("HARMONY_API_KEYS", "").split(",")]
    if file is not None:
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"api_key_file: {file} is not text in UTF-8") from None
        found = []
        for at, line in enumerate(map(str.strip, text.splitlines()), 1):
            if not line or line.startswith("#"):
                continue
            if not re.fullmatch("[!-~]+", line):
                # Clients could not send it. It is not quoted: it may be most of a key.
                what = "a key has visible ASCII characters alone"
                raise ValueError(f"api_key_file: {file}, line {at}: {what}")
            found.append(line)
        if not found:
            raise ValueError(f"api_key_file: {file} has no key")
        keys += found
    return [key for key in keys if key]


class Keys:
    """The API keys of a server, which can be read again while it runs."""

    def __init__(self, file: str | None) -> None:
        """Those of a file and of the environment; errors as of :func:`api_keys`."""
        self._file = file
        self.digests = [_digest(key) for key in api_keys(file)]

    def read_again(self) -> None:
        """Takes new keys, all at once. If they cannot be read, the old ones stay."""
        try:
            self.digests = [_digest(key) for key in api_keys(self._file)]
        except (OSError, ValueError) as error:
            LOG.error("the API keys stay as they are: %s", error)
            return
        LOG.info("API keys were read again: %d", len(self.digests))


class Doorkeeper:
    """Lets requests with a key in; without keys, those of this machine that no web page makes.

    What a client sends is compared in constant time. ``scope["state"]["owner"]`` is then a digest
    of the key, by which stored responses are kept apart.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        origins: list[str],
        local: bool,
        open_suffixes: tuple[str, ...] = (),
    ) -> None:
        """Before this application.

        Args:
            app: The application.
            keys: The API keys; without any, everybody is let in.
            origins: The web pages that may ask; ``*`` is all.
            local: Whether only this machine may ask: other names of hosts are refused, behind
                which a web page could hide.
            open_suffixes: How the paths end that anybody may ask, of whatever host.
        """
        self._app = app
        self._open_suffixes = open_suffixes
        self._keys, self._needs_key = keys, bool(keys.digests)
        self._origins, self._local = origins, local and not self._needs_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with an error, or passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope.setdefault("state", {})["owner"] = self._owner(scope)
        except RefusedError as error:
            await refusal(api_of(scope), error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _owner(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        if self._open_suffixes and path_of(scope).endswith(self._open_suffixes):
            return ""
        if self._local:
            self._refuse_pages(headers)
        if not self._needs_key or path_of(scope) in _OPEN or scope["method"] == "OPTIONS":
            return ""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        bearer = bearer if kind.lower() == "bearer" else ""
        # Some clients send both, of which one is a key for somebody else.
        for key in (bearer, headers.get("x-api-key", "")):
            given = _digest(key.strip())
            # All are compared, so that the time says nothing of which one it is.
            if sum(hmac.compare_digest(given, digest) for digest in self._keys.digests):
                return given.hex()
        raise RefusedError("the API key is missing or wrong", 401, code="invalid_api_key")

    def _refuse_pages(self, headers: Headers) -> None:
        # Clients of HTTP/1.0 may name no host; browsers always do.
        host = headers.get("host")
        if host is not None and _hostname(f"//{host}") not in LOOPBACK:
            raise RefusedError(f"the host {host!r} is not this machine", 403)
        origin = headers.get("origin")
        if origin is None or origin in self._origins or "*" in self._origins:
            return
        if _hostname(origin) not in LOOPBACK:
            raise RefusedError(f"web pages of {origin} may not ask; the setting is cors", 403)


def _hostname(url: str) -> str | None:
    """The host of a URL, ``None`` if it is not a URL."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogateescape")).digest()
