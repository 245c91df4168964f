"""The clients' own SDKs against `harmony serve`, over loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic
import pytest

from openai_harmony import HarmonyEncodingName, load_harmony_encoding
from running_gateways import command
from tables import table

anthropic = pytest.importorskip("anthropic")
pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
ollama = pytest.importorskip("ollama")
openai = pytest.importorskip("openai")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)

THOUGHT = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
ANSWER = "<|channel|>final<|message|>Oslo is sunny, Bergen is not.<|return|>"


def call(city: str) -> str:
    header = "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    return f'{THOUGHT}{header}{{"city":"{city}"}}<|call|>'


SEVERAL = [
    THOUGHT + "<|channel|>final<|message|>The first.<|return|>",
    call("Oslo"),
    "<|channel|>final<|message|>The third, which is the longest of all.<|return|>",
]
RECORDS = [
    *table("serve_sdks", "records"),
    {"match": "Long", "text": "<|channel|>final<|message|>" + "word " * 2000 + "<|return|>"},
    *({"match": "Several", "text": text} for text in SEVERAL),
]
RESULTS = {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS}


class City(pydantic.BaseModel):
    city: str


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("server") / "recorded.jsonl"
    records = [{**record, "delay": 0.001} for record in RECORDS]
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    options = ["--engine", f"replay={file}", "--store", f"{file.parent}/responses.sqlite"]
    with command(*options) as (url, _):
        yield url


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="-", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(url: str) -> Iterator[Any]:
    with anthropic.Anthropic(base_url=url, api_key="-", max_retries=0) as client:
        yield client


@pytest.fixture
def local(url: str) -> Iterator[Any]:
    client = ollama.Client(host=url)
    yield client
    client._client.close()


HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
COMPARE: list[Any] = [{"role": "user", "content": "Compare Oslo and Bergen"}]


def test_chat_plain_and_streamed(client: Any) -> None:
    answer = client.chat.completions.create(model="m", messages=HELLO)
    message: Any = answer.choices[0].message
    assert (message.content, message.reasoning_content) == ("Hi there.", "Hm.")
    assert answer.choices[0].finish_reason == "stop"
    usage = {"include_usage": True}
    with client.chat.completions.stream(model="m", messages=HELLO, stream_options=usage) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final: Any = stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == "Hi there."
    assert final.choices[0].message.reasoning_content == "Hm."
    assert final.usage.completion_tokens == answer.usage.completion_tokens


ANSWER_TOKENS = ["Os", "lo", " is", " sunny", ",", " Bergen", " is", " not", "."]
SURE: list[Any] = [{"role": "user", "content": "Sure?"}]


def test_log_probabilities(client: Any, local: Any) -> None:
    asked: dict[str, Any] = {"model": "m", "messages": SURE, "logprobs": True, "top_logprobs": 1}
    [choice] = client.chat.completions.create(**asked).choices
    entries = choice.logprobs.content
    assert [entry.token for entry in entries] == ANSWER_TOKENS
    assert bytes(entries[0].bytes) == b"Os"
    assert {entry.logprob for entry in entries} == {-0.25}
    assert [entry.top_logprobs[0].token for entry in entries] == ANSWER_TOKENS
    with client.chat.completions.stream(**asked) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].logprobs.content == entries

    include: Any = ["message.output_text.logprobs"]
    wanted: dict[str, Any] = {"model": "m", "input": "Sure?", "include": include}
    response = client.responses.create(**wanted)
    part = response.output[-1].content[0]
    assert [entry.token for entry in part.logprobs] == ANSWER_TOKENS
    with client.responses.stream(**wanted) as stream:
        events = list(stream)
        assert stream.get_final_response().output[-1].content[0].logprobs == part.logprobs
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert [one.token for event in deltas for one in event.logprobs] == ANSWER_TOKENS

    line = local.chat(model="m", messages=SURE, logprobs=True)
    assert [entry.token for entry in line.logprobs] == ANSWER_TOKENS
    pieces = local.generate(model="m", prompt="Sure?", logprobs=True, stream=True)
    lines = [entry.token for piece in pieces for entry in piece.logprobs or ()]
    assert lines == ANSWER_TOKENS

    # Not those of a recording without any.
    silent = client.chat.completions.create(model="m", messages=HELLO, logprobs=True)
    assert silent.choices[0].logprobs is None


def test_chat_several_answers(client: Any) -> None:
    several: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": "Several"}],
        "tools": [{"type": "function", "function": FUNCTION}],
        "n": 3,
        "seed": 5,
    }
    answer = client.chat.completions.create(**several)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    reasons = [choice.finish_reason for choice in answer.choices]
    assert reasons == ["stop", "tool_calls", "stop"]
    contents = [choice.message.content for choice in answer.choices]
    assert contents == ["The first.", None, "The third, which is the longest of all."]
    sampled = [len(ENCODING.encode(text, allowed_special="all")) for text in SEVERAL]
    usage = answer.usage
    assert usage.completion_tokens == sum(sampled)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.completion_tokens_details.reasoning_tokens == 2 * len(ENCODING.encode("Hm."))
    alone = client.chat.completions.create(**{**several, "n": 1})
    assert alone.usage.prompt_tokens == usage.prompt_tokens

    options = {"include_usage": True}
    with client.chat.completions.stream(**several, stream_options=options) as stream:
        events = [event for event in stream if event.type == "chunk"]
        final = stream.get_final_completion()
    assert {event.chunk.id for event in events} == {final.id}
    indices = [choice.index for event in events for choice in event.chunk.choices]
    assert indices != sorted(indices)  # side by side
    assert [bool(event.chunk.choices) for event in events].count(False) == 1
    assert not events[-1].chunk.choices
    assert final.usage == usage
    for streamed, whole in zip(final.choices, answer.choices):
        assert (streamed.message.content or None) == whole.message.content
        assert streamed.finish_reason == whole.finish_reason
    [made] = final.choices[1].message.tool_calls
    assert json.loads(made.function.arguments) == {"city": "Oslo"}

    with pytest.raises(openai.BadRequestError, match="of which this server gives 16") as raised:
        client.chat.completions.create(**{**several, "n": 17})
    assert raised.value.param == "n"


@pytest.mark.parametrize("streamed", [False, True])
def test_chat_loop_of_calls(client: Any, streamed: bool) -> None:
    messages = list(COMPARE)
    tools: Any = [{"type": "function", "function": FUNCTION}]
    asked = []
    for _ in range(5):
        if streamed:
            with client.chat.completions.stream(
                model="m", messages=messages, tools=tools
            ) as stream:
                choice: Any = stream.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(
                model="m", messages=messages, tools=tools
            ).choices[0]
        messages.append(choice.message.to_dict())
        if choice.finish_reason != "tool_calls":
            break
        for made in choice.message.tool_calls:
            asked.append(json.loads(made.function.arguments)["city"])
            result = {"role": "tool", "tool_call_id": made.id, "content": RESULTS[asked[-1]]}
            messages.append(result)
    assert asked == ["Oslo", "Bergen"]
    assert messages[-1]["content"] == "Oslo is sunny, Bergen is not."


def test_structured_output(client: Any, claude: Any) -> None:
    ask: Any = [{"role": "user", "content": "as JSON"}]
    parsed = client.chat.completions.parse(model="m", messages=ask, response_format=City)
    assert parsed.choices[0].message.parsed == City(city="Oslo")
    response = client.responses.parse(model="m", input="as JSON", text_format=City)
    assert response.output_parsed == City(city="Oslo")
    with client.responses.stream(model="m", input="as JSON", text_format=City) as stream:
        added = [event.item.status for event in stream if "item.added" in event.type]
        assert stream.get_final_response().output_parsed == City(city="Oslo")
    assert added == ["in_progress"] * 3
    message = claude.messages.parse(model="m", max_tokens=99, messages=ask, output_format=City)
    assert message.parsed_output == City(city="Oslo")


def test_responses_plain_streamed_and_stored(client: Any) -> None:
    response = client.responses.create(model="m", input="Hello")
    assert response.output_text == "Hi there."
    assert [item.type for item in response.output] == ["reasoning", "message"]
    with client.responses.stream(model="m", input="Hello") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert final.output_text == "Hi there."
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


def test_responses_loop_of_calls(client: Any) -> None:
    tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
    previous, items, asked = None, [*COMPARE], []
    for _ in range(5):
        response: Any = client.responses.create(
            model="m",
            input=items,
            tools=tools,
            **({"previous_response_id": previous} if previous else {}),
        )
        previous, items = response.id, []
        for item in response.output:
            if item.type == "function_call":
                asked.append(json.loads(item.arguments)["city"])
                result = {"type": "function_call_output", "call_id": item.call_id}
                items.append({**result, "output": RESULTS[asked[-1]]})
        if not items:
            break
    assert asked == ["Oslo", "Bergen"]
    assert response.output_text == "Oslo is sunny, Bergen is not."


def test_anthropic_plain_streamed_and_counted(claude: Any) -> None:
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    message = claude.messages.create(model="m", max_tokens=2000, messages=HELLO, thinking=thinking)
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.stop_reason == "end_turn"
    with claude.messages.stream(model="m", max_tokens=99, messages=HELLO) as stream:
        assert "".join(stream.text_stream) == "Hi there."
        assert stream.get_final_message().stop_reason == "end_turn"
    count = claude.messages.count_tokens(model="m", messages=HELLO)
    final = claude.messages.create(model="m", max_tokens=99, messages=HELLO)
    assert count.input_tokens == final.usage.input_tokens


def test_anthropic_loop_of_calls(claude: Any) -> None:
    tools: Any = [{"name": "get_weather", "input_schema": PARAMETERS}]
    messages, asked = list(COMPARE), []
    for _ in range(5):
        with claude.messages.stream(
            model="m", max_tokens=99, messages=messages, tools=tools
        ) as stream:
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": [b.to_dict() for b in message.content]})
        if message.stop_reason != "tool_use":
            break
        results = []
        for block in message.content:
            if block.type == "tool_use":
                asked.append(block.input["city"])
                result = {"type": "tool_result", "tool_use_id": block.id}
                results.append({**result, "content": RESULTS[asked[-1]]})
        messages.append({"role": "user", "content": results})
    assert asked == ["Oslo", "Bergen"]
    assert messages[-1]["content"][0]["text"] == "Oslo is sunny, Bergen is not."


@pytest.mark.parametrize("streamed", [False, True])
def test_anthropic_tool_runner(url: str, streamed: bool) -> None:
    """It sends `thread`, and goes on without when that is refused with the API's code."""
    requests: list[tuple[bool, int]] = []

    def note(response: Any) -> None:
        asked = json.loads(response.request.content)
        requests.append(("thread" in asked, response.status_code))

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return RESULTS[city]

    http = anthropic.DefaultHttpxClient(event_hooks={"response": [note]})
    with anthropic.Anthropic(base_url=url, api_key="-", max_retries=0, http_client=http) as claude:
        runner: Any = claude.beta.messages.tool_runner(
            model="m", max_tokens=99, tools=[get_weather], messages=COMPARE, stream=streamed
        )
        final = runner.until_done()
    assert final.content[0].text == "Oslo is sunny, Bergen is not."
    assert requests == [(True, 400), (False, 200), (False, 200), (False, 200)]


def test_ollama(local: Any) -> None:
    client = local
    answer = client.chat(model="m", messages=HELLO)
    assert (answer.message.content, answer.message.thinking) == ("Hi there.", "Hm.")
    parts = [*client.chat(model="m", messages=HELLO, stream=True)]
    assert "".join(part.message.content or "" for part in parts) == "Hi there."
    assert parts[-1].done_reason == "stop"
    messages: list[Any] = list(COMPARE)
    asked = []
    for _ in range(5):
        tools: Any = [{"type": "function", "function": FUNCTION}]
        answer = client.chat(model="m", messages=messages, tools=tools)
        messages.append(answer.message)
        if not answer.message.tool_calls:
            break
        for made in answer.message.tool_calls:
            asked.append(made.function.arguments["city"])
            result = {"role": "tool", "tool_name": made.function.name}
            messages.append({**result, "content": RESULTS[asked[-1]]})
    assert asked == ["Oslo", "Bergen"]
    assert answer.message.content == "Oslo is sunny, Bergen is not."


def test_limits(client: Any, claude: Any) -> None:
    long: Any = [{"role": "user", "content": "Long"}]
    answer = client.chat.completions.create(model="m", messages=long, max_tokens=20)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 20
    response = client.responses.create(model="m", input="Long", max_output_tokens=20)
    assert response.status == "incomplete"
    message = claude.messages.create(model="m", max_tokens=20, messages=long)
    assert message.stop_reason == "max_tokens"
    stopped = client.chat.completions.create(model="m", messages=HELLO, stop="there")
    assert stopped.choices[0].message.content == "Hi "


def test_errors(client: Any, claude: Any, local: Any, url: str) -> None:
    image: Any = [{"type": "image_url", "image_url": {"url": "data:"}}]
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": image}])
    assert raised.value.param == "messages[0].content[0].image_url"
    with pytest.raises(openai.BadRequestError, match="resp_none"):
        client.responses.create(model="m", input="Hello", previous_response_id="resp_none")
    wrong: Any = [{"role": "tool", "content": "x"}]
    with pytest.raises(anthropic.BadRequestError, match="messages"):
        claude.messages.create(model="m", max_tokens=9, messages=wrong)
    with pytest.raises(ollama.ResponseError) as failed:
        local.chat(model="m", messages=[{"role": "bot", "content": "x"}])
    assert failed.value.status_code == 400
    nothing: Any = [{"role": "user", "content": "Nobody recorded this"}]
    with pytest.raises(openai.InternalServerError, match="no record"):
        client.chat.completions.create(model="m", messages=nothing)
    assert httpx.post(f"{url}/v1/chat/completions", content=b"{").status_code == 400


def test_stored_responses(client: Any) -> None:
    made = client.responses.create(model="m", input="Hello", metadata={"a": "b"})
    assert client.responses.retrieve(made.id).to_dict() == made.to_dict()
    [item] = client.responses.input_items.list(made.id)
    assert item.content[0].text == "Hello"
    reference: Any = {"type": "item_reference", "id": made.output[-1].id}
    again: Any = {"role": "user", "content": "Hello"}
    assert client.responses.create(model="m", input=[reference, again]).status == "completed"
    with pytest.raises(openai.BadRequestError, match="in the background can be cancelled"):
        client.responses.cancel(made.id)
    client.responses.delete(made.id)
    for gone in (client.responses.retrieve, client.responses.cancel):
        with pytest.raises(openai.NotFoundError, match=made.id):
            gone(made.id)


def test_models(client: Any, claude: Any, local: Any) -> None:
    assert [model.id for model in client.models.list()] == ["gpt-oss-20b"]
    assert client.models.retrieve("gpt-oss-20b").object == "model"
    assert [model.display_name for model in claude.models.list()] == ["gpt-oss-20b"]
    assert claude.models.retrieve("gpt-oss-20b").type == "model"
    assert [model.model for model in local.list().models] == ["gpt-oss-20b"]
    assert [model.model for model in local.ps().models] == ["gpt-oss-20b"]
    assert local.show("gpt-oss-20b").capabilities == ["completion", "tools", "thinking"]


def test_ollama_generates(local: Any) -> None:
    answer = local.generate(model="m", prompt="Hello", system="Be brief.")
    assert (answer.response, answer.thinking, answer.done_reason) == ("Hi there.", "Hm.", "stop")
    parts = [*local.generate(model="m", prompt="Hello", stream=True)]
    assert "".join(part.response for part in parts) == "Hi there."
    assert parts[-1].eval_count == answer.eval_count
    assert local.generate(model="m").done_reason == "load"
    with pytest.raises(ollama.ResponseError, match="raw: this server takes messages"):
        local.generate(model="m", prompt="Hello", raw=True)


def test_streams_that_fail_raise_in_the_sdks(tmp_path: Path) -> None:
    """What was said is there, and then they raise: nobody takes it for an answer."""
    records = tmp_path / "recorded.jsonl"
    text = "<|channel|>final<|message|>" + "word " * 4000 + "<|return|>"
    records.write_text(json.dumps({"match": "", "text": text, "delay": 0.05}))
    said: list[Any] = [{"role": "user", "content": "Hello"}]
    with command("--engine", f"replay={records}", "--request-timeout", "1") as (url, _):
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="-", max_retries=0)
        chunks = client.chat.completions.create(model="m", messages=said, stream=True)
        with pytest.raises(openai.APIError, match="takes too long"):
            list(chunks)
        events = list(client.responses.create(model="m", input="Hello", stream=True))
        assert events[-1].type == "response.failed"
        assert "takes too long" in events[-1].response.error.message
        other = anthropic.Anthropic(base_url=url, api_key="-", max_retries=0)
        with pytest.raises(anthropic.APIError, match="takes too long"):
            list(other.messages.create(model="m", max_tokens=9999, messages=said, stream=True))
        third = ollama.Client(host=url)
        with pytest.raises(ollama.ResponseError, match="takes too long"):
            list(third.chat(model="m", messages=said, stream=True))
