"""Answers under way: sampled tokens to the bytes that an API sends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from openai_harmony.interop.reply import Chunk, FinishReason, Reply
from openai_harmony.serve.engines.engine import EngineError, Logprobs, Sampled
from openai_harmony.serve.sampling import Begun

Shape = Callable[[Chunk], Chunk]
"""From a chunk of an API to that of another which it serves, too: Ollama's chat and generate."""
GoOn = Callable[[list[int], list[int]], AsyncGenerator[Sampled, None]]
Fed = TypeVar("Fed")
Keep = Callable[[dict[str, Any]], Awaitable[None]]
"""Stores a response; an exception says that it could not."""

_UP_TO_AUTHOR = 3
"""How many of the forced tokens are ``<|end|><|start|>assistant``."""

_LOG = logging.getLogger("openai_harmony.serve")


@dataclass(slots=True)
class Answer:
    """One answer: what is sampled for it, and what becomes of it."""

    reply: Reply
    begun: Begun
    shape: Shape | None = None
    keep: Keep | None = None
    go_on: GoOn | None = None
    """How sampling goes on behind tokens so far, with tokens that end a thought, where a thinking
    budget may stop it; ``None`` once it has."""
    needs_call: bool = False
    """Whether a call has to follow a thought that the budget ends, and no answer."""
    broke: EngineError | None = None
    """Why the engine broke off, if it did."""
    reason: FinishReason | None = None
    """Why the answer ended, once it has."""

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The stream. Closing it cancels the sampling; an engine that breaks off ends it well."""
        fed = self.fed(self._shaped if self.shape else self.reply.feed_bytes)
        async with aclosing(fed):
            async for data in fed:
                if data:
                    yield data
        yield await self._last(self.reason or "abort")

    async def fed(
        self, feed: Callable[[list[int], Logprobs | None], Fed]
    ) -> AsyncGenerator[Fed, None]:
        """What feeding the reply gives, as tokens come; then ``reason`` says why they end."""
        (tokens, reason, logprobs), rest = self.begun
        reply = self.reply
        try:
            while reason is None:
                yield feed(tokens, logprobs)
                # A spelled stop token is none to the engine.
                if reply.stop_sequence is not None or reply.is_ended:
                    tokens, reason, logprobs = [], "stop", None
                    break
                if self.go_on is not None and (forced := self._forced()):
                    # The thinking budget is spent. Later thoughts are not cut: a model that always
                    # thinks again would never answer.
                    await rest.aclose()
                    rest, self.go_on = self.go_on(reply.tokens, forced), None
                tokens, reason, logprobs = await anext(rest)
        except EngineError as error:
            self.broke = error
            tokens, reason, logprobs = [], "abort", None
        finally:
            await rest.aclose()
        self.reason = reason
        yield feed(tokens, logprobs)

    def _forced(self) -> list[int]:
        """The tokens that end a thought which has spent its budget, and begin what follows it."""
        forced = self.reply.force
        # Behind <|start|>assistant the grammar sees to the call.
        return forced[:_UP_TO_AUTHOR] if self.needs_call else forced

    async def whole(self) -> dict[str, Any]:
        """The response. ``EngineError`` if the engine broke off: clients ask again."""
        async for _ in self.pieces():
            pass
        if self.broke is not None:
            raise self.broke
        return self.response()

    def response(self) -> dict[str, Any]:
        """The response, once it is complete."""
        response = self.reply.response()
        return self.shape(response) if self.shape else response

    def abort(self) -> bytes:
        """What ends the stream before its time."""
        self.reason = "abort"
        return b"".join(map(self._frame, self.reply.finish("abort"))) + self.reply.frame()

    async def _last(self, reason: FinishReason) -> bytes:
        if self.keep is None or reason == "abort":
            if self.shape is None:
                return self.reply.finish_bytes(reason)
            return self.abort() if reason == "abort" else self._ended(self.reply.finish(reason))
        chunks = self.reply.finish(reason)
        try:
            # Before the client learns that it is complete, so that its next request finds it.
            await self.keep(self.reply.response())
        except Exception as error:
            _LOG.error("the response cannot be stored: %s", error)
            self.broke = EngineError("the response cannot be stored", 503)
            chunks = [*chunks[:-1], failed(chunks[-1], "the response cannot be stored")]
        return self._ended(chunks)

    def _ended(self, chunks: list[Chunk]) -> bytes:
        return b"".join(map(self._frame, chunks)) + self.reply.frame()

    def _shaped(self, tokens: list[int], logprobs: Logprobs | None) -> bytes:
        return b"".join(map(self._frame, self.reply.feed(tokens, logprobs)))

    def _frame(self, chunk: Chunk) -> bytes:
        return self.reply.frame(self.shape(chunk) if self.shape else chunk)


def failed(last: Chunk, message: str, code: str | None = None) -> Chunk:
    """The terminal event of a response that failed after all."""
    error = {"code": code or "server_error", "message": message}
    response = {**last["response"], "status": "failed", "error": error}
    return {**last, "type": "response.failed", "response": response}


async def side_by_side(answers: list[Answer]) -> AsyncGenerator[bytes, None]:
    """The stream of several choices of chat completions, as they come, with one usage.

    Clients take the choices' first chunks in their order only.
    """
    first = answers[0].reply
    yield b"".join(answer.reply.feed_bytes([]) for answer in answers)
    arrived: asyncio.Queue[list[Chunk] | None] = asyncio.Queue()
    tasks = [asyncio.ensure_future(_into(answer, arrived)) for answer in answers]
    usages: list[Chunk] = []
    try:
        for _ in tasks:
            while (chunks := await arrived.get()) is not None:
                usages += [chunk for chunk in chunks if not chunk["choices"]]
                yield b"".join(first.frame(chunk) for chunk in chunks if chunk["choices"])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if usages:
        yield first.frame({**usages[0], "usage": total_usage([one["usage"] for one in usages])})
    yield first.frame()


async def _into(answer: Answer, arrived: asyncio.Queue[list[Chunk] | None]) -> None:
    """Puts an answer's chunks into a queue, and ``None`` at its end."""
    fed = answer.fed(answer.reply.feed)
    async with aclosing(fed):
        async for chunks in fed:
            arrived.put_nowait(chunks)
    arrived.put_nowait(answer.reply.finish(answer.reason or "abort"))
    arrived.put_nowait(None)


def joined(answers: list[Answer]) -> dict[str, Any]:
    """The response; of several chat completions, one with all their choices."""
    response, *more = (answer.response() for answer in answers)
    if more:
        response["choices"] += [choice for other in more for choice in other["choices"]]
        response["usage"] = total_usage([response["usage"], *(other["usage"] for other in more)])
    return response


def total_usage(usages: list[dict[str, Any]]) -> dict[str, Any]:
    """The usage of several answers to one prompt, which counts once."""
    total = usages[0]
    for usage in usages[1:]:
        details = usage["completion_tokens_details"]
        total["completion_tokens"] += usage["completion_tokens"]
        total["total_tokens"] += usage["completion_tokens"]
        total["completion_tokens_details"]["reasoning_tokens"] += details["reasoning_tokens"]
    return total
