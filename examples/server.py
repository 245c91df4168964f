"""A whole server in one file: four APIs, streamed and not, in front of any engine.

    python examples/server.py --engine replay --file recorded.jsonl --port 8000
    python examples/server.py --engine http --url http://localhost:9000 --port 8000

It answers ``/v1/chat/completions``, ``/v1/responses``, ``/v1/messages`` (and its ``/count_tokens``)
and ``/api/chat``. It needs starlette, uvicorn and, for engines behind HTTP, httpx.

The engine ``replay`` says what was recorded in a JSONL file of ``{"match": "...", "text": "..."}``:
the first record counts whose match stands in the prompt. ``http`` asks an engine that takes and
gives token ids: the completions of vLLM and SGLang, or llama.cpp's ``/completion``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    Literal,
    Protocol,
)

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from openai_harmony import HarmonyError, load_harmony_encoding
from openai_harmony.interop import (
    InvalidRequestError,
    Reply,
    Turn,
    anthropic,
    chat_completions,
    ollama,
    responses,
)

encoding = load_harmony_encoding("HarmonyGptOss")

Reason = Literal["stop", "length", "abort"]
Sampled = tuple[list[int], Reason | None]
"""Some tokens, and with the last ones why they end."""


# Engines: a prompt's tokens to sampled tokens.


class Engine(Protocol):
    """Samples tokens. Closing the iterator cancels the sampling."""

    def sample(self, prompt: list[int], turn: Turn, index: int) -> AsyncGenerator[Sampled, None]:
        """Samples from a prompt, for this one of `n` answers."""
        ...


class EngineError(Exception):
    """The engine cannot answer."""


@dataclass
class Replay:
    """Says what was recorded, a few tokens at a time."""

    records: list[dict[str, str]]
    delay: float = 0.0
    size: int = 3

    async def sample(
        self, prompt: list[int], turn: Turn, index: int
    ) -> AsyncGenerator[Sampled, None]:
        """Says the first record that matches, in further answers those after it."""
        text = encoding.decode(prompt)
        found = [record["text"] for record in self.records if record["match"] in text]
        if not found:
            raise EngineError("no record matches the prompt")
        tokens = encoding.encode(found[index % len(found)], allowed_special="all")
        limit = turn.sampling.get("max_tokens") or len(tokens)
        for start in range(0, min(limit, len(tokens)), self.size):
            await asyncio.sleep(self.delay)
            yield tokens[start : min(start + self.size, limit)], None
        yield [], "length" if limit < len(tokens) else "stop"


@dataclass
class Http:
    """Asks an engine that takes and gives token ids, in the form that it speaks."""

    url: str
    form: Literal["completions", "llama.cpp"]
    model: str

    async def sample(
        self, prompt: list[int], turn: Turn, index: int
    ) -> AsyncGenerator[Sampled, None]:
        """Passes on what the engine samples. Closing the connection cancels it."""
        import httpx

        path, body = self._request(prompt, turn, index)
        async with httpx.AsyncClient(timeout=None) as client:
            try:
                async with client.stream("POST", self.url + path, json=body) as response:
                    if response.status_code != 200:
                        text = (await response.aread()).decode(errors="replace")
                        raise EngineError(f"the engine says {response.status_code}: {text}")
                    async for line in response.aiter_lines():
                        data = line.removeprefix("data:").strip()
                        if data and data != "[DONE]":
                            yield self._read(json.loads(data))
            except httpx.HTTPError as error:
                raise EngineError(f"the engine cannot be reached: {error!r}") from error

    def _request(self, prompt: list[int], turn: Turn, index: int) -> tuple[str, dict[str, Any]]:
        sampling: dict[str, Any] = {**turn.sampling}
        limit = sampling.pop("max_tokens", None)
        sampling.pop("n")  # each answer is a request
        if "seed" in sampling:
            sampling["seed"] += index
        if self.form == "completions":
            sampling["max_tokens"] = limit or 100_000
            more = {"stop_token_ids": turn.stop_token_ids, "return_token_ids": True, "stream": True}
            return "/v1/completions", {"model": self.model, "prompt": prompt, **sampling, **more}
        sampling["n_predict"] = limit or -1
        sampling["repeat_penalty"] = sampling.pop("repetition_penalty", 1.0)
        sampling["stop"] = turn.stop
        return "/completion", {"prompt": prompt, **sampling, "return_tokens": True, "stream": True}

    def _read(self, event: dict[str, Any]) -> Sampled:
        if "error" in event:
            raise EngineError(f"the engine says: {event['error']}")
        reason: str | None
        if self.form == "completions":
            choice = (event.get("choices") or [{}])[0]
            tokens, reason = choice.get("token_ids") or [], choice.get("finish_reason")
        else:
            tokens = event.get("tokens") or []
            reason = "length" if event.get("stop_type") == "limit" else "stop"
            reason = reason if event.get("stop") else None
        return tokens, _REASONS[reason]


_REASONS: dict[str | None, Reason | None] = {
    None: None,
    "stop": "stop",
    "length": "length",
    "abort": "abort",
}


# Answers: what is sampled to what the API sends.

Chunks = list[dict[str, Any]]


async def sampled_chunks(
    reply: Reply, first: Sampled, rest: AsyncGenerator[Sampled, None]
) -> AsyncGenerator[Chunks, None]:
    """The chunks of one answer. Closing the iterator cancels the sampling."""
    tokens, reason = first
    try:
        while reason is None:
            yield reply.feed(tokens)
            if reply.stop_sequence is not None:
                tokens, reason = [], "stop"
            else:
                tokens, reason = await rest.__anext__()
    except (EngineError, StopAsyncIteration) as error:
        logging.error("the engine broke off: %s", error)
        tokens, reason = [], "abort"
    finally:
        await rest.aclose()
    yield reply.feed(tokens)
    yield reply.finish(reason)


async def side_by_side(answers: list[AsyncGenerator[Chunks, None]]) -> AsyncGenerator[Chunks, None]:
    """The chunks of several answers as they come."""
    waiting = {asyncio.ensure_future(answer.__anext__()): answer for answer in answers}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                answer = waiting.pop(task)
                if not isinstance(task.exception(), StopAsyncIteration):
                    yield task.result()
                    waiting[asyncio.ensure_future(answer.__anext__())] = answer
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for answer in answers:
            await answer.aclose()


def total_usage(usages: list[dict[str, Any]]) -> dict[str, Any]:
    """The usage of `n` chat completions of one prompt, which counts once."""
    total = usages[0]
    for usage in usages[1:]:
        details = usage["completion_tokens_details"]
        total["completion_tokens"] += usage["completion_tokens"]
        total["total_tokens"] += usage["completion_tokens"]
        total["completion_tokens_details"]["reasoning_tokens"] += details["reasoning_tokens"]
    return total


def whole(replies: list[Reply]) -> dict[str, Any]:
    """The response; of `n` chat completions, one with all their choices."""
    response, *more = (reply.response() for reply in replies)
    if more:
        response["choices"] += [choice for other in more for choice in other["choices"]]
        response["usage"] = total_usage([response["usage"], *(other["usage"] for other in more)])
    return response


# The server: a body to an answer.

MOST_ANSWERS = 16
"""How many answers a request may ask for."""


@dataclass
class Server:
    """Answers requests of all dialects."""

    engine: Engine
    model: str
    stored: dict[str, list[Any]]
    """What was said in each response that was stored."""

    async def answer(self, request: Request, read: Callable[..., Turn]) -> Response:
        """Answers a request of the dialect whose `read` it is."""
        dialect = read.__module__.rpartition(".")[2]
        try:
            body = await self._body(request)
            history = self._history(body) if dialect == "responses" else []
            turn = read(body, history=history)
            if turn.sampling["n"] > MOST_ANSWERS:
                raise _RefusedError("n", f"at most {MOST_ANSWERS} answers")
            prompt = turn.prompt(encoding)
        except InvalidRequestError as error:
            return failure(dialect, 400, str(error), error.path)
        except _RefusedError as error:
            return failure(dialect, 400, error.reason, error.path)
        except HarmonyError as error:  # a schema that cannot be rendered
            return failure(dialect, 400, str(error), None)
        replies = self._replies(turn, body, len(prompt))
        samples = [self.engine.sample(prompt, turn, index) for index in range(len(replies))]
        try:  # with its first tokens it is known whether the engine answers at all
            firsts = await asyncio.gather(*(sampled.__anext__() for sampled in samples))
        except (EngineError, StopAsyncIteration) as error:
            await asyncio.gather(*(sampled.aclose() for sampled in samples))
            return failure(dialect, 503, str(error) or "the engine says nothing", None)
        chunks = side_by_side(list(map(sampled_chunks, replies, firsts, samples)))
        if turn.stream:
            stream = self._stream(replies, chunks, body)
            return StreamingResponse(stream, media_type=replies[0].media_type)
        async for _ in chunks:
            if await request.is_disconnected():
                break
        await chunks.aclose()
        for reply in replies:
            reply.finish("abort")  # nothing, unless the client went away
        self._store(body, replies[0])
        return JSONResponse(whole(replies))

    def _replies(self, turn: Turn, body: dict[str, Any], prompt_tokens: int) -> list[Reply]:
        """A reply for each answer, all of one id and time."""
        model = str(body.get("model") or self.model)
        first = turn.reply(encoding, model=model, prompt_tokens=prompt_tokens)
        if turn.sampling["n"] == 1:
            return [first]
        response = first.response()
        more = (
            turn.reply(
                encoding,
                model=model,
                id=response["id"],
                created=response["created"],
                prompt_tokens=prompt_tokens,
                index=index,
            )
            for index in range(1, turn.sampling["n"])
        )
        return [first, *more]

    async def _stream(
        self,
        replies: list[Reply],
        answers: AsyncGenerator[Chunks, None],
        body: dict[str, Any],
    ) -> AsyncIterator[bytes]:
        """The stream. When the client goes away, it is closed, and with it the engine's."""
        first = replies[0]
        usages = []  # chat: a chunk of each answer has it, but one is sent for all
        try:
            for reply in replies:  # clients take the choices' first chunks in order only
                yield reply.feed_bytes([])
            async for chunks in answers:
                for chunk in chunks:
                    if chunk.get("choices") == []:
                        usages.append(chunk)
                    else:
                        yield first.frame(chunk)
        finally:
            await answers.aclose()
        for chunk in usages[:1]:
            yield first.frame({**chunk, "usage": total_usage([one["usage"] for one in usages])})
        yield first.frame()
        self._store(body, first)

    async def count_tokens(self, request: Request) -> Response:
        """Counts the tokens of an Anthropic request."""
        try:
            turn = anthropic.read(await self._body(request))
            return JSONResponse({"input_tokens": len(turn.prompt(encoding))})
        except (HarmonyError, _RefusedError) as error:
            return failure("anthropic", 400, str(error), None)

    async def _body(self, request: Request) -> dict[str, Any]:
        try:
            body = json.loads(await request.body())
        except ValueError as error:
            raise _RefusedError("", f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise _RefusedError("", "the body is not an object")
        return body

    def _history(self, body: dict[str, Any]) -> list[Any]:
        previous = body.get("previous_response_id")
        if previous is None:
            return []
        if previous not in self.stored:
            raise _RefusedError("previous_response_id", f"no response {previous!r} is stored")
        return self.stored[previous]

    def _store(self, body: dict[str, Any], reply: Reply) -> None:
        response = reply.response()
        if response.get("object") != "response" or body.get("store") is False:
            return
        asked = body.get("input") or []
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        self.stored[response["id"]] = [*self._history(body), *items, *response["output"]]


class _RefusedError(Exception):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path, self.reason = path, reason


def failure(dialect: str, status: int, message: str, path: str | None) -> Response:
    """An error as the API gives it."""
    kind = "invalid_request_error" if status == 400 else "api_error"
    body: dict[str, Any]
    if dialect == "ollama":
        body = {"error": message}
    elif dialect == "anthropic":
        body = {"type": "error", "error": {"type": kind, "message": message}}
    else:
        body = {"error": {"message": message, "type": kind, "param": path, "code": None}}
    return JSONResponse(body, status_code=status)


def app(engine: Engine, model: str = "gpt-oss-20b") -> Starlette:
    """The application."""
    server = Server(engine, model, {})

    def route(path: str, read: Callable[..., Turn]) -> Route:
        async def endpoint(request: Request) -> Response:
            return await server.answer(request, read)

        return Route(path, endpoint, methods=["POST"])

    return Starlette(
        routes=[
            route("/v1/chat/completions", chat_completions.read),
            route("/v1/responses", responses.read),
            route("/v1/messages", anthropic.read),
            Route("/v1/messages/count_tokens", server.count_tokens, methods=["POST"]),
            route("/api/chat", ollama.read),
        ]
    )


def main() -> None:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", choices=["replay", "http"], required=True)
    parser.add_argument("--file", type=Path, help="replay: the recorded outputs")
    parser.add_argument("--delay", type=float, default=0.0, help="replay: seconds between pieces")
    parser.add_argument("--url", help="http: the engine's address")
    parser.add_argument("--form", choices=["completions", "llama.cpp"], default="completions")
    parser.add_argument("--model", default="gpt-oss-20b")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    engine: Engine
    if given.engine == "replay":
        if given.file is None:
            parser.error("--engine replay needs --file")
        lines = given.file.read_text(encoding="utf-8").splitlines()
        engine = Replay([json.loads(line) for line in lines if line.strip()], given.delay)
    else:
        if given.url is None:
            parser.error("--engine http needs --url")
        engine = Http(given.url.rstrip("/"), given.form, given.model)
    uvicorn.run(app(engine, given.model), host=given.host, port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
