"""LangChain, by chat completions and by Responses, alone and as an agent of LangGraph."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

pytest.importorskip("langchain_openai", reason="make test-agents installs langchain-openai")
pytest.importorskip("langgraph", reason="make test-agents installs langgraph")

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from fences import DOCS, fenced

RESULTS = {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}


class City(pydantic.BaseModel):
    """A city."""

    city: str
    sunny: bool


@pytest.fixture(params=[False, True], ids=["chat", "responses"])
def model(request: pytest.FixtureRequest, url: str) -> Any:
    options: dict[str, Any] = {"base_url": f"{url}/v1", "api_key": "-", "max_retries": 0}
    options["stream_usage"] = True
    return ChatOpenAI(model="gpt-oss-20b", use_responses_api=request.param, **options)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_loop_of_calls(model: Any, streamed: bool, asked: list[str]) -> None:
    @tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return RESULTS[city]

    bound = model.bind_tools([get_weather])
    messages: list[Any] = [HumanMessage("Where is it sunny?")]
    for _ in range(5):
        if streamed:
            parts = list(bound.stream(messages))
            answer = parts[0]
            for part in parts[1:]:
                answer += part
        else:
            answer = bound.invoke(messages)
        messages.append(answer)
        if not answer.tool_calls:
            break
        for call in answer.tool_calls:
            result = get_weather.invoke(call["args"])
            messages.append(ToolMessage(result, tool_call_id=call["id"]))
    assert asked == ["Oslo", "Bergen"]
    assert answer.text == "Oslo."
    assert answer.usage_metadata["output_tokens"] > 0


def test_an_agent(model: Any, asked: list[str]) -> None:
    prebuilt = pytest.importorskip("langgraph.prebuilt")

    @tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return RESULTS[city]

    agent = prebuilt.create_react_agent(model, [get_weather])
    state = agent.invoke({"messages": [HumanMessage("Where is it sunny?")]})
    assert asked == ["Oslo", "Bergen"]
    assert state["messages"][-1].text == "Oslo."


def test_a_typed_answer(model: Any) -> None:
    typed = model.with_structured_output(City, method="json_schema")
    assert typed.invoke("Answer as JSON") == City(city="Oslo", sunny=True)


def test_the_example_of_the_document(url: str) -> None:
    names: dict[str, Any] = {}
    example = fenced("langchain", DOCS / "serve.md")
    exec(example.replace("http://127.0.0.1:8000", url), names)
    assert names["answer"].text
