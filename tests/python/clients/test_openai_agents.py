"""OpenAI's Agents SDK, by Responses and by chat completions."""

from __future__ import annotations

import asyncio
from typing import Any

import pydantic
import pytest

pytest.importorskip("agents", reason="make test-agents installs openai-agents")

import agents
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI

from fences import DOCS, fenced

RESULTS = {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}


class City(pydantic.BaseModel):
    city: str
    sunny: bool


@pytest.fixture(params=[OpenAIResponsesModel, OpenAIChatCompletionsModel])
def model(request: pytest.FixtureRequest, url: str) -> Any:
    agents.set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="-", max_retries=0)
    return request.param(model="gpt-oss-20b", openai_client=client)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_loop_of_calls(model: Any, streamed: bool, asked: list[str]) -> None:
    @agents.function_tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return RESULTS[city]

    agent = agents.Agent("Weather", instructions="Be brief.", model=model, tools=[get_weather])

    async def run() -> Any:
        if not streamed:
            return await agents.Runner.run(agent, "Where is it sunny?")
        found = agents.Runner.run_streamed(agent, "Where is it sunny?")
        async for _ in found.stream_events():
            pass
        return found

    result = asyncio.run(run())
    assert asked == ["Oslo", "Bergen"]
    assert result.final_output == "Oslo."


def test_a_typed_answer(model: Any) -> None:
    agent = agents.Agent("Weather", model=model, output_type=City)
    result = asyncio.run(agents.Runner.run(agent, "Answer as JSON"))
    assert result.final_output == City(city="Oslo", sunny=True)


def test_goes_on_by_the_servers_store(model: Any) -> None:
    if not isinstance(model, OpenAIResponsesModel):
        return
    agent = agents.Agent("Weather", model=model, output_type=None)

    async def run() -> tuple[str, str]:
        first = await agents.Runner.run(agent, "Answer as JSON")
        previous = first.last_response_id
        second = await agents.Runner.run(agent, "Again", previous_response_id=previous)
        return first.final_output, second.final_output

    first, second = asyncio.run(run())
    assert first == second == '{"city":"Oslo","sunny":true}'


def test_the_example_of_the_document(url: str) -> None:
    names: dict[str, Any] = {}
    example = fenced("agents", DOCS / "serve.md")
    exec(example.replace("http://127.0.0.1:8000", url), names)
    assert names["result"].final_output
