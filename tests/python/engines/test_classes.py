"""What the engines are asked, read by their own classes, which import without a GPU.

`make test-engines` installs both wheels without what they need on one.
"""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="make test-engines installs aiohttp")

from openai_harmony.interop import EngineReader, TokenLogprob
from openai_harmony.serve.engines import SampleRequest
from openai_harmony.serve.engines.sglang import Sglang
from openai_harmony.serve.engines.vllm import Vllm

REQUEST = SampleRequest(
    [200006, 1428, 200008],
    50,
    [200002, 200012],
    {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 0,
        "min_p": 0.05,
        "seed": 7,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "repetition_penalty": 1.1,
        "logit_bias": {9: 1.5},
    },
    index=2,
)


def sent(engine: Any, request: SampleRequest = REQUEST) -> dict[str, Any]:
    """A body as it is on the wire."""
    _, body = engine.asked(request)
    return dict(json.loads(json.dumps(body)))


def has(found: Any, **expected: Any) -> None:
    assert {name: getattr(found, name) for name in expected} == expected


SAMPLING: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.9,
    "min_p": 0.05,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.2,
    "repetition_penalty": 1.1,
}


def test_vllm_generate() -> None:
    name = "vllm.entrypoints.scale_out.token_in_token_out.protocol"
    classes = pytest.importorskip(name, reason="vLLM is not installed", exc_type=ImportError)
    engine = Vllm("http://127.0.0.1:1")
    engine.generates = True
    read = classes.GenerateRequest.model_validate(sent(engine))
    has(read, token_ids=REQUEST.prompt, stream=True, output_mode="tokens")
    assert not read.model_extra
    has(read.sampling_params, max_tokens=50, seed=9, detokenize=False, logit_bias={9: 1.5})
    has(read.sampling_params, stop_token_ids=[200002, 200012], n=1, top_k=0, **SAMPLING)


def test_vllm_completions() -> None:
    name = "vllm.entrypoints.openai.completion.protocol"
    classes = pytest.importorskip(name, reason="vLLM is not installed", exc_type=ImportError)
    read = classes.CompletionRequest.model_validate(sent(Vllm("http://127.0.0.1:1")))
    assert not read.model_extra
    has(read, prompt=REQUEST.prompt, max_tokens=50, seed=9, stream=True, return_token_ids=True)
    has(read, stop_token_ids=[200002, 200012], top_k=0, **SAMPLING)
    params = read.to_sampling_params(50, {})
    has(params, max_tokens=50, seed=9, logit_bias={9: 1.5}, **SAMPLING)


def test_sglang() -> None:
    name = "sglang.srt.sampling.sampling_params"
    classes = pytest.importorskip(name, reason="SGLang is not installed", exc_type=ImportError)
    body = sent(Sglang("http://127.0.0.1:1"))
    assert set(body) == {"input_ids", "sampling_params", "stream"}
    params = classes.SamplingParams(**body["sampling_params"])
    params.verify(201_088)
    has(params, max_new_tokens=50, sampling_seed=9, skip_special_tokens=False, **SAMPLING)
    has(params, stop_token_ids={200002, 200012}, logit_bias={"9": 1.5}, top_k=classes.TOP_K_ALL)


SURE = replace(REQUEST, logprobs=2)
GIVEN = [TokenLogprob(-0.5, {5: -0.5, 7: -1.5}), TokenLogprob(-2.0, {6: -2.0, 5: -0.25})]


def logprobs_of(engine: Vllm, choice: Any) -> Any:
    """What is read of an event with this choice."""
    event = {"choices": [choice.model_dump(mode="json")]}
    read = EngineReader(engine.form, 50, []).feed(f"data: {json.dumps(event)}\n\n".encode())
    return read[2]


def test_log_probabilities_of_vllm_generate() -> None:
    name = "vllm.entrypoints.scale_out.token_in_token_out.protocol"
    classes = pytest.importorskip(name, reason="vLLM is not installed", exc_type=ImportError)
    engine = Vllm("http://127.0.0.1:1")
    engine.generates = True
    read = classes.GenerateRequest.model_validate(sent(engine, SURE))
    assert not read.model_extra
    has(read.sampling_params, logprobs=2)
    content = [
        {
            "token_id": token,
            "logprob": one.logprob,
            "top_logprobs": [
                {"token_id": other, "logprob": top} for other, top in (one.top or {}).items()
            ],
        }
        for token, one in zip([5, 6], GIVEN)
    ]
    choice = classes.GenerateTokensStreamChoice(
        index=0, token_ids=[5, 6], logprobs=classes.GenerateLogProbs(content=content)
    )
    assert logprobs_of(engine, choice) == GIVEN


def test_log_probabilities_of_vllm_completions() -> None:
    name = "vllm.entrypoints.openai.completion.protocol"
    classes = pytest.importorskip(name, reason="vLLM is not installed", exc_type=ImportError)
    engine = Vllm("http://127.0.0.1:1")
    read = classes.CompletionRequest.model_validate(sent(engine, SURE))
    assert not read.model_extra
    has(read, logprobs=2, return_tokens_as_token_ids=True)
    has(read.to_sampling_params(50, {}), logprobs=2)
    logprobs = classes.CompletionLogProbs(
        tokens=["token_id:5", "token_id:6"],
        token_logprobs=[one.logprob for one in GIVEN],
        top_logprobs=[
            {f"token_id:{other}": top for other, top in (one.top or {}).items()} for one in GIVEN
        ],
    )
    choice = classes.CompletionResponseStreamChoice(
        index=0, text="", token_ids=[5, 6], logprobs=logprobs
    )
    assert logprobs_of(engine, choice) == GIVEN


def test_log_probabilities_of_sglang() -> None:
    """By the fields of its request's class, whose module needs torchvision."""
    sglang = pytest.importorskip("sglang", reason="SGLang is not installed")
    source = Path(sglang.__file__).parent / "srt" / "managers" / "io_struct.py"
    classes = {
        one.name: one
        for one in ast.parse(source.read_text("utf-8")).body
        if isinstance(one, ast.ClassDef)
    }
    fields = {
        one.target.id: ast.unparse(one.annotation)
        for one in classes["GenerateReqInput"].body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    body = sent(Sglang("http://127.0.0.1:1"), SURE)
    assert (body["return_logprob"], body["top_logprobs_num"]) == (True, 2)
    assert "bool" in fields["return_logprob"]
    assert "int" in fields["top_logprobs_num"]
