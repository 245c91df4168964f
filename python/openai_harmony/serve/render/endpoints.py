"""``/render`` and ``/derender``, for routers and clusters whose engines take and give tokens.

They need no engine and store nothing. Errors are as vLLM has them, since its clients read them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openai_harmony.errors import HarmonyError
from openai_harmony.interop import Body, anthropic, chat_completions, responses
from openai_harmony.serve.bodies import LARGE
from openai_harmony.serve.gateway import Gateway
from openai_harmony.serve.journal import Record
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.render import chat, text
from openai_harmony.serve.render.forms import (
    Choice,
    DerenderChat,
    DerenderChatChunk,
    DerenderChunk,
    DerenderTextChunk,
    DerenderTexts,
    Generated,
)
from openai_harmony.serve.render.prompts import of_texts, of_turn, request_id
from openai_harmony.serve.threads import in_thread

Form = TypeVar("Form", bound=BaseModel)
Work = Callable[[Body, str | None], Any]
"""From a body and the header ``x-request-id`` to the answer."""

SUFFIXES = ("/render", "/derender")
"""How the paths of this module end."""


class RenderEndpoints:
    """An endpoint for each path."""

    def __init__(self, gateway: Gateway) -> None:
        """Of this gateway."""
        self._gateway = gateway
        self._prompts = gateway.settings.render_prompts

    def routes(self) -> list[Route]:
        """The routes."""
        works: dict[str, Work] = {
            "/v1/chat/completions/render": partial(self._render, "chatcmpl", chat_completions.read),
            "/v1/responses/render": partial(self._render, "resp", responses.read),
            "/v1/messages/render": partial(self._render, "chatcmpl", anthropic.read),
            "/v1/completions/render": self._render_texts,
            "/v1/chat/completions/derender": self._derender_chat,
            "/v1/completions/derender": self._derender_texts,
        }
        return [
            Route(path, partial(self._endpoint, work), methods=["POST"])
            for path, work in works.items()
        ]

    async def _endpoint(self, work: Work, request: Request) -> Response:
        answer = partial(self._answer, work)
        return await self._gateway.recorded(request, "chat_completions", answer)

    async def _answer(
        self, work: Work, request: Request, record: Record, stack: AsyncExitStack
    ) -> Response:
        try:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise RefusedError("the content type is not application/json")
            with ExitStack() as held:
                body, size = await self._gateway.bodies.read(request, held)
                given = body, request.headers.get("x-request-id")
                made = await in_thread(work, *given) if size >= LARGE else work(*given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            path = ".".join(map(str, first["loc"]))
            return _refused(record, f"{path}: {first['msg']}", 400, path)
        except (RefusedError, HarmonyError) as error:
            status = error.status if isinstance(error, RefusedError) else 400
            path = str(getattr(error, "path", "") or "")
            return _refused(record, str(error), status, path)
        return JSONResponse(made)

    def _known(self, model: str | None) -> str:
        """The model's name. ``RefusedError`` for another, where one is known."""
        gateway = self._gateway
        known = gateway.settings.model or gateway.engine.model
        if model is not None and known is not None and model != known:
            raise RefusedError(f"The model `{model}` does not exist.", 404, path="model")
        return model or gateway.model

    def _render(
        self, prefix: str, read: Callable[..., Any], body: Body, header: str | None
    ) -> dict[str, Any]:
        gateway = self._gateway
        self._known(body.text("model"))
        if body.text("previous_response_id") is not None:
            name = "previous_response_id"
            raise RefusedError(f"{name}: rendering has no stored responses", path=name)
        turn = read(body, prompts=self._prompts)
        prompt = turn.prompt(gateway.encoding)
        identity = request_id(prefix, body, header)
        return of_turn(turn, prompt, body, identity, gateway.engine.context)

    def _render_texts(self, body: Body, header: str | None) -> list[Any]:
        self._known(body.text("model"))
        gateway = self._gateway
        identity = request_id("cmpl", body, header)
        return of_texts(body, gateway.encoding, identity, gateway.engine.context)

    def _derender_chat(self, body: Body, header: str | None) -> dict[str, Any]:
        encoding = self._gateway.encoding
        if body.flag("stream") is True:
            piece = _read(DerenderChatChunk, body)
            self._check_chunk(piece)
            return chat.chunk(piece, encoding, self._known(piece.model))
        whole = _read(DerenderChat, body)
        self._check([whole.generate_response], [whole.prompt_token_ids])
        return chat.whole(whole, encoding, self._known(whole.model))

    def _derender_texts(self, body: Body, header: str | None) -> dict[str, Any]:
        encoding = self._gateway.encoding
        if body.flag("stream") is True:
            piece = _read(DerenderTextChunk, body)
            self._check_chunk(piece)
            return text.chunk(piece, encoding, self._known(piece.model))
        whole = _read(DerenderTexts, body)
        self._check(whole.generate_responses, whole.prompt_token_ids or [])
        return text.whole(whole, encoding, self._known(whole.model))

    def _check(self, generated: list[Generated], prompts: list[list[int] | None]) -> None:
        """Bounds what is decoded, before it is."""
        for one in generated:
            for choice in one.choices:
                self._check_length("token_ids", len(choice.tokens))
                self._check_length("logprobs.content", _positions(choice))
            self._check_length("prompt_logprobs", len(one.prompt_logprobs or []))
        for prompt in prompts:
            self._check_length("prompt_token_ids", len(prompt or []))

    def _check_chunk(self, piece: DerenderChunk) -> None:
        choices, state = piece.generate_chunk.choices, piece.stream_state
        new = sum(len(choice.tokens) for choice in choices)
        old = 0 if state is None else len(state.output_token_ids)
        prompt = len(piece.prompt_token_ids or [])
        self._check_length("prompt, earlier and new tokens", prompt + old + new)
        for choice in choices:
            self._check_length("logprobs.content", _positions(choice))

    def _check_length(self, what: str, length: int) -> None:
        most = self._gateway.engine.context
        if length > most:
            raise RefusedError(f"{what}: {length} are more than the {most} of the context")


def _positions(choice: Choice) -> int:
    found = choice.logprobs.content if choice.logprobs is not None else None
    return len(found or [])


def _read(form: type[Form], body: Body) -> Form:
    return form.model_validate_json(body.json() or b"null")


def _refused(record: Record, message: str, status: int, path: str) -> Response:
    record.error = message
    kind = {404: "NotFoundError"}.get(status, "BadRequestError")
    error = {"message": message, "type": kind, "param": path or None, "code": status}
    return JSONResponse({"error": error}, status)
