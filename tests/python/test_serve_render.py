"""``/render`` and ``/derender``: what routers and clusters send, in the forms of vLLM 0.33."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from gateways import ENCODING, Answer, ask, tokens
from openai_harmony import serve
from openai_harmony.interop import chat_completions
from openai_harmony.serve.run import greeting
from openai_harmony.serve.settings import Settings
from tables import table

CHAT, TEXTS = "/v1/chat/completions", "/v1/completions"
USER = [{"role": "user", "content": "Hi"}]
RAIN = {"type": "function", "function": {"name": "rain", "parameters": {"type": "object"}}}
ANSWER = (
    "<|channel|>analysis<|message|>Hm, 東京.<|end|><|start|>assistant<|channel|>final<|message|>"
    "Hi 😀 there.<|return|>"
)
CALLS = (
    "<|channel|>commentary<|message|>Let me see.<|end|>"
    "<|start|>assistant<|channel|>commentary to=functions.rain <|constrain|>json<|message|>"
    '{"city": "Oslo"}<|call|>'
)


PIECES = [
    *("<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|call|>", "<|constrain|>"),
    *("<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|start|>assistant"),
    *("<|channel|>commentary to=functions.rain <|constrain|>json<|message|>", '{"city": "Rome"}'),
    *("Hi 😀", " there", "user", "final", " 東京", "\n"),
]
"""What random outputs are made of, damaged ones too."""


def app(**settings: Any) -> Any:
    return serve.app("none", model="gpt-oss-20b", **settings)


def asked(path: str, body: Any, made: Any = None, **headers: str) -> Answer:
    given = {"content-type": "application/json", **headers}
    return asyncio.run(ask(made or app(), path, body, headers=given))


def rendered(body: dict[str, Any], path: str = CHAT, **headers: str) -> Any:
    answer = asked(f"{path}/render", body, **headers)
    assert answer.status == 200, answer.body
    return answer.json()


def choice(sampled: list[int], **more: Any) -> dict[str, Any]:
    return {"index": 0, "token_ids": sampled, **more}


def whole(sampled: list[int], body: Any = None, **more: Any) -> Any:
    generated = {"request_id": "r", "choices": [choice(sampled, **more)]}
    request = {"generate_response": generated, "chat_request": body or {"messages": USER}}
    answer = asked(f"{CHAT}/derender", request)
    assert answer.status == 200, answer.body
    return answer.json()


def whole_state(state: Any, at: int) -> Any:
    """What a client sends back that keeps everything."""
    return state


def vllm_state(state: Any, at: int) -> Any:
    """What is left of a state after vLLM, which drops keys that it does not know."""
    return {key: value for key, value in state.items() if key != "harmony"}


def lean_state(state: Any, at: int) -> Any:
    """What a client sends back that leaves out all tokens."""
    return {key: value for key, value in state.items() if not key.startswith("output_")}


def turns_state(state: Any, at: int) -> Any:
    """A state that came from vLLM each second time."""
    return vllm_state(state, at) if at % 2 else state


STATES = [whole_state, vllm_state, lean_state, turns_state]


def streamed(
    pieces: list[list[int]],
    body: Any = None,
    apps: list[Any] | None = None,
    carried: Any = whole_state,
    **fields: Callable[[list[int]], Any],
) -> list[dict[str, Any]]:
    """The chunks of a stream; each app in turn answers for one of them."""
    chunks: list[dict[str, Any]] = []
    state = None
    apps = apps or [app()]
    for at, piece in enumerate(pieces):
        more: dict[str, Any] = {"finish_reason": "stop"} if at == len(pieces) - 1 else {}
        more |= {name: field(piece) for name, field in fields.items()}
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice(piece, **more)]},
            "chat_request": body or {"messages": USER},
            "prompt_token_ids": [1],
            "stream_state": state,
        }
        answer = asked(f"{CHAT}/derender", request, apps[at % len(apps)])
        assert answer.status == 200, answer.body
        made = answer.json()
        chunks.append(made["chunk"])
        state = carried(made["stream_state"], at)
    return chunks


def cut(sampled: list[int], rng: random.Random) -> list[list[int]]:
    """The tokens in pieces of any size, some of them empty."""
    pieces, at = [], 0
    while at < len(sampled):
        size = rng.randint(0, 7)
        pieces.append(sampled[at : at + size])
        at += size
    return pieces


def likely(piece: list[int]) -> dict[str, Any]:
    """Log-probabilities of tokens, each with its own."""

    def one(token: int) -> dict[str, Any]:
        return {"token_id": token, "logprob": -token / 1e6}

    return {"content": [{**one(token), "top_logprobs": [one(5)]} for token in piece]}


def joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client makes of chunks."""
    message: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    for delta in (one["delta"] for chunk in chunks for one in chunk["choices"]):
        for field in ("content", "reasoning"):
            if delta.get(field):
                message[field] = message.get(field, "") + delta[field]
        for call in delta.get("tool_calls", []):
            known = calls.setdefault(call["index"], {"name": "", "arguments": ""})
            known["id"] = call.get("id", known.get("id"))
            for field, text in call["function"].items():
                known[field] += text
    return {**message, **({"calls": list(calls.values())} if calls else {})}


def message_of(response: dict[str, Any]) -> dict[str, Any]:
    """The same of a whole answer."""
    found = response["choices"][0]["message"]
    message = {field: found[field] for field in ("content", "reasoning") if found.get(field)}
    calls = [{"id": call["id"], **call["function"]} for call in found.get("tool_calls") or []]
    return {**message, **({"calls": calls} if calls else {})}


class TestRender:
    def test_the_prompt_is_the_engines(self) -> None:
        body = {"model": "gpt-oss-20b", "messages": USER, "tools": [RAIN]}
        made = rendered(body)
        turn = chat_completions.read(body, prompts="vllm-0.33")
        assert made["token_ids"] == turn.prompt(ENCODING)
        assert made["model"] == "gpt-oss-20b"
        assert made["reasoning_ended"] is True
        assert made["parse_context"]["tools"] == [RAIN]
        assert made["parse_context"]["tool_choice"] == "auto"
        own = asked(f"{CHAT}/render", body, app(render_prompts="harmony")).json()
        assert own["token_ids"] == chat_completions.read(body).prompt(ENCODING)

    @pytest.mark.parametrize(
        ("body", "changed"),
        table("serve_render", "all that an engine is given"),
    )
    def test_all_that_an_engine_is_given(self, body: Any, changed: Any) -> None:
        made = rendered({"messages": USER, "request_id": "x", **body})
        prompt = made.pop("token_ids")
        written = {
            name: body[name] for name in ("n", "top_k", "skip_special_tokens") if name in body
        }
        stream = body.get("stream", False)
        assert made == {
            "request_id": "chatcmpl-x",
            "token_offsets": None,
            "features": None,
            "content_parts": None,
            "sampling_params": {
                "presence_penalty": 0.0,
                "frequency_penalty": 0.0,
                "repetition_penalty": 1.0,
                "temperature": body.get("temperature", 1.0),
                "top_p": 1.0,
                "min_p": body.get("min_p", 0.0),
                "stop": [],
                "stop_token_ids": [],
                "max_tokens": 131_072 - len(prompt),
                "output_kind": 1 if stream else 2,
                "skip_clone": True,
                "bad_words": [],
                "skip_reading_prefix_cache": False,
                **written,
            },
            "model": None,
            "reasoning_ended": True,
            "reasoning_parser_kwargs": {
                "chat_template_kwargs": body.get("chat_template_kwargs", {})
            },
            "return_token_ids": body.get("return_token_ids"),
            "output_mode": "tokens",
            "stream": stream,
            "stream_options": body.get("stream_options") if stream else None,
            "cache_salt": None,
            "priority": body.get("priority", 0),
            "kv_transfer_params": None,
            "ec_transfer_params": None,
            "parse_context": {
                "tools": None,
                "tool_choice": "none",
                "parallel_tool_calls": True,
                "include_reasoning": True,
                "chat_template_kwargs": {},
                "history_tool_call_cnt": 0,
                **changed,
            },
        }

    @pytest.mark.parametrize(
        ("body", "sampling"),
        table("serve_render", "what a completion asks for"),
    )
    def test_what_a_completion_asks_for(self, body: Any, sampling: Any) -> None:
        [made] = rendered({"prompt": [0, 2**32 - 1], "request_id": "x", **body}, TEXTS)
        assert (made["request_id"], made["stream"]) == ("cmpl-x", body.get("stream", False))
        assert made["sampling_params"].items() >= sampling.items()

    def test_images_are_taken_as_in_requests_that_sample(self) -> None:
        image = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}
        body = {"messages": [{"role": "user", "content": [image]}]}
        refused = asked(f"{CHAT}/render", body, app(render_prompts="harmony"))
        assert (refused.status, b"cannot carry images" in refused.body) == (400, True)
        taken = app(render_prompts="harmony", unsupported="placeholder")
        expected = chat_completions.read(body, unsupported="placeholder").prompt(ENCODING)
        assert asked(f"{CHAT}/render", body, taken).json()["token_ids"] == expected

    def test_max_tokens_is_always_written(self) -> None:
        # vLLM's own server leaves 16 out, and its engine fills the context then.
        made = rendered({"messages": USER, "max_tokens": 16})
        assert made["sampling_params"]["max_tokens"] == 16
        made = rendered({"messages": USER})
        assert "top_k" not in made["sampling_params"]
        left = 131_072 - len(made["token_ids"])
        assert made["sampling_params"]["max_tokens"] == left

    def test_fields_are_carried(self) -> None:
        sampling = {
            "n": 2,
            "seed": 7,
            "top_k": 5,
            "stop": ["x"],
            "min_tokens": 3,
            "stop_token_ids": [5],
            "ignore_eos": True,
            "bad_words": ["no"],
            "logit_bias": {"7": 1.0},
        }
        others = {
            "cache_salt": "salt",
            "priority": -1,
            "kv_transfer_params": {"a": [1]},
            "ec_transfer_params": {"b": None},
        }
        made = rendered({"messages": USER, **sampling, **others, "stream": True})
        assert {name: made["sampling_params"][name] for name in sampling} == sampling
        assert {name: made[name] for name in others} == others
        assert made["stream"] is True
        assert made["sampling_params"]["output_kind"] == 1

    @pytest.mark.parametrize(
        ("body", "headers", "expected"),
        [
            ({}, {}, None),
            ({}, {"x-request-id": "of-header"}, "chatcmpl-of-header"),
            ({"request_id": "mine"}, {"x-request-id": "of-header"}, "chatcmpl-mine"),
        ],
    )
    def test_ids(self, body: Any, headers: Any, expected: str | None) -> None:
        found = rendered({"messages": USER, **body}, **headers)["request_id"]
        assert found == expected if expected else found.startswith("chatcmpl-")

    @pytest.mark.parametrize(
        "body",
        table("serve_render", "what is promised is a structural tag"),
    )
    def test_what_is_promised_is_a_structural_tag(self, body: Any) -> None:
        made = rendered({"messages": USER, **body})
        assert "structural_tag" in made["sampling_params"]["structured_outputs"]
        assert ENCODING.decode(made["token_ids"]).endswith("<|start|>assistant")

    @pytest.mark.parametrize("counts", [[], [1], [2, 1], [0, 3]])
    def test_calls_of_the_history_are_counted(self, counts: list[int]) -> None:
        call = {"type": "function", "function": {"name": "rain", "arguments": "{}"}}
        messages: list[Any] = [*USER]
        for number, count in enumerate(counts):
            calls = [{**call, "id": f"{number}.{index}"} for index in range(count)]
            messages.append({"role": "assistant", "content": "Hm.", "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": one["id"], "content": "1"} for one in calls
            ]
            messages += USER
        found = rendered({"messages": messages, "tools": [RAIN]})["parse_context"]
        assert found["history_tool_call_cnt"] == sum(counts)

    def test_completions(self) -> None:
        one = rendered({"prompt": "Hi<|end|>"}, TEXTS)
        assert not {"n", "top_k"} & one[0]["sampling_params"].keys()
        assert [request["token_ids"] for request in one] == [tokens("Hi<|end|>")]
        two = rendered({"prompt": ["a", [1, 2]], "max_tokens": 3, "request_id": "x"}, TEXTS)
        assert [request["token_ids"] for request in two] == [tokens("a"), [1, 2]]
        assert [request["request_id"] for request in two] == ["cmpl-x-0", "cmpl-x-1"]
        assert two[0]["sampling_params"]["max_tokens"] == 3
        [ids] = rendered({"prompt": [5, 6]}, TEXTS)
        assert ids["token_ids"] == [5, 6]

    def test_other_apis(self) -> None:
        made = rendered({"input": "Hi"}, "/v1/responses")
        assert made["request_id"].startswith("resp")
        assert made["reasoning_ended"] is None
        assert "Hi" in ENCODING.decode(made["token_ids"])
        made = rendered({"messages": USER, "max_tokens": 9}, "/v1/messages")
        assert "Hi" in ENCODING.decode(made["token_ids"])
        assert made["sampling_params"]["max_tokens"] == 9


IMAGE = [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]


class TestBadInput:
    @pytest.mark.parametrize(
        ("path", "body", "status", "says"),
        [*table("serve_render", "render"), (CHAT, b"{", 400, "not JSON")],
    )
    def test_render(self, path: str, body: Any, status: int, says: str) -> None:
        answer = asked(f"{path}/render", body)
        error = answer.json()["error"]
        assert answer.status == status == error["code"]
        assert says in error["message"]
        assert set(error) == {"message", "type", "param", "code"}

    def test_completions_have_nothing_to_derender(self) -> None:
        answer = asked(f"{TEXTS}/derender", {"generate_responses": []})
        error = answer.json()["error"]
        assert (answer.status, error["type"]) == (404, "NotFoundError")
        assert "no harmony format" in error["message"]

    def test_other_content_types(self) -> None:
        made = asyncio.run(ask(app(), f"{CHAT}/render", {"messages": USER}))
        assert made.status == 400

    def test_prompts_beyond_the_context(self) -> None:
        made = serve.app("none=100")
        answer = asked(
            f"{CHAT}/render", {"messages": [{"role": "user", "content": "a " * 99}]}, made
        )
        assert answer.status == 400
        assert "maximum context length is 100" in answer.json()["error"]["message"]
        assert asked(f"{TEXTS}/render", {"prompt": [1] * 100}, made).status == 400
        [last] = asked(f"{TEXTS}/render", {"prompt": [1] * 99}, made).json()
        assert last["sampling_params"]["max_tokens"] == 1

    @pytest.mark.parametrize(
        "change",
        [
            *table("serve_render", "chunks and states"),
            {"generate_chunk": {"request_id": "r", "choices": [choice([1] * 131_072)]}},
        ],
    )
    def test_chunks_and_states(self, change: Any) -> None:
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice([1])]},
            "chat_request": {"messages": USER},
            "prompt_token_ids": [1],
            **change,
        }
        answer = asked(f"{CHAT}/derender", request)
        assert answer.status == 400, answer.body
        assert answer.json()["error"]["code"] == 400

    @pytest.mark.parametrize(("sampled", "status"), [(99, 200), (100, 400)])
    def test_tokens_up_to_the_context(self, sampled: int, status: int) -> None:
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice([1] * sampled)]},
            "chat_request": {"messages": USER},
            "prompt_token_ids": [1],
        }
        assert asked(f"{CHAT}/derender", request, serve.app("none=100")).status == status

    def test_too_many(self) -> None:
        many = {"request_id": "r", "choices": [choice([1])] * 16_385}
        request = {"generate_response": many, "chat_request": {"messages": USER}}
        assert asked(f"{CHAT}/derender", request).status == 400
        top = [{"token_id": 1, "logprob": -1.0}] * 21
        found = {"content": [{"token_id": 1, "logprob": -1.0, "top_logprobs": top}]}
        one = {"request_id": "r", "choices": [choice([1], logprobs=found)]}
        request = {"generate_response": one, "chat_request": {"messages": USER}}
        assert asked(f"{CHAT}/derender", request).status == 400


class TestDerender:
    def test_whole(self) -> None:
        made = whole(tokens(ANSWER), finish_reason="stop")
        assert message_of(made) == {"reasoning": "Hm, 東京.", "content": "Hi 😀 there."}
        assert made["id"] == "r"
        assert made["usage"]["completion_tokens"] == len(tokens(ANSWER))
        assert made["choices"][0]["finish_reason"] == "stop"
        called = whole(tokens(CALLS), {"messages": USER, "tools": [RAIN]})
        assert called["choices"][0]["finish_reason"] == "tool_calls"
        [call] = message_of(called)["calls"]
        assert (call["name"], call["arguments"]) == ("rain", '{"city": "Oslo"}')

    def test_every_cut_gives_what_the_whole_gives(self) -> None:
        for text in (ANSWER, CALLS):
            sampled = tokens(text)
            body = {"messages": USER, "tools": [RAIN]}
            expected = message_of(whole(sampled, body))
            for cut in range(len(sampled) + 1):
                pieces = [piece for piece in (sampled[:cut], sampled[cut:]) if piece]
                assert joined(streamed(pieces, body)) == expected, cut

    def test_replicas_may_alternate(self) -> None:
        sampled = tokens(CALLS)
        pieces = [[token] for token in sampled]
        body = {"messages": USER, "tools": [RAIN]}
        two = streamed(pieces, body, [app(), app()])
        assert [one["choices"] for one in two] == [one["choices"] for one in streamed(pieces, body)]
        assert joined(two) == message_of(whole(sampled, body))

    @pytest.mark.parametrize("carried", STATES)
    def test_random_outputs(self, carried: Any) -> None:
        rng = random.Random(5)
        body = {"messages": USER, "tools": [RAIN]}
        for _ in range(25):
            sampled = tokens("".join(rng.choices(PIECES, k=rng.randint(1, 14))))
            made = streamed(cut(sampled, rng), body, carried=carried)
            assert joined(made) == message_of(whole(sampled, body))

    @pytest.mark.parametrize("carried", [whole_state, lean_state])
    def test_every_cut_has_the_same_log_probabilities(self, carried: Any) -> None:
        rng = random.Random(7)
        body = {"messages": USER, "tools": [RAIN], "logprobs": True, "top_logprobs": 1}
        for stop in ([], ["END", " there"]):
            asking = {**body, "stop": stop}
            for _ in range(20):
                sampled = tokens("".join(rng.choices([*PIECES, " EN", "D"], k=rng.randint(1, 12))))
                expected = whole(sampled, asking, logprobs=likely(sampled))["choices"][0]
                entries = (expected["logprobs"] or {}).get("content", [])
                pieces = cut(sampled, rng)
                chunks = streamed(pieces, asking, carried=carried, logprobs=likely)
                found = [one["logprobs"] for chunk in chunks for one in chunk["choices"]]
                assert [entry for one in found if one for entry in one["content"]] == entries
                last = chunks[-1]["choices"][0]
                assert last["finish_reason"] == expected["finish_reason"]
                assert last["stop_reason"] == expected["stop_reason"]

    def test_a_state_does_not_grow(self) -> None:
        long = tokens("<|channel|>final<|message|>") + [12_194] * 30_000
        state = None
        for piece in (long, [12_194], [12_194]):
            request = {
                "stream": True,
                "generate_chunk": {"request_id": "r", "choices": [choice(piece)]},
                "chat_request": {"messages": USER},
                "prompt_token_ids": [1],
                "stream_state": state,
            }
            made = asked(f"{CHAT}/derender", request).json()
            state = lean_state(made["stream_state"], 0)
            assert len(json.dumps(state)) < 2048
        assert made["chunk"]["choices"][0]["delta"] == {"content": "Hi"}
        assert "output_token_ids" not in made["stream_state"]
        # The prompt's length is in the state, too.
        again = {name: field for name, field in request.items() if name != "prompt_token_ids"}
        answer = asked(f"{CHAT}/derender", {**again, "stream_state": state})
        assert answer.status == 200, answer.body

    def test_states_that_are_mixed_up(self) -> None:
        def after(request_id: str, index: int) -> dict[str, Any]:
            return {
                "stream": True,
                "generate_chunk": {
                    "request_id": request_id,
                    "choices": [{**choice(tokens("<|channel|>final")), "index": index}],
                },
                "chat_request": {"messages": USER},
                "prompt_token_ids": [1],
            }

        first = after("r", 0)
        state = asked(f"{CHAT}/derender", first).json()["stream_state"]
        assert asked(f"{CHAT}/derender", {**first, "stream_state": state}).status == 200
        own = state["harmony"]
        for wrong in (
            {**after("other", 0), "stream_state": state},
            {**after("r", 1), "stream_state": state},
            {**first, "stream_state": {**state, "output_token_ids": [1], "output_chunk_lens": [1]}},
            {**first, "stream_state": {**state, "harmony": {**own, "tokens": 1}}},
            {**first, "stream_state": {**state, "harmony": {**own, "reply": {"version": 1}}}},
            {**first, "stream_state": {**state, "harmony": {**own, "reply": None}}},
            {**first, "stream_state": {**state, "harmony": {"reply": own["reply"]}}},
            {**first, "stream_state": {**state, "harmony": 5}},
        ):
            answer = asked(f"{CHAT}/derender", wrong)
            assert answer.status == 400, answer.body

    def test_states_that_are_changed(self) -> None:
        """Any part of a state in turn is another value: an answer or 400, and nothing else."""
        request: dict[str, Any] = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice(tokens(CALLS)[:-4])]},
            "chat_request": {"messages": USER, "tools": [RAIN], "logprobs": True},
            "prompt_token_ids": [1],
        }
        made = app()
        state = asked(f"{CHAT}/derender", request, made).json()["stream_state"]
        request["generate_chunk"]["choices"] = [choice(tokens('"}<|call|>'), finish_reason="stop")]
        rng = random.Random(2)
        values = [None, -1, 2**32, 2**64, 0.5, "x", [], {}, True, [1], {"a": 1}]
        for place in places(state):
            changed = replaced(state, place, rng.choice(values))
            answer = asked(f"{CHAT}/derender", {**request, "stream_state": changed}, made)
            assert answer.status in (200, 400), (place, answer.body)

    def test_the_end_may_come_without_tokens(self) -> None:
        chunks = streamed([tokens(ANSWER), []])
        assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
        assert joined(chunks)["content"] == "Hi 😀 there."

    def test_usage_has_a_chunk_of_its_own(self) -> None:
        counts = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [], "usage": counts},
            "chat_request": {"messages": USER},
            "prompt_token_ids": [1],
            "prompt_tokens": 9,
        }
        made = asked(f"{CHAT}/derender", request).json()["chunk"]
        assert made["choices"] == []
        assert made["usage"] == {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}

    def test_known_ids_of_calls_stay(self) -> None:
        state = {"last_tool_call_ids": ["call_known"]}
        sampled = tokens(CALLS)
        request = {
            "stream": True,
            "generate_chunk": {
                "request_id": "r",
                "choices": [choice(sampled, finish_reason="stop")],
            },
            "chat_request": {"messages": USER, "tools": [RAIN]},
            "prompt_token_ids": [1],
            "stream_state": state,
        }
        made = asked(f"{CHAT}/derender", request).json()
        [call] = made["chunk"]["choices"][0]["delta"]["tool_calls"]
        assert call["id"] == "call_known"

    def test_log_probabilities(self) -> None:
        sampled = tokens("<|channel|>final<|message|>Hi<|return|>")
        found = [{"token_id": token, "logprob": -0.5, "top_logprobs": []} for token in sampled]
        body = {"messages": USER, "logprobs": True}
        made = whole(sampled, body, logprobs={"content": found})
        [entry] = made["choices"][0]["logprobs"]["content"]
        assert (entry["token"], entry["logprob"]) == ("Hi", -0.5)

    def test_what_stopped_it(self) -> None:
        said = tokens("<|channel|>final<|message|>one two<|return|>")

        def stop_reason(**more: Any) -> Any:
            body = {"messages": USER, **more.pop("request", {})}
            return whole(said, body, finish_reason="stop", **more)["choices"][0]["stop_reason"]

        assert stop_reason() is None
        assert stop_reason(stop_reason=200002) == 200002
        assert stop_reason(request={"stop": [" t"]}, stop_reason=200002) == " t"

    def test_a_chunk_has_what_is_new(self) -> None:
        thought = tokens("<|channel|>analysis<|message|>Hm")
        [chunk] = streamed([thought])
        assert chunk["choices"][0]["delta"] == {"role": "assistant", "reasoning": "Hm"}

    def test_several_answers(self) -> None:
        both = [choice(tokens(ANSWER)), {**choice(tokens(CALLS)), "index": 1}]
        request = {
            "generate_response": {"request_id": "r", "choices": both},
            "chat_request": {"messages": USER, "tools": [RAIN]},
        }
        made = asked(f"{CHAT}/derender", request).json()
        assert [one["index"] for one in made["choices"]] == [0, 1]

    @pytest.mark.parametrize("reason", ["abort", "error"])
    def test_failures_keep_the_engines_word(self, reason: str) -> None:
        made = whole(tokens("<|channel|>final<|message|>Hi"), finish_reason=reason)
        assert made["choices"][0]["finish_reason"] == reason
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice([], finish_reason=reason)]},
            "chat_request": {"messages": USER},
            "prompt_token_ids": [1],
        }
        answer = asked(f"{CHAT}/derender", request).json()
        assert answer["chunk"]["choices"][0]["finish_reason"] == reason

    def test_old_calls_are_streamed(self) -> None:
        function = {"name": "rain", "parameters": {"type": "object"}}
        body = {"messages": USER, "functions": [function]}
        chunks = streamed([[token] for token in tokens(CALLS)], body)
        found = [chunk["choices"][0]["delta"].get("function_call", {}) for chunk in chunks]
        assert "".join(call.get("arguments", "") for call in found) == '{"city": "Oslo"}'
        assert [call["name"] for call in found if "name" in call] == ["rain"]

    def test_several_answers_are_streamed(self) -> None:
        """Each has a state of its own."""
        outputs = [tokens(ANSWER), tokens(CALLS)]
        body = {"messages": USER, "tools": [RAIN], "n": 2}
        states: list[Any] = [None, None]
        found: list[list[dict[str, Any]]] = [[], []]
        made = app()
        for at in range(max(map(len, outputs))):
            for index, output in enumerate(outputs):
                if at >= len(output):
                    continue
                more = {"finish_reason": "stop"} if at == len(output) - 1 else {}
                one = {**choice([output[at]], **more), "index": index}
                request = {
                    "stream": True,
                    "generate_chunk": {"request_id": "r", "choices": [one]},
                    "chat_request": body,
                    "prompt_token_ids": [1],
                    "stream_state": states[index],
                }
                answer = asked(f"{CHAT}/derender", request, made).json()
                assert answer["chunk"]["choices"][0]["index"] == index
                found[index].append(answer["chunk"])
                states[index] = answer["stream_state"]
        assert joined(found[0]) == message_of(whole(outputs[0], body))
        assert joined(found[1])["calls"][0]["arguments"] == '{"city": "Oslo"}'


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in JSON, but the whole."""
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else ()
    for key, one in inner or (enumerate(value) if isinstance(value, list) else ()):
        found += places(one, (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The same JSON with another value there."""
    if not path:
        return other
    copied = value.copy()
    copied[path[0]] = replaced(value[path[0]], path[1:], other)
    return copied


class TestDoor:
    def test_health_without_an_engine(self) -> None:
        for path in ("/health", "/ready"):
            assert asyncio.run(ask(app(), path)).status == 200

    def test_nothing_is_sampled(self) -> None:
        answer = asked(CHAT, {"messages": USER})
        assert answer.status == 501
        assert "no engine" in answer.json()["error"]["message"]

    def test_figures(self, caplog: pytest.LogCaptureFixture) -> None:
        """Renderings have a name of their own, and no error is an engine's."""
        made = app()
        caplog.set_level(logging.INFO, "openai_harmony.serve")
        texts = {"prompt": ["Hi", [1, 2, 3]]}
        bodies = [(f"{CHAT}/render", {"messages": USER}), (f"{TEXTS}/render", texts)]
        answers = [asked(path, body, made).json() for path, body in bodies]
        expected = [len(answers[0]["token_ids"]), sum(len(one["token_ids"]) for one in answers[1])]
        whole(tokens(ANSWER))
        for path in (CHAT, TEXTS):
            assert asked(path, {"messages": USER, "prompt": "Hi"}, made).status == 501
        records = [one for one in caplog.records if one.getMessage() == "request"]
        found = [one.fields for one in records]  # type: ignore[attr-defined]
        kinds = ["render", "render", "derender", "chat_completions", "chat_completions"]
        assert [one["api"] for one in found] == kinds
        assert [one["prompt_tokens"] for one in found[:2]] == expected
        figures = asyncio.run(ask(made, "/metrics")).body.decode()
        assert 'harmony_requests_total{api="render",key="",status="200"} 2.0' in figures
        total = sum(one["prompt_tokens"] for one in found)
        assert f'harmony_prompt_tokens_total{{key="",model="gpt-oss-20b"}} {total}.0' in figures
        assert "harmony_engine_errors_total{" not in figures

    def test_the_request_to_try_can_be_answered(self) -> None:
        without = "harmony serve: http://127.0.0.1:8000 without an engine, to render only"
        before = "harmony serve: http://127.0.0.1:8000 in front of replay=x.jsonl"
        for engine, said, path in (
            ("none", without, f"{CHAT}/render"),
            ("none=4096", without, f"{CHAT}/render"),
            ("replay=x.jsonl", before, CHAT),
        ):
            where, line = greeting(Settings(engine=engine), 8000, keys=False)
            assert where == said
            assert line.startswith(f"try it: curl http://127.0.0.1:8000{path} ")

    def test_keys_and_hosts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        body = {"messages": USER}
        # Routers name the host by which they know the server.
        assert asked(f"{CHAT}/render", body, host="renderer.svc").status == 403
        opened = app(allow_anonymous_render=True)
        assert asked(f"{CHAT}/render", body, opened, host="renderer.svc").status == 200
        assert asked(CHAT, body, opened, host="renderer.svc").status == 403
        monkeypatch.setenv("HARMONY_API_KEYS", "secret")
        assert asked(f"{CHAT}/render", body).status == 401
        opened = app(allow_anonymous_render=True)
        assert asked(f"{CHAT}/render", body, opened).status == 200
        assert asked("/v1/models", body, opened).status in (401, 405)

    def test_described(self) -> None:
        described = asyncio.run(ask(app(), "/openapi.json")).json()
        assert f"{CHAT}/derender" in described["paths"]
        ways = [way for path in described["paths"].values() for way in path.values()]
        assert all(way["summary"] for way in ways)
