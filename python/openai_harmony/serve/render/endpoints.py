"""``/render`` and ``/derender``, for routers, and clusters of engines that take and give tokens.

They need no engine and store nothing. Errors are as vLLM has them, since its clients read them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openai_harmony.errors import HarmonyError
from openai_harmony.interop import Body, anthropic, chat_completions, derender, responses
from openai_harmony.serve.bodies import is_quick
from openai_harmony.serve.gateway import Gateway
from openai_harmony.serve.journal import Record
from openai_harmony.serve.refusals import RefusedError, path_of
from openai_harmony.serve.render.prompts import of_texts, of_turn, prompts_of, request_id
from openai_harmony.serve.threads import LARGE, in_thread, in_thread_if

Work = Callable[[Body, str | None, Record], bytes]
"""From a body and the header ``x-request-id`` to the answer's JSON; the record learns of tokens."""

PATHS = (
    "/v1/chat/completions/render",
    "/v1/responses/render",
    "/v1/messages/render",
    "/v1/completions/render",
    "/v1/chat/completions/derender",
    "/v1/completions/derender",
)
"""The paths of this module."""


class RenderEndpoints:
    """An endpoint for each path."""

    def __init__(self, gateway: Gateway) -> None:
        """Of this gateway."""
        self._gateway = gateway
        self._prompts = gateway.settings.render_prompts

    def routes(self) -> list[Route]:
        """The routes."""
        endpoints = (
            self.render_chat,
            self.render_responses,
            self.render_messages,
            self.render_texts,
            self.derender,
            self.derender_texts,
        )
        return [Route(path, one, methods=["POST"]) for path, one in zip(PATHS, endpoints)]

    async def render_chat(self, request: Request) -> Response:
        """A chat completion's prompt as tokens, and how to sample."""
        work = partial(self._render, "chatcmpl", chat_completions.read)
        return await self._recorded(request, work)

    async def render_responses(self, request: Request) -> Response:
        """A response's prompt as tokens, and how to sample."""
        return await self._recorded(request, partial(self._render, "resp", responses.read))

    async def render_messages(self, request: Request) -> Response:
        """The prompt of Anthropic's messages as tokens, and how to sample."""
        return await self._recorded(request, partial(self._render, "chatcmpl", anthropic.read))

    async def render_texts(self, request: Request) -> Response:
        """The prompts of completions as tokens, and how to sample."""
        return await self._recorded(request, self._render_texts)

    async def derender(self, request: Request) -> Response:
        """The chat completion, or the next chunk of it, of sampled tokens."""
        return await self._recorded(request, self._derender)

    async def derender_texts(self, request: Request) -> Response:
        """Not found: the text of a completion has no format."""
        return await self._recorded(request, _no_texts)

    async def _recorded(self, request: Request, work: Work) -> Response:
        answer = partial(self._answer, work)
        return await self._gateway.recorded(request, "chat_completions", answer)

    async def _answer(
        self, work: Work, request: Request, record: Record, stack: AsyncExitStack
    ) -> Response:
        try:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise RefusedError("the content type is not application/json")
            made = await self._made(work, request, record)
        except (RefusedError, HarmonyError) as error:
            status = error.status if isinstance(error, RefusedError) else 400
            path = str(getattr(error, "path", "") or "")
            return _refused(record, str(error), status, path)
        return Response(made, media_type="application/json")

    async def _made(self, work: Work, request: Request, record: Record) -> bytes:
        bodies, path = self._gateway.bodies, path_of(request.scope)
        header = request.headers.get("x-request-id")
        raw = await bodies.received(request)
        if len(raw) >= LARGE:
            # In one go: two threads would cost more than most of the work.
            return await in_thread(lambda: work(bodies.parsed(raw, path), header, record))
        body = bodies.parsed(raw, path)
        given = body, header, record
        return await in_thread_if(not is_quick(body, len(raw)), work, *given)

    def _known(self, model: str | None) -> str:
        """The model's name. ``RefusedError`` for another, where one is known."""
        gateway = self._gateway
        known = gateway.settings.model or gateway.engine.model
        if model is not None and known is not None and model != known:
            raise RefusedError(f"The model `{model}` does not exist.", 404, path="model")
        return model or gateway.model

    def _render(
        self, prefix: str, read: Callable[..., Any], body: Body, header: str | None, record: Record
    ) -> bytes:
        gateway = self._gateway
        self._known(body.text("model"))
        if body.text("previous_response_id") is not None:
            name = "previous_response_id"
            raise RefusedError(f"{name}: rendering has no stored responses", path=name)
        turn = read(body, prompts=self._prompts, **gateway.settings.reading)
        prompt = turn.prompt_json(gateway.encoding)
        record.rendered = prompt.count(b",") + 1
        identity = request_id(prefix, body, header)
        return of_turn(turn, prompt, body, identity, gateway.engine.context)

    def _render_texts(self, body: Body, header: str | None, record: Record) -> bytes:
        self._known(body.text("model"))
        gateway = self._gateway
        prompts = prompts_of(body, gateway.encoding)
        record.rendered = sum(map(len, prompts))
        identity = request_id("cmpl", body, header)
        return of_texts(prompts, body, identity, gateway.engine.context)

    def _derender(self, body: Body, header: str | None, record: Record) -> bytes:
        gateway = self._gateway
        model = self._known(body.text("model"))
        context, now = gateway.engine.context, int(time.time())
        return derender(body, gateway.encoding, model=model, created=now, context=context)


def _no_texts(body: Body, header: str | None, record: Record) -> bytes:
    text = "a completion has no harmony format: decode its tokens with the tokenizer"
    raise RefusedError(text, 404)


def _refused(record: Record, message: str, status: int, path: str) -> Response:
    record.error = message
    kind = {404: "NotFoundError"}.get(status, "BadRequestError")
    error = {"message": message, "type": kind, "param": path or None, "code": status}
    return JSONResponse({"error": error}, status)
