"""The application: the page, its two questions, and nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openai_harmony.playground.steps import MOST_BYTES, Refused, answer, prompt
from openai_harmony.show.html import style_sheet

_PAGE = Path(__file__).with_name("page")
_FILES = {
    "/": ("index.html", "text/html"),
    "/playground.js": ("playground.js", "text/javascript"),
    "/playground.css": ("playground.css", "text/css"),
    "/examples.json": ("examples.json", "application/json"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_HOSTS = ["localhost", "127.0.0.1", "[::1]"]


def app() -> Starlette:
    """The ASGI application. It answers on the names of this machine only."""
    routes = [Route(path, _file(*file)) for path, file in _FILES.items()]
    routes += [
        Route("/show.css", _style),
        Route("/api/prompt", _asked(prompt), methods=["POST"]),
        Route("/api/answer", _asked(answer), methods=["POST"]),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS)
    return Starlette(routes=routes, middleware=[hosts])


def _file(name: str, media_type: str) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        return Response((_PAGE / name).read_bytes(), media_type=media_type, headers=_HEADERS)

    return respond


async def _style(request: Request) -> Response:
    return Response(style_sheet(), media_type="text/css", headers=_HEADERS)


def _asked(function: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
    """A question of the page: JSON in, JSON out, an error as ``{"error": ...}``."""

    async def respond(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return _refusal("expected application/json", 415)
        raw = b""
        async for part in request.stream():
            raw += part
            if len(raw) > MOST_BYTES:
                return _refusal(
                    f"longer than {MOST_BYTES // 2**20} MiB, the most that the playground takes; "
                    "`harmony show` reads files",
                    413,
                )
        try:
            asked = json.loads(raw)
        except (ValueError, RecursionError):
            return _refusal("not JSON", 400)
        if not isinstance(asked, dict):
            return _refusal("expected an object", 400)
        try:
            made = await run_in_threadpool(function, asked)
        except Refused as error:
            return _refusal(str(error), 422)
        return JSONResponse(made, headers=_HEADERS)

    return respond


def _refusal(error: str, status: int) -> Response:
    return JSONResponse({"error": error}, status, headers=_HEADERS)
