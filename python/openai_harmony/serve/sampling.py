"""What an engine samples, limited to what was asked, whatever the engine does."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any

from openai_harmony.errors import PromptTooLongError
from openai_harmony.interop.turn import Turn
from openai_harmony.serve.constraint import Constraint
from openai_harmony.serve.engines import Engine, EngineError, Sampled, SampleRequest
from openai_harmony.serve.refusals import RefusedError
from openai_harmony.serve.streaming import tasks


def requests(
    engine: Engine,
    turn: Turn,
    prompt: array[int],
    most_tokens: int,
    most_answers: int,
    grammar: Constraint | None = None,
    passed_on: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> list[SampleRequest]:
    """What to ask the engine for, for each answer.

    ``PromptTooLongError`` for a prompt that leaves no room, ``RefusedError`` for too many answers.
    """
    sampling: dict[str, Any] = {**turn.sampling}
    answers, limit = turn.sampling["n"], turn.sampling.get("max_tokens")
    logprobs = turn.sampling.get("logprobs")
    for name in ("n", "max_tokens", "logprobs"):
        sampling.pop(name, None)
    if answers > most_answers:
        raise RefusedError(
            f"n: {answers} answers, of which this server gives {most_answers}", path="n"
        )
    left = engine.context - len(prompt)
    if left <= 0:
        raise PromptTooLongError(
            f"The prompt is too long: {len(prompt)} tokens > {engine.context} maximum",
            "input" if turn.dialect == "responses" else "messages",
            len(prompt),
            engine.context,
        )
    listed = prompt.tolist()
    tokens = min(left, most_tokens, left if limit is None else limit)
    return [
        SampleRequest(
            listed,
            tokens,
            turn.stop_token_ids,
            sampling,
            grammar,
            index,
            logprobs,
            passed_on or {},
            _headers_of(headers or {}, index),
        )
        for index in range(answers)
    ]


def _headers_of(headers: dict[str, str], part: int | str) -> dict[str, str]:
    """Engines refuse an id that is under way, so each answer has another."""
    identity = headers.get("x-request-id")
    return {**headers, "x-request-id": f"{identity}-{part}"} if identity and part else headers


def sample(engine: Engine, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
    """Samples; nothing comes after a stop token or the limit."""
    if request.max_tokens == 0:
        return prewarmed(engine, request)
    return engine.sample(request) if getattr(engine, "holds", False) else held(engine, request)


async def prewarmed(engine: Engine, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
    """Samples nothing: one token, which is dropped, brings the prompt into the engine's cache."""
    async with aclosing(held(engine, replace(request, max_tokens=1))) as sampled:
        async for _ in sampled:
            pass
    yield Sampled([], "stop")


async def held(engine: Engine, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
    """Samples up to the first stop token or the limit, even if the engine would continue.

    ``EngineError`` if the output ends without a reason.
    """
    stops = frozenset(request.stop_token_ids)
    left = request.max_tokens
    sampled = engine.sample(request)
    try:
        async for some in sampled:
            tokens, reason, _ = some
            if not stops.isdisjoint(tokens):
                end = next(at for at, token in enumerate(tokens) if token in stops)
                yield some.first(min(end + 1, left), "stop" if end < left else "length")
                return
            if len(tokens) > left or (len(tokens) == left and reason is None):
                yield some.first(left, "length")
                return
            if reason == "abort":
                yield some.first(len(tokens), None)
                raise EngineError("the engine gave up")
            left -= len(tokens)
            yield some
            if reason is not None:
                return
    finally:
        await sampled.aclose()
    raise EngineError("the engine broke off: its stream ended without a finish reason")


async def go_on(
    engine: Engine, request: SampleRequest, sampled: list[int], forced: list[int]
) -> AsyncGenerator[Sampled, None]:
    """Gives the forced tokens, which end the reasoning, and samples what follows them.

    All tokens count against the limit; if nothing can follow, the answer ends without them.
    """
    left = request.max_tokens - len(sampled) - len(forced)
    if left <= 0:
        yield Sampled([], "length")
        return
    yield Sampled(forced)
    grammar = None if request.grammar is None else request.grammar.behind_thought()
    prompt = [*request.prompt, *sampled, *forced]
    headers = _headers_of(request.headers, "more")
    following = replace(request, prompt=prompt, max_tokens=left, grammar=grammar, headers=headers)
    async with aclosing(sample(engine, following)) as rest:
        async for some in rest:
            yield some


Begun = tuple[Sampled, AsyncGenerator[Sampled, None]]
"""An answer's first tokens, and what brings the others."""


async def begin(engine: Engine, asked: Sequence[SampleRequest]) -> list[Begun]:
    """Begins all answers: with its first tokens it is known whether the engine answers at all.

    ``EngineError`` if it does not answer one of them; then none is sampled any more.
    """
    samples = [sample(engine, request) for request in asked]
    async with AsyncExitStack() as stack:  # closes all, though the client leaves meanwhile
        for sampled in samples:
            stack.push_async_callback(sampled.aclose)
        works = [_first(sampled) for sampled in samples]
        if len(works) == 1:  # without a task, which costs more than the rest
            firsts = [await works[0]]
        else:
            async with tasks(works) as running:
                firsts = await asyncio.gather(*running)
        stack.pop_all()
    return list(zip(firsts, samples))


async def _first(sampled: AsyncGenerator[Sampled, None]) -> Sampled:
    """The first tokens; what comes before them without any is skipped."""
    async for first in sampled:
        if first.tokens or first.reason is not None:
            return first
    raise EngineError("the engine returned no tokens")
