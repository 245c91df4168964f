"""The way of a request: body, turn, prompt, engine, answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from openai_harmony.encoding import HarmonyEncodingName, load_harmony_encoding
from openai_harmony.errors import PromptTooLongError
from openai_harmony.interop.error_body import Api, error_body
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.answers import Answer, Keep, Shape, failed, joined, side_by_side
from openai_harmony.serve.bodies import Body, read_body
from openai_harmony.serve.constraint import constraint_of
from openai_harmony.serve.engines import Engine, EngineError
from openai_harmony.serve.journal import LOG, Journal, Record
from openai_harmony.serve.limits import Limits
from openai_harmony.serve.refusals import REFUSALS, RefusedError, refusal, request_id
from openai_harmony.serve.sampling import begin, go_on, requests
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.streaming import ClientGoneError, Ending, Stream, TooSlowError, until_gone


@dataclass(frozen=True, slots=True)
class Call:
    """How requests of an endpoint are answered."""

    api: Api
    """In whose form errors are."""
    read: Callable[[Body], Turn]
    """Makes a turn of the body."""
    body: tuple[Body, int] | None = None
    """The body, if it has been read, and how many bytes it has."""
    blocks: bool = False
    """Whether ``read`` waits for something, and needs a thread."""
    shape: Shape | None = None
    """Changes each chunk, and the response."""
    keep: Callable[[Turn, Body], Keep | None] = lambda *_: None
    """What stores the response to a turn with what was asked."""


Work = Callable[[Request, Record, AsyncExitStack], Awaitable[Response]]
"""Answers a request: fills the record, and leaves to the stack what ends with the answer."""

_LARGE = 100_000
"""Bodies of so many bytes are read in a thread, so that other answers go on meanwhile."""


class Gateway:
    """What the endpoints share: the engine, the settings, and how a request is answered."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        """Before this engine."""
        self.engine, self.settings = engine, settings
        self.encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        self.limits = Limits(settings.max_running, settings.max_waiting, settings.queue_timeout)
        self._ending: Ending | None = None
        self._is_warned = False
        self.journal = Journal(self.encoding if settings.log_contents else None)

    @property
    def ending(self) -> Ending:
        """Done once running answers shall end because the server does."""
        loop = asyncio.get_running_loop()
        # Tests run an application in one loop after the other.
        if self._ending is None or self._ending.get_loop() is not loop:
            self._ending = loop.create_future()
        return self._ending

    @property
    def model(self) -> str:
        """The model's name in lists, and in answers to bodies that name none."""
        return self.settings.model or self.engine.model or "gpt-oss-20b"

    async def body(self, request: Request) -> tuple[Body, int]:
        """The body, an object of JSON, and how many bytes it has."""
        return await read_body(request, self.settings.max_body, self.settings.body_timeout)

    async def answer(self, request: Request, call: Call) -> Response:
        """Answers a request; whatever happens, in the form of its API."""
        return await self._recorded(request, call.api, partial(self._answer, call))

    async def pass_on(self, request: Request) -> Response:
        """Answers a request of ``/v1/completions`` by what the engine itself says."""
        return await self._recorded(request, "chat_completions", self._passed_on)

    async def _recorded(self, request: Request, api: Api, work: Work) -> Response:
        record = self.journal.begin(api, request.url.path)
        async with AsyncExitStack() as stack:
            stack.callback(self.journal.end, record)
            try:
                await stack.enter_async_context(self.limits.turn())
                response = await work(request, record, stack)
            except (ClientGoneError, ClientDisconnect):
                record.client_left = True
                response = Response(status_code=499)  # nobody reads it
            except TooSlowError as error:
                status = 503 if self.ending.done() else 504
                response = self._refused(record, RefusedError(str(error), status))
            except Exception as error:
                response = self._refused(record, error)
            record.status = response.status_code
            response.headers["x-request-id"] = record.id
            if api == "anthropic":
                response.headers["request-id"] = record.id
        return response

    async def _answer(
        self, call: Call, request: Request, record: Record, stack: AsyncExitStack
    ) -> Response:
        body, size = call.body or await self.body(request)
        turn = await self._read(call, body, size)
        record.stream = turn.stream
        limit = self.settings.request_timeout
        try:
            record.prompt = await self._prompt(turn, size)
            beginning = self._begin(turn, record.prompt, body, call)
            record.answers = await until_gone(request.receive, beginning, limit, self.ending)
        except PromptTooLongError as error:
            if call.api != "responses" or not turn.stream:
                raise
            record.error = str(error)
            return self._failed(turn, error)
        for answer in record.answers:
            # A stream that is cancelled before its first piece closes nothing itself.
            stack.push_async_callback(answer.begun[1].aclose)
        record.sampling()
        if turn.stream:
            # From here on the stream holds the turn.
            return self._stream(record, stack.pop_all())
        whole = self._whole(record.answers)
        return JSONResponse(await until_gone(request.receive, whole, limit, self.ending))

    async def _passed_on(self, request: Request, record: Record, stack: AsyncExitStack) -> Response:
        ask = getattr(self.engine, "pass_on", None)
        if ask is None:
            raise RefusedError(f"the engine {self.engine.name} has no completions", 501)
        body, _ = await self.body(request)
        record.stream = body.get("stream") is True
        asking = ask("/v1/completions", JSONResponse(body).body)
        limit = self.settings.request_timeout
        status, kind, parts = await until_gone(request.receive, asking, limit, self.ending)
        stack.push_async_callback(parts.aclose)
        parts = _until_broken(parts, record)
        ended = partial(self._ended, record, stack.pop_all())
        return Stream(
            parts, kind, status=status, timeout=limit, ending=self.ending, abort=bytes, ended=ended
        )

    def _refused(self, record: Record, error: Exception) -> Response:
        record.error = str(error)
        if not isinstance(error, REFUSALS):
            LOG.error("a fault of this server", exc_info=error)
        if isinstance(error, EngineError) and not any(one.broke for one in record.answers):
            record.engine_status = error.status
        return refusal(record.api, error)

    def _failed(self, turn: Turn, error: PromptTooLongError) -> Response:
        """A stream that fails before its first token, where Codex knows the error's code."""
        reply = turn.reply(
            self.encoding, model=turn.model or self.model, prompt_tokens=error.tokens
        )
        *chunks, last = [*reply.feed([]), *reply.finish("abort")]
        message = error_body("responses", error).body["error"]["message"]
        chunks.append(failed(last, message, error.code))
        data = b"".join(map(reply.frame, chunks)) + reply.frame()
        return Response(data, media_type=reply.media_type)

    async def counted(self, request: Request, call: Call, about: dict[str, Any]) -> Response:
        """How many tokens the prompt of a request has, in an object that has ``about``, too."""
        try:
            body, size = await self.body(request)
            turn = await self._read(call, body, size)
            prompt = await self._prompt(turn, size)
            headers = {"request-id": request_id()} if call.api == "anthropic" else None
            return JSONResponse({**about, "input_tokens": len(prompt)}, headers=headers)
        except REFUSALS as error:
            return refusal(call.api, error)

    async def _read(self, call: Call, body: Body, size: int) -> Turn:
        """The turn of a body of so many bytes."""
        try:
            if call.blocks or size > _LARGE:
                return await run_in_threadpool(call.read, body)
            return call.read(body)
        except RecursionError:
            raise RefusedError("the body is nested too deeply") from None

    async def _prompt(self, turn: Turn, size: int) -> list[int]:
        """The prompt of a turn whose body has so many bytes."""
        most = None
        if turn.may_truncate:
            context, asked = self.engine.context, turn.sampling.get("max_tokens")
            # The answer needs room, too: what is asked for, but at most half of the context.
            room = min(context // 2, self.settings.max_output_tokens, asked or context)
            most = context - room
        render = partial(turn.prompt, self.encoding, max_tokens=most)
        return await run_in_threadpool(render) if size > _LARGE else render()

    async def _begin(self, turn: Turn, prompt: list[int], body: Body, call: Call) -> list[Answer]:
        """Answers whose first tokens are there, all of one id and time."""
        settings = self.settings
        grammar = constraint_of(turn)
        asked = requests(
            self.engine, turn, prompt, settings.max_output_tokens, settings.max_answers, grammar
        )
        budget = turn.thinking_budget
        budget = settings.thinking_budget if budget is None else budget
        options: dict[str, Any] = {
            "model": turn.model or self.model,
            "prompt_tokens": len(prompt),
            "thinking_budget": budget,
            "spelled_markers": settings.spelled_markers,
        }
        begun = await begin(self.engine, asked)
        if grammar is not None:
            self._warn_of_engine()
        first = turn.reply(self.encoding, **options)
        replies = [first]
        if len(asked) > 1:
            same = first.response()
            options |= {"id": same["id"], "created": same["created"]}
            replies += [
                turn.reply(self.encoding, index=index, **options) for index in range(1, len(asked))
            ]
        keep = call.keep(turn, body)
        answers = [Answer(reply, one, call.shape, keep) for reply, one in zip(replies, begun)]
        if budget is not None:
            for answer, one_asked in zip(answers, asked):
                answer.go_on = partial(go_on, self.engine, one_asked)
                answer.needs_call = grammar is not None and grammar.needs_call
        return answers

    def _warn_of_engine(self) -> None:
        """Says once that the engine leaves it to the model to keep what requests promise."""
        if not self._is_warned and not getattr(self.engine, "constrains", False):
            self._is_warned = True
            LOG.warning(
                "the engine %s takes no grammars: required calls, strict tools and schemas of "
                "answers are asked of the model, and not enforced",
                self.engine.name,
            )

    def _stream(self, record: Record, stack: AsyncExitStack) -> Response:
        first, *more = record.answers
        return Stream(
            side_by_side(record.answers) if more else first.pieces(),
            first.reply.media_type,
            timeout=self.settings.request_timeout,
            ending=self.ending,
            abort=first.abort,
            ended=partial(self._ended, record, stack),
        )

    async def _ended(self, record: Record, stack: AsyncExitStack, there: bool) -> None:
        """A stream has ended; whether its client was there."""
        record.client_left = not there
        await stack.aclose()

    async def _whole(self, answers: list[Answer]) -> dict[str, Any]:
        tasks = [asyncio.ensure_future(answer.whole()) for answer in answers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return joined(answers)


async def _until_broken(
    parts: AsyncGenerator[bytes, None], record: Record
) -> AsyncGenerator[bytes, None]:
    """What an engine says itself; if it breaks off, its client sees that the end is missing."""
    try:
        async for part in parts:
            yield part
    except EngineError as error:
        record.error, record.engine_status = str(error), error.status
