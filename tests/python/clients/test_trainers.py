"""Clients of trainers and evaluations: they get the tokens that were sampled, and continue from them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from openai_harmony import load_harmony_encoding
from recorded import WEATHER
from running_gateways import command

ENCODING = load_harmony_encoding("HarmonyGptOss")
SAMPLED = [ENCODING.encode(record["text"], allowed_special="all") for record in WEATHER]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}
BODY = {
    "model": "gpt-oss-20b",
    "messages": [{"role": "user", "content": "Where is it sunny?"}],
    "tools": [{"type": "function", "function": FUNCTION}],
}
RESULTS = {"Oslo": "OSLO-SUN", "Bergen": "BERGEN-RAIN"}


@pytest.fixture(scope="session")
def likely(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway whose engine has a log-probability for each token."""
    file = tmp_path_factory.mktemp("likely") / "recorded.jsonl"
    file.write_text("\n".join(json.dumps({**record, "logprob": -0.5}) for record in WEATHER))
    with command("--engine", f"replay={file}") as (url, _):
        yield url


@contextmanager
def served(app: Any) -> Iterator[str]:
    """An application of others at a port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_rllms_gateway_has_traces_of_what_was_sampled(likely: str) -> None:
    rllm = pytest.importorskip("rllm_model_gateway", reason="make test-agents installs it")
    worker = rllm.WorkerConfig(worker_id="w", url=f"{likely}/v1", model_name="gpt-oss-20b")
    config = rllm.GatewayConfig(store_worker="memory", workers=[worker], sync_traces=True)
    with served(rllm.create_app(config)) as url, httpx.Client(base_url=url, timeout=30) as client:
        session = client.post("/sessions", json={}).json()["session_id"]
        for stream in (False, True):
            path = f"/sessions/{session}/v1/chat/completions"
            assert client.post(path, json={**BODY, "stream": stream}).status_code == 200
        traces = client.get(f"/sessions/{session}/traces").json()
    prompt = httpx.post(f"{likely}/tokenize", json=BODY).json()["tokens"]
    for trace in traces:
        assert trace["prompt_token_ids"] == prompt
        assert trace["completion_token_ids"] == SAMPLED[2]
        assert trace["logprobs"] == [-0.5] * len(SAMPLED[2])
    assert len(traces) == 2


def test_verifiers_continues_from_sampled_tokens(likely: str) -> None:
    vf = pytest.importorskip("verifiers", reason="pip install verifiers")
    from openai import AsyncOpenAI
    from verifiers.clients.openai_chat_completions_token_client import (
        OpenAIChatCompletionsTokenClient,
    )

    client = OpenAIChatCompletionsTokenClient(AsyncOpenAI(base_url=f"{likely}/v1", api_key="-"))
    tool = vf.types.Tool(**FUNCTION)

    async def run() -> list[Any]:
        state: dict[str, Any] = {"trajectory": [], "model": "gpt-oss-20b"}
        prompt = [vf.types.UserMessage(content="Where is it sunny?")]
        steps: list[Any] = []
        for result in ("OSLO-SUN", "BERGEN-RAIN", None):
            arguments = {"max_tokens": 200}
            answer = await client.get_response(
                prompt, "gpt-oss-20b", arguments, [tool], state=state
            )
            made = answer.message.tokens
            assert made.completion_logprobs == [-0.5] * len(made.completion_ids)
            if steps:
                before = steps[-1].prompt_ids + steps[-1].completion_ids
                assert made.prompt_ids[: len(before)] == before
            steps.append(made)
            tokens = {"prompt_ids": made.prompt_ids, "completion_ids": made.completion_ids}
            step = {"prompt": [*prompt], "completion": [answer.message], "response": answer}
            state["trajectory"].append({**step, "tokens": {**tokens, "is_truncated": False}})
            if result is not None:
                [call] = answer.message.tool_calls
                said = vf.types.ToolMessage(content=result, tool_call_id=call.id)
                prompt = [*prompt, answer.message, said]
        return steps

    steps = asyncio.run(run())
    assert [step.completion_ids for step in steps] == [SAMPLED[2], SAMPLED[1], SAMPLED[0]]


def test_strands_vllm_records_tokens(likely: str) -> None:
    package = pytest.importorskip("strands_vllm", reason="pip install strands-vllm")
    from strands import Agent, tool

    @tool
    def get_weather(city: str) -> str:
        """The weather."""
        return RESULTS[city]

    options = {"base_url": f"{likely}/v1", "api_key": "-", "model_id": "gpt-oss-20b"}
    model = package.VLLMModel(**options, return_token_ids=True)
    recorder = package.VLLMTokenRecorder()
    said = Agent(model=model, tools=[get_weather], callback_handler=recorder)("Where is it sunny?")
    assert str(said).strip() == "Oslo."
    found = [step["token_ids"] for step in recorder.history]
    assert found == [SAMPLED[2], SAMPLED[1], SAMPLED[0]]


async def echoed(request: Request) -> JSONResponse:
    """vLLM's answer to prompts of tokens whose log-probabilities are asked for."""
    body = await request.json()
    assert (body["echo"], body["logprobs"], body["max_tokens"]) == (True, 1, 1)
    choices = []
    for index, prompt in enumerate(body["prompt"]):
        values = [None, *(-float(at) for at in range(1, len(prompt) + 1))]
        tops = [None if value is None else {"x": value} for value in values]
        logprobs = {"token_logprobs": values, "top_logprobs": tops}
        choices.append({"index": index, "text": "", "logprobs": logprobs})
    return JSONResponse({"choices": choices})


def of_engine() -> Starlette:
    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"data": [{"id": "gpt-oss-20b", "max_model_len": 131_072}]})

    routes = [Route("/v1/completions", echoed, methods=["POST"]), Route("/v1/models", models)]
    return Starlette(routes=routes)


def test_lm_evals_prompts_of_tokens(tmp_path: Path) -> None:
    """Several in a batch, by a tokenizer that is the gateway's."""
    pytest.importorskip("lm_eval", reason="pip install 'lm-eval[api]'")
    from lm_eval.api.instance import Instance
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    with (
        served(of_engine()) as engine,
        command("--engine", f"completions={engine}") as (url, _),
    ):
        options: dict[str, Any] = {"base_url": f"{url}/v1/completions", "batch_size": 4}
        model = LocalCompletionsAPI(model="gpt-oss-20b", tokenizer_backend="remote", **options)
        pairs = [("The sky is", " blue"), ("Two and two are", " four today"), ("A", " b")]
        asked = [Instance("loglikelihood", {}, pair, at) for at, pair in enumerate(pairs)]
        found = model.loglikelihood(asked)
    expected = []
    for context, continuation in pairs:
        before, whole = (len(ENCODING.encode(one)) for one in (context, context + continuation))
        expected.append((-float(sum(range(before, whole))), True))
    assert found == expected
