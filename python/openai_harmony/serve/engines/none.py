"""No engine: prompts are rendered and answers derendered, and nothing is sampled."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from openai_harmony.serve.engines.engine import CONTEXT, EngineError, Sampled, SampleRequest


class NoEngineError(EngineError):
    """Nothing can be sampled here, which is no failure of an engine."""

    def __init__(self) -> None:
        super().__init__("this server has no engine: it renders and derenders only", 501)


class NoEngine:
    """The engine of a server that only renders; the engines are elsewhere."""

    name = "none"
    address = ""
    model: str | None = None
    constrains = True

    def __init__(self, context: int = CONTEXT) -> None:
        """With the context of the engines elsewhere, in tokens."""
        self.context = context

    async def check(self) -> None:
        """Nothing can be wrong with it."""

    async def aclose(self) -> None:
        """Nothing is open."""

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        """Raises ``NoEngineError``."""
        raise NoEngineError
        yield Sampled([])

    async def pass_on(
        self, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, AsyncGenerator[bytes, None]]:
        """Raises ``NoEngineError``."""
        raise NoEngineError
