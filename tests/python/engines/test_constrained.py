"""A model that knows nothing calls a tool when it must, in all four APIs; `make test-engines`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="make test-engines installs starlette")
pytest.importorskip("llguidance", reason="make test-engines installs llguidance")

from engines.required import BODIES, valid_call
from gateways import ENCODING, USER, ask
from openai_harmony import serve
from openai_harmony.serve.engines import Sampled, SampleRequest


class Hurried:
    """The tiny model, which likes to end what it writes: else it would go on at random for ever."""

    name, address, model, constrains = "transformers", "here", "tiny", True

    def __init__(self, engine: Any) -> None:
        self.engine, self.context = engine, engine.context
        ends = ENCODING.encode(
            '<|end|><|call|><|return|><|channel|><|message|>", } "} "]', allowed_special="all"
        )
        # Between calling at once and thinking first, it mostly calls.
        self.bias = dict.fromkeys(ends, 14.0) | dict.fromkeys(ENCODING.encode(" to"), 15.0)
        self.seed = 0

    async def check(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        self.seed += 1
        sampling = {**request.sampling, "logit_bias": self.bias, "seed": self.seed}
        sampled = self.engine.sample(replace(request, sampling=sampling))
        try:
            async for some in sampled:
                yield some
        finally:
            await sampled.aclose()


@pytest.mark.parametrize("path", BODIES)
def test_fifty_of_fifty(engine: Any, path: str) -> None:
    app = serve.app(Hurried(engine))
    names = []

    async def run() -> None:
        for _ in range(50):
            answer = await ask(app, path, BODIES[path])
            assert answer.status == 200, answer.body
            name = valid_call(path, answer.json())
            assert name, answer.body
            names.append(name)

    asyncio.run(run())
    assert len(names) == 50
    assert "rain" in names


def test_a_strict_tool_that_cannot_be_held(engine: Any) -> None:
    schema = {"type": "object", "not": {"required": ["a"]}}
    function = {"name": "a", "parameters": schema, "strict": True}
    body = {"messages": USER, "tools": [{"type": "function", "function": function}]}
    answer = asyncio.run(ask(serve.app(Hurried(engine)), "/v1/chat/completions", body))
    assert answer.status == 400
    assert "tools[0].parameters.not: no grammar can enforce this keyword" in answer.body.decode()
