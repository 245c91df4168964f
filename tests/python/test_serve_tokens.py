"""What trainers get through the gateway: tokens, their log-probabilities, and prompts that continue them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

import fake_engines
from gateways import ENCODING, Answer, Engine, ask, says, tokens
from openai_harmony import serve
from openai_harmony.serve.engines.engine import Sampled, SampleRequest
from tables import table

CHAT = "/v1/chat/completions"
THOUGHT = "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant"
CALL = (
    f'{THOUGHT}<|channel|>commentary to=functions.f <|constrain|>json<|message|>{{"a":1}}<|call|>'
)
FINAL = f"{THOUGHT}<|channel|>final<|message|>Sun ☀.<|return|>"
RESULT = (
    "<|start|>functions.f to=assistant<|channel|>commentary<|message|>R<|end|><|start|>assistant"
)
QUESTION = "<|start|>user<|message|>And?<|end|><|start|>assistant"
FUNCTION = {"name": "f", "parameters": {"type": "object"}}
ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": FUNCTION}],
    "return_token_ids": True,
}


def asked(path: str, body: Any, engine: Engine | None = None) -> Answer:
    return asyncio.run(ask(serve.app(engine or says(FINAL)), path, body))


def likely(text: str, size: int, unknown: int = 0) -> Engine:
    """The log-probability of each token is its place, but those of the first ones are not known."""

    async def sample(request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        found = tokens(text)
        given = [None if at < unknown else (-float(at), {}) for at in range(len(found))]
        for at in range(0, len(found), size):
            yield Sampled(found[at : at + size], None, given[at : at + size])
        yield Sampled([], "stop")

    return Engine(sample)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("unknown", [0, 5])
@pytest.mark.parametrize("text", [CALL, FINAL])
@pytest.mark.parametrize("asks", ["return_token_ids", "return_tokens_as_token_ids"])
def test_all_sampled_tokens_with_their_log_probabilities(
    size: int, unknown: int, text: str, asks: str
) -> None:
    """As vLLM has them: one entry a token, whole and in chunks, the prompt's in the first chunk."""
    body = {**ASKED, "return_token_ids": False, asks: True, "logprobs": True, "n": 2}
    whole = asked(CHAT, body, likely(text, size, unknown)).json()
    events = asked(CHAT, {**body, "stream": True}, likely(text, size, unknown)).events()
    sampled = tokens(text)
    expected = [-9999.0] * unknown + [-float(at) for at in range(unknown, len(sampled))]
    for index in range(2):
        choice = whole["choices"][index]
        chunks = [one for event in events for one in event["choices"] if one["index"] == index]
        parts = [(chunk["logprobs"] or {}).get("content", []) for chunk in chunks]
        entries = choice["logprobs"]["content"]
        assert [entry for part in parts for entry in part] == entries
        assert [entry["logprob"] for entry in entries] == expected
        if asks == "return_tokens_as_token_ids":
            assert [entry["token"] for entry in entries] == [f"token_id:{one}" for one in sampled]
            assert "token_ids" not in choice
            continue
        assert choice["token_ids"] == sampled
        assert [one for chunk in chunks for one in chunk.get("token_ids", [])] == sampled
    brought = [event["prompt_token_ids"] for event in events if "prompt_token_ids" in event]
    prompts = [whole["prompt_token_ids"]] * 2 if asks == "return_token_ids" else []
    assert brought == prompts
    if prompts:
        rendered = asked("/tokenize", body).json()
        assert rendered["tokens"] == prompts[0]
        assert rendered["count"] == whole["usage"]["prompt_tokens"]


def test_an_engine_without_log_probabilities() -> None:
    assert asked(CHAT, {**ASKED, "logprobs": True}).json()["choices"][0]["logprobs"] is None


def continued(sampled: str, messages: list[Any], how: str, path: str = CHAT) -> Any:
    """The answer to a body that brings the tokens of its first prompt and what was sampled."""
    prompt = asked(CHAT, ASKED).json()["prompt_token_ids"]
    said = asked(CHAT, ASKED, says(sampled)).json()["choices"][0]["message"]
    body: dict[str, Any] = {**ASKED, "messages": [*ASKED["messages"], said, *messages]}
    for at, call in enumerate(said.get("tool_calls", [])):
        messages[at]["tool_call_id"] = call["id"]
    if how == "message":
        said |= {"prompt_token_ids": prompt, "generation_token_ids": tokens(sampled)}
        said["generation_log_probs"] = [0.0] * len(tokens(sampled))
    else:
        body[how] = prompt + tokens(sampled)
    answer = asked(path, body).json()
    if "error" in answer:
        return answer["error"]
    found = answer["tokens" if path == "/tokenize" else "prompt_token_ids"]
    brought = prompt + tokens(sampled)
    assert found[: len(brought)] == brought
    return ENCODING.decode(found[len(brought) :])


@pytest.mark.parametrize("generates", [True, False])
@pytest.mark.parametrize("more", [{}, {"n": 2, "logprobs": True, "top_logprobs": 1}])
def test_what_only_vllm_says_of_prompts_and_experts(generates: bool, more: dict[str, Any]) -> None:
    """Where vLLM has them: next to the choices, and in each; of experts also streams of ``generate``."""

    async def run() -> None:
        async with fake_engines.running(
            fake_engines.vllm(tokens(FINAL), generates=generates)
        ) as fake:
            app = serve.app(f"vllm={fake.url}")
            said = (await ask(app, CHAT, {**ASKED, **more, "prompt_logprobs": 1})).json()
            expected = fake_engines.prompt_logprobs(said["prompt_token_ids"])
            assert said["prompt_logprobs"] == expected
            plain = (await ask(app, CHAT, {**ASKED, **more})).json()
            assert "prompt_logprobs" not in plain
            for choice, same in zip(said["choices"], plain["choices"], strict=True):
                assert choice.pop("routed_experts") == fake_engines.EXPERTS
                assert same.pop("routed_experts", None) == (
                    fake_engines.EXPERTS if generates else None
                )
                assert choice == same
            body = {**ASKED, **more, "routed_experts_prompt_start": 3, "stream": True}
            for event in (await ask(app, CHAT, body)).events():
                for choice in event["choices"]:
                    found = fake_engines.EXPERTS if choice["finish_reason"] else None
                    assert choice.get("routed_experts") == found
            refused = await ask(app, CHAT, {**body, "prompt_logprobs": 1})
            assert (refused.status, refused.json()["error"]["param"]) == (400, "prompt_logprobs")
            await app.state.gateway.engine.aclose()

    asyncio.run(run())
    for body in ({"prompt_logprobs": 1}, {"routed_experts_prompt_start": 0}):
        assert asked(CHAT, {**ASKED, **body}).json()["error"]["param"] in body


HOW = ["prefix_token_ids", "required_prefix_token_ids", "message"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("path", [CHAT, "/tokenize"])
@pytest.mark.parametrize(
    ("sampled", "message", "added"),
    table("serve_tokens", "a prefix is continued token for token"),
)
def test_a_prefix_is_continued_token_for_token(
    how: str, path: str, sampled: str, message: Any, added: str
) -> None:
    assert continued(sampled, [dict(message)], how, path) == added


USER: list[Any] = [{"role": "user", "content": "And?"}]


@pytest.mark.parametrize(
    ("how", "sampled", "messages", "reason"),
    [
        *((how, f"{THOUGHT}<|channel|>fin", USER, "they end inside a header") for how in HOW),
        ("message", FINAL, [*USER, {"role": "assistant", "content": "x"}, *USER], "assistant"),
    ],
)
def test_a_prefix_that_cannot_be_continued_says_why(
    how: str, sampled: str, messages: list[Any], reason: str
) -> None:
    error = continued(sampled, [dict(one) for one in messages], how)
    assert error["type"] == "invalid_request_error"
    assert reason in error["message"]
    assert error["param"] in (how, "messages[1]")


def test_fields_that_are_used_are_not_reported_as_unused() -> None:
    app = serve.app(says(FINAL))
    brought = {"prefix_token_ids": tokens(PROMPT + FINAL), "tokens": [5]}
    said = {"role": "assistant", "content": "x", "prompt_token_ids": [5]}
    body = {**ASKED, **brought, "messages": [*ASKED["messages"], said, *USER]}

    async def run() -> str:
        assert (await ask(app, CHAT, body)).status == 200
        return (await ask(app, "/metrics")).body.decode()

    reported = asyncio.run(run())
    assert '"tokens"' in reported
    assert "prefix_token_ids" not in reported
    assert "prompt_token_ids" not in reported


PROMPT = "<|start|>user<|message|>Q<|end|><|start|>assistant"


def test_a_prompt_of_tokens_is_sampled_from_as_it_is() -> None:
    engine = says(FINAL)
    body = {**ASKED, "tokens": tokens(PROMPT)}
    answer = asked(f"{CHAT}/tokens", body, engine).json()
    assert answer["prompt_token_ids"] == engine.asked[0].prompt == tokens(PROMPT)
    assert answer["choices"][0]["message"]["content"] == "Sun ☀."


@pytest.mark.parametrize(
    ("path", "body", "path_of_error"),
    table("serve_tokens", "what is refused"),
)
def test_what_is_refused(path: str, body: Any, path_of_error: str) -> None:
    answer = asked(path, body)
    assert answer.status == 400
    assert answer.json()["error"]["param"] == path_of_error


def test_texts_to_tokens_and_back() -> None:
    made = asked("/tokenize", {"prompt": "Sun ☀<|end|>", "return_token_strs": True}).json()
    assert made["tokens"] == tokens("Sun ☀<|end|>")
    assert (made["count"], made["max_model_len"]) == (len(made["tokens"]), 131_072)
    assert made["token_strs"][-1] == "<|end|>"
    assert asked("/detokenize", {"tokens": made["tokens"]}).json() == {"prompt": "Sun ☀<|end|>"}
    assert asked("/detokenize", {"tokens": []}).json() == {"prompt": ""}
    cut = {**ASKED, "add_generation_prompt": False}
    both = [asked("/tokenize", body).json()["tokens"] for body in (cut, ASKED)]
    assert both[1] == both[0] + tokens("<|start|>assistant")
