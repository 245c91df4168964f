"""``/render`` and ``/derender``: what routers and clusters send, in the forms of vLLM 0.33."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import ENCODING, Answer, ask, tokens
from openai_harmony import serve
from openai_harmony.interop import chat_completions

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


def streamed(
    pieces: list[list[int]], body: Any = None, apps: list[Any] | None = None
) -> list[dict[str, Any]]:
    """The chunks of a stream; each app in turn answers for one of them."""
    chunks: list[dict[str, Any]] = []
    state = None
    apps = apps or [app()]
    for at, piece in enumerate(pieces):
        reason = {"finish_reason": "stop"} if at == len(pieces) - 1 else {}
        request = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice(piece, **reason)]},
            "chat_request": body or {"messages": USER},
            "prompt_token_ids": [1],
            "stream_state": state,
        }
        answer = asked(f"{CHAT}/derender", request, apps[at % len(apps)])
        assert answer.status == 200, answer.body
        made = answer.json()
        chunks.append(made["chunk"])
        state = made["stream_state"]
    return chunks


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

    def test_max_tokens_is_always_written(self) -> None:
        # vLLM's own server leaves 16 out, and its engine fills the context then.
        made = rendered({"messages": USER, "max_tokens": 16})
        assert made["sampling_params"]["max_tokens"] == 16
        made = rendered({"messages": USER})
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
        [
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a", "schema": {}},
                }
            },
            {"tools": [RAIN], "tool_choice": "required"},
            {"tools": [RAIN], "tool_choice": {"type": "function", "function": {"name": "rain"}}},
        ],
    )
    def test_what_is_promised_is_a_structural_tag(self, body: Any) -> None:
        made = rendered({"messages": USER, **body})
        assert "structural_tag" in made["sampling_params"]["structured_outputs"]
        assert ENCODING.decode(made["token_ids"]).endswith("<|start|>assistant")

    def test_completions(self) -> None:
        one = rendered({"prompt": "Hi<|end|>"}, TEXTS)
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
        [
            (CHAT, b"{", 400, "not JSON"),
            (CHAT, [], 400, "object"),
            (CHAT, {"messages": USER, "model": "other"}, 404, "does not exist"),
            (CHAT, {"messages": USER, "reasoning_effort": "none"}, 400, "effort"),
            (CHAT, {"messages": USER, "priority": "high"}, 400, "priority"),
            (CHAT, {"messages": USER, "cache_salt": ""}, 400, "cache_salt"),
            (CHAT, {"messages": USER, "stop_token_ids": [2**32]}, 400, "stop_token_ids"),
            ("/v1/responses", {"input": "a", "previous_response_id": "b"}, 400, "previous_resp"),
            (TEXTS, {"prompt": [[-1]]}, 400, "prompt[0]"),
            (TEXTS, {"prompt": ""}, 400, "no tokens"),
            (TEXTS, {"prompt": []}, 400, "no prompts"),
            (TEXTS, {"prompt": "a", "max_tokens": 0}, 400, "max_tokens"),
        ],
    )
    def test_render(self, path: str, body: Any, status: int, says: str) -> None:
        answer = asked(f"{path}/render", body)
        error = answer.json()["error"]
        assert answer.status == status == error["code"]
        assert says in error["message"]
        assert set(error) == {"message", "type", "param", "code"}

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

    @pytest.mark.parametrize(
        "change",
        [
            {"chat_request": None},
            {"prompt_token_ids": None},
            {"prompt_token_ids": [2**32]},
            {"generate_chunk": {"request_id": "r", "choices": [choice([1]), choice([2])]}},
            {"generate_chunk": {"request_id": "r", "choices": [choice([2**32])]}},
            {"generate_chunk": {"request_id": "r", "choices": [choice([-1])]}},
            {"generate_chunk": {"request_id": "r", "choices": [choice([1] * 131_072)]}},
            {"stream_state": {"output_token_ids": [1, 2], "output_chunk_lens": [1]}},
            {"stream_state": {"output_token_ids": [1], "output_chunk_lens": [1, 0]}},
            {"stream_state": {"output_token_ids": "x"}},
            {"stream_state": {"prev_tokens": ["a"] * 1025}},
            {"stream_state": {"read_offset": 3}},
            {"stream_state": {"prefix_offset": -1}},
            {"stream_state": {"logprob_context_token_ids": [1] * 5}},
            {"stream_state": []},
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

    def test_random_outputs(self) -> None:
        rng = random.Random(5)
        for _ in range(25):
            sampled = tokens("".join(rng.choices(PIECES, k=rng.randint(1, 14))))
            pieces, at = [], 0
            while at < len(sampled):
                size = rng.randint(1, 9)
                pieces.append(sampled[at : at + size])
                at += size
            body = {"messages": USER, "tools": [RAIN]}
            assert joined(streamed(pieces, body)) == message_of(whole(sampled, body))

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

    def test_several_answers(self) -> None:
        both = [choice(tokens(ANSWER)), {**choice(tokens(CALLS)), "index": 1}]
        request = {
            "generate_response": {"request_id": "r", "choices": both},
            "chat_request": {"messages": USER, "tools": [RAIN]},
        }
        made = asked(f"{CHAT}/derender", request).json()
        assert [one["index"] for one in made["choices"]] == [0, 1]


class TestTexts:
    def more(self, pieces: list[list[int]], request: Any = None) -> str:
        text, state = "", None
        for at, piece in enumerate(pieces):
            reason = {"finish_reason": "length"} if at == len(pieces) - 1 else {}
            made = asked(
                f"{TEXTS}/derender",
                {
                    "stream": True,
                    "generate_chunk": {"request_id": "r", "choices": [choice(piece, **reason)]},
                    "completion_request": request,
                    "stream_state": state,
                },
            ).json()
            text += made["chunk"]["choices"][0]["text"]
            state = made["stream_state"]
        return text

    def whole(self, sampled: list[int], request: Any = None, **more: Any) -> Any:
        generated = {"request_id": "r", "choices": [choice(sampled, **more)]}
        body = {"generate_responses": [generated], "completion_request": request}
        return asked(f"{TEXTS}/derender", body).json()

    def test_texts(self) -> None:
        sampled = tokens("Ärger 😀 東京<|end|>!")
        made = self.whole(sampled)
        assert made["choices"][0]["text"] == "Ärger 😀 東京!"
        assert made["object"] == "text_completion"
        shown = self.whole(sampled, {"skip_special_tokens": False})
        assert shown["choices"][0]["text"] == "Ärger 😀 東京<|end|>!"

    def test_a_cut_character_waits(self) -> None:
        sampled = tokens("a😀b 東京 ☃")
        expected = ENCODING.decode(sampled)
        assert self.more([[token] for token in sampled]) == expected
        cut = tokens("😀")[:1]
        assert self.more([cut, []]) == self.whole(cut)["choices"][0]["text"]

    def test_stop_strings(self) -> None:
        made = self.whole(tokens("one two"), {"stop": [" t"]}, finish_reason="stop")
        assert made["choices"][0]["text"] == "one"
        body = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice([1])]},
            "completion_request": {"stop": "x"},
        }
        assert asked(f"{TEXTS}/derender", body).status == 400

    def test_foreign_tokens(self) -> None:
        body = {
            "stream": True,
            "generate_chunk": {"request_id": "r", "choices": [choice([1], finish_reason="stop")]},
            "stream_state": {"prev_tokens": ["世"], "read_offset": 1},
        }
        assert asked(f"{TEXTS}/derender", body).status == 400


class TestDoor:
    def test_health_without_an_engine(self) -> None:
        for path in ("/health", "/ready"):
            assert asyncio.run(ask(app(), path)).status == 200

    def test_nothing_is_sampled(self) -> None:
        answer = asked(CHAT, {"messages": USER})
        assert answer.status == 501
        assert "no engine" in answer.json()["error"]["message"]

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
        assert json.dumps(described)
