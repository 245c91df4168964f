"""llama.cpp itself: its server behind the gateway, and its grammars, which take turns as `accepts` does."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gguf", reason="make test-engines installs gguf")
pytest.importorskip("xllamacpp", reason="make test-engines installs xllamacpp: llama.cpp's server")
pytest.importorskip("starlette", reason="make test-engines installs starlette")

import numpy

from engines import llama_server, tiny_gguf
from engines.llama_grammar import SIZE, Grammar, State, Vocabulary
from engines.required import BODIES, valid_call
from gateways import ENCODING, ask
from labelled_json import ANSWERS, SCHEMAS
from labelled_turns import TOOLS, turns
from openai_harmony import serve
from openai_harmony.grammar import TurnGrammar
from openai_harmony.serve.engines import SampleRequest, connect
from openai_harmony.serve.engines.llama_cpp import LlamaCpp
from running_gateways import command
from sampled_turns import (
    CALL,
    OPTIONS,
    RETURN,
    check,
    different_fields,
    eight_fields,
    is_turn_with_any_stop,
    sampled,
)

PROMPT = [200006, 1428, 200008, 13225, 200007, 200006, 173781]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny-gpt-oss.gguf"
    tiny_gguf.write(path)
    return path


@pytest.fixture(scope="session")
def url(model: Path) -> Iterator[str]:
    with llama_server.running(model) as url:
        yield url


# The server.


def test_it_is_found_out(url: str) -> None:
    async def run() -> Any:
        engine = connect(f"auto={url}")
        await engine.check()
        await engine.aclose()
        return engine

    engine = asyncio.run(run())
    assert (engine.name, engine.context) == ("llama.cpp", 4096)
    assert Path(engine.model).stem == "tiny-gpt-oss"


def test_tokens_in_and_tokens_out(url: str) -> None:
    """Ids, whatever the text: a seed gives them again, and a bias decides them."""

    async def run(**sampling: Any) -> tuple[list[int], Any]:
        engine = LlamaCpp(url)
        found: list[int] = []
        reason = None
        request = SampleRequest(PROMPT, 12, [RETURN, CALL], sampling)
        async for some in engine.sample(request):
            found += some.tokens
            reason = some.reason or reason
        await engine.aclose()
        return found, reason

    wanted = ENCODING.encode("!")[0]
    assert asyncio.run(run(logit_bias={wanted: 100.0})) == ([wanted] * 12, "length")
    marker = 200005
    assert asyncio.run(run(logit_bias={marker: 100.0}))[0] == [marker] * 12
    assert asyncio.run(run(logit_bias={RETURN: 100.0})) == ([RETURN], "stop")
    seeded = {"temperature": 1.0, "seed": 7, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    first = asyncio.run(run(**seeded))
    assert asyncio.run(run(**seeded)) == first
    assert asyncio.run(run(**{**seeded, "seed": 8})) != first


def test_log_probabilities(url: str) -> None:
    """Of each token, and of the likely ones, among which a sampled one has the same."""

    async def run() -> list[Any]:
        engine = LlamaCpp(url)
        sampling = {"temperature": 0.5, "seed": 3, "logit_bias": {RETURN: -100.0, CALL: -100.0}}
        request = SampleRequest(PROMPT, 30, [RETURN, CALL], sampling, logprobs=20)
        found = [some async for some in engine.sample(request)]
        await engine.aclose()
        return found

    found = asyncio.run(run())
    given = [(some.tokens, some.logprobs) for some in found if some.tokens]
    known = [(token, one) for tokens, all_of in given for token, one in zip(tokens, all_of or [])]
    assert len(known) > 10
    for token, (logprob, top) in known:
        assert len(top) == 20
        assert logprob < 0
        assert top.get(token, logprob) == logprob
    assert any(token in top for token, (_, top) in known)


@pytest.mark.parametrize("path", BODIES)
def test_what_is_required_comes(url: str, path: str) -> None:
    async def run() -> None:
        app = serve.app(f"llama.cpp={url}")
        for _ in range(3):
            answer = await ask(app, path, BODIES[path])
            assert answer.status == 200, answer.body
            assert valid_call(path, answer.json()), answer.body

    asyncio.run(run())


def test_the_command_in_front_of_it(url: str) -> None:
    import httpx

    with command("--engine", f"llama.cpp={url}") as (gateway, _):
        path = "/v1/chat/completions"
        answer = httpx.post(gateway + path, json=BODIES[path], timeout=120)
        assert valid_call(path, answer.json())


# Its grammars.


@pytest.fixture(scope="session")
def vocabulary(model: Path) -> Vocabulary:
    return Vocabulary(model)


def test_labelled_turns(vocabulary: Vocabulary) -> None:
    for turn in turns():
        grammar = TurnGrammar(TOOLS, **turn.options)
        state = State(Grammar(vocabulary, grammar.to_gbnf()))
        tokens = ENCODING.encode(turn.text, allowed_special="all")
        is_turn = all(state.take(token) for token in tokens) and tokens[-1:] in ([RETURN], [CALL])
        assert is_turn == is_turn_with_any_stop(turn, grammar), turn


def test_what_is_sampled_parses_as_it_was_meant(vocabulary: Vocabulary) -> None:
    """Of a part of the tokens, another in each turn: a mask of all takes it 0.2 seconds."""
    whole = 0
    likely = ENCODING.encode('{"in": "Oslo", "days": 12}sum} to=functions.rain code print now')
    for options in OPTIONS:
        grammar = TurnGrammar(TOOLS, **options)
        made = Grammar(vocabulary, grammar.to_gbnf())
        chosen = random.Random(str(options))
        for _ in range(100):
            some = [*range(199_998, 200_019), *likely, *chosen.sample(range(SIZE), 500)]
            tokens = sampled(State(made, numpy.unique(some)), chosen)
            if tokens[-1:] not in ([RETURN], [CALL]):
                continue
            whole += 1
            if not grammar.accepts(tokens).ok:
                tokens[-1] = CALL if tokens[-1] == RETURN else RETURN
            check(tokens, grammar, options)
    assert whole >= 400


def test_strings_hold_no_special_token(vocabulary: Vocabulary) -> None:
    state = State(Grammar(vocabulary, TurnGrammar(TOOLS).to_gbnf()))
    header = "<|channel|>commentary to=functions.rain<|message|>"
    for token in ENCODING.encode(f'{header}{{"in": "x', allowed_special="all"):
        assert state.take(token)
    mask = state.mask()
    assert [n for n in range(199_998, SIZE) if mask[n >> 3] >> (n & 7) & 1] == []


@pytest.mark.parametrize("tools", [eight_fields, different_fields])
def test_two_hundred_tools(vocabulary: Vocabulary, tools: Any) -> None:
    """The time is printed, since no test asserts one."""
    written = TurnGrammar(tools(200)).to_gbnf()
    begun = time.monotonic()
    state = State(Grammar(vocabulary, written))
    print(f"200 tools: {len(written)} bytes, {time.monotonic() - begun:.2f} s")
    call = "<|channel|>commentary to=functions.tool199<|message|>{}<|call|>"
    taken = [state.take(token) for token in ENCODING.encode(call, allowed_special="all")]
    assert taken.index(False) == len(taken) - 2  # A field is required.


@pytest.mark.parametrize(("schema", "good", "bad"), SCHEMAS, ids=str)
def test_schemas(vocabulary: Vocabulary, schema: Any, good: list[str], bad: list[str]) -> None:
    made = Grammar(vocabulary, TurnGrammar(response_schema=schema).to_gbnf())
    for text in good + bad:
        state = State(made)
        answer = f"<|channel|>final<|message|>{text}<|return|>"
        tokens = ENCODING.encode(answer, allowed_special="all")
        assert all(state.take(token) for token in tokens) == (text in good), text


@pytest.mark.parametrize(("form", "good", "bad"), ANSWERS, ids=str)
def test_answers_that_fit_a_regex_or_are_a_choice(
    vocabulary: Vocabulary, form: Any, good: list[str], bad: list[str]
) -> None:
    made = Grammar(vocabulary, TurnGrammar(TOOLS, **form).to_gbnf())
    for text in good + bad:
        state = State(made)
        answer = f"<|channel|>final<|message|>{text}<|return|>"
        tokens = ENCODING.encode(answer, allowed_special="all")
        assert all(state.take(token) for token in tokens) == (text in good), text
