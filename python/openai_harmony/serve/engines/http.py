"""Engines behind HTTP: one connection for each answer, whose end cancels the sampling."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import httpx

from openai_harmony.serve.engines.engine import CONTEXT, EngineError, Sampled, SampleRequest

MOST_LINE = 16 * 2**20
"""The longest line that an engine may send, in bytes; longer ones are no events."""
_MOST_QUOTED = 300
_BUSY = (429, 529)


class HttpEngine:
    """What the engines behind HTTP share: connections, time-outs, lines of JSON, errors."""

    name = "http"
    health = "/health"
    """The path that answers 200 if the engine can sample."""
    constrains = False
    """Whether it keeps to the grammar of a request."""

    def __init__(self, address: str, *, timeout: float = 600.0, key: str | None = None) -> None:
        """For the engine of this address.

        Args:
            address: The beginning of its URLs: ``http://127.0.0.1:8001``.
            timeout: After so many seconds without a token it is too slow.
            key: An API key that the engine wants.
        """
        self.address = address.rstrip("/").removesuffix("/v1")
        self.model: str | None = None
        self.context = CONTEXT
        self._known = False
        self._client = httpx.AsyncClient(
            base_url=self.address,
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=min(timeout, 10.0)),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
            trust_env=False,  # a proxy of the environment is not for engines
        )

    async def check(self) -> None:
        """Asks ``health``, and for the model."""
        status, _ = await self._get(self.health)
        if status >= 400:
            raise EngineError(f"{self._self()} says {status} to {self.health}", 503)
        await self._learn()
        self._known = True

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Samples; closing the generator closes the connection, which cancels the sampling."""
        if not self._known:
            await self.check()
        path, body = self.asked(request)
        seen = 0
        async with aclosing(self.events(path, body)) as events:
            async for event in events:
                sampled = self.read(event, seen)
                seen = self.counted(event, seen + len(sampled.tokens))
                yield sampled
                if sampled.reason is not None:
                    return

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        raise NotImplementedError

    def read(self, event: dict[str, Any], seen: int) -> Sampled:
        """What an event says; ``seen`` tokens came before."""
        raise NotImplementedError

    def counted(self, event: dict[str, Any], here: int) -> int:
        """How many tokens there are so far, where the engine counts them itself."""
        return here

    async def pass_on(self, path: str, body: bytes) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        """Sends a body as it is: the status, the content type and the bytes of the answer."""
        request = self._client.build_request(
            "POST", path, content=body, headers={"content-type": "application/json"}
        )
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

        async def parts() -> AsyncGenerator[bytes, None]:
            try:
                async for part in response.aiter_bytes():
                    yield part
            except httpx.HTTPError as error:
                raise self._unreachable(error) from error
            finally:
                await response.aclose()

        kind = response.headers.get("content-type", "application/json")
        return response.status_code, kind, parts()

    async def events(self, path: str, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream, or the one object of an engine that does not stream."""
        try:
            async with self._client.stream("POST", path, json=body) as response:
                if response.status_code != 200:
                    raise self._refusal(response, await _beginning(response))
                async with aclosing(_lines(response)) as lines:
                    async for line in lines:
                        yield self._event(line)
        except httpx.TimeoutException as error:
            raise EngineError(f"{self._self()} is too slow: {type(error).__name__}", 504) from error
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _event(self, line: bytes) -> dict[str, Any]:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EngineError(f"{self._self()} sends what is not JSON: {_quoted(line)}") from error
        if not isinstance(event, dict):
            raise EngineError(f"{self._self()} sends what is not an event: {_quoted(line)}")
        if event.get("error"):
            raise EngineError(f"{self._self()} says: {_message(event)}")
        return event

    async def _learn(self) -> None:
        """The model's name and context, as OpenAI's API lists them; engines may say neither."""
        status, found = await self._get("/v1/models")
        models = found.get("data") if status < 400 and isinstance(found, dict) else None
        if isinstance(models, list) and models and isinstance(models[0], dict):
            name, context = models[0].get("id"), models[0].get("max_model_len")
            if isinstance(name, str) and name:
                self.model = name.encode(errors="replace").decode()
            self.context = context if type(context) is int and context > 0 else self.context

    async def _get(self, path: str) -> tuple[int, Any]:
        """The status and the JSON of an answer, ``None`` if it is none."""
        try:
            response = await self._client.get(path, timeout=10.0)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        try:
            return response.status_code, response.json()
        except ValueError:
            return response.status_code, None

    def _refusal(self, response: httpx.Response, text: bytes) -> EngineError:
        status = response.status_code
        try:
            said = _message(json.loads(text))
        except (ValueError, RecursionError):
            said = _quoted(text)
        after = response.headers.get("retry-after", "")
        message = f"{self._self()} says {status}: {said}"
        if status in _BUSY:
            return EngineError(message, 429, int(after) if after.isdecimal() else None)
        if status == 404:
            # It may have been started anew, with another model: the next request asks for its name.
            self._known = False
        # A wrong key or path is a fault of this server's settings, not of the client.
        return EngineError(message, 400 if status in (400, 413, 422) else 502)

    def _unreachable(self, error: httpx.HTTPError) -> EngineError:
        broke = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError))
        text = f"{type(error).__name__} {error}".strip()
        if broke:
            return EngineError(f"{self._self()} broke off: {text}")
        return EngineError(f"{self._self()} cannot be reached: {text}", 503)

    def _self(self) -> str:
        return f"the engine {self.name}"


def ids(found: Any) -> list[int]:
    """Token ids of an event; ``null`` is none.

    ``EngineError`` if it is anything else.
    """
    if found is None:
        return []
    if not isinstance(found, list) or not all(
        type(token) is int and 0 <= token < 2**32 for token in found
    ):
        raise EngineError(f"the engine sends what are not token ids: {_quoted(repr(found))}")
    return found


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The data of server-sent events, and lines of JSON, without the words around them.

    httpx has the same for text; bytes take half the time, which counts for each token.
    """
    rest = b""
    async for part in response.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > MOST_LINE:
            raise EngineError(f"the engine sends a line of more than {MOST_LINE:,} bytes")
        for line in lines:
            if data := _data(line):
                yield data
    if data := _data(rest):
        yield data


def _data(line: bytes) -> bytes:
    line = line.strip()
    if line.startswith(b"data:"):
        line = line[5:].lstrip()
        return b"" if line == b"[DONE]" else line
    # Comments and the names of events are no data.
    return b"" if line.startswith((b":", b"event:", b"id:", b"retry:")) else line


async def _beginning(response: httpx.Response) -> bytes:
    found = b""
    async for part in response.aiter_bytes():
        found += part
        if len(found) > 2**16:
            break
    return found


def _message(found: Any) -> str:
    """The text of an error, in whichever form an engine writes it."""
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return _quoted(found if isinstance(found, str) else json.dumps(found))


def _quoted(text: str | bytes) -> str:
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    text = " ".join(text.split())
    return text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…"
