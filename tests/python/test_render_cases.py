"""What routers ask ``/render`` and ``/derender`` for, case by case, and what of the answers they read."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import ENCODING, Answer, ask, tokens
from openai_harmony import serve
from tables import table
from test_serve_render import (
    ANSWER,
    CALLS,
    CHAT,
    RAIN,
    TEXTS,
    USER,
    asked,
    choice,
    joined,
    message_of,
    streamed,
    whole,
)

TOOL_LOOP = [*table("render_cases", "tool loop"), *USER]
PARTS = [{"role": "user", "content": [{"type": "text", "text": one} for one in ("a", "b")]}]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
NAMED = {"type": "function", "function": {"name": "rain"}}
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


def prompt(made: Any) -> str:
    return ENCODING.decode(made["token_ids"])


def sampling(made: Any) -> Any:
    return made["sampling_params"]


Check = Callable[[Any], bool]
RENDERED: dict[int, tuple[dict[str, Any], Check]] = {
    1: (
        {"messages": USER},
        lambda made: len(made["token_ids"]) == 68 and prompt(made).endswith("<|start|>assistant"),
    ),
    2: (
        {
            "messages": [{"role": "developer", "content": "Be brief."}, *USER],
            "tools": [RAIN],
            "reasoning_effort": "high",
        },
        lambda made: "Reasoning: high" in prompt(made) and "type rain" in prompt(made),
    ),
    3: (
        {"messages": TOOL_LOOP[:3], "tools": [RAIN]},
        lambda made: "functions.rain<|channel|>commentary to=assistant" in prompt(made),
    ),
    4: (
        {"messages": TOOL_LOOP, "tools": [RAIN]},
        lambda made: prompt(made).index("Let me see.") < prompt(made).index("Weather?"),
    ),
    5: ({"messages": PARTS}, lambda made: "<|message|>ab<|end|>" in prompt(made)),
    6: (
        {"messages": USER, "response_format": SCHEMA},
        lambda made: (
            "structural_tag" in sampling(made)["structured_outputs"]
            and "Response Formats" not in prompt(made)
        ),
    ),
    7: (
        {"messages": USER, "tools": [RAIN], "tool_choice": NAMED},
        lambda made: (
            "structural_tag" in sampling(made)["structured_outputs"]
            and prompt(made).endswith("<|start|>assistant")
        ),
    ),
    8: (
        {"messages": USER, "tools": [RAIN], "tool_choice": "none"},
        lambda made: "type rain" in prompt(made),
    ),
    9: ({"messages": USER, "max_tokens": 16}, lambda made: sampling(made)["max_tokens"] == 16),
    10: (
        {"messages": USER},
        lambda made: sampling(made)["max_tokens"] == 131_072 - len(made["token_ids"]),
    ),
    11: (
        {
            "messages": USER,
            "n": 2,
            "seed": 7,
            "stop": "x",
            "top_k": 5,
            "cache_salt": "s",
            "priority": 3,
        },
        lambda made: (
            [sampling(made)[name] for name in ("n", "seed", "stop", "top_k")] == [2, 7, ["x"], 5]
            and (made["cache_salt"], made["priority"]) == ("s", 3)
        ),
    ),
}


@pytest.mark.parametrize("case", RENDERED)
def test_rendered(case: int) -> None:
    body, check = RENDERED[case]
    answer = asked(f"{CHAT}/render", body)
    assert answer.status == 200, answer.body
    assert check(answer.json()), ENCODING.decode(answer.json()["token_ids"])


def test_the_id_of_a_request_is_in_the_answer() -> None:
    made = asked(f"{CHAT}/render", {"messages": USER}, **{"x-request-id": "mine"}).json()
    assert made["request_id"] == "chatcmpl-mine"


def test_what_is_not_sent_as_json_is_refused() -> None:
    assert refused(asyncio.run(ask(serve.app("none"), f"{CHAT}/render", {"messages": USER})))
    assert refused(asked(f"{CHAT}/render", b"{"))


def test_another_model_is_not_found() -> None:
    body = {"messages": USER, "model": "other"}
    answer = asked(f"{CHAT}/render", body)
    assert answer.status == 404
    assert answer.json()["error"]["type"] == "NotFoundError"
    assert asked(f"{CHAT}/render", {"messages": USER}).status == 200


def test_a_prompt_beyond_the_context_is_refused() -> None:
    long = {"messages": [{"role": "user", "content": "a " * 200}]}
    assert refused(asked(f"{CHAT}/render", long, serve.app("none=100")))
    assert refused(asked(f"{TEXTS}/render", {"prompt": "a " * 200}, serve.app("none=100")))


def test_an_image_is_left_out_as_in_vllm() -> None:
    """The warm-up of llm-d's token producer. vLLM drops the image, so its prompts do, too."""
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, IMAGE]}]}
    answer = asked(f"{CHAT}/render", body)
    assert answer.status == 200
    assert prompt(answer.json()).endswith("<|message|>a<|end|><|start|>assistant")
    own = serve.app("none", render_prompts="harmony")
    assert refused(asked(f"{CHAT}/render", body, own))


def test_each_prompt_of_completions_is_rendered() -> None:
    for given, count in (("a", 1), (["a", "b"], 2), ([1, 2], 1), ([[1], [2], [3]], 3)):
        assert len(asked(f"{TEXTS}/render", {"prompt": given}).json()) == count
    [made] = asked(f"{TEXTS}/render", {"prompt": "a"}).json()
    assert made["sampling_params"]["max_tokens"] == 16


def test_a_stored_response_is_refused() -> None:
    answer = asked("/v1/responses/render", {"input": "a", "previous_response_id": "b"})
    assert refused(answer)
    assert answer.json()["error"]["param"] == "previous_response_id"


def test_a_whole_answer_is_derendered() -> None:
    assert message_of(whole(tokens(ANSWER)))["content"] == "Hi 😀 there."
    called = whole(tokens(CALLS), {"messages": USER, "tools": [RAIN]}, finish_reason="stop")
    assert called["choices"][0]["finish_reason"] == "tool_calls"
    cut = whole(tokens(ANSWER)[:-1], finish_reason="length")
    assert cut["choices"][0]["finish_reason"] == "length"


def test_what_is_missing_for_derendering_is_refused() -> None:
    generated = {"request_id": "r", "choices": [choice([1])]}
    assert refused(asked(f"{CHAT}/derender", {"generate_response": generated}))
    body = {"stream": True, "generate_chunk": generated, "chat_request": {"messages": USER}}
    assert refused(asked(f"{CHAT}/derender", body))


def test_pieces_of_any_size_make_the_same_answer() -> None:
    sampled = tokens(ANSWER)
    for size in range(1, len(sampled) + 1):
        pieces = [sampled[at : at + size] for at in range(0, len(sampled), size)]
        assert joined(streamed(pieces)) == message_of(whole(sampled))


def test_two_servers_derender_one_stream() -> None:
    pieces = [[token] for token in tokens(CALLS)]
    body = {"messages": USER, "tools": [RAIN]}
    two = streamed(pieces, body, [serve.app("none"), serve.app("none")])
    assert joined(two) == joined(streamed(pieces, body))


def test_an_end_and_a_usage_need_no_tokens() -> None:
    chunks = streamed([tokens(ANSWER), []])
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    body = {
        "stream": True,
        "generate_chunk": {"request_id": "r", "choices": [], "usage": {"completion_tokens": 4}},
        "chat_request": {"messages": USER},
        "prompt_token_ids": [1],
    }
    assert asked(f"{CHAT}/derender", body).json()["chunk"]["choices"] == []


def test_states_and_choices_that_do_not_fit_are_refused() -> None:
    body = {
        "stream": True,
        "generate_chunk": {"request_id": "r", "choices": [choice([1])]},
        "chat_request": {"messages": USER},
        "prompt_token_ids": [1],
    }
    for wrong in (
        {"stream_state": {"output_token_ids": [1], "output_chunk_lens": [2]}},
        {"generate_chunk": {"request_id": "r", "choices": [choice([1]), choice([2])]}},
        {"prompt_token_ids": [1] * 131_072},
    ):
        assert refused(asked(f"{CHAT}/derender", {**body, **wrong}))


def test_ids_are_whole_numbers() -> None:
    """Dynamo's endpoint picker reads ``token_ids`` with its protocol ``vllm``: whole numbers from 0 on."""
    made = asked(f"{CHAT}/render", {"messages": USER, "model": "gpt-oss-20b"}).json()
    assert made["token_ids"]
    assert all(type(one) is int and 0 <= one < 2**32 for one in made["token_ids"])
    assert "input_ids" not in made


def refused(answer: Answer) -> bool:
    """Whether it is 400 in vLLM's form."""
    error: dict[str, Any] = answer.json()["error"]
    return bool(answer.status == error["code"] == 400) and error["type"] == "BadRequestError"


ROUTER = {"host": "harmony-render.default.svc:8000", "user-agent": "Go-http-client/1.1"}
"""What routers send beside the body: no key, and the name of the service."""
REQUESTS: list[tuple[str, dict[str, Any], int]] = table("render_cases", "requests")


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
def test_routers_need_no_key(path: str, body: dict[str, Any], status: int) -> None:
    made = serve.app("none", model="gpt-oss-20b", allow_anonymous_render=True)
    answer = asked(f"{path}/render", body, made, **ROUTER)
    assert answer.status == status, answer.body
    if status == 200:
        found = answer.json()
        assert (found[0] if path == TEXTS else found)["token_ids"]


def test_a_body_of_16_mib_is_taken() -> None:
    """The largest that Dynamo's endpoint picker reads; it is beyond the context, not beyond the server."""
    text = "a" * (16 * 2**20 - 200)
    body = json.dumps({"model": "gpt-oss-20b", "messages": [{"role": "user", "content": text}]})
    answer = asked(f"{CHAT}/render", body.encode())
    assert refused(answer)
    assert "maximum context length" in answer.json()["error"]["message"]
