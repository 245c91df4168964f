"""The application: which path leads where."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from openai_harmony._extras import needed
from openai_harmony.interop import Body, anthropic, chat_completions, ollama
from openai_harmony.interop.error_body import Api
from openai_harmony.serve import ollama as ollama_api
from openai_harmony.serve.bodies import Counted
from openai_harmony.serve.brought import (
    OF_PREFIXES,
    OF_PROMPTS,
    continued_prompt,
    whole_prompt,
)
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.doorkeeper import Door, Doorkeeper
from openai_harmony.serve.engine_fields import OF_CHAT
from openai_harmony.serve.engines import Engine, EngineError
from openai_harmony.serve.engines.engine import checked
from openai_harmony.serve.gateway import Call, Gateway, connected
from openai_harmony.serve.health import Watched
from openai_harmony.serve.journal import LOG
from openai_harmony.serve.models import model, models
from openai_harmony.serve.openapi import described
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.render.endpoints import RenderEndpoints
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.stored import StoredResponses
from openai_harmony.serve.threads import TURN, in_thread
from openai_harmony.serve.tokens import TOKENIZER, detokenized, tokenized

if TYPE_CHECKING:
    from openai_harmony.serve.store import Store

_PATIENCE = 0.5
"""So many seconds `/health` waits for the store."""
Endpoint = Callable[[Request], Awaitable[Response]]


def application(engine: Engine | None, configuration: Configuration) -> Starlette:
    """The application of :func:`openai_harmony.serve.app`; without an engine, of the settings'."""
    settings = configuration.settings
    gateway = Gateway(connected(settings) if engine is None else checked(engine), configuration)
    store, door = open_store(settings), Door(configuration)
    cors = Middleware(
        CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"]
    )
    keeper = Middleware(Doorkeeper, door=door, refuse=gateway.turn_away, turns=gateway.work)
    counted = Middleware(Counted, bodies=gateway.bodies)
    stored = StoredResponses(gateway, store)
    routes = _routes(gateway, stored, store)
    made = Starlette(
        routes=[*described(routes), WebSocketRoute("/v1/responses", stored.socket)],
        middleware=[*([cors] if settings.origins else []), keeper, counted],
        lifespan=partial(_lifespan, gateway, store),
        exception_handlers={
            HTTPException: partial(_no_such_path, gateway),
            ClientDisconnect: _gone,
            Exception: partial(_fault, gateway),
        },
    )
    made.state.gateway, made.state.store, made.state.door = gateway, store, door
    take(made, configuration)
    return made


def take(app: Starlette, configuration: Configuration) -> None:
    """Has an application that runs go by another configuration."""
    app.state.door.take(configuration)
    app.state.gateway.take(configuration)
    if (store := app.state.store) is not None:
        store.share.is_fair = configuration.has_rivals


def open_store(settings: Settings) -> Store | None:
    """The store, if there is to be one; errors as of :class:`Store`."""
    if settings.store == "none":
        return None
    needed("sqlalchemy", "serve")
    from openai_harmony.serve.store import Store

    return Store(settings.store, settings.store_days, settings.store_timeout)


@asynccontextmanager
async def _lifespan(gateway: Gateway, store: Store | None, _: Starlette) -> AsyncIterator[None]:
    try:
        await gateway.engine.check()
    except EngineError as error:
        LOG.warning("the engine does not answer yet: %s", error)
    yield
    await gateway.engine.aclose()
    await in_thread(gateway.journal.flush)
    if store is not None:
        store.close()


def _routes(gateway: Gateway, stored: StoredResponses, store: Store | None) -> list[Route]:
    def post(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["POST"])

    def get(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["GET"])

    ends = Endpoints(gateway)
    health = HealthEndpoints(gateway, store)
    return [
        post("/v1/chat/completions", ends.chat),
        post("/v1/responses", stored.create),
        post("/v1/messages", ends.messages),
        post("/api/chat", ends.ollama_chat),
        post("/api/generate", ends.ollama_generate),
        *RenderEndpoints(gateway).routes(),
        post("/v1/responses/input_tokens", stored.input_tokens),
        post("/v1/responses/compact", stored.compact),
        get("/v1/responses/{identity}", stored.retrieve),
        Route("/v1/responses/{identity}", stored.delete, methods=["DELETE"]),
        post("/v1/responses/{identity}/cancel", stored.cancel),
        get("/v1/responses/{identity}/input_items", stored.input_items),
        post("/v1/messages/count_tokens", ends.count_tokens),
        post("/v1/chat/completions/tokens", ends.chat_of_tokens),
        post("/tokenize", ends.tokenize),
        post("/detokenize", ends.detokenize),
        get("/tokenizer_info", ends.tokenizer_info),
        post("/v1/completions", ends.passed_on),
        post("/inference/v1/generate", ends.passed_on),
        post("/inference/v1/abort_requests", ends.passed_on),
        get("/v1/models", ends.models),
        get("/v1/models/{name:path}", ends.model),
        post("/api/show", ends.ollama_show),
        get("/api/tags", ends.ollama_tags),
        get("/api/ps", ends.ollama_running),
        get("/api/version", ends.ollama_version),
        get("/health", health.health),
        get("/ready", health.ready),
        get("/live", health.live),
        get("/metrics", ends.metrics),
        get("/", ends.root),
    ]


class Endpoints:
    """An endpoint for each path."""

    def __init__(self, gateway: Gateway) -> None:
        """Of this gateway."""
        self._gateway = gateway

    def _call(self, api: Api, dialect: Any) -> Call:
        return Call(api, partial(dialect.read, **self._gateway.settings.reading))

    async def chat(self, request: Request) -> Response:
        """``POST /v1/chat/completions``."""
        return await self._gateway.answer(request, self._chat(continued_prompt, OF_PREFIXES))

    async def chat_of_tokens(self, request: Request) -> Response:
        """``POST /v1/chat/completions/tokens``: the prompt is the body's ``tokens``."""
        return await self._gateway.answer(request, self._chat(whole_prompt, OF_PROMPTS))

    async def tokenize(self, request: Request) -> Response:
        """``POST /tokenize``: a text, or the prompt of a chat completion."""
        call = self._chat(continued_prompt, OF_PREFIXES)
        return await self._gateway.made(request, call, partial(tokenized, self._gateway, call))

    async def detokenize(self, request: Request) -> Response:
        """``POST /detokenize``: the text of tokens."""
        work = partial(detokenized, self._gateway.encoding)
        return await self._gateway.made(request, self._chat(continued_prompt, OF_PREFIXES), work)

    async def tokenizer_info(self, request: Request) -> Response:
        """``GET /tokenizer_info``."""
        return JSONResponse(TOKENIZER)

    def _chat(self, prompt: Any, uses: frozenset[str]) -> Call:
        call = self._call("chat_completions", chat_completions)
        return replace(call, prompt=prompt, uses=uses.union(OF_CHAT))

    async def messages(self, request: Request) -> Response:
        """``POST /v1/messages``."""
        return await self._gateway.answer(request, self._call("anthropic", anthropic))

    async def count_tokens(self, request: Request) -> Response:
        """``POST /v1/messages/count_tokens``."""
        return await self._gateway.counted(request, self._call("anthropic", anthropic), {})

    async def passed_on(self, request: Request) -> Response:
        """What the engine answers itself: completions, VLLM's tokens in and out, and their end."""
        return await self._gateway.pass_on(request)

    async def models(self, request: Request) -> Response:
        """``GET /v1/models``."""
        return JSONResponse(models(self._gateway.names, self._gateway.engine.context))

    async def model(self, request: Request) -> Response:
        """``GET /v1/models/NAME``: by default any name is one of the one model that there is."""
        name = request.path_params["name"]
        try:
            if not name:
                raise RefusedError("the model has no name", 404)
            self._gateway.refuse_model(name)
        except RefusedError as error:
            return await self._gateway.refuse(request, error)
        return JSONResponse(model(name, self._gateway.engine.context))

    async def ollama_chat(self, request: Request) -> Response:
        """``POST /api/chat``."""
        return await self._ollama(request, self._call("ollama", ollama), "messages", "message")

    async def ollama_generate(self, request: Request) -> Response:
        """``POST /api/generate``."""
        read = partial(ollama_api.read_generate, **self._gateway.settings.reading)
        call = Call("ollama", read, shape=ollama_api.as_generate)
        return await self._ollama(request, call, "prompt", "response")

    async def _ollama(self, request: Request, call: Call, asked: str, answered: str) -> Response:
        def early(body: Body) -> Response | None:
            if not ollama_api.is_load(body, asked):
                return None
            return JSONResponse(ollama_api.loaded(body, self._named(body), answered))

        return await self._gateway.answer(request, replace(call, early=early))

    async def ollama_show(self, request: Request) -> Response:
        """``POST /api/show``."""

        def show(body: Body, _: Any) -> dict[str, Any]:
            return ollama_api.show(self._named(body), self._gateway.engine.context)

        return await self._gateway.made(request, self._call("ollama", ollama), show)

    async def ollama_tags(self, request: Request) -> Response:
        """``GET /api/tags``."""
        return JSONResponse(ollama_api.tags(self._gateway.names))

    async def ollama_running(self, request: Request) -> Response:
        """``GET /api/ps``."""
        return JSONResponse(ollama_api.running(self._gateway.names))

    async def ollama_version(self, request: Request) -> Response:
        """``GET /api/version``."""
        return JSONResponse({"version": ollama_api.VERSION})

    async def metrics(self, request: Request) -> Response:
        """``GET /metrics``, for Prometheus."""
        TURN.set(None)  # monitoring waits for no other work
        made = await in_thread(self._gateway.journal.metrics)
        return Response(made, media_type=CONTENT_TYPE_LATEST)

    async def root(self, request: Request) -> Response:
        """``GET /``, which clients of Ollama ask to see whether a server is there."""
        return PlainTextResponse("openai-harmony is running")

    def _named(self, body: Body) -> str:
        return body.text("model") or body.text("name") or self._gateway.model


class HealthEndpoints:
    """The routes that monitoring asks."""

    def __init__(self, gateway: Gateway, store: Store | None) -> None:
        """Of this gateway."""
        self._gateway = gateway
        self._engine = Watched("the engine does not answer", lambda: gateway.engine.check())
        self._store: Watched | None = None
        if store is not None:
            check = partial(store.ask, None, store.check)
            self._store = Watched("the store of responses cannot be used", check)

    async def health(self, request: Request) -> Response:
        """``GET /health``: 200 if the engine can sample and the store can store, else 503."""
        trouble = await self._engine.trouble()
        if trouble is None and self._store is not None:
            trouble = await self._store.trouble(_PATIENCE)
        found = {"status": "ok"} if trouble is None else {"status": "unavailable", "error": trouble}
        about = {"engine": self._gateway.engine.name, "model": self._gateway.model}
        return JSONResponse({**found, **about}, 200 if trouble is None else 503)

    async def ready(self, request: Request) -> Response:
        """``GET /ready``: 200 if the next request that needs no store can be answered here."""
        trouble: str | None = "the server ends"
        if not self._gateway.is_draining:
            asking = asyncio.ensure_future(self._engine.trouble())
            waited = (asking, self._gateway.ending)
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            trouble = asking.result() if asking.done() else trouble
            asking.cancel()
        return PlainTextResponse(trouble or "ready", 200 if trouble is None else 503)

    async def live(self, request: Request) -> Response:
        """``GET /live``: 200 as long as this process answers at all."""
        return PlainTextResponse("live")


async def _no_such_path(gateway: Gateway, request: Request, error: Any) -> Response:
    """Answers an ``HTTPException`` of the router's."""
    status = error.status_code
    reason = "method" if status == 405 else "path"
    text = f"no such {reason}: {request.method} {request.url.path}"
    if status == 404:
        # A base URL without its /v1, or with it twice, is what most clients get wrong.
        paths = [route.path for route in request.app.routes if isinstance(route, Route)]
        near = difflib.get_close_matches(request.url.path, paths, cutoff=0.8)
        text += f"; did you mean {near[0]}?" if near else ""
    response = await gateway.refuse(request, RefusedError(text, status))
    response.headers.update(error.headers or {})  # the methods that there are
    return response


async def _gone(request: Request, error: Exception) -> Response:
    """A client left before its body was there: not a fault, and nothing for the log."""
    return Response(status_code=499)


async def _fault(gateway: Gateway, request: Request, error: Exception) -> Response:
    return await gateway.refuse(request, error)
