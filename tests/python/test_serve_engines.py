"""Each engine against a server that speaks its form."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import fake_engines
from fake_engines import DONE, LIKELY, Fake, logprob, running
from gateways import ENCODING, HELLO, tokens
from openai_harmony import WrongTypeError, serve
from openai_harmony.interop import EngineReader, TokenLogprob
from openai_harmony.serve.engines import EngineError, Sampled, SampleRequest, connect
from openai_harmony.serve.engines.client import Client, ClientError, errors
from openai_harmony.serve.engines.engine import CONTEXT
from tables import table

TOKENS = tokens(HELLO)
EMOJI = tokens("<|channel|>final<|message|>a🤗b🏳️‍🌈 ok<|return|>")
REQUEST = SampleRequest(
    [200006, 1428, 200008],
    50,
    [200002, 200012],
    {"temperature": 0.5, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "seed": 7, "logit_bias": {9: 1.5}},
    index=2,
)


def at(paths: dict[str, Any], use: Callable[[Fake], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with running(paths) as fake:
            return await asyncio.wait_for(use(fake), 60)

    return asyncio.run(run())


def sampled(
    kind: str, paths: dict[str, Any], request: SampleRequest = REQUEST
) -> tuple[list[int], Any, Fake]:
    """All tokens, the reason, and the fake with what it was asked."""

    async def use(fake: Fake) -> tuple[list[int], Any, Fake]:
        engine = connect(f"{kind}={fake.url}", timeout=60)
        found: list[int] = []
        reason = None
        async with aclosing(engine), aclosing(engine.sample(request)) as all_sampled:
            async for some in all_sampled:
                found += some.tokens
                reason = some.reason
        return found, reason, fake

    return at(paths, use)


ENGINES = pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("vllm", fake_engines.vllm(TOKENS)),
        ("vllm", fake_engines.vllm(TOKENS, generates=False)),
        ("completions", fake_engines.vllm(TOKENS)),
        ("sglang", fake_engines.sglang(TOKENS, cumulative=True)),
        ("sglang", fake_engines.sglang(TOKENS, cumulative=False)),
        ("llama.cpp", fake_engines.llama_cpp(TOKENS, ENCODING.decode_bytes)),
    ],
)


@ENGINES
@pytest.mark.parametrize("auto", [False, True])
def test_gives_the_tokens(kind: str, paths: dict[str, Any], auto: bool) -> None:
    found, reason, fake = sampled("auto" if auto else kind, paths)
    assert (found, reason) == (TOKENS, "stop")
    [(_, body)] = fake.asked
    assert (body.get("prompt") or body.get("token_ids") or body.get("input_ids")) == REQUEST.prompt
    assert body["stream"] is True


@ENGINES
def test_gives_log_probabilities(kind: str, paths: dict[str, Any]) -> None:
    async def use(fake: Fake) -> list[TokenLogprob | None]:
        engine = connect(f"{kind}={fake.url}", timeout=60)
        given: list[TokenLogprob | None] = []
        asked = replace(REQUEST, logprobs=2)
        async with aclosing(engine), aclosing(engine.sample(asked)) as all_sampled:
            async for some in all_sampled:
                assert some.logprobs is not None or not some.tokens
                given += some.logprobs or []
        return given

    assert at(paths, use) == [
        TokenLogprob(logprob(place), {token: logprob(place), LIKELY: logprob(place + 1)})
        for place, token in enumerate(TOKENS)
    ]


def test_log_probabilities_are_asked_for_only_if_needed() -> None:
    for kind, paths in [
        ("vllm", fake_engines.vllm(TOKENS)),
        ("sglang", fake_engines.sglang(TOKENS, cumulative=True)),
        ("llama.cpp", fake_engines.llama_cpp(TOKENS, ENCODING.decode_bytes)),
    ]:
        [(_, body)] = sampled(kind, paths)[2].asked
        assert "prob" not in json.dumps(body)


@pytest.mark.parametrize(
    "found",
    [
        *table("serve_engines", "odd log probabilities"),
        {"token_logprobs": [float("nan")], "top_logprobs": [[1]]},
    ],
)
def test_odd_log_probabilities(found: Any) -> None:
    """None, or an error of the engine's; never a fault of the gateway."""
    event = {"choices": [{"token_ids": [5], "logprobs": found}]}
    _, _, given, fault = EngineReader("completions", 9, []).feed(json.dumps(event).encode() + b"\n")
    assert given in (None, [None], [(-0.5, {})])
    assert fault is None or "log-probabilities" in fault[1]


def test_too_few_log_probabilities() -> None:
    choice = {"token_ids": [5, 6], "logprobs": {"content": [{"token_id": 5, "logprob": -0.5}]}}
    event = json.dumps({"choices": [choice]}).encode() + b"\n"
    _, _, _, fault = EngineReader("completions", 9, []).feed(event)
    assert fault == (502, "sends 1 log-probabilities for 2 tokens")


def test_vllm_is_asked_for_tokens_alone() -> None:
    _, _, fake = sampled("vllm", fake_engines.vllm(TOKENS))
    [(path, body)] = fake.asked
    assert path == "/inference/v1/generate"
    assert set(body) == {"token_ids", "sampling_params", "stream", "model"}
    assert body["sampling_params"] == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 0,
        "min_p": 0.0,
        "seed": 9,
        "logit_bias": {"9": 1.5},
        "max_tokens": 50,
        "stop_token_ids": [200002, 200012],
        "detokenize": False,
    }


def test_vllm_without_generate_is_asked_for_completions() -> None:
    _, _, fake = sampled("vllm", fake_engines.vllm(TOKENS, generates=False))
    [(path, body)] = fake.asked
    assert path == "/v1/completions"
    assert (body["model"], body["skip_special_tokens"]) == ("openai/gpt-oss-20b", False)
    assert (body["max_tokens"], body["return_token_ids"], body["seed"]) == (50, True, 9)


def test_what_vllm_refuses_of_one_request_moves_no_other() -> None:
    """One client's wrong body is its own; the others are asked as before."""

    async def run() -> None:
        paths = fake_engines.vllm(TOKENS)
        async with running(paths) as fake:
            engine = connect(f"vllm={fake.url}")
            for status in (400, 422, 429, 503):
                generate, fake.paths["/inference/v1/generate"] = (
                    paths["/inference/v1/generate"],
                    status,
                )
                with pytest.raises(EngineError) as caught:
                    [_ async for _ in engine.sample(REQUEST)]
                assert caught.value.status == {422: 400}.get(status, status)
                fake.paths["/inference/v1/generate"] = generate
                found = [token async for some in engine.sample(REQUEST) for token in some.tokens]
                assert found == TOKENS
            assert {path for path, _ in fake.asked} == {"/inference/v1/generate"}
            await engine.aclose()

    asyncio.run(run())


def test_vllm_that_refuses_streams_is_asked_for_completions() -> None:
    paths = {**fake_engines.vllm(TOKENS), "/inference/v1/generate": 500}
    found, reason, fake = sampled("vllm", paths)
    assert (found, reason) == (TOKENS, "stop")
    assert [path for path, _ in fake.asked] == ["/inference/v1/generate", "/v1/completions"]


def test_sglang_is_asked_in_its_words() -> None:
    _, _, fake = sampled("sglang", fake_engines.sglang(TOKENS, cumulative=True))
    [(_, body)] = fake.asked
    assert body["sampling_params"] == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": -1,
        "min_p": 0.0,
        "sampling_seed": 9,
        "logit_bias": {"9": 1.5},
        "max_new_tokens": 50,
        "stop_token_ids": [200002, 200012],
        "skip_special_tokens": False,
    }


def test_what_engines_would_take_amiss() -> None:
    """All tokens are top_k -1 to SGLang; zero log-probabilities are none to llama.cpp."""
    sglang, llama = connect("sglang=http://x"), connect("llama.cpp=http://x")
    completions = connect("completions=http://x")
    for top_k, sent in ((5, 5), (0, -1)):
        asked = replace(REQUEST, sampling={"top_k": top_k})
        assert sglang.asked(asked)[1]["sampling_params"]["top_k"] == sent  # type: ignore[attr-defined]
    for logprobs, sent in ((0, 1), (1, 1), (2, 2)):
        asked = replace(REQUEST, logprobs=logprobs)
        assert llama.asked(asked)[1]["n_probs"] == sent  # type: ignore[attr-defined]
        _, body = completions.asked(asked)  # type: ignore[attr-defined]
        assert (body["logprobs"], body["return_tokens_as_token_ids"]) == (logprobs, True)


def test_llama_cpp_is_asked_in_its_words() -> None:
    _, _, fake = sampled("llama.cpp", fake_engines.llama_cpp(TOKENS, ENCODING.decode_bytes))
    [(_, body)] = fake.asked
    assert (body["n_predict"], body["repeat_penalty"], body["seed"]) == (50, 1.0, 9)
    assert (body["return_tokens"], body["logit_bias"]) == (True, [[9, 1.5]])
    assert (body["cache_prompt"], body["stream"]) == (True, True)


def test_llama_cpp_leaves_out_tokens_of_unfinished_characters() -> None:
    paths = fake_engines.llama_cpp(EMOJI, ENCODING.decode_bytes)
    sent = [token for event in paths["/completion"]({}) for token in event["tokens"]]
    assert len(sent) < len(EMOJI)
    found, reason, _ = sampled("llama.cpp", paths)
    assert ENCODING.decode(found) == ENCODING.decode(EMOJI)
    assert reason == "stop"


def test_llama_cpp_is_believed_in_its_count() -> None:
    bytewise = [
        token
        for byte in "🤗".encode()
        for token in range(256)
        if ENCODING.decode_bytes([token]) == bytes([byte])
    ]
    text = [*tokens("<|channel|>final<|message|>"), *bytewise, *tokens(" b<|return|>")]
    assert len(bytewise) == 4 > len(ENCODING.encode("🤗"))
    paths = fake_engines.llama_cpp(text, ENCODING.decode_bytes)
    found, _, _ = sampled("llama.cpp", paths)
    # What follows is as it was sampled, not encoded anew.
    assert found == [*tokens("<|channel|>final<|message|>🤗"), *tokens(" b<|return|>")]


def test_learns_model_and_context() -> None:
    async def use(fake: Fake) -> tuple[Any, ...]:
        engine = connect(fake.url)
        assert (engine.name, engine.model) == ("auto", None)
        await engine.check()
        await engine.aclose()
        return engine.name, engine.model, engine.context

    assert at(fake_engines.vllm(TOKENS), use) == ("vllm", "openai/gpt-oss-20b", 4096)
    sglang = fake_engines.sglang(TOKENS, cumulative=True)
    assert at(sglang, use) == ("sglang", "openai/gpt-oss-20b", 4096)
    llama = fake_engines.llama_cpp(TOKENS, ENCODING.decode_bytes)
    assert at(llama, use) == ("llama.cpp", "gpt-oss.gguf", 8192)
    assert at({"/v1/models": fake_engines.MODELS}, use)[0] == "completions"


@pytest.mark.parametrize(("logprob", "is_one"), [(0, True), (-0.5, True), (1, False), ("x", False)])
def test_log_probabilities_of_records(logprob: Any, is_one: bool, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({"match": "a", "text": "b", "logprob": logprob}), "utf-8")
    if is_one:
        connect(f"replay={file}")
        return
    with pytest.raises(ValueError, match="line 1: logprob: expected a number of at most 0$"):
        connect(f"replay={file}")


@pytest.mark.parametrize("odd", [0, -1, "4096", True, None, 4.5])
def test_a_context_that_is_no_number_of_tokens_is_not_learned(odd: Any) -> None:
    async def use(fake: Fake) -> int:
        engine = connect(f"completions={fake.url}")
        await engine.check()
        await engine.aclose()
        return engine.context

    models = {"data": [{"id": "m", "max_model_len": odd}]}
    assert at({**fake_engines.vllm(TOKENS), "/v1/models": models}, use) == CONTEXT


def test_that_vllm_is_asked_for_completions_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    async def use(fake: Fake) -> None:
        engine = connect(f"vllm={fake.url}")
        for _ in range(3):
            await engine.check()
        await engine.aclose()

    at(fake_engines.vllm(TOKENS, generates=False), use)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_an_engine_that_is_started_anew_with_another_model() -> None:
    paths = fake_engines.vllm(TOKENS, generates=False)

    async def run() -> None:
        async with running(paths) as fake:
            engine = connect(f"vllm={fake.url}")
            request = SampleRequest([1], 9, [200002])
            assert [one async for one in engine.sample(request)]
            fake.paths["/v1/models"] = {"object": "list", "data": [{"id": "another"}]}
            answer, fake.paths["/v1/completions"] = fake.paths["/v1/completions"], 404
            with pytest.raises(EngineError, match="says 404"):
                [one async for one in engine.sample(request)]
            fake.paths["/v1/completions"] = answer
            assert [one async for one in engine.sample(request)]
            assert fake.asked[-1][1]["model"] == engine.model == "another"
            await engine.aclose()

    asyncio.run(run())


def test_a_closed_generator_leaves_the_engine() -> None:
    async def use(fake: Fake) -> None:
        engine = connect(f"vllm={fake.url}")
        some = engine.sample(REQUEST)
        assert (await anext(some)).tokens == TOKENS[:2]
        await some.aclose()
        await fake.left.wait()
        await engine.aclose()

    event = fake_engines.choices(TOKENS)[0]
    paths = {**fake_engines.vllm(TOKENS), "/inference/v1/generate": lambda _: [event, 60.0]}
    at(paths, use)


BAD: list[tuple[str, str, Any, int, str]] = [
    *table("serve_engines", "bad"),
    ("vllm", "/v1/completions", [b"<html>"], 502, "not JSON: <html>"),
    ("vllm", "/v1/completions", [b"data: [1]\n\n"], 502, "not an event: [1]"),
    ("vllm", "/v1/completions", [b"data: " + b"[" * 100_000], 502, "not JSON"),
]


@pytest.mark.parametrize(("kind", "path", "said", "status", "text"), BAD)
def test_what_engines_do_wrong(kind: str, path: str, said: Any, status: int, text: str) -> None:
    paths = {
        "vllm": fake_engines.vllm(TOKENS, generates=False),
        "sglang": fake_engines.sglang(TOKENS, cumulative=True),
        "llama.cpp": fake_engines.llama_cpp(TOKENS, ENCODING.decode_bytes),
    }[kind]
    with pytest.raises(EngineError) as raised:
        sampled(kind, {**paths, path: said if isinstance(said, int) else lambda _: said})
    assert text in str(raised.value)
    assert raised.value.status == status
    assert raised.value.retry_after == (7 if status == 429 else None)


@pytest.mark.parametrize("odd", [["stop"], {"type": ["stop"]}, {}, 3, "tired"])
def test_reasons_that_nobody_knows(odd: Any) -> None:
    vllm = {"choices": [{"token_ids": [1], "finish_reason": odd}]}
    sglang = {"output_ids": [1], "meta_info": {"completion_tokens": 1, "finish_reason": odd}}
    for kind, event in (("completions", vllm), ("sglang", sglang)):
        reader = EngineReader(kind, 9, [])  # type: ignore[arg-type]
        found, reason, _, fault = reader.feed(json.dumps(event).encode() + b"\n")
        assert (found, reason) == ([1], None)
        # SGLang's reason has a type; without one it has not ended.
        assert fault == (None if kind == "sglang" and odd == {} else (502, "gave up"))


def test_an_engine_that_is_down() -> None:
    async def run(kind: str) -> None:
        async with running({}) as fake:
            pass
        engine = connect(f"{kind}={fake.url}")
        with pytest.raises(EngineError) as raised:
            await anext(engine.sample(REQUEST))
        assert raised.value.status == 503
        await engine.aclose()

    for kind in ("vllm", "sglang", "llama.cpp", "completions", "auto"):
        asyncio.run(run(kind))


def test_an_engine_that_is_slow() -> None:
    async def use(fake: Fake) -> None:
        engine = connect(f"vllm={fake.url}", timeout=0.2)
        with pytest.raises(EngineError, match="too slow") as raised:
            async for _ in engine.sample(REQUEST):
                pass
        assert raised.value.status == 504
        await engine.aclose()

    event = fake_engines.choices(TOKENS)[0]
    slow = {"/v1/completions": lambda _: [event, 30.0]}
    at({**fake_engines.vllm(TOKENS, generates=False), **slow}, use)


def test_an_address_of_something_else() -> None:
    with pytest.raises(EngineError, match="no known engine answers"):
        sampled("auto", {"/version": {"hello": 1}})


def test_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "records.jsonl"
    records = [
        {"match": "Oslo", "text": HELLO, "size": 1, "delay": 0.001, "logprob": -0.5},
        {"match": "<|start|>user", "text": "one\u2028\x85<|return|>"},
        {"match": "user", "text": "two<|return|>"},
    ]
    # What Python takes for the end of a line is none in JSON.
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    file.write_text("\n".join(lines) + "\n\n", encoding="utf-8")

    async def said(text: str, **options: Any) -> tuple[str, Any, int]:
        request = SampleRequest(tokens(text), options.pop("limit", 99), [200002], **options)
        found = [some async for some in connect(f"replay={file}").sample(request)]
        for piece, _, logprobs in found[:-1] if request.logprobs is not None else ():
            assert logprobs == [TokenLogprob(-0.5, {token: -0.5}) for token in piece]
        assert request.logprobs is not None or not any(some.logprobs for some in found)
        text = ENCODING.decode([token for some in found for token in some.tokens])
        return text, found[-1].reason, len(found) - 1

    user = "<|start|>user<|message|>"
    assert asyncio.run(said(f"{user}Oslo")) == (HELLO, "stop", len(TOKENS))
    assert asyncio.run(said(user))[0] == "one\u2028\x85<|return|>"
    assert asyncio.run(said(user, index=1))[0] == "two<|return|>"
    assert asyncio.run(said(f"{user}Oslo", limit=4))[1] == "length"
    assert asyncio.run(said(f"{user}Oslo", limit=len(TOKENS)))[1] == "stop"
    begun = "<|start|>assistant<|channel|>final<|message|>"
    assert asyncio.run(said(f"{user}Oslo<|end|>{begun}"))[0] == "Hi there.<|return|>"
    assert asyncio.run(said(f"{user}Oslo<|end|>{begun}Hi"))[0] == " there.<|return|>"
    other = "<|start|>assistant<|channel|>commentary<|message|>"
    assert asyncio.run(said(f"{user}Oslo<|end|>{other}"))[0] == HELLO
    assert asyncio.run(said(f"{user}Oslo", logprobs=0))[0] == HELLO
    # Three tokens a piece, unless a record says another number.
    assert asyncio.run(said(user))[2] == -(-len(tokens("one\u2028\x85<|return|>")) // 3)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(said(f"{user}Oslo", limit=1))
    asyncio.run(said(user, limit=1))
    assert slept == [0.001, 0]
    with pytest.raises(EngineError, match="no record matches") as caught:
        asyncio.run(said("nobody"))
    assert caught.value.status == 503


@pytest.mark.parametrize(
    ("text", "said"),
    table("serve_engines", "names of no engine"),
)
def test_names_of_no_engine(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        connect(text)


def test_names_of_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [connect(text).context for text in ("none=1", "none=2147483647")] == [1, 2**31 - 1]
    assert connect("vllm=http://127.0.0.1:1").address == "http://127.0.0.1:1"
    name = "openai_harmony.serve.engines.transformers"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(Transformers=Own))
    monkeypatch.setattr(Own, "__init__", lambda self, place: setattr(self, "address", place))
    assert connect("transformers=a/folder").address == "a/folder"
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(ModuleNotFoundError, match=r"aiohttp is missing: pip install '.*\[serve\]'"):
        connect("vllm=http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("line", "said"),
    table("serve_engines", "files of no records"),
)
def test_files_of_no_records(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(f'{{"match": "", "text": ""}}\n{line}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        connect(f"replay={file}")
    for empty, why in ((b"\n \n", "no record"), (b"\xff", "not text in UTF-8")):
        file.write_bytes(empty)
        with pytest.raises(ValueError, match=f"records.jsonl: {why}"):
            connect(f"replay={file}")


def test_a_stream_may_end_within_its_last_line() -> None:
    paths = fake_engines.vllm(TOKENS, generates=False)
    *events, last = fake_engines.choices(TOKENS)[:-2]
    ends = [*events, b"data: " + json.dumps(last).encode()]
    found, reason, _ = sampled("vllm", {**paths, "/v1/completions": lambda _: ends})
    assert (found, reason) == (TOKENS, "stop")


def test_the_end_of_a_stream_is_no_event() -> None:
    paths = fake_engines.vllm(TOKENS, generates=False)
    noise = [b": ping\n\nevent: x\nid: 3\n", *fake_engines.choices(TOKENS)[:-1], DONE]
    found, _, _ = sampled("vllm", {**paths, "/v1/completions": lambda _: noise})
    assert found == TOKENS


def test_of_tokens_that_are_cut_the_log_probabilities_are_cut() -> None:
    given = [TokenLogprob(-0.5, {}), None, TokenLogprob(-1.5, {})]
    assert Sampled([1, 2, 3], "stop", given).first(2, "length") == ([1, 2], "length", given[:2])
    assert Sampled([1, 2, 3]).first(1, None) == ([1], None, None)


class Own:
    """An engine as the guide has it, of which a test spoils a part."""

    name, address, context, constrains = "own", "here", 4096, False
    model: str | None = None

    async def check(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def sample(self, request: SampleRequest) -> AsyncGenerator[Sampled, None]:
        yield Sampled(TOKENS, "stop")


def not_async(self: Any, *_: Any) -> None:
    pass


async def no_generator(self: Any, request: SampleRequest) -> Sampled:
    return Sampled(TOKENS, "stop")


class TestAnEngineOfOnesOwn:
    def test_is_served(self) -> None:
        assert serve.app(Own()).state.gateway.engine.name == "own"
        small = type("Small", (Own,), {"context": 2})
        assert serve.app(small()).state.gateway.engine.context == 2

    @pytest.mark.parametrize(
        "name", ["name", "address", "model", "context", "check", "sample", "aclose"]
    )
    def test_lacks_something(self, name: str) -> None:
        names = [one for one in vars(Own) if not one.startswith("_") and one != name]
        spoilt = type("Spoilt", (), {one: getattr(Own, one) for one in names})
        with pytest.raises(
            WrongTypeError, match=f"^engine: Spoilt lacks {name}; .*Engine describes"
        ):
            serve.app(spoilt())

    @pytest.mark.parametrize(
        ("name", "value", "error"),
        [
            ("name", None, "Spoilt.name: expected str, got None"),
            ("model", 3, "Spoilt.model: expected str or None, got 3"),
            ("context", "4096", "Spoilt.context: expected int, got '4096'"),
            ("context", True, "Spoilt.context: expected int, got True"),
            ("context", 1, "Spoilt.context: expected at least 2 tokens, got 1"),
            ("check", not_async, "Spoilt.check: expected a function with `async def`"),
            ("aclose", not_async, "Spoilt.aclose: expected a function with `async def`"),
            ("sample", no_generator, "Spoilt.sample: expected an asynchronous generator"),
            ("sample", lambda self, request: (yield), "Spoilt.sample: expected an asynchronous"),
        ],
    )
    def test_has_something_else(self, name: str, value: Any, error: str) -> None:
        spoilt = type("Spoilt", (Own,), {name: value})
        with pytest.raises(ValueError, match=f"^engine: {re.escape(error)}"):
            serve.app(spoilt())

    @pytest.mark.parametrize("engine", [None, 3, print, Own])
    def test_is_no_engine_at_all(self, engine: Any) -> None:
        with pytest.raises(ValueError, match="^engine: "):
            serve.app(engine)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "closed the connection"),
        (b"HTTP/1.1 200 OK\r\n", "closed the connection"),
        (b"not HTTP at all\r\n\r\n", "sent invalid HTTP"),
    ],
)
def test_an_engine_that_hangs_up_is_told_without_names_of_python(sent: bytes, said: str) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def ask(client: Client) -> None:
        response = await client.post("/", b"{}", {})
        with errors():
            while await response.read():
                pass

    async def run() -> None:
        async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
            client = Client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", 60, None)
            with pytest.raises(ClientError, match=f"^{said}$") as caught:
                await ask(client)
            assert caught.value.status == 502
            await client.aclose()

    asyncio.run(run())
