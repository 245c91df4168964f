"""vLLM's own render servers and this one, side by side: the same prompts, and streams that alternate between the two."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip(
    "vllm.parser.harmony", reason="make test-engines installs vLLM", exc_type=ImportError
)
import httpx

from gateways import ask
from openai_harmony import load_harmony_encoding, serve
from openai_harmony.interop import chat_completions

from . import render_bodies
from .vllm_server import DATE, MODEL, render_server, rust_render_server

ENCODING = load_harmony_encoding("HarmonyGptOss")
CHAT = "/v1/chat/completions"
BODIES = 1000
USER = [{"role": "user", "content": "Rain?"}]
TOOL = {"type": "function", "function": {"name": "rain", "parameters": {"type": "object"}}}
REQUEST = {"messages": USER, "tools": [TOOL]}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with render_server(tmp_path_factory.mktemp("model")) as client:
        yield client


@pytest.fixture(scope="module")
def theirs_in_rust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with rust_render_server(tmp_path_factory.mktemp("model")) as client:
        yield client


def ours(app: Any, path: str, body: Any) -> Any:
    answer = asyncio.run(ask(app, path, body, headers={"content-type": "application/json"}))
    assert answer.status == 200, answer.body
    return answer.json()


@pytest.mark.parametrize(
    ("server", "prompts"), [("theirs", "vllm-0.33"), ("theirs_in_rust", "vllm-rs-0.33")]
)
def test_prompts_are_equal(server: str, prompts: Any, request: pytest.FixtureRequest) -> None:
    theirs = request.getfixturevalue(server)
    for seed in range(BODIES):
        body = render_bodies.body(random.Random(seed))
        answer = theirs.post(f"{CHAT}/render", json=body)
        assert answer.status_code == 200, answer.text
        turn = chat_completions.read(body, prompts=prompts, date=DATE)
        found, expected = turn.prompt(ENCODING), answer.json()["token_ids"]
        assert found == expected, f"{seed}: {ENCODING.decode(found)}\n{ENCODING.decode(expected)}"


def test_answers_have_the_same_fields(theirs: Any) -> None:
    app = serve.app("none", model=MODEL)
    for path, body in (
        (f"{CHAT}/render", {"messages": USER, "max_tokens": 17, "seed": 1}),
        ("/v1/completions/render", {"prompt": ["a", "b"], "max_tokens": 3}),
        ("/v1/responses/render", {"input": "Hi"}),
        ("/v1/messages/render", {"model": MODEL, "messages": USER, "max_tokens": 9}),
    ):
        answer = theirs.post(path, json=body)
        assert answer.status_code == 200, answer.text
        found, expected = ours(app, path, body), answer.json()
        one, other = (made[0] if isinstance(made, list) else made for made in (found, expected))
        assert set(one) == set(other), path
        differ = set(other["sampling_params"]) ^ set(one["sampling_params"])
        assert differ <= {"max_tokens", "extra_args"}, (path, differ)


def clean(rng: random.Random) -> str:
    """An output as the model writes it: a thought, and an answer or a call."""
    word = lambda: " ".join(rng.choices(render_bodies.WORDS[:9], k=rng.randint(1, 9)))  # noqa: E731
    thought = f"<|channel|>analysis<|message|>{word()}<|end|><|start|>assistant"
    if rng.random() < 0.5:
        return f"{thought}<|channel|>final<|message|>{word()}<|return|>"
    arguments = json.dumps({"city": "Oslo"})
    header = "<|channel|>commentary to=functions.rain <|constrain|>json<|message|>"
    return f"{thought}{header}{arguments}<|call|>"


def pieces_of(sampled: list[int], rng: random.Random) -> list[list[int]]:
    pieces, at = [], 0
    while at < len(sampled):
        size = rng.randint(1, 5)
        pieces.append(sampled[at : at + size])
        at += size
    return pieces


def test_streams_may_alternate(theirs: Any) -> None:
    app = serve.app("none", model=MODEL)
    rng = random.Random(3)
    for _ in range(40):
        sampled = ENCODING.encode(clean(rng), allowed_special="all")
        pieces = pieces_of(sampled, rng)
        seen = []
        for servers in ((app,), (theirs,), (app, theirs), (theirs, app)):
            seen.append(streamed(servers, pieces))
        assert seen[0] == seen[1] == seen[2] == seen[3], ENCODING.decode(sampled)


def streamed(servers: tuple[Any, ...], pieces: list[list[int]]) -> dict[str, Any]:
    """The message that a client gets from servers that take turns."""
    message: dict[str, Any] = {"content": "", "reasoning": "", "calls": {}}
    state = None
    for at, piece in enumerate(pieces):
        choice: dict[str, Any] = {"index": 0, "token_ids": piece}
        if at == len(pieces) - 1:
            choice |= {"finish_reason": "stop", "stop_reason": piece[-1]}
        body = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice]},
            "chat_request": REQUEST,
            "prompt_token_ids": [200006],
            "stream_state": state,
        }
        server = servers[at % len(servers)]
        if isinstance(server, httpx.Client):
            answer = server.post(f"{CHAT}/derender", json=body)
            assert answer.status_code == 200, answer.text
            made = answer.json()
        else:
            made = ours(server, f"{CHAT}/derender", body)
        state = made["stream_state"]
        [one] = made["chunk"]["choices"]
        delta = one["delta"]
        for field in ("content", "reasoning"):
            message[field] += delta.get(field) or ""
        for call in delta.get("tool_calls") or []:
            known = message["calls"].setdefault(call["index"], {"name": "", "arguments": ""})
            for field in known:
                known[field] += call["function"].get(field) or ""
        message["reason"] = one["finish_reason"]
    return message
