"""The way of a request: body, turn, prompt, engine, answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.interop.error_body import Api
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.answers import Answer, Keep, Shape, joined, side_by_side
from openai_harmony.serve.engines import Engine, EngineError
from openai_harmony.serve.limits import Limits
from openai_harmony.serve.refusals import REFUSALS, RefusedError, refusal
from openai_harmony.serve.sampling import begin, requests
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.streaming import ClientGoneError, Stream, TooSlowError, until_gone

Body = dict[str, Any]
Read = Callable[..., Turn]

_LARGE = 100_000
"""Bodies of so many bytes are read in a thread, so that other answers go on meanwhile."""


class Gateway:
    """What the endpoints share: the engine, the settings, and how a request is answered."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        """Before this engine."""
        self.engine, self.settings = engine, settings
        self.encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        self.limits = Limits(settings.max_running, settings.max_waiting, settings.queue_timeout)
        tools = (settings.builtin_tools or "").replace(",", " ").split()
        self.options: Mapping[str, Any] = {"builtin_tools": tools}

    @property
    def model(self) -> str:
        """The model's name in lists, and in answers to bodies that name none."""
        return self.settings.model or self.engine.model or "gpt-oss-20b"

    async def body(self, request: Request) -> tuple[Body, int]:
        """The body, an object of JSON, and how many bytes it has."""
        limit = self.settings.max_body
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length) > limit:
            raise RefusedError(f"the body is larger than {limit:,} bytes", 413)
        try:
            raw = await asyncio.wait_for(_bytes(request, limit), self.settings.body_timeout)
        except asyncio.TimeoutError:
            raise RefusedError("the body did not arrive in time", 408) from None
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise RefusedError(f"the body is not JSON: {reason}") from None
        if not isinstance(body, dict):
            raise RefusedError("the body is not an object")
        return body, len(raw)

    async def answer(
        self,
        request: Request,
        api: Api,
        read: Callable[[Body], Turn],
        *,
        body: Body | None = None,
        blocks: bool = False,
        shape: Shape | None = None,
        keep: Callable[[Body], Keep | None] = lambda _: None,
    ) -> Response:
        """Answers a request.

        Args:
            request: The request.
            api: In whose form errors are.
            read: Makes a turn of the body.
            body: The body, if it has been read.
            blocks: Whether ``read`` waits for something, and needs a thread.
            shape: Changes each chunk, and the response.
            keep: What stores the response to a body.
        """
        stack = AsyncExitStack()
        try:
            await stack.enter_async_context(self.limits.turn())
            size = 0
            if body is None:
                body, size = await self.body(request)
            turn, prompt = (
                await run_in_threadpool(self._turn, read, body)
                if blocks or size > _LARGE
                else self._turn(read, body)
            )
            answers = await until_gone(
                request.receive,
                self._begin(turn, prompt, body, shape, keep(body)),
                self.settings.request_timeout,
            )
            if turn.stream:
                # From here on the stream holds the turn.
                return self._stream(answers, stack.pop_all())
            whole = self._whole(answers)
            found = await until_gone(request.receive, whole, self.settings.request_timeout)
            return JSONResponse(found)
        except (ClientGoneError, ClientDisconnect):
            return Response(status_code=499)  # nobody reads it
        except TooSlowError:
            return refusal(api, EngineError("the answer takes too long", 504))
        except REFUSALS as error:
            return refusal(api, error)
        finally:
            await stack.aclose()

    def _turn(self, read: Callable[[Body], Turn], body: Body) -> tuple[Turn, list[int]]:
        try:
            turn = read(body)
            return turn, turn.prompt(self.encoding)
        except RecursionError:
            raise RefusedError("the body is nested too deeply") from None

    async def _begin(
        self, turn: Turn, prompt: list[int], body: Body, shape: Shape | None, keep: Keep | None
    ) -> list[Answer]:
        """Answers whose first tokens are there, all of one id and time."""
        settings = self.settings
        asked = requests(
            self.engine, turn, prompt, settings.max_output_tokens, settings.max_answers
        )
        named = body.get("model")
        options: dict[str, Any] = {
            "model": named if isinstance(named, str) and named else self.model,
            "prompt_tokens": len(prompt),
        }
        begun = await begin(self.engine, asked)
        first = turn.reply(self.encoding, **options)
        replies = [first]
        if len(asked) > 1:
            same = first.response()
            options |= {"id": same["id"], "created": same["created"]}
            replies += [
                turn.reply(self.encoding, index=index, **options) for index in range(1, len(asked))
            ]
        return [Answer(reply, one, shape, keep) for reply, one in zip(replies, begun)]

    def _stream(self, answers: list[Answer], stack: AsyncExitStack) -> Response:
        first = answers[0]

        async def ended(there: bool) -> None:
            await stack.aclose()

        return Stream(
            first.pieces() if len(answers) == 1 else side_by_side(answers),
            first.reply.media_type,
            timeout=self.settings.request_timeout,
            abort=first.abort,
            ended=ended,
        )

    async def _whole(self, answers: list[Answer]) -> dict[str, Any]:
        tasks = [asyncio.ensure_future(answer.whole()) for answer in answers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return joined(answers)


async def _bytes(request: Request, limit: int) -> bytes:
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > limit:
            raise RefusedError(f"the body is larger than {limit:,} bytes", 413)
    return bytes(found)
