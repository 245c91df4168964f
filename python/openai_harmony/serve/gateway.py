"""The way of a request: body, place, turn, prompt, engine, answer."""

from __future__ import annotations

import asyncio
import os
from array import array
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from openai_harmony.encoding import HarmonyEncoding, HarmonyEncodingName, load_harmony_encoding
from openai_harmony.errors import PromptTooLongError
from openai_harmony.interop import Body
from openai_harmony.interop.error_body import Api, error_body
from openai_harmony.interop.reply import Reply
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.answers import (
    Answer,
    Keep,
    Shape,
    failed_after_all,
    joined,
    side_by_side,
)
from openai_harmony.serve.bodies import Bodies, is_quick, json_bytes
from openai_harmony.serve.configuration import Configuration
from openai_harmony.serve.constraint import Constraint, constraint_of
from openai_harmony.serve.engine_fields import (
    OF_CHAT,
    OF_ENGINES,
    engine_fields,
    refuse_untrusted,
)
from openai_harmony.serve.engines import Engine, EngineError, SampleRequest, connect
from openai_harmony.serve.engines.none import NoEngineError
from openai_harmony.serve.journal import LOG, Journal, Record
from openai_harmony.serve.keys import Key
from openai_harmony.serve.left_out import kinds, refuse_unmet
from openai_harmony.serve.limits import BUSY, Limits
from openai_harmony.serve.passed_on import ABORT, Passed
from openai_harmony.serve.refusals import (
    REFUSALS,
    RefusedError,
    api_of,
    key_of,
    path_of,
    refusal,
    request_id,
)
from openai_harmony.serve.sampling import begin, go_on, requests
from openai_harmony.serve.settings import Settings
from openai_harmony.serve.shares import Held, Share, Turns
from openai_harmony.serve.streaming import (
    ClientGoneError,
    Ending,
    Stream,
    TooSlowError,
    tasks,
    until_gone,
    watched,
)
from openai_harmony.serve.threads import in_thread, in_thread_if
from openai_harmony.serve.traces import Traces


@dataclass(frozen=True, slots=True)
class Call:
    """How requests of an endpoint are answered."""

    api: Api
    """The API that errors have the form of."""
    read: Callable[..., Turn]
    """Makes a turn of the body, and of what :attr:`refer` has found."""
    early: Callable[[Body], Response | None] = lambda _: None
    """Answers a body that needs no engine."""
    prompt: Callable[[Turn, Body, HarmonyEncoding], list[int] | None] = lambda *_: None
    """The prompt, if the body brings its tokens."""
    uses: frozenset[str] = frozenset()
    """The fields that :attr:`prompt` reads, which the reader does not know."""
    refer: Callable[[Body], Awaitable[dict[str, Any]]] | None = None
    """Looks up what the body refers to."""
    instead: Callable[[Turn, Body, dict[str, Any]], Awaitable[Response] | None] = lambda *_: None
    """Answers a turn that needs no engine, with what :attr:`refer` has found."""
    shape: Shape | None = None
    """Changes each chunk, and the response."""
    keep: Callable[[Turn, Body], Keep | None] = lambda *_: None
    """What stores the response to a turn with what was asked."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready for the engine."""

    turn: Turn
    prompt: array[int]
    grammar: Constraint | None
    asked: list[SampleRequest]
    """For each answer."""
    is_large: bool = False
    """Whether its answers take threads, as reading it did."""
    too_long: PromptTooLongError | None = None
    """Why nothing can be asked."""


PROCESSORS = max(2, os.cpu_count() or 1)
"""So much work is done in threads at a time."""
_HEADER = 3
"""How many tokens precede the text of an answer, at least."""
Work = Callable[[Request, Record, AsyncExitStack], Awaitable[Response]]
"""Answers a request: fills the record, and leaves to the stack what ends with the answer."""


def engine_of(settings: Settings) -> tuple[str, float, str | None]:
    """What the settings say of the engine."""
    return settings.engine, settings.engine_timeout, settings.engine_key


def connected(settings: Settings) -> Engine:
    """The engine of the settings; errors as of :func:`openai_harmony.serve.engines.connect`."""
    return connect(settings.engine, timeout=settings.engine_timeout, key=settings.engine_key)


class Gateway:
    """What the endpoints share: the engine, the settings, and how a request is answered."""

    def __init__(self, engine: Engine, configuration: Configuration) -> None:
        """Before this engine."""
        self.engine, self.settings = engine, configuration.settings
        settings = self.settings
        self.encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        self.bodies = Bodies(settings, lambda: self.ending)
        self._ending: Ending | None = None
        self._is_warned = False
        self.is_draining = False
        """Whether the server ends once its running answers have ended."""
        contents = self.encoding if settings.log_contents else None
        self.journal = Journal(contents, Traces() if settings.traces else None)
        self.limits = Limits(settings, self.journal.waiting)
        self.work = Turns(Share(PROCESSORS))

    def take(self, configuration: Configuration) -> None:
        """Goes by this one from now on; running answers keep the engine that they have."""
        before, self.settings = self.settings, configuration.settings
        settings = self.settings
        self.limits.change(settings, configuration.has_rivals)
        self.bodies.change(settings, configuration.has_rivals)
        self.work.share.is_fair = configuration.has_rivals
        self.journal.contents = self.encoding if settings.log_contents else None
        if engine_of(before) != engine_of(settings):
            old, self.engine = self.engine, connected(settings)
            loop = asyncio.get_running_loop()
            # By then all of its answers have ended.
            after = before.request_timeout + 1
            loop.call_later(after, lambda: loop.create_task(old.aclose()))

    @property
    def ending(self) -> Ending:
        """Done once running answers must end because the server does."""
        loop = asyncio.get_running_loop()
        # Tests run an application in one loop after the other.
        if self._ending is None or self._ending.get_loop() is not loop:
            self._ending = loop.create_future()
        return self._ending

    def end(self) -> None:
        """Running answers must end now."""
        if not self.ending.done():
            self.ending.set_result(None)

    @property
    def model(self) -> str:
        """The model's name in lists, and in answers to bodies that name none."""
        return self.settings.model or self.engine.model or "gpt-oss-20b"

    @property
    def names(self) -> list[str]:
        """The model's name and its other ones."""
        return [self.model, *self.settings.names]

    def refuse_model(self, name: str | None) -> None:
        """``RefusedError`` for a model of another name, where names are strict."""
        known = (self.engine.model, *self.names)
        if name and self.settings.strict_model_names and name not in known:
            text = f"The model {name!r} does not exist"
            raise RefusedError(text, 404, path="model", code="model_not_found")

    async def answer(self, request: Request, call: Call) -> Response:
        """Answers a request; whatever happens, in the form of its API."""
        return await self.recorded(request, call.api, partial(self._answer, call))

    async def pass_on(self, request: Request) -> Response:
        """Answers a request by what the engine itself says."""
        return await self.recorded(request, "chat_completions", self._passed_on)

    async def recorded(self, request: Request, api: Api, work: Work) -> Response:
        """What the work answers, in the log and the metrics; errors in the form of the API."""
        key, model = key_of(request.scope), self.model
        record = self.journal.begin(api, request.scope["path"], request.headers, key, model)
        async with AsyncExitStack() as stack:
            stack.callback(self.journal.end, record)
            try:
                response = await work(request, record, stack)
            except (ClientGoneError, ClientDisconnect):
                record.client_left = True
                response = Response(status_code=499)  # the client is gone
            except TooSlowError as error:
                response = self._refused(record, RefusedError(str(error), error.status))
            except Exception as error:
                response = self._refused(record, error)
            record.status = response.status_code
            response.headers["x-request-id"] = record.id
            if api == "anthropic":
                response.headers["request-id"] = record.id
        return response

    async def refuse(self, request: Request, error: Exception) -> Response:
        """An error, in the log and the metrics, too."""

        async def refused(*_: object) -> Response:
            raise error

        return await self.recorded(request, api_of(request.scope), refused)

    async def turn_away(self, request: Request, error: Exception) -> Response:
        """The same for a request of which no body was read."""
        await self.bodies.discard(request)
        return await self.refuse(request, error)

    async def _answer(
        self, call: Call, request: Request, record: Record, stack: AsyncExitStack
    ) -> Response:
        body, size = await self.bodies.read(request)
        if (made := call.early(body)) is not None:
            return made
        found = await call.refer(body) if call.refer else {}
        gone = await self._place(request, stack)
        is_large = not is_quick(body, size)
        prepared = await in_thread_if(is_large, self.prepare, call, body, found, record, is_large)
        record.prompt, record.stream = prepared.prompt, prepared.turn.stream
        if (answered := call.instead(prepared.turn, body, found)) is not None:
            return await answered
        if (error := prepared.too_long) is not None:
            if call.api != "responses" or not record.stream:
                raise error
            record.error = str(error)
            return await in_thread(self._too_long, prepared.turn, error)

        async def begun() -> Response | None:
            record.answers = await self._begin(prepared, body, call, stack)
            record.sampling()
            return None if record.stream else await self._whole(record.answers)

        end = self._end()
        whole = await until_gone(gone, begun(), self._left(end), self.ending)
        if whole is not None:
            return whole
        # From here on the stream has the place.
        return self._stream(record, gone, end, stack.pop_all())

    async def _place(
        self, request: Request, stack: AsyncExitStack, *, aborts: bool = False
    ) -> asyncio.Future[None]:
        """Waits until the request may be answered, unless it aborts others.

        Returns a future that is done when its client has gone.
        """
        gone = watched(request.receive)
        stack.callback(gone.cancel)
        key = key_of(request.scope)
        if aborts:
            held = Held(self.limits.aborts, key)
            stack.callback(held.becomes, 0)
            if not held.becomes(1):
                raise RefusedError(BUSY, 429, retry_after=1)
            return gone
        await self.limits.take(key, gone, self.ending)
        stack.callback(self.limits.release, key)
        return gone

    async def _passed_on(self, request: Request, record: Record, stack: AsyncExitStack) -> Response:
        body, _ = await self.bodies.read(request)
        path = path_of(request.scope)
        gone = await self._place(request, stack, aborts=path == ABORT)
        ask = getattr(self.engine, "pass_on", None)
        if ask is None:
            text = f"the engine {self.engine.name} takes no requests of its own"
            raise RefusedError(text, 501)
        record.stream = body.flag("stream") is True
        key, is_trusted = record.key, self._trusts(record.key)
        limits = Passed(
            tokens=self._most_tokens(key),
            answers=self.settings.max_answers,
            context=self.engine.context,
            is_trusted=is_trusted,
            prefix=f"{key.label}:" if key.label and not is_trusted else "",
        )
        raw = await in_thread(limits.of, path, body, self.encoding)
        asking = ask(path, raw, self.journal.engine_headers(record))
        end = self._end()
        status, kind, parts = await until_gone(gone, asking, self._left(end), self.ending)
        stack.push_async_callback(parts.aclose)
        parts = _until_broken(parts, kind, record)
        ended = partial(self._ended, record, stack.pop_all())

        async def abort(error: TooSlowError) -> bytes:
            return _broken_off(EngineError(str(error), error.status), kind, record)

        return self._streaming(parts, kind, gone, end, ended, abort, status)

    def _end(self) -> float:
        """Until when an answer that begins now may take, by the loop's clock."""
        return asyncio.get_running_loop().time() + self.settings.request_timeout

    def _left(self, end: float) -> float:
        return max(0.0, end - asyncio.get_running_loop().time())

    def _refused(self, record: Record, error: Exception) -> Response:
        record.error = str(getattr(error, "reason", error))
        if not isinstance(error, REFUSALS):
            LOG.error("a fault of this server", exc_info=error)
        if isinstance(error, EngineError) and not isinstance(error, NoEngineError):
            record.engine_status = error.status
        return refusal(record.api, error)

    def _too_long(self, turn: Turn, error: PromptTooLongError) -> Response:
        """A stream that fails before its first token, where Codex knows the error's code."""
        model = turn.model or self.model
        reply = turn.reply(self.encoding, model=model, prompt_tokens=error.tokens)
        message = error_body("responses", error).body["error"]["message"]
        *chunks, last = [*reply.feed([]), *reply.fail(message)]
        chunks.append(failed_after_all(last, message, error.code))
        return Response(b"".join(map(reply.frame, chunks)), media_type=reply.media_type)

    async def counted(self, request: Request, call: Call, about: dict[str, Any]) -> Response:
        """How many tokens the prompt of a request has, in an object that has ``about``, too."""

        def count(body: Body, found: dict[str, Any]) -> dict[str, Any]:
            turn = call.read(body, **found)
            return {**about, "input_tokens": len(self.prompt(turn, body, call))}

        return await self.made(request, call, count)

    async def made(
        self, request: Request, call: Call, make: Callable[[Body, dict[str, Any]], dict[str, Any]]
    ) -> Response:
        """What is made of a body, and of what it refers to, without the engine."""
        try:
            body, size = await self.bodies.read(request)
            found = await call.refer(body) if call.refer else {}
            is_large = not is_quick(body, size)

            def work() -> bytes:
                return json_bytes(make(body, found), in_parts=is_large)

            made = await in_thread_if(is_large, work)
            is_anthropic = call.api == "anthropic"
            headers = {"request-id": request_id(request.headers)} if is_anthropic else None
            return Response(made, headers=headers, media_type="application/json")
        except REFUSALS as error:
            return await self.refuse(request, error)

    def prepare(
        self,
        call: Call,
        body: Body,
        found: dict[str, Any],
        record: Record,
        is_large: bool,
    ) -> Prepared:
        """Reads a body and renders its prompt, in a thread if that takes long."""
        turn = call.read(body, **found)
        _refuse_unseen(turn, body)
        record.model = turn.model or record.model
        record.unused = kinds(turn.unused, call.uses)
        self.refuse_model(turn.model)
        refuse_unmet(turn, body)
        prompt = array("I")
        most = self._most_tokens(record.key), self.settings.max_answers
        headers = self.journal.engine_headers(record)
        try:
            prompt = self.prompt(turn, body, call)
            grammar = constraint_of(turn)
            given = engine_fields(body, OF_ENGINES)
            if call.api == "chat_completions":
                given |= self._whole_fields(turn, body)
            if not self._trusts(record.key):
                refuse_untrusted(given)
            asked = requests(self.engine, turn, prompt, *most, grammar, given, headers)
        except PromptTooLongError as error:
            return Prepared(turn, prompt, None, [], is_large, error)
        return Prepared(turn, prompt, grammar, asked, is_large)

    def _whole_fields(self, turn: Turn, body: Body) -> dict[str, Any]:
        """What a chat completion asks of vLLM besides tokens. ``RefusedError`` if it gives none."""
        given = engine_fields(body, OF_CHAT)
        for name in given:
            reason = None
            if not getattr(self.engine, "scores_prompts", False):
                reason = f"the engine {self.engine.name} gives none; vLLM does"
            elif name == "prompt_logprobs" and turn.stream:
                reason = "not in a stream; leave out stream"
            elif self._budget(turn) is not None:
                reason = "not with a thinking budget, for which sampling stops in the middle"
            if reason is not None:
                raise RefusedError(f"{name}: {reason}", path=name)
        return given

    def _budget(self, turn: Turn) -> int | None:
        budget = turn.thinking_budget
        return self.settings.thinking_budget if budget is None else budget

    def _most_tokens(self, key: Key) -> int:
        most = self.settings.max_output_tokens
        return most if key.tokens is None else min(most, key.tokens)

    def _trusts(self, key: Key) -> bool:
        return key.trusted or self.settings.trust_clients

    def prompt(self, turn: Turn, body: Body, call: Call) -> array[int]:
        """The prompt of a turn, or the one that the body brings."""
        if (brought := call.prompt(turn, body, self.encoding)) is not None:
            return array("I", brought)
        # A list of the millions of tokens that a body may have would delay other answers.
        if not turn.may_truncate:
            return turn.prompt_array(self.encoding)
        context, asked = self.engine.context, turn.sampling.get("max_tokens")
        # The answer needs room, too: what is asked for, but at most half of the context.
        room = min(context // 2, self.settings.max_output_tokens, asked or context)
        return turn.prompt_array(self.encoding, max_tokens=context - room)

    async def _begin(
        self, prepared: Prepared, body: Body, call: Call, stack: AsyncExitStack
    ) -> list[Answer]:
        """Answers that have begun, all with one id and time."""
        turn, grammar, asked = prepared.turn, prepared.grammar, prepared.asked
        engine = self.engine  # `SIGHUP` may change it before the first token
        budget = self._budget(turn)
        options: dict[str, Any] = {
            "model": turn.model or self.model,
            "prompt_tokens": len(prepared.prompt),
            "thinking_budget": budget,
            "spelled_markers": self.settings.spelled_markers,
        }
        if body.flag("return_token_ids"):
            options["prompt_token_ids"] = prepared.prompt
        begun = await begin(engine, asked)
        for _, rest in begun:
            # A stream that is cancelled before its first piece closes nothing itself.
            stack.push_async_callback(rest.aclose)
        if grammar is not None:
            self._warn_of_engine()
            self.journal.loosened(grammar.loosened)
        replies = await in_thread_if(prepared.is_large, self._replies, turn, len(asked), options)
        keep = call.keep(turn, body)
        answers = [
            Answer(
                reply, one, call.shape, keep, is_large=prepared.is_large, besides=of_engine.besides
            )
            for reply, one, of_engine in zip(replies, begun, asked)
        ]
        if budget is not None:
            for answer, one_asked in zip(answers, asked):
                answer.go_on = partial(go_on, engine, one_asked)
                answer.needs_call = grammar is not None and grammar.needs_call
        return answers

    def _replies(self, turn: Turn, count: int, options: dict[str, Any]) -> list[Reply]:
        first = turn.reply(self.encoding, **options)
        if count == 1:
            return [first]
        same = first.response()
        options = {**options, "id": same["id"], "created": same["created"]}
        more = range(1, count)
        return [first, *(turn.reply(self.encoding, index=index, **options) for index in more)]

    def _warn_of_engine(self) -> None:
        """Says once that the engine leaves it to the model to keep what requests promise."""
        if not self._is_warned and not getattr(self.engine, "constrains", False):
            self._is_warned = True
            LOG.warning(
                "the engine %s takes no grammars: required calls, strict tools and schemas of "
                "answers are asked of the model, and not enforced",
                self.engine.name,
            )

    def _stream(
        self, record: Record, gone: asyncio.Future[None], end: float, stack: AsyncExitStack
    ) -> Response:
        first, *more = record.answers

        async def abort(error: TooSlowError) -> bytes:
            # A choice that is complete has its end.
            running = next((one for one in record.answers if not one.has_ended), None)
            failure = EngineError(str(error), error.status)
            return b"" if running is None else await running.failed(failure)

        pieces = side_by_side(record.answers) if more else first.pieces()
        ended = partial(self._ended, record, stack)
        return self._streaming(pieces, first.reply.media_type, gone, end, ended, abort)

    def _streaming(
        self,
        pieces: AsyncGenerator[bytes, None],
        kind: str,
        gone: asyncio.Future[None],
        end: float,
        ended: Callable[[bool], Awaitable[None]],
        abort: Callable[[TooSlowError], Awaitable[bytes]],
        status: int = 200,
    ) -> Response:
        times = {"timeout": self._left(end), "unread": self.settings.client_timeout}
        until: dict[str, Any] = {"gone": gone, "ending": self.ending, **times}
        return Stream(pieces, kind, status=status, abort=abort, ended=ended, **until)

    async def _ended(self, record: Record, stack: AsyncExitStack, there: bool) -> None:
        """A stream has ended; whether its client was there."""
        record.client_left = not there
        await stack.aclose()

    async def _whole(self, answers: list[Answer]) -> Response:
        if len(answers) == 1:
            await answers[0].whole()
            made = await answers[0].response_bytes()
            return Response(made, media_type="application/json")
        async with tasks(answer.whole() for answer in answers) as running:
            await asyncio.gather(*running)
        return JSONResponse(joined(answers))


def _refuse_unseen(turn: Turn, body: Body) -> None:
    """Refuses log-probabilities of visible text where no token can be visible."""
    most, is_asked = turn.sampling.get("max_tokens"), "logprobs" in turn.sampling
    if not (is_asked and most and most <= _HEADER and turn.prefill is None):
        return
    if not (body.flag("return_token_ids") or body.flag("return_tokens_as_token_ids")):
        raise RefusedError(
            f"max_tokens: an answer begins with {_HEADER} tokens that are not visible, such as "
            f"<|channel|>final<|message|>, so {most} have no log-probabilities to show; allow "
            "more, or set return_token_ids for those of all tokens",
            path="max_tokens",
        )


async def _until_broken(
    parts: AsyncGenerator[bytes, None], kind: str, record: Record
) -> AsyncGenerator[bytes, None]:
    """What an engine says itself. If it breaks off, a stream ends with an error."""
    try:
        async for part in parts:
            yield part
    except EngineError as error:
        record.engine_status = error.status
        yield _broken_off(error, kind, record)


def _broken_off(error: EngineError, kind: str, record: Record) -> bytes:
    """What ends a stream instead of the engine. ``ClientGoneError`` for other answers."""
    record.error = str(error)
    if not kind.startswith("text/event-stream"):
        # Without the end that HTTP has, the client knows that the rest is missing.
        raise ClientGoneError from error
    return b"data: %b\n\n" % bytes(refusal(record.api, error).body)
