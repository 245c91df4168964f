"""Answers under way: sampled tokens to the bytes that an API sends."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from openai_harmony.interop.reply import Chunk, FinishReason, Reply
from openai_harmony.serve.engines.engine import EngineError, Logprobs, Sampled
from openai_harmony.serve.sampling import Begun
from openai_harmony.serve.streaming import tasks
from openai_harmony.serve.threads import in_thread, in_thread_if

Shape = Callable[[Chunk], Chunk]
"""From a chunk of an API to that of another which it serves, too: Ollama's chat and generate."""
GoOn = Callable[[list[int], list[int]], AsyncGenerator[Sampled, None]]
Keep = Callable[[Reply], Awaitable[None]]
"""Stores the response of an answer; an exception says that it could not."""

_UP_TO_AUTHOR = 3
"""How many of the forced tokens are ``<|end|><|start|>assistant``."""
_NOT_STORED = "the response cannot be stored"

_LOG = logging.getLogger("openai_harmony.serve")


@dataclass(slots=True)
class Answer:
    """One answer: what is sampled for it, and what becomes of it."""

    reply: Reply
    begun: Begun
    shape: Shape | None = None
    keep: Keep | None = None
    go_on: GoOn | None = None
    """How sampling continues after the tokens so far, with tokens that end the reasoning, where a
    thinking budget may stop it; ``None`` once it has."""
    is_large: bool = False
    """Whether what was asked is large: Responses repeats it in its first event and the last."""
    needs_call: bool = False
    """Whether a call has to follow reasoning that the budget ends, and no answer."""
    broke: EngineError | None = None
    """Why the engine broke off, if it did."""
    reason: FinishReason | None = None
    """Why the answer ended, once it has."""
    has_ended: bool = False
    """Whether its last bytes are made."""
    besides: dict[str, str] = field(default_factory=dict)
    """What the engine says besides tokens, as JSON; chat completions show it."""
    _chunks: list[Chunk] = field(default_factory=list)
    """The last ones of an answer that is complete, but not stored."""
    _end: bytes = b""
    """The last bytes of one that is complete."""
    _first: bytes = b""
    """The first bytes, made in a thread, which a cancelled stream still sends."""

    async def pieces(self, *, ends: bool = True) -> AsyncGenerator[bytes, None]:
        """The stream, in which pieces may be empty. Closing it cancels the sampling.

        Args:
            ends: Whether to end it, too, as failed if the engine breaks off.
        """
        feed = self._shaped if self.shape else self.reply.feed_bytes
        (tokens, reason, logprobs), rest = self.begun
        reply = self.reply
        try:
            if self.is_large:
                await in_thread(self._begin, feed)
                first, self._first = self._first, b""
                yield first
            while reason is None:
                yield feed(tokens, logprobs)
                # A spelled stop token is an ordinary one to the engine.
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
        data = feed(tokens, logprobs)
        if self.keep is not None or self.is_large:
            yield data  # before the store or a thread, which may take until the server ends
            data = b""
        if ends:
            data += await (self.failed(self.broke) if self.broke else self._last(reason))
        yield data

    def _begin(self, feed: Callable[[list[int], Logprobs | None], bytes]) -> None:
        self._first = feed([], None)

    def _forced(self) -> list[int]:
        """The tokens that end reasoning which has spent its budget, and begin what follows it."""
        forced = self.reply.force
        # After <|start|>assistant the grammar sees to the call.
        return forced[:_UP_TO_AUTHOR] if self.needs_call else forced

    async def whole(self) -> None:
        """Samples up to the end. ``EngineError`` if the engine broke off: clients ask again."""
        async for _ in self.pieces():
            pass
        if self.broke is not None:
            raise self.broke

    async def response_bytes(self) -> bytes:
        """The response as JSON, once it is complete."""
        if self.shape is not None or self.besides:
            return json.dumps(self.response(), ensure_ascii=False).encode()
        return await in_thread_if(self.is_large, self.reply.response_bytes)

    def response(self) -> dict[str, Any]:
        """The response, once it is complete."""
        response = self.completed(self.reply.response())
        return self.shape(response) if self.shape else response

    def completed(self, made: dict[str, Any]) -> dict[str, Any]:
        """A chat completion or its last chunk with what else the engine said, where vLLM has it."""
        said = {name: json.loads(found) for name, found in self.besides.items()}
        for choice in made.get("choices", ()) if said else ():
            if choice["finish_reason"] is not None and "routed_experts" in said:
                choice["routed_experts"] = said["routed_experts"]
            if "message" in choice and "prompt_logprobs" in said:
                made["prompt_logprobs"] = said["prompt_logprobs"]
        return made

    async def failed(self, error: EngineError) -> bytes:
        """What ends the stream of an answer that cannot be completed, or not stored."""
        first, self._first = self._first, b""
        if not self._end:
            await in_thread_if(self.is_large, self._fail, error)
        self.has_ended = True
        return first + self._end

    def _fail(self, error: EngineError) -> None:
        self.reason = "abort"
        if self._chunks:
            chunks = [*self._chunks[:-1], failed_after_all(self._chunks[-1], str(error))]
        elif self.shape is None:
            self._end = self.reply.fail_bytes(str(error), error.status)
            return
        else:
            chunks = self.reply.fail(str(error), error.status)
        self._end = b"".join(map(self._frame, chunks))

    async def _last(self, reason: FinishReason) -> bytes:
        await in_thread_if(self.is_large, self._finish, reason)
        if self.keep is not None:
            try:
                # Before the client learns that it is complete, so that its next request finds it.
                await self.keep(self.reply)
            except Exception as error:
                _LOG.error("%s: %s", _NOT_STORED, getattr(error, "reason", error))
                self.broke = EngineError(_NOT_STORED, 503)
                return await self.failed(self.broke)
            await in_thread_if(self.is_large, self._write_end)
        self.has_ended = True
        return self._end

    def _finish(self, reason: FinishReason) -> None:
        if self.keep is None and self.shape is None and not self.besides:
            self._end = self.reply.finish_bytes(reason)
            return
        self._chunks = list(map(self.completed, self.reply.finish(reason)))
        if self.keep is None:
            self._write_end()

    def _write_end(self) -> None:
        self._end = b"".join(map(self._frame, self._chunks)) + self.reply.frame()

    def _shaped(self, tokens: list[int], logprobs: Logprobs | None) -> bytes:
        return b"".join(map(self._frame, self.reply.feed(tokens, logprobs)))

    def _frame(self, chunk: Chunk) -> bytes:
        return self.reply.frame(self.shape(chunk) if self.shape else chunk)


def failed_after_all(last: Chunk, message: str, code: str | None = None) -> Chunk:
    """The terminal event of a response that was complete and fails after all."""
    error = {"code": code or "server_error", "message": message}
    response = {**last["response"], "status": "failed", "error": error}
    return {**last, "type": "response.failed", "response": response}


Arrived = asyncio.Queue["bytes | Answer"]
"""What the choices of a stream say, as it comes, and each choice once it has ended."""


async def side_by_side(answers: list[Answer]) -> AsyncGenerator[bytes, None]:
    """The stream of several choices of chat completions, as they come, with one usage.

    Clients take the choices' first chunks in their order only. If one of them fails, all do: there
    is one end for all.
    """
    yield b"".join(answer.reply.feed_bytes([]) for answer in answers)
    # A client that does not read delays the engine.
    arrived: Arrived = asyncio.Queue(len(answers))
    ends: list[Chunk] = []
    """The chunks of usage, one of each choice."""
    running = len(answers)
    async with tasks(_into(answer, arrived) for answer in answers):
        while running:
            found = await arrived.get()
            if isinstance(found, bytes):
                yield found
                continue
            running -= 1
            if found.broke is not None:
                end = await found.failed(found.broke)
                for answer in answers:
                    answer.has_ended = True
                yield end
                return
            chunks = list(map(found.completed, found.reply.finish(found.reason or "stop")))
            found.has_ended = True
            ends += [chunk for chunk in chunks if not chunk["choices"]]
            chunks = [chunk for chunk in chunks if chunk["choices"]]
            if ends and not running:
                usage = total_usage([end["usage"] for end in ends])
                chunks.append({**ends[0], "usage": usage})
            # The last choice ends with all: until then the stream can still fail.
            frame = found.reply.frame  # the others may be at work in threads
            yield b"".join(map(frame, chunks)) + (b"" if running else frame())


async def _into(answer: Answer, arrived: Arrived) -> None:
    """Puts an answer's chunks into a queue, and the answer itself at its end."""
    async with aclosing(answer.pieces(ends=False)) as pieces:
        async for data in pieces:
            await arrived.put(data)
    await arrived.put(answer)


def joined(answers: list[Answer]) -> dict[str, Any]:
    """The response of several chat completions, with all their choices."""
    responses = [answer.response() for answer in answers]
    choices = [choice for response in responses for choice in response["choices"]]
    usage = total_usage([response["usage"] for response in responses])
    return {**responses[0], "choices": choices, "usage": usage}


def total_usage(usages: list[dict[str, Any]]) -> dict[str, Any]:
    """The usage of several answers to one prompt, which counts once."""
    total = usages[0]
    for usage in usages[1:]:
        details = usage["completion_tokens_details"]
        total["completion_tokens"] += usage["completion_tokens"]
        total["total_tokens"] += usage["completion_tokens"]
        total["completion_tokens_details"]["reasoning_tokens"] += details["reasoning_tokens"]
    return total
