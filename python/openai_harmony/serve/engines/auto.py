"""Finds out which engine an address has, by asking."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from openai_harmony.serve.engines.client import ClientError
from openai_harmony.serve.engines.completions import Completions
from openai_harmony.serve.engines.engine import CONTEXT, EngineError, Sampled, SampleRequest
from openai_harmony.serve.engines.http import HttpEngine
from openai_harmony.serve.engines.llama_cpp import LlamaCpp
from openai_harmony.serve.engines.sglang import Sglang
from openai_harmony.serve.engines.vllm import Vllm

_QUESTIONS: list[tuple[str, str, type[HttpEngine]]] = [
    ("/props", "default_generation_settings", LlamaCpp),
    ("/model_info", "model_path", Sglang),
    ("/get_model_info", "model_path", Sglang),  # before SGLang 0.5.4
    ("/version", "version", Vllm),
    ("/v1/models", "data", Completions),
]
"""A path, and the field of its answer by which an engine is known; the general ones last."""


class Auto:
    """Asks once, when it is first needed, and then is the engine that was found."""

    def __init__(self, address: str, *, timeout: float = 600.0, key: str | None = None) -> None:
        """For the engine of this address, whichever it is."""
        self.address = address.rstrip("/").removesuffix("/v1")
        self._options: dict[str, Any] = {"timeout": timeout, "key": key}
        self._found: HttpEngine | None = None

    @property
    def name(self) -> str:
        """``auto`` until it is found."""
        return self._found.name if self._found else "auto"

    @property
    def model(self) -> str | None:
        """The name of its model, once it is known."""
        return self._found.model if self._found else None

    @property
    def context(self) -> int:
        """How many tokens prompt and output may have together."""
        return self._found.context if self._found else CONTEXT

    @property
    def holds(self) -> bool:
        """Engines reached by HTTP hold the output to its limit."""
        return True

    @property
    def constrains(self) -> bool:
        """Whether it keeps to grammars; false until it is found."""
        return self._found is not None and self._found.constrains

    async def check(self) -> None:
        """Finds the engine and asks it."""
        await (await self._engine()).check()

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Samples by the engine that was found."""
        async with aclosing((await self._engine()).sample(request)) as sampled:
            async for some in sampled:
                yield some

    async def pass_on(
        self, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        """Sends a body as it is."""
        return await (await self._engine()).pass_on(path, body, headers)

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._found is not None:
            await self._found.aclose()

    async def _engine(self) -> HttpEngine:
        if self._found is None:
            kind = await self._ask()
            if self._found is None:  # another request may have asked as well
                self._found = kind(self.address, **self._options)
        return self._found

    async def _ask(self) -> type[HttpEngine]:
        asking = HttpEngine(self.address, **self._options)
        try:
            for path, field, kind in _QUESTIONS:
                try:
                    status, answer = await asking.client.get(path)
                except ClientError as error:
                    raise EngineError(f"no engine answers: it {error}", 503) from error
                if status == 200 and isinstance(answer, dict) and field in answer:
                    return kind
        finally:
            await asking.aclose()
        # The address is for the operator; clients read this, too.
        raise EngineError("no known engine answers; name it, for example vllm=URL", 503)
