"""Engines reached by HTTP: one connection for each answer; closing it cancels the sampling."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from openai_harmony.interop import EngineReader
from openai_harmony.serve.engines.client import Client, ClientError, Response, errors
from openai_harmony.serve.engines.engine import CONTEXT, EngineError, Sampled, SampleRequest
from openai_harmony.serve.threads import in_thread

_MOST_QUOTED = 300
_BUSY = (429, 529)
_LONG = 8192
"""From this number of prompt tokens on, writing the body takes milliseconds."""


class HttpEngine:
    """What engines reached by HTTP share: connections, time-outs, errors."""

    name = "http"
    health = "/health"
    """The path that answers 200 if the engine can sample."""
    constrains = False
    """Whether it keeps to the grammar of a request."""
    holds = True
    """Nothing comes after a stop token or the limit: the reader sees to it."""
    scores_prompts = False
    """Whether it gives log-probabilities of the prompt."""
    reuses = True
    """Whether it may be asked again on a connection."""
    form: Literal["completions", "sglang", "llama.cpp"] = "completions"
    """How it streams."""

    def __init__(self, address: str, *, timeout: float = 600.0, key: str | None = None) -> None:
        """For the engine of this address.

        Args:
            address: The beginning of its URLs: ``http://127.0.0.1:8001``.
            timeout: After this many seconds without a token it is too slow.
            key: An API key that the engine wants.
        """
        self.address = address.rstrip("/").removesuffix("/v1")
        self.model: str | None = None
        self.context = CONTEXT
        self.client = Client(self.address, timeout, key, reuses=self.reuses)
        self._known = False

    async def check(self) -> None:
        """Asks ``health``, and for the model."""
        status, _ = await self._get(self.health)
        if status >= 400:
            raise EngineError(f"{self._self()} says {status} to {self.health}", 503)
        await self._learn()
        self._known = True

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.client.aclose()

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Samples; closing the generator early closes the connection: that cancels the sampling."""
        if not self._known:
            await self.check()
        reason = None
        reader = EngineReader(self.form, request.max_tokens, request.stop_token_ids)
        feed = reader.feed
        response = await self._asked(request)
        read = response.read
        try:
            with self._failures():
                while part := await read():
                    tokens, reason, logprobs, fault = feed(part)
                    if reason is not None:
                        request.besides.update(reader.besides())
                    yield Sampled(tokens, reason, logprobs)
                    if fault is not None:
                        raise self._fault(*fault)
                    if reason is not None:
                        return
        finally:
            await response.aclose(has_ended=reason is not None)
        tokens, reason, logprobs, fault = reader.finish()
        request.besides.update(reader.besides())
        yield Sampled(tokens, reason, logprobs)
        if fault is not None:
            raise self._fault(*fault)

    async def _asked(self, request: SampleRequest) -> Response:
        """The engine's answer, once its head says that it samples."""
        while True:
            path, body = await self._written(request)
            with self._failures():
                response = await self.client.post(path, body, request.headers)
            if response.status == 200:
                return response
            error = await self._refusal(response)
            if not self._avoids(path, response.status, error):
                raise error

    def _avoids(self, path: str, status: int, error: EngineError) -> bool:
        """Whether the engine, which answered this, is asked in another way from now on."""
        return False

    def asked(self, request: SampleRequest) -> tuple[str, dict[str, Any]]:
        """The path and the body that ask for this."""
        raise NotImplementedError

    async def _written(self, request: SampleRequest) -> tuple[str, bytes]:
        def write() -> tuple[str, bytes]:
            path, body = self.asked(request)
            return path, json.dumps(body).encode()

        if request.grammar is None and len(request.prompt) < _LONG:
            return write()
        return await in_thread(write)

    async def pass_on(
        self, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        """Sends a body as it is: the status, the content type and the bytes of the answer."""
        with self._failures():
            response = await self.client.post(path, body, headers)

        async def parts() -> AsyncGenerator[bytes, None]:
            try:
                with self._failures():
                    while part := await response.read():
                        yield part
            finally:
                await response.aclose()

        return response.status, response.content_type, parts()

    async def _learn(self) -> None:
        """The model's name and context, as OpenAI's API lists them; engines may say neither."""
        _, found = await self._get("/v1/models")
        models = found.get("data") if isinstance(found, dict) else None
        if isinstance(models, list) and models and isinstance(models[0], dict):
            name, context = models[0].get("id"), models[0].get("max_model_len")
            if isinstance(name, str) and name:
                self.model = name.encode(errors="replace").decode()
            self._take_context(context)

    def _take_context(self, found: Any) -> None:
        if type(found) is int and found > 0:
            self.context = found

    async def _get(self, path: str) -> tuple[int, Any]:
        """The status and the JSON of an answer, ``None`` if it is not JSON."""
        with self._failures():
            return await self.client.get(path)

    async def _refusal(self, response: Response) -> EngineError:
        status = response.status
        try:
            with self._failures():
                text = await response.beginning()
        except EngineError as error:
            return error
        finally:
            await response.aclose()
        try:
            said = _message(json.loads(text))
        except (ValueError, RecursionError):
            said = _quoted(text)
        message = f"{self._self()} says {status}: {said}"
        if status in _BUSY:
            return EngineError(message, 429, response.retry_after)
        if status == 503:
            return EngineError(message, 503, response.retry_after)
        if status == 404:
            # It may have been restarted with another model: the next request asks for its name.
            self._known = False
        # A wrong key or path is a fault of this server's settings, not of the client.
        return EngineError(message, 400 if status in (400, 413, 422) else 502)

    def _fault(self, status: int, what: str) -> EngineError:
        return EngineError(f"{self._self()} {what}", status)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Makes what goes wrong with HTTP errors of this engine."""
        try:
            with errors():
                yield
        except ClientError as error:
            raise self._fault(error.status, str(error)) from error

    def _self(self) -> str:
        return f"the engine {self.name}"


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
