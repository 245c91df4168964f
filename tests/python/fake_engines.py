"""Servers on the loopback that speak as the engines do, by what the engines' sources show."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Events = list[dict[str, Any] | bytes | float]
"""What is sent: events, bytes as they are, and pauses in seconds."""


@dataclass
class Fake:
    """An engine behind HTTP: what it says to each path, and what it was asked."""

    paths: dict[str, Any]
    """By path: an object or bytes to GET, or a function from the body to ``Events`` to POST; or a number,
    the status of an error."""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client goes away in the middle."""
    url: str = ""
    connections: list[asyncio.Task[Any]] = field(default_factory=list)

    def _noticed(self, gone: asyncio.Task[bytes]) -> None:
        """A client left, by closing its connection or by resetting it."""
        if not gone.cancelled():
            gone.exception()
        self.left.set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.append(task)
        try:
            await self._answer(reader, writer)
        except ConnectionError:
            self.left.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        named = (line.partition(": ") for line in head.splitlines()[1:] if line)
        self.headers.append({name.lower(): value for name, _, value in named})
        length = next(
            (
                int(line[15:])
                for line in head.lower().splitlines()
                if line[:15] == "content-length:"
            ),
            0,
        )
        raw = await reader.readexactly(length)
        found = self.paths.get(path, 404)
        if method == "POST":
            self.asked.append((path, json.loads(raw)))
        if isinstance(found, int):
            body = json.dumps({"error": {"message": f"said {found}"}}).encode()
            start = f"HTTP/1.1 {found} X\r\nretry-after: 7\r\n"
        elif callable(found):
            await self._stream(found, json.loads(raw), reader, writer)
            return
        else:
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
            start = "HTTP/1.1 200 OK\r\n"
        start += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(start.encode() + body)
        await writer.drain()

    async def _stream(
        self,
        say: Callable[[dict[str, Any]], Events],
        body: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"connection: close\r\n\r\n")
        gone = asyncio.ensure_future(reader.read(1))
        gone.add_done_callback(self._noticed)
        for one in say(body):
            if isinstance(one, float):
                await asyncio.wait((gone,), timeout=one)
            elif isinstance(one, bytes):
                writer.write(one)
            else:
                writer.write(f"data: {json.dumps(one)}\n\n".encode())
            if gone.done():
                break
            await writer.drain()
        gone.cancel()


@asynccontextmanager
async def running(paths: dict[str, Any]) -> AsyncIterator[Fake]:
    fake = Fake(paths)
    server = await asyncio.start_server(fake, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    fake.url = f"http://127.0.0.1:{port}"
    try:
        yield fake
    finally:
        server.close()
        if fake.connections:
            await asyncio.wait(fake.connections)


def pieces(tokens: list[int], size: int = 2) -> list[list[int]]:
    return [tokens[start : start + size] for start in range(0, len(tokens), size)]


MODELS = {"object": "list", "data": [{"id": "openai/gpt-oss-20b", "max_model_len": 4096}]}
DONE = b"data: [DONE]\n\n"


def logprob(place: int) -> float:
    """What an engine says of the token at this place of its output."""
    return -(place + 1) / 8


LIKELY = 220
"""A token that could have been sampled at every place."""


def of_objects(part: list[int], first: int, id_name: str) -> list[dict[str, Any]]:
    """Those of tokens from this place on, as vLLM and llama.cpp have them."""

    def one(token: int, place: int) -> dict[str, Any]:
        return {id_name: token, "logprob": logprob(place)}

    return [
        {**one(token, place), "top_logprobs": [one(token, place), one(LIKELY, place + 1)]}
        for place, token in enumerate(part, first)
    ]


def of_completions(part: list[int], first: int) -> dict[str, Any]:
    places = range(first, first + len(part))
    return {
        "text_offset": [0 for _ in part],
        "tokens": [f"token_id:{token}" for token in part],
        "token_logprobs": [logprob(place) for place in places],
        "top_logprobs": [
            {f"token_id:{token}": logprob(place), f"token_id:{LIKELY}": logprob(place + 1)}
            for place, token in zip(places, part)
        ],
    }


def with_logprobs(events: Events, of_part: Callable[[list[int], int], Any]) -> Events:
    """Chunks of vLLM with those of their tokens."""
    first = 0
    for event in events:
        for choice in event["choices"] if isinstance(event, dict) else ():
            choice["logprobs"] = of_part(choice["token_ids"], first)
            first += len(choice["token_ids"])
    return events


def choices(tokens: list[int], reason: str = "stop", **more: Any) -> Events:
    """Chunks as vLLM sends them: the reason comes with the last tokens, the usage behind them."""
    parts = pieces(tokens)
    events: Events = [
        {
            "choices": [
                {
                    "index": 0,
                    "token_ids": part,
                    "logprobs": None,
                    "finish_reason": reason if at == len(parts) else None,
                    **more,
                }
            ]
        }
        for at, part in enumerate(parts, 1)
    ]
    return [*events, {"choices": [], "usage": {"prompt_tokens": 3}}, DONE]


EXPERTS = "k05VTVBZAQ=="
"""By which experts the tokens were routed: the bytes of an array, in base64."""


def prompt_logprobs(prompt: list[int]) -> list[Any]:
    """Those of a prompt's tokens, the first of which has none."""
    each = ({str(token): {"logprob": logprob(at), "rank": 1}} for at, token in enumerate(prompt))
    return [None, *each][:-1]


def whole(events: Events, asked: int | None, prompt: list[int]) -> dict[str, Any]:
    """The answer that is not a stream, in which alone vLLM has what it says of the prompt."""
    chunks = [
        event["choices"][0] for event in events if isinstance(event, dict) and event["choices"]
    ]
    logprobs = chunks[0]["logprobs"]
    for chunk in chunks[1:]:
        for name, found in (chunk["logprobs"] or {}).items():
            logprobs[name] += found
    sampled = [token for chunk in chunks for token in chunk["token_ids"]]
    said = None if asked is None else prompt_logprobs(prompt)
    about = {"token_ids": sampled, "logprobs": logprobs, "prompt_logprobs": said}
    return {"choices": [{**chunks[-1], **about, "routed_experts": EXPERTS}]}


def vllm(tokens: list[int], *, generates: bool = True) -> dict[str, Any]:
    def complete(body: dict[str, Any]) -> Events:
        events = choices(tokens, text="", stop_reason=None)
        events = with_logprobs(events, of_completions) if "logprobs" in body else events
        if body["stream"]:
            return events
        return [json.dumps(whole(events, body.get("prompt_logprobs"), body["prompt"])).encode()]

    def generate(body: dict[str, Any]) -> Events:
        def content(part: list[int], first: int) -> dict[str, Any]:
            return {"content": of_objects(part, first, "token_id")}

        sampling = body["sampling_params"]
        events = choices(tokens)
        events = with_logprobs(events, content) if "logprobs" in sampling else events
        if body["stream"]:
            events[-3]["choices"][0]["routed_experts"] = EXPERTS
            return events
        answer = whole(events, sampling.get("prompt_logprobs"), body["token_ids"])
        answer["prompt_logprobs"] = answer["choices"][0].pop("prompt_logprobs")
        return [json.dumps(answer).encode()]

    paths = {"/v1/completions": {}, "/version": {}}
    if generates:
        paths["/inference/v1/generate"] = {}
    return {
        "/health": {},
        "/version": {"version": "0.33.0"},
        "/openapi.json": {"paths": paths},
        "/v1/models": MODELS,
        "/v1/completions": complete,
        **({"/inference/v1/generate": generate} if generates else {}),
    }


def sglang(tokens: list[int], *, cumulative: bool) -> dict[str, Any]:
    """By version and options the ids of an event are all so far, or the new ones alone."""

    def say(body: dict[str, Any]) -> Events:
        events: Events = []
        count = 0
        for part in pieces(tokens):
            first = 0 if cumulative else count
            count += len(part)
            logprobs: dict[str, Any] = {}
            if body.get("return_logprob"):
                given = [(logprob(place), tokens[place], None) for place in range(first, count)]
                likely = [(logprob(place + 1), LIKELY, None) for place in range(first, count)]
                logprobs["output_token_logprobs"] = given
                logprobs["output_top_logprobs"] = [list(both) for both in zip(given, likely)]
            ends = {"type": "stop", "matched": 200002} if count == len(tokens) else None
            events.append(
                {
                    "text": "",
                    "output_ids": tokens[:count] if cumulative else part,
                    "meta_info": {
                        "id": "x",
                        "finish_reason": ends,
                        "prompt_tokens": 3,
                        "completion_tokens": count,
                        "cached_tokens": 0,
                        **logprobs,
                    },
                }
            )
        return [*events, DONE]

    return {
        "/health": {},
        "/model_info": {"model_path": "openai/gpt-oss-20b", "is_generation": True},
        "/v1/models": MODELS,
        "/generate": say,
    }


def llama_cpp(tokens: list[int], decode: Callable[[list[int]], bytes]) -> dict[str, Any]:
    """Nothing is sent while a character is incomplete, and then only the last token's id."""

    def say(body: dict[str, Any]) -> Events:
        events: Events = []
        pending = b""
        for count, token in enumerate(tokens, 1):
            pending += decode([token]) if token < 199_998 else b""
            try:
                text = pending.decode()
            except UnicodeDecodeError:
                continue
            pending = b""
            events.append(
                {
                    "index": 0,
                    "content": text,
                    "tokens": [token],
                    "stop": False,
                    "id_slot": 0,
                    "tokens_predicted": count,
                    "tokens_evaluated": 3,
                    **(
                        {"completion_probabilities": of_objects([token], count - 1, "id")}
                        if body.get("n_probs")
                        else {}
                    ),
                }
            )
        last = {"content": "", "tokens": [], "stop": True, "stop_type": "eos", "truncated": False}
        return [*events, {**last, "tokens_predicted": len(tokens)}]

    return {
        "/health": {"status": "ok"},
        "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1},
        "/v1/models": {"object": "list", "data": [{"id": "gpt-oss.gguf", "meta": {}}]},
        "/completion": say,
    }
