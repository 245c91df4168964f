"""A tiny gpt-oss with random weights answers all four APIs, in this process. `make test-engines`."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="make test-engines installs PyTorch")
pytest.importorskip("transformers", reason="make test-engines installs transformers")
pytest.importorskip("starlette", reason="make test-engines installs starlette")

import torch
import transformers

import openai_harmony
from gateways import BODIES, ENCODING, Answer, ask
from openai_harmony import serve
from openai_harmony.serve.constraint import constraint_of
from openai_harmony.serve.engines import EngineError, SampleRequest, connect

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES
PROMPT = [200006, 1428, 200008, 13225, 200007, 200006, 173781]
STOPS = [200002, 200012]


def sampled(engine: Any, **options: Any) -> tuple[list[int], Any]:
    request = SampleRequest(PROMPT, options.pop("max_tokens", 12), STOPS, options)

    async def run() -> tuple[list[int], Any]:
        found: list[int] = []
        reason = None
        async for some in engine.sample(request):
            found += some.tokens
            reason = some.reason
        return found, reason

    return asyncio.run(asyncio.wait_for(run(), 120))


LIMITS = {
    CHAT: {"max_tokens": 12},
    RESPONSES: {"max_output_tokens": 12},
    ANTHROPIC: {"max_tokens": 12},
    OLLAMA: {"options": {"num_predict": 12}},
    GENERATE: {"options": {"num_predict": 12}},
}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("stream", [False, True])
def test_each_api(engine: Any, path: str, stream: bool) -> None:
    async def run() -> Answer:
        return await ask(
            serve.app(engine), path, {**BODIES[path], **LIMITS[path], "stream": stream}
        )

    answer = asyncio.run(run())
    assert answer.status == 200, answer.body
    if not stream:
        said = json.dumps(answer.json())
        assert '"length"' in said or '"max_tokens"' in said or '"incomplete"' in said


@pytest.fixture(scope="module")
def model(folder: str) -> Any:
    """The same model without the engine."""
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="auto")


def test_it_is_a_model(engine: Any, model: Any) -> None:
    asyncio.run(engine.check())
    assert (engine.name, engine.model, engine.context) == ("transformers", "tiny-gpt-oss", 1024)
    greedy, reason = sampled(engine, temperature=0.0)
    assert (len(greedy), reason) == (12, "length")
    assert sampled(engine, temperature=0.0) == (greedy, reason)
    prompt = torch.tensor([PROMPT])
    known = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False
    )
    assert known[0, len(PROMPT) :].tolist() == greedy
    seeded = {"temperature": 1.0, "top_p": 0.9, "top_k": 50, "min_p": 0.01, "seed": 7}
    first, _ = sampled(engine, **seeded)
    assert sampled(engine, **seeded)[0] == first != greedy
    assert sampled(engine, **{**seeded, "seed": 8})[0] != first


def test_options(engine: Any) -> None:
    wanted = ENCODING.encode("!")[0]
    biased, _ = sampled(engine, temperature=0.0, logit_bias={wanted: 100.0})
    assert biased == [wanted] * 12
    other, _ = sampled(engine, temperature=0.0, logit_bias={wanted: 3.0}, repetition_penalty=1.9)
    assert len(other) == 12
    stopped, reason = sampled(engine, temperature=0.0, logit_bias={200002: 100.0})
    assert (stopped, reason) == ([200002], "stop")
    stopped, reason = sampled(engine, max_tokens=2, temperature=0.0, logit_bias={200002: 100.0})
    assert (stopped, reason) == ([200002], "stop")
    with pytest.raises(EngineError, match="^presence_penalty: transformers has no such") as error:
        sampled(engine, presence_penalty=1.0)
    assert error.value.status == 400


class AskedError(Exception):
    """What the model was asked."""


def asked(engine: Any, monkeypatch: pytest.MonkeyPatch, request: SampleRequest) -> dict[str, Any]:
    def generate(model: Any, ids: Any, **options: Any) -> None:
        raise AskedError(options)

    async def run() -> None:
        async for _ in engine.sample(request):
            raise AssertionError("it sampled")

    monkeypatch.setattr(transformers.GptOssForCausalLM, "generate", generate)
    with pytest.raises(EngineError, match="transformers failed: Asked") as error:
        asyncio.run(asyncio.wait_for(run(), 120))
    cause = error.value.__cause__
    assert isinstance(cause, AskedError)
    found: dict[str, Any] = cause.args[0]
    return found


SAMPLED = {"do_sample": True, "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": None}


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ({}, SAMPLED),
        ({"temperature": 0.0}, {"do_sample": False}),
        ({"temperature": 0.0, "top_k": 5}, {"do_sample": False}),
        ({"temperature": 0.5, "top_k": 5}, {**SAMPLED, "temperature": 0.5, "top_k": 5}),
        ({"top_p": 0.5, "min_p": 0.0}, {**SAMPLED, "top_p": 0.5}),
        ({"min_p": 0.1}, {**SAMPLED, "min_p": 0.1}),
        ({"repetition_penalty": 2}, {**SAMPLED, "repetition_penalty": 2.0}),
        ({"logit_bias": {5: 1.0}}, {**SAMPLED, "sequence_bias": [[[5], 1.0]]}),
        ({"logit_bias": {}, "presence_penalty": 0.0, "seed": 1}, SAMPLED),
    ],
)
def test_sampling_in_the_words_of_generate(
    engine: Any, monkeypatch: pytest.MonkeyPatch, sampling: Any, expected: Any
) -> None:
    options = asked(engine, monkeypatch, SampleRequest(PROMPT, 12, STOPS, sampling))
    names = ("attention_mask", "stopping_criteria")
    assert {name: one for name, one in options.items() if name not in names} == {
        "max_new_tokens": 12,
        "eos_token_id": STOPS,
        "pad_token_id": STOPS[0],
        "logits_processor": [],
        **expected,
    }


def test_a_grammar_is_a_processor(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llguidance", reason="make test-engines installs llguidance")
    assert engine.constrains
    body = {**BODIES[CHAT], "response_format": {"type": "json_object"}}
    grammar = constraint_of(openai_harmony.interop.chat_completions.read(body))
    constrained = SampleRequest(PROMPT, 12, STOPS, {}, grammar=grammar)
    [processor] = asked(engine, monkeypatch, constrained)["logits_processor"]
    assert type(processor).__name__ == "Guidance"
    monkeypatch.setattr(engine, "constrains", False)
    assert asked(engine, monkeypatch, constrained)["logits_processor"] == []


def test_log_probabilities_are_those_of_the_model(engine: Any, model: Any) -> None:
    request = SampleRequest(PROMPT, 6, STOPS, {"temperature": 0.7, "seed": 3}, logprobs=2)

    async def run() -> list[Any]:
        return [some async for some in engine.sample(request)]

    found = asyncio.run(asyncio.wait_for(run(), 120))
    tokens = [token for some in found for token in some.tokens]
    given = [one for some in found for one in some.logprobs or []]
    assert len(given) == len(tokens) == 6
    with torch.inference_mode():
        logits = model(torch.tensor([PROMPT + tokens])).logits[0, len(PROMPT) - 1 : -1]
    expected = torch.log_softmax(logits.float(), dim=-1)
    for token, one, row in zip(tokens, given, expected):
        assert one.logprob == pytest.approx(float(row[token]), abs=2e-2)
        likely = row.topk(2)
        assert list(one.top) == likely.indices.tolist()
        assert list(one.top.values()) == pytest.approx(likely.values.tolist(), abs=2e-2)


def test_an_answer_has_them(engine: Any) -> None:
    """Of a continued answer, all of whose tokens are visible."""
    said = [*BODIES[CHAT]["messages"], {"role": "assistant", "content": "I", "prefix": True}]
    asked = {"messages": said, "logprobs": True, "top_logprobs": 3, "max_tokens": 5}
    asked["logit_bias"] = {str(ENCODING.encode("!")[0]): 100}
    answer = asyncio.run(ask(serve.app(engine), CHAT, asked))
    entries = answer.json()["choices"][0]["logprobs"]["content"]
    assert [entry["token"] for entry in entries] == ["!"] * 5
    assert [len(entry["top_logprobs"]) for entry in entries] == [3] * 5


def test_a_client_that_leaves_frees_the_model(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    def generate(model: Any, ids: Any, stopping_criteria: Any, **_: Any) -> None:
        for _ in range(3000):
            if stopping_criteria[0](ids, None).all():
                ended.append("early")
                return
            time.sleep(0.001)

    monkeypatch.setattr(transformers.GptOssForCausalLM, "generate", generate)

    async def run() -> None:
        for _ in range(2):  # The second waits for nothing that the first has left.
            sampling = engine.sample(SampleRequest(PROMPT, 3000, STOPS, {}))
            first = await anext(sampling)
            assert first.tokens == [PROMPT[-1]]
            await sampling.aclose()
        assert ended == ["early"] * 2

    asyncio.run(asyncio.wait_for(run(), 120))


def test_where_the_model_is_loaded(
    model: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = []

    def load(_: str, dtype: str, device_map: Any) -> Any:
        places.append((dtype, device_map))
        return model

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", load)
    for has_one in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_one=has_one: has_one)
        assert connect(f"transformers={tmp_path}/a/").model == "a"
    assert places == [("auto", None), ("auto", "auto")]


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="transformers cannot load") as error:
        connect(f"transformers={tmp_path}")
    assert error.value.status == 503
